//! [`WireCalls`]: the calls of a response as its wire has them, and what became of each.

use crate::calls::PieceOf;
use crate::take::Object;
use crate::{Heard, RefusedCall};

/// Most calls of a response that are followed. Further ones go on undecided.
const MOST: usize = 1024;

/// Longest key and id of a call that is followed, and the longest name that is told, in bytes.
const LONGEST: usize = 256;

/// The calls of a response, in the order in which they begin.
#[derive(Debug, Default)]
pub(crate) struct WireCalls {
    calls: Vec<WireCall>,
    /// How many calls the guard has decided on.
    decided: u64,
    refused: usize,
    /// Whether there are calls that are not followed.
    others: bool,
    /// Whether the answer has said something, a text in place of a call included.
    spoken: bool,
    /// The number that the next event of the response gets, where its API numbers events and one was replaced.
    next: Option<u64>,
}

#[derive(Debug)]
struct WireCall {
    /// The number of the last call that the guard is told of it.
    number: u64,
    key: String,
    id: Option<String>,
    name: Option<String>,
    /// Whether its API has a way to replace it.
    able: bool,
    /// What is said in its place, once it is refused.
    refused: Option<String>,
    /// Whether that was said.
    told: bool,
    /// Whether it went on before it was decided on.
    gone: bool,
    /// Whether it is refused and cannot be replaced: it never goes on.
    kept: bool,
}

/// The beginning of a name.
fn cut(name: &str) -> String {
    name[..name.floor_char_boundary(LONGEST)].to_owned()
}

impl WireCalls {
    /// The call that a piece goes on with. A piece without a name and an id is of the last call with its key.
    pub(super) fn find(&self, piece: &PieceOf) -> Option<usize> {
        let begins = piece.id.is_some() || piece.name.is_some();
        self.calls.iter().rposition(|call| {
            let goes_on = !begins && !piece.key.is_empty() && call.key == piece.key;
            call.number == piece.number || goes_on
        })
    }

    /// Takes a piece; `able`: whether its call, if it is new, can be replaced. Returns the place of its call, which is that
    /// of no call where there are too many, or where its id is no id.
    pub(super) fn take(&mut self, piece: &PieceOf, able: bool) -> usize {
        if let Some(known) = self.find(piece) {
            let call = &mut self.calls[known];
            call.number = piece.number;
            let short = piece.id.as_ref().filter(|id| id.len() <= LONGEST);
            call.id = call.id.take().or_else(|| short.cloned());
            let name = || piece.name.as_deref().map(cut);
            call.name = call.name.take().or_else(name);
            return known;
        }
        let id = piece.id.as_deref().unwrap_or_default();
        if self.calls.len() < MOST && piece.key.len().max(id.len()) <= LONGEST {
            self.calls.push(WireCall {
                number: piece.number,
                key: piece.key.clone(),
                id: piece.id.clone(),
                name: piece.name.as_deref().map(cut),
                able,
                refused: None,
                told: false,
                gone: false,
                kept: false,
            });
            return self.calls.len() - 1;
        }
        self.others = true;
        MOST
    }

    /// The guard was told this much, and has decided on the calls in it.
    pub(super) fn decided(&mut self, heard: Heard) {
        self.decided = heard.calls.0;
        self.spoken |= heard.answer.0 > 0;
    }

    /// Whether the answer has said something before; from now on it has.
    pub(super) fn speak(&mut self) -> bool {
        std::mem::replace(&mut self.spoken, true)
    }

    /// These go on now, decided or not.
    pub(super) fn gone(&mut self, calls: impl Iterator<Item = usize>) {
        for place in calls {
            if let Some(call) = self.calls.get_mut(place) {
                call.gone |= call.refused.is_none();
            }
        }
    }

    /// Whether the call with this number is refused.
    pub(super) fn is_refused(&self, number: u64) -> bool {
        let mut calls = self.calls.iter().rev();
        calls.any(|call| call.number == number && call.refused.is_some())
    }

    /// Refuses a call. Returns whether it is replaced.
    pub(super) fn refuse(&mut self, number: u64, why: &RefusedCall) -> bool {
        let mut calls = self.calls.iter_mut().rev();
        let Some(call) = calls.find(|call| call.number == number && !call.gone) else {
            return false;
        };
        call.kept = !call.able;
        if call.kept {
            return false;
        }
        let name = why.name.as_deref().or(call.name.as_deref());
        let name = cut(name.unwrap_or("a tool"));
        let why = why.alarm.refusal();
        call.refused = Some(format!("[deadloop refused a call of {name}. {why}]"));
        self.refused += 1;
        true
    }

    /// Whether events with pieces of these calls wait for nothing.
    pub(super) fn know(&self, calls: &[usize]) -> bool {
        let known = |call: &WireCall| {
            let decided = call.number < self.decided || call.refused.is_some();
            (decided || call.gone) && !call.kept
        };
        calls
            .iter()
            .all(|place| self.calls.get(*place).is_none_or(known))
    }

    /// Whether a call was refused.
    pub(super) fn any_refused(&self) -> bool {
        self.refused > 0
    }

    /// Whether every call was refused: then the response asks for none.
    pub(super) fn none_left(&self) -> bool {
        self.refused > 0 && self.refused == self.calls.len() && !self.others
    }

    /// Whether the call at this place is refused.
    pub(super) fn refused(&self, place: usize) -> bool {
        let call = self.calls.get(place);
        call.is_some_and(|call| call.refused.is_some())
    }

    /// What is said in the place of the call, once. `None` if it is not refused, or if that was said.
    pub(super) fn tell(&mut self, place: usize) -> Option<String> {
        let call = self.calls.get_mut(place)?;
        let text = call.refused.clone()?;
        (!std::mem::replace(&mut call.told, true)).then_some(text)
    }

    /// What is said in the place of the call, if it is refused.
    pub(super) fn text(&self, place: usize) -> Option<&str> {
        self.calls.get(place)?.refused.as_deref()
    }

    /// How many of the calls before this one are refused.
    pub(super) fn refused_before(&self, place: usize) -> usize {
        let before = self.calls.iter().take(place);
        before.filter(|call| call.refused.is_some()).count()
    }

    /// The last call with this key.
    pub(super) fn with_key(&self, key: &str) -> Option<usize> {
        let is = |call: &WireCall| !key.is_empty() && call.key == key;
        self.calls.iter().rposition(is)
    }

    /// The last call with this id.
    pub(super) fn with_id(&self, id: &str) -> Option<usize> {
        let is = |call: &WireCall| call.id.as_deref() == Some(id);
        self.calls.iter().rposition(is)
    }

    /// Gives an event the number that comes next, where its API numbers events in the field `name`.
    pub(super) fn number(&mut self, object: &mut Object, name: &str) {
        let Some(own) = object.get(name).and_then(serde_json::Value::as_u64) else {
            return;
        };
        let number = self.next.unwrap_or(own);
        object.insert(name.to_owned(), number.into());
        self.next = Some(number.saturating_add(1));
    }
}
