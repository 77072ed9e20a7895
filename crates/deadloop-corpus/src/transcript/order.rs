//! [`disorders`]: where the messages of a run do not stand in the order that chat APIs ask for: after a turn with calls
//! come the results of its calls and nothing else, every result has its call, and no turn is empty.

use std::collections::{HashMap, VecDeque};

use deadloop_detect::Event;

use super::Transcript;

deadloop_detect::words! {
    /// What is wrong.
    pub enum DisorderKind {
        /// A turn begins, or a user speaks, and a call has no result yet; it never gets one.
        Unanswered = "unanswered",
        /// The same, and the result comes later.
        Between = "between",
        /// A result that belongs to no call.
        StrayResult = "stray-result",
        /// A second result of a call.
        SecondResult = "second-result",
        /// A turn without text and call.
        EmptyTurn = "empty-turn",
        /// A result before that of an earlier call. Only strict readers mind.
        OtherOrder = "other-order",
    }
}

impl DisorderKind {
    /// Names it in words.
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

    /// Whether only strict readers mind.
    pub fn is_strict(self) -> bool {
        self == Self::OtherOrder
    }
}

/// One thing wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disorder {
    /// What.
    pub kind: DisorderKind,
    /// The number of the event at which it shows, from 0.
    pub event: u64,
}

/// Reads a run. Calls are named by their number among those with an id.
#[derive(Default)]
struct Reader<'a> {
    /// Of each call whether it has its result.
    answered: Vec<bool>,
    /// The calls of each id, the first that is open in front.
    by_id: HashMap<&'a str, VecDeque<usize>>,
    /// Where the run went on, and the first call that it did not pass over: both rise.
    passed: Vec<(u64, usize)>,
    /// No call before this one is open, those that were passed over aside.
    open: usize,
    /// The turn that goes on: where it began, and whether something is in it.
    turn: Option<(u64, bool)>,
    found: Vec<Disorder>,
}

/// Everything in a run that is out of order, in the order in which it shows.
pub fn disorders(run: &Transcript) -> Vec<Disorder> {
    let mut reader = Reader::default();
    for (number, event) in run.stream() {
        reader.take(number, &event);
    }
    // A call at the very end is one that nobody answered yet.
    for call in 0..reader.answered.len() {
        if let (false, Some(event)) = (reader.answered[call], reader.passed_at(call)) {
            reader.tell(DisorderKind::Unanswered, event);
        }
    }
    reader.found.sort_by_key(|one| one.event);
    reader.found
}

impl<'a> Reader<'a> {
    fn tell(&mut self, kind: DisorderKind, event: u64) {
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
            Event::Result { id, .. } => self.answer(number, *id),
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
            self.tell(DisorderKind::EmptyTurn, began);
        }
    }

    /// The run goes on: whoever has no result yet is passed over.
    fn pass(&mut self, number: u64) {
        let calls = self.answered.len();
        if self.passed.last().is_none_or(|(_, before)| *before < calls) {
            self.passed.push((number, calls));
            self.open = calls;
        }
    }

    /// Where the run went on after a call, if it did.
    fn passed_at(&self, call: usize) -> Option<u64> {
        let at = self.passed.partition_point(|(_, before)| *before <= call);
        self.passed.get(at).map(|(number, _)| *number)
    }

    fn answer(&mut self, number: u64, id: Option<&'a str>) {
        let calls = id.and_then(|id| self.by_id.get_mut(id));
        let kind = match calls.map(VecDeque::pop_front) {
            None => DisorderKind::StrayResult,
            Some(None) => DisorderKind::SecondResult,
            Some(Some(call)) => {
                self.answered[call] = true;
                if let Some(passed) = self.passed_at(call) {
                    return self.tell(DisorderKind::Between, passed);
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
        self.tell(kind, number);
    }
}
