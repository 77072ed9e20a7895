//! `same-pair`: the same tool call with the same result over and over. It alarms at the result.
//!
//! A pair is a call and its result. Its place is that of the result. A meter keeps the hash of the last pair,
//! a count, and of at most 1,000 calls that have no result yet a hash each.

use super::{Detector, Measuring, Sample};
use crate::meter::Recipe;
use crate::param::Param;
use crate::params::Params;
use crate::row::{InRow, N};
use crate::run::sample::{call, result};
use crate::run::{
    ALLOW, KINDS, NORMALISE, Next, RESET, STATELESS_CHARS, STATELESS_N, VOLATILE, WAITING_N,
    counted, hash, sees_calls,
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
            KINDS,
            WAITING_N,
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
    let failures = params.flag(FAILURE_ONLY.name);
    let row = InRow::new(params, Kind::SameCallSameResult);
    counted(params, row, move |asked, answer, seen| {
        let same = seen.pair(asked, true, answer);
        let error = if answer.error { "error" } else { "" };
        let says = answer.error || !failures;
        Some(Next {
            key: hash(&[&same.pair.to_string(), error]),
            enough: if says { seen.enough(&same) } else { u64::MAX },
        })
    })
}
