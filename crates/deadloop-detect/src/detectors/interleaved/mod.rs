//! `interleaved`: a call whose result is known comes back, with others between. It alarms at the result.
//!
//! A meter keeps the hashes of the last pairs in its window, and of at most 1,000 calls that have no result yet
//! what they are compared by.

use super::{Detector, Measuring, Refusal, Sample};
use crate::fact::Fact;
use crate::meter::Recipe;
use crate::param::Param;
use crate::params::Params;
use crate::row::n;
use crate::run::sample::{call, result};
use crate::run::{
    ALLOW, ARGUMENTS, Answer, Answers, Asked, AtResults, NORMALISE, RESET, Repeat, STATELESS_CHARS,
    STATELESS_N, Seen, Told, VOLATILE, Window, number, sees_calls, window, with_result,
};
use crate::spec::Spec;
use crate::stream::{Calls, Channel, Event, Kind};

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
    let least = params.int(N.name);
    let window = params.count(WINDOW.name);
    let with_result = params.flag(WITH_RESULT.name);
    let arguments = params.flag(ARGUMENTS.name);
    AtResults::recipe(params, move || Interleaved {
        with_result,
        arguments,
        least,
        window: Window::new(window),
        told: Told::default(),
    })
}

/// The last calls.
struct Interleaved {
    with_result: bool,
    arguments: bool,
    /// The lowest count that the loosest setting accepts.
    least: i64,
    window: Window,
    told: Told,
}

impl Answers for Interleaved {
    fn forget(&mut self) {
        self.window.clear();
        self.told = Told::default();
    }

    fn answered(&mut self, asked: Asked, answer: &Answer<'_>, mut seen: Seen<'_>) -> Option<Fact> {
        let same = seen.pair(&asked, self.arguments, answer);
        let key = match (self.with_result, self.arguments) {
            (true, _) => same.pair,
            (false, true) => asked.key,
            (false, false) => asked.tool,
        };
        let count = self.window.push(key, answer.call.into());
        let bound = number(count);
        let wanted = bound >= self.least && seen.counts(&same, count);
        if !self.told.is_news(bound, wanted) {
            return None;
        }
        let repeat = Repeat {
            onset: self.window.second().unwrap_or(answer.call.into()),
            period: Calls(0).into(),
            copies: count,
            unit: asked.unit,
        };
        Some(
            seen.run
                .fact((Kind::Interleaved, "count"), vec![bound], repeat),
        )
    }
}
