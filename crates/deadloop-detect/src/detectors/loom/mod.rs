//! `loom`: the four conditions of the RecursionMonitor of Loom. It alarms before a turn.
//!
//! A meter keeps the hashes of the last outputs, two rows and two counts.

use std::sync::Arc;

use super::entry::detector;
use super::{Measurement, Refusal};
use crate::calls::{
    ALLOW, CallRepetition, ErrorCounter, Filter, LastReport, MeterEvent, NORMALISE, RESET,
    ResultComparison, RunState, TELLS, TELLS_WARNING, WARN_AT, alarm_share, hash, number,
};
use crate::calls::{ItemRow, MANY};
use crate::measure::fact::{Bound, Fact};
use crate::measure::meter::{Meter, Recipe};
use crate::settings::param::{DECIMAL, Param, Threshold};
use crate::settings::params::Params;
use crate::settings::value::Value;
use crate::stream::{Calls, Channel, Event, EventPlace, Kind, TextChannel};

mod outputs;

use outputs::{MOST_KEPT, Outputs, TurnOutput};

detector! {
    ENTRY = "loom", version 1,
    "what Loom's recursion monitor looks for",
    params: &[
        MAX_ITERATIONS,
        DUPLICATE_THRESHOLD,
        LOOP_DETECTION_WINDOW,
        ERROR_THRESHOLD,
        KEEP_CALLS,
        KEEP_OUTPUTS,
        TELLS,
        WARN_AT,
        ALLOW,
        RESET,
        NORMALISE,
    ],
    check: |_| Ok(()),
    measure: Measurement::Run(Channel::Tools, recipe),
    dead: unreachable_conditions,
}

const MAX_ITERATIONS: Param = Param::count("max_iterations", 50, 1..=1_000_000)
    .at_most()
    .unit("turns")
    .doc("turns that are allowed");

const DUPLICATE_THRESHOLD: Param = Param::count("duplicate_threshold", 3, MANY)
    .copies()
    .unit("calls")
    .doc("calls of one tool in a row, whatever they ask");

const LOOP_DETECTION_WINDOW: Param = Param::count("loop_detection_window", 5, 1..=MOST_KEPT)
    .at_most()
    .unit("turns")
    .doc("this many outputs in a row equal the ones before them, no fewer and no more");

const RATE: Threshold = Threshold::AT_MOST.decimal();

const ERROR_THRESHOLD: Param = Param::share("error_threshold", 0.5)
    .at_most()
    .unit("of the turns")
    .doc("the share of bad turns has to be above it");

const KEEP_CALLS: Param = Param::count("keep_calls", 20, 1..=1000)
    .unit("calls")
    .doc("how many last calls are kept");

const KEEP_OUTPUTS: Param = Param::count("keep_outputs", 10, 1..=MOST_KEPT)
    .unit("turns")
    .doc("how many last outputs are kept");

/// Returns the conditions that can never be met. That on the number of turns can always be met.
fn unreachable_conditions(params: &Params) -> Vec<Refusal> {
    let mut dead = Vec::new();
    let mut never = |param: &Param, reason: String| {
        dead.push(Refusal {
            param: param.name,
            reason,
        })
    };
    let (row, kept) = (
        params.int(DUPLICATE_THRESHOLD.name),
        params.int(KEEP_CALLS.name),
    );
    let warns = i64::from(params.text(TELLS.name) == TELLS_WARNING);
    if row - warns > kept {
        let reason = format!(
            "{row} calls in a row are never among the last {kept} (keep_calls): this condition is never met"
        );
        never(&DUPLICATE_THRESHOLD, reason);
    }
    let (window, kept) = (
        params.int(LOOP_DETECTION_WINDOW.name),
        params.int(KEEP_OUTPUTS.name),
    );
    if warns == 0 && 2 * window > kept {
        let reason = format!(
            "it compares the last {} outputs and keeps {kept} (keep_outputs): this condition is never met",
            2 * window
        );
        never(&LOOP_DETECTION_WINDOW, reason);
    }
    if warns == 0 && params.float(ERROR_THRESHOLD.name) >= 1.0 {
        let reason = "no share of the turns is above 1: this condition is never met";
        never(&ERROR_THRESHOLD, reason.into());
    }
    dead
}

fn recipe(params: &Params) -> Recipe {
    let filter = Filter::new(params);
    let comparison = Arc::new(ResultComparison::new(params));
    let least = LoosestThresholds {
        turns: params.int(MAX_ITERATIONS.name),
        row: params.int(DUPLICATE_THRESHOLD.name),
        window: params.int(LOOP_DETECTION_WINDOW.name),
        rate: params
            .get(ERROR_THRESHOLD.name)
            .map_or(0, |value: &Value| RATE.number(value)),
    };
    let keep = params.count(KEEP_CALLS.name);
    let outputs = Outputs::new(params.count(KEEP_OUTPUTS.name));
    let warning = params.text(TELLS.name) == TELLS_WARNING;
    let warn_at = alarm_share(params);
    Recipe::run(move || {
        Box::new(LoomMeter {
            run: RunState::new(&filter),
            comparison: Arc::clone(&comparison),
            least,
            keep,
            warning,
            warn_at,
            names: ItemRow::default(),
            told: LastReport::default(),
            turn: None,
            outputs: outputs.clone(),
            errors: ErrorCounter::default(),
        })
    })
}

