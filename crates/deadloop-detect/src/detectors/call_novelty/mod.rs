//! `call-novelty`: only a few different calls among the last ones, in whatever order, told at the result.
//!
//! A meter keeps the hashes of the calls in its window.

use super::{Detector, Measuring, Refusal, Sample};
use crate::meter::Recipe;
use crate::param::Param;
use crate::params::Params;
use crate::run::sample::{call, result};
use crate::run::{
    ALLOW, ARGUMENTS, Among, KINDS, Measure, NORMALISE, Next, RESET, STATELESS_CHARS, STATELESS_N,
    VOLATILE, WAITING_N, WINDOW as LONGEST, counted, hash, sees_calls, window, with_result,
};
use crate::spec::Spec;
use crate::stream::{Channel, Event};

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    spec: Spec {
        name: "call-novelty",
        version: 1,
        about: "few different calls among the last ones",
        exactly: include_str!("exactly.md"),
        params: &[
            MAX_DISTINCT,
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
const NEW: Event<'static> = result("");

/// Ten calls, two of them different.
static FIRES: [Event<'static>; 20] = [
    A, NEW, B, NEW, A, NEW, A, NEW, B, NEW, B, NEW, A, NEW, B, NEW, A, NEW, A, NEW,
];

/// Nine calls are no full window.
static QUIET: [Event<'static>; 18] = [
    A, NEW, B, NEW, A, NEW, A, NEW, B, NEW, B, NEW, A, NEW, B, NEW, A, NEW,
];

const MAX_DISTINCT: Param = Param::count("max_distinct", 6, 1..=LONGEST - 1)
    .at_least()
    .unit("calls")
    .doc("the most different calls among them");

const WINDOW: Param = window(10, "calls", "how many of the last ones are looked at");

const WITH_RESULT: Param = with_result(false);

/// A window has at most as many different ones as it is long.
fn check(params: &Params) -> Result<(), Refusal> {
    let (most, window) = (params.int(MAX_DISTINCT.name), params.int(WINDOW.name));
    if most >= window {
        let reason = format!(
            "the last {window} calls (window) have never more than {most} different ones: this setting fires always"
        );
        return Err(Refusal {
            param: MAX_DISTINCT.name,
            reason,
        });
    }
    sees_calls(params)
}

fn recipe(params: &Params) -> Recipe {
    let among = Among::new(params, Measure::Distinct, &MAX_DISTINCT);
    counted(params, among, |asked, answer, seen| {
        let (mut key, same) = seen.compared(asked, answer);
        // As long as too few results that say nothing came, each is another one.
        if same.times < seen.enough(&same) {
            key = hash(&[&key.to_string(), &answer.call.0.to_string()]);
        }
        Some(Next { key, enough: 0 })
    })
}
