//! [`disorders`]: finds messages of a run in an invalid order.
//!
//! Chat APIs require that the results of a turn's calls follow the turn directly, that every result has a call, and
//! that no turn is empty.

use std::collections::{HashMap, VecDeque};

use deadloop_detect::Event;

use super::Transcript;

deadloop_detect::words! {
    /// The kinds of disorder.
    pub enum DisorderKind {
        /// A call that never gets a result, although the run continues.
        Unanswered = "unanswered",
        /// A call whose result comes only after the run has continued.
        Between = "between",
        /// A result without a call.
        StrayResult = "stray-result",
        /// A second result of a call.
        SecondResult = "second-result",
        /// A turn without text and calls.
        EmptyTurn = "empty-turn",
        /// A result before that of an earlier call. Only strict APIs reject it.
        OtherOrder = "other-order",
    }
}

impl DisorderKind {
    /// Returns a description of the disorder.
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

    /// Returns whether only strict APIs reject the order.
    pub fn is_strict(self) -> bool {
        self == Self::OtherOrder
    }
}

/// A message in an invalid order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disorder {
    /// The kind of disorder.
    pub kind: DisorderKind,
    /// The index of the event at which it appears, from 0.
    pub event: u64,
}

/// A reader of one run. Calls are named by their number among those with an id.
#[derive(Default)]
struct OrderReader<'a> {
    /// Whether each call has its result.
    answered: Vec<bool>,
    /// The calls of each id, the first open one in front.
    by_id: HashMap<&'a str, VecDeque<usize>>,
    /// The events at which the run continued without results, each with the number of calls before it. Both rise.
    passed: Vec<(u64, usize)>,
    /// The number of the first call that may be open, apart from calls that the run passed over.
    open: usize,
    /// The turn in progress: its first event, and whether it has any content.
    turn: Option<(u64, bool)>,
    found: Vec<Disorder>,
}

/// Returns every disorder in a run, in the order in which they appear.
pub fn disorders(run: &Transcript) -> Vec<Disorder> {
    let mut reader = OrderReader::default();
    for (number, event) in run.stream() {
        reader.take(number, &event);
    }
    // A call at the very end is one that nobody answered yet.
    for call in 0..reader.answered.len() {
        if let (false, Some(event)) = (reader.answered[call], reader.passed_at(call)) {
            reader.report(DisorderKind::Unanswered, event);
        }
    }
    reader.found.sort_by_key(|one| one.event);
    reader.found
}

impl<'a> OrderReader<'a> {
    fn report(&mut self, kind: DisorderKind, event: u64) {
        self.found.push(Disorder { kind, event });
    }

    fn take(&mut self, number: u64, event: &Event<'a>) {
        match event {
            Event::Turn { .. } => {
                self.end_turn();
                self.pass(number);
                self.turn = Some((number, false));
            }
            Event::User(_) | Event::System => self.pass(number),
            Event::Text(_, text) => self.fill(!text.is_empty()),
            Event::Call { id, .. } => {
                self.fill(true);
                if let Some(id) = id {
                    let calls = self.by_id.entry(id).or_default();
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

    fn fill(&mut self, something: bool) {
        if let Some((_, filled)) = &mut self.turn {
            *filled |= something;
        }
    }

    fn end_turn(&mut self) {
        if let Some((began, false)) = self.turn.take() {
            self.report(DisorderKind::EmptyTurn, began);
        }
    }

    /// Marks the open calls when the run continues without their results.
    fn pass(&mut self, number: u64) {
        let calls = self.answered.len();
        if self.passed.last().is_none_or(|(_, before)| *before < calls) {
            self.passed.push((number, calls));
            self.open = calls;
        }
    }

    /// Returns the event at which the run continued without a call's result, if it did.
    fn passed_at(&self, call: usize) -> Option<u64> {
        let at = self.passed.partition_point(|(_, before)| *before <= call);
        self.passed.get(at).map(|(number, _)| *number)
    }

    fn add_result(&mut self, number: u64, id: Option<&'a str>) {
        let calls = id.and_then(|id| self.by_id.get_mut(id));
        let kind = match calls.map(VecDeque::pop_front) {
            None => DisorderKind::StrayResult,
            Some(None) => DisorderKind::SecondResult,
            Some(Some(call)) => {
                self.answered[call] = true;
                if let Some(passed) = self.passed_at(call) {
                    return self.report(DisorderKind::Between, passed);
                }
                while self.answered.get(self.open) == Some(&true) {
                    self.open += 1;
                }
                if self.open > call {
                    return;
                }
                DisorderKind::OtherOrder
            }
        };
        self.report(kind, number);
    }
}
