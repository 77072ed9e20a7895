//! `call-novelty`: only a few different calls among the last ones, in whatever order, told at the result.
//!
//! A meter keeps the hashes of the calls in its window.

use super::{Detector, Measuring, Refusal, Sample};
use crate::fact::Fact;
use crate::meter::Recipe;
use crate::param::Param;
use crate::params::Params;
use crate::run::sample::{call, result};
use crate::run::{
    ALLOW, ARGUMENTS, Answer, Answers, Asked, AtResults, NORMALISE, RESET, Repeat, STATELESS_CHARS,
    STATELESS_N, Same, Seen, Told, VOLATILE, WINDOW as LONGEST, Window, hash, sees_calls, window,
    with_result,
};
use crate::spec::Spec;
use crate::stream::{Calls, Channel, Event, Kind};

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
    let most = params.int(MAX_DISTINCT.name);
    let window = params.count(WINDOW.name);
    let with_result = params.flag(WITH_RESULT.name);
    let arguments = params.flag(ARGUMENTS.name);
    AtResults::recipe(params, move || Novelty {
        with_result,
        arguments,
        most,
        window: Window::new(window),
        told: Told::default(),
        apart: 0,
    })
}

/// The last calls.
struct Novelty {
    with_result: bool,
    arguments: bool,
    /// The most different ones that the loosest setting accepts.
    most: i64,
    window: Window,
    told: Told,
    /// Calls that were told apart from all others.
    apart: u64,
}

impl Novelty {
    /// The key of a call in the window. As long as too few results that say nothing came, each is another one.
    fn told_apart(&mut self, key: u128, same: &Same, seen: &Seen<'_>) -> u128 {
        if seen.counts(same, same.times) {
            return key;
        }
        self.apart += 1;
        hash(&[&key.to_string(), &self.apart.to_string()])
    }
}

impl Answers for Novelty {
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
        let key = self.told_apart(key, &same, &seen);
        self.window.push(key, answer.call.into());
        let distinct = self.window.distinct();
        let value = distinct.unwrap_or(i64::MAX);
        if !self.told.is_news(value, value <= self.most) {
            return None;
        }
        let repeat = Repeat {
            onset: self.window.first_again().unwrap_or(answer.call.into()),
            period: Calls(0).into(),
            copies: 0,
            unit: asked.unit,
        };
        let kind = (Kind::AperiodicStagnation, "distinct");
        Some(seen.run.fact(kind, vec![value], repeat))
    }
}
