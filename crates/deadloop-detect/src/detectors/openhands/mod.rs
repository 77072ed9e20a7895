//! `openhands`: the four scenarios of the stuck detector of OpenHands. It alarms before a turn.
//!
//! A meter keeps the latest entries since the last user message.

use std::sync::Arc;

use super::entry::detector;
use super::{Measurement, Refusal};
use crate::calls::MANY;
use crate::calls::{
    ALLOW, CallRepetition, Filter, LastReport, MeterCall, MeterEvent, MeterResult, NORMALISE,
    OpenCalls, RESET, ResultComparison, RunState, TextDigest, hash, unit,
};
use crate::measure::fact::Fact;
use crate::measure::meter::{Meter, Recipe};
use crate::settings::param::Param;
use crate::settings::params::Params;
use crate::stream::{Calls, Channel, Event, EventPlace, Kind};

mod entry;
mod recent;

use entry::{HistoryCall, HistoryEntry, Measures};
use recent::RecentEntries;

detector! {
    ENTRY = "openhands", version 2,
    "what OpenHands' stuck detector looks for",
    params: &[ACTION_OBSERVATION, ACTION_ERROR, MONOLOGUE, ALTERNATING, SCAN, ALLOW, RESET, NORMALISE],
    check: check,
    measure: Measurement::Run(Channel::Tools, recipe),
    dead: unreachable_scenarios,
}

const ACTION_OBSERVATION: Param = Param::count("action_observation", 4, MANY)
    .copies()
    .unit("calls")
    .doc("equal actions with equal observations");
const ACTION_ERROR: Param = Param::count("action_error", 3, MANY)
    .copies()
    .unit("calls")
    .doc("equal actions whose observations are errors, and one more");
const MONOLOGUE: Param = Param::count("monologue", 3, MANY)
    .copies()
    .unit("messages")
    .doc("messages with nothing between");
const ALTERNATING: Param = Param::count("alternating", 6, 3..=1000)
    .copies()
    .unit("calls")
    .doc("actions and observations that repeat with period 2");

/// The thresholds, in the order of the scenarios.
const SCENARIOS: [&Param; 4] = [&ACTION_OBSERVATION, &ACTION_ERROR, &MONOLOGUE, &ALTERNATING];

const SCAN: Param = Param::count("scan", 20, 3..=1000)
    .unit("entries")
    .doc("how many last entries are looked at");

/// Returns the scenarios that can never be met, in the order of the thresholds.
fn unreachable_scenarios(params: &Params) -> Vec<Refusal> {
    let scan = params.int(SCAN.name);
    let scenarios = [
        (&ACTION_OBSERVATION, 0, 2),
        (&ACTION_ERROR, 1, 2),
        (&MONOLOGUE, 0, 1),
        (&ALTERNATING, 0, 2),
    ];
    let needs =
        scenarios.map(|(param, more, each)| (param, each * (params.int(param.name) + more)));
    let dead = needs.into_iter().filter(|(_, needs)| *needs > scan);
    dead.map(|(param, needs)| Refusal {
        param: param.name,
        reason: format!(
            "it needs {needs} entries and {scan} are looked at (scan): this scenario is never met"
        ),
    })
    .collect()
}

fn check(params: &Params) -> Result<(), Refusal> {
    let mut dead = unreachable_scenarios(params);
    match (dead.len(), dead.pop()) {
        (4, Some(_)) => Refusal::err(
            SCAN.name,
            format!(
                "none of the four scenarios fits {} entries: this setting can never fire",
                params.int(SCAN.name)
            ),
        ),
        _ => Ok(()),
    }
}

fn recipe(params: &Params) -> Recipe {
    let filter = Filter::new(params);
    let comparison = Arc::new(ResultComparison::new(params));
    let least = SCENARIOS.map(|param| params.int(param.name));
    let scan = params.count(SCAN.name);
    Recipe::run(move || {
        Box::new(OpenHandsMeter {
            run: RunState::new(&filter),
            comparison: Arc::clone(&comparison),
            least,
            history: RecentEntries::new(scan),
            open: OpenCalls::default(),
            said: TextDigest::default(),
            silent: false,
            told: Default::default(),
        })
    })
}

