//! [`disorders`]: finds messages of a run in an invalid order.
//!
//! Chat APIs require that the results of a turn's calls follow the turn directly, that every result has a call, and
//! that no turn is empty.

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

    /// Whether only strict APIs reject the order.
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

/// A call without a result so far.
struct Open<'a> {
    id: &'a str,
    /// The event at which the run continued without the result.
    passed: Option<u64>,
}

/// The state while a run is read.
struct Reader<'a> {
    open: Vec<Open<'a>>,
    answered: Vec<&'a str>,
    /// The start of the current turn, and whether the turn has content.
    turn: Option<(u64, bool)>,
    found: Vec<Disorder>,
}

/// Returns every disorder in a run, in the order in which they appear.
pub fn disorders(run: &Transcript) -> Vec<Disorder> {
    let mut reader = Reader {
        open: Vec::new(),
        answered: Vec::new(),
        turn: None,
        found: Vec::new(),
    };
    for (number, event) in run.stream() {
        reader.take(number, &event);
    }
    // A call at the very end may still be answered.
    let passed: Vec<u64> = reader.open.iter().filter_map(|call| call.passed).collect();
    for event in passed {
        reader.tell(DisorderKind::Unanswered, event);
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
                    self.open.push(Open { id, passed: None });
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

    /// Marks the open calls when the run continues without their results.
    fn pass(&mut self, number: u64) {
        for call in &mut self.open {
            call.passed = call.passed.or(Some(number));
        }
    }

    fn answer(&mut self, number: u64, id: Option<&'a str>) {
        let at = id.and_then(|id| self.open.iter().position(|call| call.id == id));
        match (at, id) {
            (Some(at), _) => {
                let call = self.open.remove(at);
                if let Some(passed) = call.passed {
                    self.tell(DisorderKind::Between, passed);
                } else if self.open[..at].iter().any(|call| call.passed.is_none()) {
                    self.tell(DisorderKind::OtherOrder, number);
                }
                self.answered.push(call.id);
            }
            (None, Some(id)) if self.answered.contains(&id) => {
                self.tell(DisorderKind::SecondResult, number);
            }
            _ => self.tell(DisorderKind::StrayResult, number),
        }
    }
}
