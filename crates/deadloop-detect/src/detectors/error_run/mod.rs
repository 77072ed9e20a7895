//! `error-run`: one error after the other. It alarms at the result.
//!
//! A meter keeps one hash and a count, and a key for each of at most 1,000 calls that have no result yet.

use super::{Detector, Measuring, Sample};
use crate::meter::Recipe;
use crate::param::Param;
use crate::params::Params;
use crate::row::{InRow, n};
use crate::run::sample::{call, error, result};
use crate::run::{ALLOW, KINDS, NORMALISE, Next, RESET, VOLATILE, counted, prefix, sees_calls};
use crate::spec::Spec;
use crate::stream::{Channel, Event, Kind};

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    spec: Spec {
        name: "error-run",
        version: 1,
        about: "one error after the other",
        exactly: include_str!("exactly.md"),
        params: &[N, SAME, PREFIX, ALLOW, RESET, NORMALISE, VOLATILE, KINDS],
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

fn recipe(params: &Params) -> Recipe {
    let same = params.text(SAME.name);
    let (tool, start) = (same == "tool", same == "prefix");
    let chars = usize::try_from(params.count(PREFIX.name)).unwrap_or(usize::MAX);
    let row = InRow::new(params, Kind::ErrorRetry);
    counted(params, row, move |asked, answer, seen| {
        let key = match (tool, start) {
            _ if !seen.fails(answer) => return None,
            (true, _) => asked.tool,
            (_, true) => seen.start(asked, answer, chars),
            _ => 0,
        };
        Some(Next { key, enough: 0 })
    })
}
