//! `same-pair`: the same tool call with the same result over and over. It alarms at the result.
//!
//! A pair is a call and its result. Its place is that of the result. A meter keeps the hash of the last pair,
//! a count, and of at most 1,000 calls that have no result yet a hash each.

use super::{Detector, Measuring, Sample};
use crate::fact::Fact;
use crate::meter::Recipe;
use crate::param::Param;
use crate::params::Params;
use crate::row::{N, Row};
use crate::run::sample::{call, result};
use crate::run::{
    ALLOW, Answer, Answers, Asked, AtResults, NORMALISE, RESET, STATELESS_CHARS, STATELESS_N, Seen,
    VOLATILE, hash, sees_calls,
};
use crate::spec::Spec;
use crate::stream::{Channel, Event, Kind};

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    spec: Spec {
        name: "same-pair",
        version: 1,
        about: "equal calls with equal results in a row",
        exactly: include_str!("exactly.md"),
        params: &[
            N,
            FAILURE_ONLY,
            ALLOW,
            RESET,
            NORMALISE,
            VOLATILE,
            STATELESS_N,
            STATELESS_CHARS,
        ],
        presets: include_str!("presets.toml"),
        check: sees_calls,
    },
    grid: include_str!("grid.toml"),
    fires: Sample::Run(&FIRES),
    quiet: Sample::Run(&QUIET),
    ..Detector::measuring(Measuring::Run(Channel::Tools, recipe))
};

const CALL: Event<'static> = call("ls", "{}");

static FIRES: [Event<'static>; 6] = [
    CALL,
    result("a.txt"),
    CALL,
    result("a.txt"),
    CALL,
    result("a.txt"),
];

/// The third result is news.
static QUIET: [Event<'static>; 6] = [
    CALL,
    result("a.txt"),
    CALL,
    result("a.txt"),
    CALL,
    result("a.txt b.txt"),
];

const FAILURE_ONLY: Param =
    Param::flag("failure_only", false).doc("true: only pairs whose result is an error");

fn recipe(params: &Params) -> Recipe {
    let least = params.count(N.name);
    let failures = params.flag(FAILURE_ONLY.name);
    AtResults::recipe(params, move || Pair {
        failures,
        least,
        row: Row::default(),
    })
}

/// The row of equal pairs.
struct Pair {
    failures: bool,
    /// The shortest row that the loosest setting accepts.
    least: u64,
    row: Row,
}

impl Answers for Pair {
    fn answered(&mut self, asked: Asked, answer: &Answer<'_>, mut seen: Seen<'_>) -> Option<Fact> {
        let same = seen.pair(&asked, true, answer);
        let error = if answer.error { "error" } else { "" };
        let pair = hash(&[&same.pair.to_string(), error]);
        let length = self.row.push(pair, answer.call);
        let what = (Kind::SameCallSameResult, || asked.unit);
        let fact = self.row.fact(self.least, seen.run.now(), what);
        fact.filter(|_| seen.counts(&same, length) && (answer.error || !self.failures))
    }

    fn forget(&mut self) {
        self.row = Row::default();
    }
}
