//! `stagnation`: a tool returns the same result over and over, whatever its arguments. It alarms at the result.
//!
//! A meter keeps one hash and a count, and of at most 1,000 calls that have no result yet what they are compared by.

use super::{Detector, Measuring, Sample};
use crate::fact::Fact;
use crate::meter::Recipe;
use crate::param::Param;
use crate::params::Params;
use crate::row::{Row, n};
use crate::run::sample::{call, result};
use crate::run::{
    ALLOW, Answer, Answers, Asked, AtResults, NORMALISE, RESET, STATELESS_CHARS, STATELESS_N, Seen,
    VOLATILE, sees_calls,
};
use crate::spec::Spec;
use crate::stream::{Channel, Event, Kind};

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    spec: Spec {
        name: "stagnation",
        version: 1,
        about: "a tool's same result: whatever it is asked",
        exactly: include_str!("exactly.md"),
        params: &[
            N,
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

const NOTHING: Event<'static> = result("nothing found");

static FIRES: [Event<'static>; 12] = [
    call("search", "a"),
    NOTHING,
    call("search", "b"),
    NOTHING,
    call("search", "c"),
    NOTHING,
    call("search", "d"),
    NOTHING,
    call("search", "e"),
    NOTHING,
    call("search", "f"),
    NOTHING,
];

/// Another tool is called in between.
static QUIET: [Event<'static>; 12] = [
    call("search", "a"),
    NOTHING,
    call("search", "b"),
    NOTHING,
    call("search", "c"),
    NOTHING,
    call("find", "c"),
    NOTHING,
    call("search", "e"),
    NOTHING,
    call("search", "f"),
    NOTHING,
];

const N: Param = n(6, "calls", "equal results of one tool in a row");

fn recipe(params: &Params) -> Recipe {
    let least = params.count(N.name);
    AtResults::recipe(params, move || Same {
        least,
        row: Row::default(),
    })
}

/// The row of a tool's equal results.
struct Same {
    /// The shortest row that the loosest setting accepts.
    least: u64,
    row: Row,
}

impl Answers for Same {
    fn answered(&mut self, asked: Asked, answer: &Answer<'_>, mut seen: Seen<'_>) -> Option<Fact> {
        let same = seen.tool(&asked, answer);
        let length = self.row.push(same.pair, answer.call);
        let what = (Kind::AperiodicStagnation, || asked.unit);
        let fact = self.row.fact(self.least, seen.run.now(), what);
        fact.filter(|_| seen.counts(&same, length))
    }

    fn forget(&mut self) {
        self.row = Row::default();
    }
}
