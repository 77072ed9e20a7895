//! `stagnation`: a tool returns the same result over and over, whatever its arguments. It alarms at the result.
//!
//! A meter keeps one hash and a count, and of at most 1,000 calls that have no result yet what they are compared by.

use super::{Detector, Measuring, Sample};
use crate::meter::Recipe;
use crate::param::Param;
use crate::params::Params;
use crate::row::{InRow, n};
use crate::run::sample::{call, result};
use crate::run::{
    ALLOW, KINDS, NORMALISE, Next, RESET, STATELESS_CHARS, STATELESS_N, VOLATILE, WAITING_N,
    counted, sees_calls,
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
    let row = InRow::new(params, Kind::AperiodicStagnation);
    counted(params, row, |asked, answer, seen| {
        let same = seen.tool(asked, answer);
        Some(Next {
            key: same.pair,
            enough: seen.enough(&same),
        })
    })
}
