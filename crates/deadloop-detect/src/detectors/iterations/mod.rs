//! `iterations`: more turns, calls or supersteps than the limit allows, or nearly as many.
//!
//! A meter keeps one count. If the limit grows, it also keeps the highest reached limit.

use super::entry::detector;
use super::{Measurement, Refusal};
use crate::calls::{
    ALLOW, CallRepetition, Filter, MeterEvent, RESET, RunState, TELLS, TELLS_WARNING, WARN_AT,
    alarm_share, number,
};
use crate::measure::fact::Fact;
use crate::measure::meter::{Meter, Recipe};
use crate::settings::param::{DECIMAL, Param};
use crate::settings::params::Params;
use crate::stream::{Calls, Channel, Event, EventPlace, Kind};

mod growth;

pub use growth::grown;
use growth::{CANCEL_AFTER, GROW, GROW_BY, GrowingLimit, HARD};

detector! {
    ENTRY = "iterations", version 1,
    "too many turns, calls or supersteps",
    params: &[LIMIT, UNIT, TELLS, WARN_AT, GROW, GROW_BY, HARD, CANCEL_AFTER, ALLOW, RESET],
    check: check,
    measure: Measurement::Run(Channel::Tools, recipe),
    dead: unreachable_limits,
    gone: &["normalise"],
}

/// The maximum limit of a setting.
const MOST: i64 = 100_000;

const LIMIT: Param = Param::count("limit", 50, 1..=MOST)
    .at_most()
    .unit("of the unit")
    .doc("how many are allowed");

const UNIT: Param = Param::word("unit", "turns", &["turns", "calls", "supersteps"])
    .doc("what is counted; a superstep is a turn, or the calls of one");

/// Rejects a limit above the hard one, and other contradictions. A limit that grows without end is allowed: it only
/// asks the user.
fn check(params: &Params) -> Result<(), Refusal> {
    let (limit, hard) = (params.int(LIMIT.name), params.int(HARD.name));
    let refused = |param: &Param, reason: String| Refusal::err(param.name, reason);
    let warning = params.text(TELLS.name) == TELLS_WARNING;
    let grows = growth::grows(params);
    match () {
        () if hard != 0 && !grows => refused(
            &HARD,
            format!("limit {limit} never grows to {hard}: expected grow above 1 or grow_by above 0"),
        ),
        () if hard != 0 && limit > hard => {
            refused(&LIMIT, format!("{limit} is above the hard limit {hard}"))
        }
        () if grows && warning => refused(
            &TELLS,
            "of a limit that grows the first warning is that of one that does not: leave grow at 1, grow_by and hard at 0"
                .into(),
        ),
        () => Ok(()),
    }
}

/// Returns the reason why a limit that grows without end never fires.
fn unreachable_limits(params: &Params) -> Vec<Refusal> {
    let ends = params.int(HARD.name) != 0 || params.int(CANCEL_AFTER.name) != 0;
    if ends || !growth::grows(params) {
        return Vec::new();
    }
    let reason = "with hard 0 and cancel_after 0 the limit only asks: it never fires";
    vec![Refusal {
        param: GROW.name,
        reason: reason.into(),
    }]
}

#[derive(Clone, Copy, PartialEq)]
enum IterationUnit {
    Turns,
    Calls,
    Supersteps,
}

fn recipe(params: &Params) -> Recipe {
    let filter = Filter::new(params);
    let counts = match params.text(UNIT.name) {
        "calls" => IterationUnit::Calls,
        "supersteps" => IterationUnit::Supersteps,
        _ => IterationUnit::Turns,
    };
    let least = params.int(LIMIT.name);
    let warn_at = alarm_share(params);
    let growth = GrowingLimit::new(params);
    Recipe::run(move || {
        Box::new(IterationsMeter {
            run: RunState::new(&filter),
            counts,
            least,
            warn_at,
            growth: growth.clone(),
            steps: 0,
            fresh: false,
        })
    })
}

/// A meter of one run.
struct IterationsMeter {
    run: RunState,
    counts: IterationUnit,
    /// The limit of the loosest setting.
    least: i64,
    /// The share of a limit at which the meter alarms, in millionths. A million, unless it warns.
    warn_at: i64,
    growth: Option<GrowingLimit>,
    /// The number of begun supersteps.
    steps: u64,
    /// Whether the turn has no call so far.
    fresh: bool,
}

impl Meter for IterationsMeter {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        let used = match self.run.see(event, place) {
            MeterEvent::Turn => {
                self.steps += 1;
                self.fresh = true;
                match self.counts {
                    IterationUnit::Turns => self.run.ended().0,
                    IterationUnit::Supersteps => self.steps.saturating_sub(1),
                    IterationUnit::Calls => return,
                }
            }
            MeterEvent::Call(_) => {
                let first = std::mem::take(&mut self.fresh);
                self.steps += u64::from(first);
                match self.counts {
                    IterationUnit::Calls => self.run.call().0,
                    IterationUnit::Supersteps if first => self.steps.saturating_sub(1),
                    IterationUnit::Supersteps | IterationUnit::Turns => return,
                }
            }
            MeterEvent::Forget => {
                (self.steps, self.fresh) = (0, false);
                return;
            }
            _ => return,
        };
        facts.extend(self.count_use(used));
    }
}

impl IterationsMeter {
    /// Records the start of another turn, call or superstep, after `used` earlier ones.
    fn count_use(&mut self, used: u64) -> Option<Fact> {
        let highest = match &mut self.growth {
            Some(growth) => growth.used_up(used)?,
            None => number(used)
                .saturating_mul(DECIMAL)
                .checked_div(self.warn_at)
                .unwrap_or(i64::MAX),
        };
        if highest < self.least {
            return None;
        }
        let seen = CallRepetition::calls(Calls(0), used, String::new());
        let check = if self.warn_at < DECIMAL {
            "warning"
        } else {
            "limit"
        };
        let kind = (Kind::Iterations, check);
        Some(self.run.fact(kind, [(LIMIT.name, highest)], seen))
    }
}