/// The thresholds of the loosest setting.
#[derive(Clone, Copy)]
struct LoosestThresholds {
    turns: i64,
    row: i64,
    window: i64,
    rate: i64,
}

/// A meter of one run.
struct LoomMeter {
    run: RunState,
    comparison: Arc<ResultComparison>,
    least: LoosestThresholds,
    /// The number of kept calls.
    keep: u64,
    /// Whether the meter warns instead of stopping.
    warning: bool,
    /// The share of the maximum turns at which the meter warns, in millionths.
    warn_at: i64,
    names: ItemRow,
    told: LastReport,
    /// The turn in progress.
    turn: Option<TurnOutput>,
    outputs: Outputs,
    errors: ErrorCounter,
}

impl Meter for LoomMeter {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match self.run.see(event, place) {
            MeterEvent::Call(call) => {
                self.names.push(hash(&[call.name]), self.run.call());
            }
            MeterEvent::Result(answer) => {
                if let Some(output) = &mut self.turn {
                    output.result(|| self.comparison.result(answer.content, answer.cut));
                    self.errors.result(answer.error);
                }
            }
            MeterEvent::Text(TextChannel::Answer, text) => {
                if let Some(output) = &mut self.turn {
                    output.answer(text);
                }
            }
            MeterEvent::Turn => self.begin_turn(facts),
            MeterEvent::Forget => {
                self.names = ItemRow::default();
                self.told = LastReport::default();
                self.turn = None;
                self.outputs.clear();
                self.errors = ErrorCounter::default();
            }
            _ => {}
        }
    }
}

impl LoomMeter {
    /// Ends a turn, begins the next one, and tests the conditions in order.
    fn begin_turn(&mut self, facts: &mut Vec<Fact>) {
        let began = self.run.calls();
        let ended = self.turn.replace(TurnOutput::new(began));
        self.errors.turn(began);
        facts.extend(self.turns());
        facts.extend(self.row());
        let again = match ended {
            Some(output) => self.outputs.push(&output),
            None => Vec::new(),
        };
        if !self.warning {
            facts.extend(again.into_iter().filter_map(|window| self.outputs(window)));
            facts.extend(self.rate());
        }
    }

    /// Returns a fact about the number of ended turns.
    fn turns(&self) -> Option<Fact> {
        let ended = self.run.ended().0;
        let most = number(ended)
            .saturating_mul(DECIMAL)
            .checked_div(self.warn_at)?;
        let seen = CallRepetition::calls(Calls(0), ended, String::new());
        let bounds = [(MAX_ITERATIONS.name, most)];
        let check = if self.warning {
            "warning"
        } else {
            "max-iterations"
        };
        let kind = (Kind::Iterations, check);
        (most >= self.least.turns).then(|| self.run.fact(kind, bounds, seen))
    }

    /// Returns a fact if the last calls are of one tool.
    fn row(&mut self) -> Option<Fact> {
        let length = self.names.length().min(self.keep);
        // A warning is one call earlier, but not before the first call.
        let early = i64::from(self.warning && length > 0);
        let bound = number(length) + early;
        if !self.told.is_news(bound, bound >= self.least.row) {
            return None;
        }
        let seen = CallRepetition {
            onset: self.names.second().into(),
            period: Calls(1).into(),
            copies: length,
            unit: String::new(),
        };
        let bounds = [(DUPLICATE_THRESHOLD.name, bound)];
        let kind = (Kind::IdenticalCall, "duplicate-tools");
        Some(self.run.fact(kind, bounds, seen))
    }

    /// Returns a fact about `window` outputs that equal the outputs before them.
    fn outputs(&self, window: u64) -> Option<Fact> {
        if number(window) < self.least.window {
            return None;
        }
        let (first, second) = self.outputs.copies(window)?;
        let seen = CallRepetition {
            onset: second.into(),
            period: second.saturating_sub(first).into(),
            copies: 2,
            unit: String::new(),
        };
        let bounds = [(LOOP_DETECTION_WINDOW.name, Bound::Exactly(number(window)))];
        Some(self.run.fact((Kind::Cycle, "loop-detected"), bounds, seen))
    }

    /// Returns a fact if the share of bad turns is too high.
    fn rate(&self) -> Option<Fact> {
        let rate = self.errors.rate(self.run.ended())?;
        let seen = CallRepetition::calls(self.errors.second(), self.errors.bad(), String::new());
        let bounds = [(ERROR_THRESHOLD.name, rate)];
        let kind = (Kind::ErrorRetry, "error-threshold");
        (rate >= self.least.rate).then(|| self.run.fact(kind, bounds, seen))
    }
}
