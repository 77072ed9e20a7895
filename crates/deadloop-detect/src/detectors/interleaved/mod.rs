//! `interleaved`: a call whose result is known comes back, with others between. It alarms at the result.
//!
//! A meter keeps the hashes of the last pairs in its window, and of at most 1,000 calls that have no result yet
//! what they are compared by.

use super::{Detector, Measuring, Refusal, Sample};
use crate::meter::Recipe;
use crate::param::Param;
use crate::params::Params;
use crate::row::n;
use crate::run::sample::{call, result};
use crate::run::{
    ALLOW, ARGUMENTS, Among, KINDS, Measure, NORMALISE, Next, RESET, STATELESS_CHARS, STATELESS_N,
    VOLATILE, WAITING_N, counted, sees_calls, window, with_result,
};
use crate::spec::Spec;
use crate::stream::{Channel, Event};

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    spec: Spec {
        name: "interleaved",
        version: 1,
        about: "a call and result that keep coming back",
        exactly: include_str!("exactly.md"),
        params: &[
            N,
            WINDOW,
            WITH_RESULT,
            ARGUMENTS,
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
        check,
    },
    grid: include_str!("grid.toml"),
    fires: Sample::Run(&FIRES),
    quiet: Sample::Run(&QUIET),
    ..Detector::measuring(Measuring::Run(Channel::Tools, recipe))
};

const A: Event<'static> = call("read", "a");
const B: Event<'static> = call("read", "b");

static FIRES: [Event<'static>; 10] = [
    A,
    result("1"),
    B,
    result("2"),
    A,
    result("1"),
    B,
    result("3"),
    A,
    result("1"),
];

/// The third result is news.
static QUIET: [Event<'static>; 10] = [
    A,
    result("1"),
    B,
    result("2"),
    A,
    result("1"),
    B,
    result("3"),
    A,
    result("4"),
];

const N: Param = n(
    3,
    "calls",
    "how often the newest one stands among the last ones",
);
const WINDOW: Param = window(10, "calls", "how many of the last ones are looked at");

const WITH_RESULT: Param = with_result(true);

/// A window holds nothing more often than it is long.
fn check(params: &Params) -> Result<(), Refusal> {
    let (n, window) = (params.int(N.name), params.int(WINDOW.name));
    if n > window {
        let reason =
            format!("{n} do not fit the last {window} calls (window): this setting can never fire");
        return Err(Refusal {
            param: N.name,
            reason,
        });
    }
    sees_calls(params)
}

fn recipe(params: &Params) -> Recipe {
    let among = Among::new(params, Measure::Newest, &N);
    counted(params, among, |asked, answer, seen| {
        let (key, same) = seen.compared(asked, answer);
        let enough = seen.enough(&same);
        Some(Next { key, enough })
    })
}
