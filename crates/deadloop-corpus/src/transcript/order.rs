//! [`find_disorders`]: finds messages of a run in an invalid order.
//!
//! Chat APIs require that a turn is directly followed by the results of its calls. Every result needs a call, and no turn
//! may be empty.

use std::collections::{HashMap, VecDeque};

use deadloop_detect::Event;

use super::Transcript;

deadloop_detect::words! {
    /// Kind of disorder.
    pub enum DisorderKind {
        /// A call never gets a result, although the run continues.
        Unanswered = "unanswered",
        /// The result of a call comes only after the run has continued.
        Between = "between",
        /// A result without a call.
        StrayResult = "stray-result",
        /// A second result of a call.
        SecondResult = "second-result",
        /// A turn without text and calls.
        EmptyTurn = "empty-turn",
        /// A result comes before the result of an earlier call. Only strict APIs reject it.
        OtherOrder = "other-order",
    }
}

impl DisorderKind {
    /// Returns a description of this kind of disorder, for messages.
    pub fn words(self) -> &'static str {
        match self {
            Self::Unanswered => "a call has no result before the run goes on",
            Self::Between => "something stands between a call and its result",
            Self::StrayResult => "a result belongs to no call",
            Self::SecondResult => "a call has a second result",
            Self::EmptyTurn => "a turn has neither text nor call",
            Self::OtherOrder => "results stand in another order than their calls",
        }
    }

    /// Returns whether only strict APIs reject the disorder.
    pub fn is_strict(self) -> bool {
        self == Self::OtherOrder
    }
}

/// A message in an invalid order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disorder {
    /// Kind of disorder.
    pub kind: DisorderKind,
    /// Index of the event at which the disorder appears, from 0.
    pub event: u64,
}

/// A checker of the order of a run's events. Calls are numbered among those with an id.
#[derive(Default)]
struct OrderChecker<'a> {
    /// Whether each call of the run already has a result.
    answered: Vec<bool>,
    /// Open calls of each id, oldest first.
    calls_by_id: HashMap<&'a str, VecDeque<usize>>,
    /// Events at which the run continued, each with the number of calls before it. Both numbers increase.
    steps: Vec<(u64, usize)>,
    /// Number of the first call that may be open. Calls before the last continuation are not considered.
    first_open: usize,
    /// First event of the open turn, and whether the turn has any content.
    turn: Option<(u64, bool)>,
    found: Vec<Disorder>,
}

/// Returns all disorders of a run, in order of appearance.
pub fn find_disorders(run: &Transcript) -> Vec<Disorder> {
    let mut reader = OrderChecker::default();
    for (number, event) in run.stream() {
        reader.add_event(number, &event);
    }
    // A call without a continuation may still get its result.
    for call in 0..reader.answered.len() {
        if let (false, Some(event)) = (reader.answered[call], reader.find_step_after(call)) {
            reader.report(DisorderKind::Unanswered, event);
        }
    }
    reader.found.sort_by_key(|one| one.event);
    reader.found
}

impl<'a> OrderChecker<'a> {
    fn report(&mut self, kind: DisorderKind, event: u64) {
        self.found.push(Disorder { kind, event });
    }

    fn add_event(&mut self, number: u64, event: &Event<'a>) {
        match event {
            Event::Turn { .. } => {
                self.end_turn();
                self.continue_run(number);
                self.turn = Some((number, false));
            }
            Event::User(_) | Event::System => self.continue_run(number),
            Event::Text(_, text) => self.mark_turn_content(!text.is_empty()),
            Event::Call { id, .. } => {
                self.mark_turn_content(true);
                if let Some(id) = id {
                    let calls = self.calls_by_id.entry(id).or_default();
                    calls.push_back(self.answered.len());
                    self.answered.push(false);
                }
            }
            Event::Result { id, .. } => self.add_result(number, *id),
            Event::Finish(_) => {
                // A turn that a limit or an error cut may be empty.
                self.turn = None;
            }
            _ => {}
        }
    }

    fn mark_turn_content(&mut self, has_content: bool) {
        if let Some((_, filled)) = &mut self.turn {
            *filled |= has_content;
        }
    }

    fn end_turn(&mut self) {
        if let Some((began, false)) = self.turn.take() {
            self.report(DisorderKind::EmptyTurn, began);
        }
    }

    /// Records that the run continues, possibly without the results of open calls.
    fn continue_run(&mut self, number: u64) {
        let calls = self.answered.len();
        if self.steps.last().is_none_or(|(_, before)| *before < calls) {
            self.steps.push((number, calls));
            self.first_open = calls;
        }
    }

    /// Returns the event at which the run continued after a call, if any.
    fn find_step_after(&self, call: usize) -> Option<u64> {
        let at = self.steps.partition_point(|(_, before)| *before <= call);
        self.steps.get(at).map(|(number, _)| *number)
    }

    fn add_result(&mut self, number: u64, id: Option<&'a str>) {
        let calls = id.and_then(|id| self.calls_by_id.get_mut(id));
        let kind = match calls.map(VecDeque::pop_front) {
            None => DisorderKind::StrayResult,
            Some(None) => DisorderKind::SecondResult,
            Some(Some(call)) => {
                self.answered[call] = true;
                if let Some(event) = self.find_step_after(call) {
                    return self.report(DisorderKind::Between, event);
                }
                while self.answered.get(self.first_open) == Some(&true) {
                    self.first_open += 1;
                }
                if self.first_open > call {
                    return;
                }
                DisorderKind::OtherOrder
            }
        };
        self.report(kind, number);
    }
}
