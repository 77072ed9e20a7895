//! `error-rate`: too many of the turns so far met an error. It alarms before a turn.
//!
//! A meter keeps two counts.

use std::sync::Arc;

use super::{Detector, Measuring, Refusal, Sample};
use crate::fact::Fact;
use crate::meter::{Meter, Recipe};
use crate::param::{Mark, Param};
use crate::params::Params;
use crate::run::sample::{TURN, call, error, result};
use crate::run::{ALLOW, Errors, Look, NORMALISE, RESET, Repeat, Run, Saw, number, sees_calls};
use crate::spec::Spec;
use crate::stream::{Channel, Event, EventPlace, Kind};

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    spec: Spec {
        name: "error-rate",
        version: 1,
        about: "too many turns that met an error",
        exactly: include_str!("exactly.md"),
        params: &[RATE, MIN_TURNS, ALLOW, RESET, NORMALISE],
        presets: include_str!("presets.toml"),
        check,
    },
    grid: include_str!("grid.toml"),
    fires: Sample::Run(&FIRES),
    quiet: Sample::Run(&QUIET),
    ..Detector::measuring(Measuring::Run(Channel::Tools, recipe))
};

const CALL: Event<'static> = call("build", "");

static FIRES: [Event<'static>; 7] = [
    TURN,
    CALL,
    error("no such file"),
    TURN,
    CALL,
    error("no such target"),
    TURN,
];

/// One of two is no more than half.
static QUIET: [Event<'static>; 7] = [TURN, CALL, result("ok"), TURN, CALL, error("no"), TURN];

const RATE: Param = Param::share("rate", 0.5)
    .at_most()
    .unit("of the turns")
    .doc("the share of bad turns has to be above it");

const MIN_TURNS: Param = Param::count("min_turns", 1, 1..=100_000)
    .at_most()
    .unit("turns")
    .doc("the fewest turns that have ended");

/// No share is above 1.
fn check(params: &Params) -> Result<(), Refusal> {
    if params.float(RATE.name) >= 1.0 {
        return Err(Refusal {
            param: RATE.name,
            reason: "no share of the turns is above 1: this setting can never fire".into(),
        });
    }
    sees_calls(params)
}

fn recipe(params: &Params) -> Recipe {
    let look = Arc::new(Look::new(params));
    let number = |param: &Param| match (param.mark, params.get(param.name)) {
        (Mark::Threshold(threshold), Some(value)) => threshold.number(value),
        _ => 0,
    };
    let least = [number(&RATE), number(&MIN_TURNS)];
    Recipe::run(move || {
        Box::new(RateMeter {
            run: Run::new(Arc::clone(&look)),
            least,
            errors: Errors::default(),
        })
    })
}

/// Follows one run.
struct RateMeter {
    run: Run,
    /// The lowest rate, in millionths, and the fewest turns that the loosest setting accepts.
    least: [i64; 2],
    errors: Errors,
}

impl Meter for RateMeter {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match self.run.see(event, place) {
            Saw::Result(answer) => self.errors.result(answer.error),
            Saw::Turn(_) => {
                self.errors.turn(self.run.calls());
                facts.extend(self.fact());
            }
            Saw::Forget => self.errors = Errors::default(),
            _ => {}
        }
    }
}

impl RateMeter {
    fn fact(&self) -> Option<Fact> {
        let ended = self.run.ended();
        let bounds = [self.errors.rate(ended)?, number(ended.0)];
        let reached = bounds.iter().zip(self.least);
        if reached.into_iter().any(|(bound, least)| *bound < least) {
            return None;
        }
        let seen = Repeat::calls(self.errors.second(), self.errors.bad(), String::new());
        let kind = (Kind::ErrorRetry, "rate");
        Some(self.run.fact(kind, bounds.to_vec(), seen))
    }
}