/// A meter of one run.
struct OpenHandsMeter {
    run: RunState,
    comparison: Arc<ResultComparison>,
    /// The threshold of each scenario in the loosest setting.
    least: [i64; 4],
    history: RecentEntries,
    open: OpenCalls<()>,
    /// The text of the turn in progress.
    said: TextDigest,
    /// Whether the turn in progress has no call so far.
    silent: bool,
    told: [LastReport; 4],
}

impl Meter for OpenHandsMeter {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match self.run.see(event, place) {
            MeterEvent::Text(_, text) => self.said.push(text),
            MeterEvent::Call(call) => self.add_call(&call),
            MeterEvent::Result(answer) => self.add_result(&answer),
            MeterEvent::Turn => {
                self.said_nothing_else();
                self.silent = true;
                self.report_scenarios(facts);
            }
            MeterEvent::User => {
                self.said_nothing_else();
                self.history.clear();
            }
            MeterEvent::Forget => self.forget(),
            MeterEvent::Nothing => {}
        }
    }
}

impl OpenHandsMeter {
    /// Ends a turn. A turn without a call becomes a message.
    fn said_nothing_else(&mut self) {
        if std::mem::take(&mut self.silent) {
            self.history.push(HistoryEntry::Message {
                head: self.said.head().to_owned(),
            });
        }
        self.said.clear();
    }

    fn add_call(&mut self, call: &MeterCall<'_>) {
        self.silent = false;
        let canonical = call.arguments.canonical();
        let same = hash(&[call.name, &canonical]);
        let act = HistoryCall {
            // An action with another thought is another action.
            key: hash(&[&same.to_string(), &self.said.hash().to_string()]),
            call: self.run.call(),
            unit: unit(call.name, call.arguments),
        };
        self.history.push(HistoryEntry::Act(act));
        self.open.put(self.run.call(), ());
    }

    fn add_result(&mut self, answer: &MeterResult<'_>) {
        if self.open.take(answer.call).is_none() {
            return;
        }
        let key = hash(&[&self.comparison.result(answer.content, answer.cut)]);
        let error = answer.error;
        self.history.push(HistoryEntry::Observation { key, error });
    }

    fn forget(&mut self) {
        self.history.clear();
        self.open.clear();
        self.said.clear();
        self.silent = false;
        self.told = Default::default();
    }

    /// Reports the scenarios, in order.
    fn report_scenarios(&mut self, facts: &mut Vec<Fact>) {
        let measures = self.history.measures();
        let scenarios = [
            (Kind::SameCallSameResult, "action-observation"),
            (Kind::ErrorRetry, "action-error"),
            (Kind::Monologue, "monologue"),
            (Kind::Cycle, "alternating"),
        ];
        for (i, kind) in scenarios.into_iter().enumerate() {
            let measure = measures.as_ref().map_or(0, |m| m.bounds[i]);
            if self.told[i].is_news(measure, measure >= self.least[i])
                && let Some(measures) = &measures
            {
                let bounds = [(SCENARIOS[i].name, measure)];
                let seen = self.repeat(measures, i);
                facts.push(self.run.fact(kind, bounds, seen));
            }
        }
    }

    fn repeat(&self, measures: &Measures, scenario: usize) -> CallRepetition {
        let count = measures.bounds[scenario].unsigned_abs();
        let (period, copies) = match scenario {
            2 => (0, count),
            3 => (2, count / 2),
            _ => (1, count),
        };
        let last = measures.last.as_ref();
        let (onset, unit) = match scenario {
            2 => (self.run.calls(), measures.message.clone()),
            // Each action of the row is a call. Ignored calls between them are not counted.
            _ => (
                last.map_or(self.run.calls(), |act| {
                    act.call
                        .saturating_sub(Calls(count.saturating_sub(1 + period)))
                }),
                last.map_or(String::new(), |act| act.unit.clone()),
            ),
        };
        CallRepetition {
            onset: onset.into(),
            period: Calls(period).into(),
            copies,
            unit,
        }
    }
}
