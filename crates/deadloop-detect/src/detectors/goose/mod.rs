//! `goose`: what goose watches: the same call too often in a row (off by default), and the same error over and over.
//!
//! A meter keeps two hashes and counts, and of at most 1,000 calls that have no result yet what they are compared by.

use std::sync::Arc;

use super::{Detector, Measuring, Sample};
use crate::fact::Fact;
use crate::meter::{Meter, Recipe};
use crate::param::{Param, Threshold, Zero};
use crate::params::Params;
use crate::row::{Row, n};
use crate::run::sample::{call, error, result};
use crate::run::{
    ALLOW, Answer, Asked, Call, Look, NORMALISE, Pairs, RESET, Repeat, Run, Saw, hash, number,
    prefix, sees_calls, start_of,
};
use crate::spec::Spec;
use crate::stream::{Calls, Channel, Event, EventPlace, Kind};

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    spec: Spec {
        name: "goose",
        version: 1,
        about: "what goose's tool monitor looks for",
        exactly: include_str!("exactly.md"),
        params: &[MAX_REPETITIONS, N, PREFIX, ALLOW, RESET, NORMALISE],
        presets: include_str!("presets.toml"),
        check: sees_calls,
    },
    grid: include_str!("grid.toml"),
    fires: Sample::Run(&FIRES),
    quiet: Sample::Run(&QUIET),
    ..Detector::measuring(Measuring::Run(Channel::Tools, recipe))
};

const CALL: Event<'static> = call("build", "a");
const FAILED: Event<'static> = error("no such file");

static FIRES: [Event<'static>; 6] = [CALL, FAILED, CALL, FAILED, CALL, FAILED];

/// The same call without an error: nothing is said of those by default.
static QUIET: [Event<'static>; 8] = [
    CALL,
    result("1"),
    CALL,
    result("1"),
    CALL,
    result("1"),
    CALL,
    result("1"),
];

const MAX_REPETITIONS: Param = Param::count("max_repetitions", 0, 0..=1000)
    .copies()
    .zero(Zero::Elsewhere)
    .unit("calls")
    .doc("equal calls in a row that are allowed; 0: any number");

const N: Param = n(3, "results", "equal errors in a row");
const PREFIX: Param = prefix();

fn recipe(params: &Params) -> Recipe {
    let look = Arc::new(Look::new(params));
    let prefix = usize::try_from(params.count(PREFIX.name)).unwrap_or(usize::MAX);
    let allowed = match params.count(MAX_REPETITIONS.name) {
        0 => u64::MAX,
        allowed => allowed,
    };
    let least = params.count(N.name);
    Recipe::run(move || {
        Box::new(GooseMeter {
            run: Run::new(Arc::clone(&look)),
            look: Arc::clone(&look),
            prefix,
            allowed,
            least,
            open: Pairs::default(),
            calls: Row::default(),
            errors: Row::default(),
        })
    })
}

/// Follows one run.
struct GooseMeter {
    run: Run,
    look: Arc<Look>,
    prefix: usize,
    /// The longest row of calls that the loosest setting allows.
    allowed: u64,
    /// The shortest row of errors that it accepts.
    least: u64,
    open: Pairs,
    calls: Row,
    errors: Row,
}

impl Meter for GooseMeter {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match self.run.see(event, place) {
            Saw::Call(call) => facts.extend(self.issued(&call)),
            Saw::Result(answer) => facts.extend(self.answered(&answer)),
            Saw::Forget => {
                self.open.clear();
                (self.calls, self.errors) = (Row::default(), Row::default());
            }
            _ => {}
        }
    }
}

impl GooseMeter {
    fn issued(&mut self, call: &Call<'_>) -> Option<Fact> {
        let asked = Asked::of(call);
        let length = self.calls.push(asked.key, self.run.call());
        let unit = asked.unit.clone();
        self.open.put(self.run.call(), asked);
        if length <= self.allowed {
            return None;
        }
        let bounds = vec![number(length) - 1, Threshold::COPIES.always()];
        let kind = (Kind::IdenticalCall, "repetitions");
        Some(self.run.fact(kind, bounds, repeat(&self.calls, unit)))
    }

    fn answered(&mut self, answer: &Answer<'_>) -> Option<Fact> {
        let open = self.open.take(answer.call)?;
        if !answer.error {
            self.errors = Row::default();
            return None;
        }
        let result = self.look.result(answer.content, answer.cut);
        let same = hash(&[&open.tool.to_string(), start_of(&result, self.prefix)]);
        let length = self.errors.push(same, answer.call);
        if length < self.least {
            return None;
        }
        let bounds = vec![Threshold::COPIES.always(), number(length)];
        let kind = (Kind::ErrorRetry, "errors");
        let seen = repeat(&self.errors, open.unit);
        Some(self.run.fact(kind, bounds, seen))
    }
}

fn repeat(row: &Row, unit: String) -> Repeat {
    Repeat {
        onset: row.second().into(),
        period: Calls(1).into(),
        copies: row.length(),
        unit,
    }
}
