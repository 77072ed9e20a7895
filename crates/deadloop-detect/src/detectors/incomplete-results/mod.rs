//! `incomplete-results`: too few of a turn's parallel calls returned a valid result.

use std::collections::VecDeque;

use super::Measurement;
use super::entry::detector;
use crate::calls::{CallRepetition, fact, number};
use crate::measure::fact::Fact;
use crate::measure::meter::{Meter, Recipe};
use crate::settings::param::Param;
use crate::settings::params::Params;
use crate::stream::{Calls, Channel, Event, EventPlace, Fault, Kind};

detector! {
    ENTRY = "incomplete-results", version 3,
    "parallel calls that came back in part: too few of a turn's have a whole result",
    params: &PARAMS,
    check: |_| Ok(()),
    measure: Measurement::Run(Channel::Tools, recipe),
    faults: &[Fault::PartialTools],
}

static PARAMS: [Param; 3] = [
    Param::count("min_ok", 1, 1..=1000)
        .at_least()
        .unit("calls")
        .doc("how many calls have to come back whole; if there are fewer, all of them"),
    Param::count("min_calls", 2, 1..=1000)
        .unit("calls")
        .doc("the fewest calls of a batch that is judged; with 1, each single call that fails is a batch"),
    Param::texts("need", &[])
        .doc("fields that a result has to have; none: any result without an error is whole"),
];

fn recipe(params: &Params) -> Recipe {
    let items = params
        .items("need")
        .iter()
        .filter_map(|item| item.as_text());
    let need: Vec<String> = items.map(str::to_owned).collect();
    let min_calls = params.count("min_calls");
    Recipe::run(move || {
        Box::new(IncompleteResultsMeter {
            min_calls,
            need: need.clone(),
            ..IncompleteResultsMeter::default()
        })
    })
}

/// The maximum number of open calls that are tracked.
const MAX_OPEN_CALLS: usize = 1000;

/// A meter of one run.
#[derive(Default)]
struct IncompleteResultsMeter {
    min_calls: u64,
    need: Vec<String>,
    /// The calls without a result: id and number.
    open: VecDeque<(Option<String>, Calls)>,
    good: u64,
    /// The number of calls in the current batch.
    calls: u64,
    results: u64,
    failed: Option<Calls>,
}

impl Meter for IncompleteResultsMeter {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match event {
            Event::Call { id, .. } if self.open.len() < MAX_OPEN_CALLS => {
                let number = place.calls.saturating_sub(Calls(1));
                self.open.push_back((id.map(str::to_owned), number));
                self.calls += 1;
            }
            Event::Result {
                id, content, error, ..
            } => {
                let whole = *error != Some(true) && self.has(content);
                self.result(*id, whole);
                if self.open.is_empty() {
                    self.close(place, facts);
                }
            }
            // Results arrive after the response has ended. They are missing only when the next turn begins.
            Event::Finish(_) | Event::Closed if self.results == 0 => {}
            Event::Turn { .. } | Event::Finish(_) | Event::Closed => self.close(place, facts),
            _ => {}
        }
    }
}

impl IncompleteResultsMeter {
    fn has(&self, content: &str) -> bool {
        if self.need.is_empty() {
            return true;
        }
        let value: Option<serde_json::Value> = serde_json::from_str(content).ok();
        let there = |name: &String| {
            let field = value.as_ref().and_then(|value| value.get(name));
            field.is_some_and(|field| !field.is_null())
        };
        self.need.iter().all(there)
    }

    fn result(&mut self, id: Option<&str>, whole: bool) {
        let at = match id {
            None => (!self.open.is_empty()).then_some(0),
            Some(_) => self.open.iter().position(|(open, _)| open.as_deref() == id),
        };
        let Some((_, call)) = at.and_then(|at| self.open.remove(at)) else {
            return;
        };
        self.results += 1;
        if whole {
            self.good += 1
        } else {
            self.failed = Some(self.failed.map_or(call, |first| first.min(call)))
        }
    }

    /// Ends a batch. Open calls count as failed.
    fn close(&mut self, place: EventPlace, facts: &mut Vec<Fact>) {
        let missing = self.open.front().map(|(_, call)| *call);
        self.open.clear();
        let failed = match (self.failed.take(), missing) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let good = std::mem::take(&mut self.good);
        self.results = 0;
        let calls = std::mem::take(&mut self.calls);
        let is_batch = calls >= self.min_calls;
        if let Some(first) = failed.filter(|_| is_batch) {
            let said = format!("{good} of {calls} calls have a whole result");
            let kind = (Kind::Fault(Fault::PartialTools), "results");
            let seen = CallRepetition::single(first, said);
            facts.push(fact(place, kind, [("min_ok", number(good + 1))], seen));
        }
    }
}
