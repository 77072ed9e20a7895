//! `error-run`: one error after the other. It alarms at the result.
//!
//! A meter keeps one hash and a count, and a key for each of at most 1,000 calls that have no result yet.

use super::{Detector, Measuring, Sample};
use crate::fact::Fact;
use crate::meter::Recipe;
use crate::param::Param;
use crate::params::Params;
use crate::row::{Row, n};
use crate::run::sample::{call, error, result};
use crate::run::{
    ALLOW, Answer, Answers, Asked, AtResults, NORMALISE, RESET, Seen, VOLATILE, prefix, sees_calls,
};
use crate::spec::Spec;
use crate::stream::{Channel, Event, Kind};

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    spec: Spec {
        name: "error-run",
        version: 1,
        about: "one error after the other",
        exactly: include_str!("exactly.md"),
        params: &[N, SAME, PREFIX, ALLOW, RESET, NORMALISE, VOLATILE],
        presets: include_str!("presets.toml"),
        check: sees_calls,
    },
    grid: include_str!("grid.toml"),
    fires: Sample::Run(&FIRES),
    quiet: Sample::Run(&QUIET),
    ..Detector::measuring(Measuring::Run(Channel::Tools, recipe))
};

static FIRES: [Event<'static>; 6] = [
    call("build", "a"),
    error("no such file"),
    call("build", "b"),
    error("no such target"),
    call("test", ""),
    error("nothing to run"),
];

/// A result without an error ends the row.
static QUIET: [Event<'static>; 6] = [
    call("build", "a"),
    error("no such file"),
    call("build", "b"),
    error("no such target"),
    call("test", ""),
    result("nothing to run"),
];

const N: Param = n(3, "results", "errors in a row");

const SAME: Param = Param::word("same", "any", &["any", "tool", "prefix"])
    .doc("what they have in common: nothing; the tool; the tool and how the text begins");

const PREFIX: Param = prefix();

#[derive(Clone, Copy)]
enum Same {
    Any,
    Tool,
    /// Errors of one tool whose texts begin with the same chars, this many.
    Prefix(usize),
}

fn recipe(params: &Params) -> Recipe {
    let least = params.count(N.name);
    let same = match params.text(SAME.name) {
        "tool" => Same::Tool,
        "prefix" => Same::Prefix(usize::try_from(params.count(PREFIX.name)).unwrap_or(usize::MAX)),
        _ => Same::Any,
    };
    AtResults::recipe(params, move || Errors {
        same,
        least,
        row: Row::default(),
    })
}

/// The row of errors.
struct Errors {
    same: Same,
    /// The shortest row that the loosest setting accepts.
    least: u64,
    row: Row,
}

impl Answers for Errors {
    fn answered(&mut self, asked: Asked, answer: &Answer<'_>, seen: Seen<'_>) -> Option<Fact> {
        if !answer.error {
            self.row = Row::default();
            return None;
        }
        let same = match self.same {
            Same::Any => 0,
            Same::Tool => asked.tool,
            Same::Prefix(chars) => seen.start(&asked, answer, chars),
        };
        self.row.push(same, answer.call);
        let what = (Kind::ErrorRetry, || asked.unit);
        self.row.fact(self.least, seen.run.now(), what)
    }

    fn forget(&mut self) {
        self.row = Row::default();
    }
}
