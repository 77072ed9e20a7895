//! [`Calls`]: the calls of a response from their pieces, as a guard is to see them.
//!
//! The pieces of a call's arguments are told as text as they come, and after the last of them the call. A guard takes
//! the arguments of one call at a time, so where pieces of two calls come in turns, those of the later call wait for
//! the end of the earlier one. Then what is told is what a recording holds: one call whole, then the next.

use deadloop_detect::harness::ArgumentsOf;
use deadloop_detect::{OwnedEvent, TextChannel};
use serde::de::IgnoredAny;

use crate::reader::said::Call;

/// Bytes of arguments that wait for the end of an earlier call. With more the earlier one is taken to be over, so that
/// a loop in the later one is seen.
const WAITING: usize = 4096;

/// Bytes of arguments that are kept for the call itself; what comes after them is told as text alone.
const KEPT: usize = 4 << 20;

/// Calls that have begun and are not over, at most; with more the earliest is taken to be over.
const OPEN: usize = 128;

/// The most bytes of a call's name that are kept.
const NAME: usize = 64 << 10;

/// The calls of one response that are not over.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    open: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    /// What joins its pieces.
    key: String,
    id: Option<String>,
    name: String,
    arguments: String,
    /// Bytes of the arguments that were told as text.
    told: usize,
    /// Bytes of the arguments when they were last found to be no whole JSON.
    broken: usize,
    over: bool,
}

impl Calls {
    /// Takes a piece of a call, and tells what is known by it.
    pub(crate) fn piece(&mut self, piece: Call, out: &mut impl FnMut(OwnedEvent)) {
        let mut open = self.open.iter_mut();
        match open.rfind(|open| open.goes_on_with(&piece)) {
            Some(open) => open.take(piece),
            None => self.open.push(Open::new(piece)),
        }
        self.tell(out);
    }

    /// The call with this key is over, as the API says.
    pub(crate) fn over(&mut self, key: &str, out: &mut impl FnMut(OwnedEvent)) {
        if let Some(open) = self.open.iter_mut().rfind(|open| open.key == key) {
            open.over = true;
        }
        self.tell(out);
    }

    /// Something else begins: the calls whose arguments are whole are over.
    pub(crate) fn pause(&mut self, out: &mut impl FnMut(OwnedEvent)) {
        for open in &mut self.open {
            open.over |= open.is_whole();
        }
        self.tell(out);
    }

    /// All of them are over.
    pub(crate) fn end(&mut self, out: &mut impl FnMut(OwnedEvent)) {
        for open in &mut self.open {
            open.over = true;
        }
        self.tell(out);
    }

    fn tell(&mut self, out: &mut impl FnMut(OwnedEvent)) {
        while !self.open.is_empty() {
            let waiting = self
                .open
                .iter()
                .skip(1)
                .map(|open| open.arguments.len() + open.name.len());
            let (waiting, open) = (waiting.sum::<usize>(), self.open.len());
            let others = open > 1;
            let first = &mut self.open[0];
            first.tell(out);
            let many = open > OPEN || waiting > WAITING;
            if !first.over && !(others && (many || first.is_whole())) {
                return;
            }
            out(self.open.remove(0).call());
        }
    }

    /// Whether a piece is of a call that has begun.
    pub(crate) fn knows(&self, piece: &Call) -> bool {
        self.open.iter().any(|open| open.goes_on_with(piece))
    }
}

impl Open {
    fn new(piece: Call) -> Self {
        Self {
            over: piece.key.is_empty(),
            key: piece.key,
            id: piece.id,
            name: piece.name.unwrap_or_default(),
            arguments: piece.arguments,
            told: 0,
            broken: usize::MAX,
        }
    }

    /// A piece with another id is of another call, whatever its key.
    fn goes_on_with(&self, piece: &Call) -> bool {
        let same = piece.id.is_none() || self.id.is_none() || piece.id == self.id;
        !piece.key.is_empty() && piece.key == self.key && same
    }

    fn take(&mut self, piece: Call) {
        self.id = self.id.take().or(piece.id);
        if let Some(more) = piece.name.filter(|more| *more != self.name) {
            self.name.push_str(&more);
            self.name.truncate(self.name.floor_char_boundary(NAME));
        }
        self.arguments.push_str(&piece.arguments);
    }

    fn tell(&mut self, out: &mut impl FnMut(OwnedEvent)) {
        let text = &self.arguments[self.told..];
        if text.is_empty() {
            return;
        }
        out(OwnedEvent::Text(TextChannel::Arguments, text.to_owned()));
        if self.arguments.len() > KEPT {
            let kept = self.told.max(self.arguments.floor_char_boundary(KEPT));
            self.arguments.truncate(kept);
        }
        self.told = self.arguments.len();
    }

    /// Whether the arguments are whole JSON: then nothing of them can follow.
    fn is_whole(&mut self) -> bool {
        let length = self.arguments.len();
        let whole =
            length != self.broken && serde_json::from_str::<IgnoredAny>(&self.arguments).is_ok();
        self.broken = if whole { usize::MAX } else { length };
        whole
    }

    fn call(self) -> OwnedEvent {
        OwnedEvent::Call {
            id: self.id,
            name: self.name,
            arguments: ArgumentsOf::Raw(self.arguments),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(key: &str, name: Option<&str>, arguments: &str) -> Call {
        Call {
            key: key.into(),
            id: name.map(|_| format!("id{key}")),
            name: name.map(str::to_owned),
            arguments: arguments.into(),
        }
    }

    /// What is told: texts as they are, calls as `name(arguments)`.
    fn told(pieces: &[(&str, Option<&str>, &str)]) -> Vec<String> {
        let (mut calls, mut told) = (Calls::default(), Vec::new());
        let mut out = |event| {
            told.push(match event {
                OwnedEvent::Text(TextChannel::Arguments, text) => text,
                OwnedEvent::Call {
                    name,
                    arguments: ArgumentsOf::Raw(text),
                    ..
                } => format!("{name}({text})"),
                other => format!("{other:?}"),
            });
        };
        for (key, name, arguments) in pieces {
            calls.piece(piece(key, *name, arguments), &mut out);
        }
        calls.end(&mut out);
        told
    }

    #[test]
    fn a_call_is_told_after_its_text() {
        let pieces = [
            ("0", Some("ls"), ""),
            ("0", None, "{\"a\""),
            ("0", None, ":1}"),
        ];
        assert_eq!(told(&pieces), ["{\"a\"", ":1}", "ls({\"a\":1})"]);
        assert_eq!(
            told(&[("", Some("ls"), "{}"), ("", Some("ls"), "{}")]),
            ["{}", "ls({})"].repeat(2)
        );
        // A call without arguments is one too, and one with a new id is another.
        assert_eq!(told(&[("0", Some("ls"), "")]), ["ls()"]);
    }

    #[test]
    fn calls_that_never_end_are_not_held_for_ever() {
        let (mut calls, mut told) = (Calls::default(), 0);
        for n in 0..10_000 {
            let mut out = |event| told += u64::from(matches!(event, OwnedEvent::Call { .. }));
            calls.piece(piece(&n.to_string(), Some("ls"), ""), &mut out);
            assert!(calls.open.len() <= OPEN, "{n}");
        }
        assert_eq!(told, 10_000 - OPEN as u64);
        let name = "é".repeat(NAME / 2 + 1);
        for _ in 0..3 {
            calls.piece(piece("0", Some(&name), ""), &mut |_| {});
        }
        assert!(
            calls
                .open
                .iter()
                .all(|open| open.name.len() <= NAME + name.len())
        );
    }

    #[test]
    fn pieces_of_two_calls_in_turns_are_two_texts() {
        let pieces = [
            ("0", Some("a"), "{\"x\":"),
            ("1", Some("b"), "{\"y\":"),
            ("0", None, "1}"),
            ("1", None, "2}"),
            ("2", Some("c"), "{}"),
        ];
        let wanted = [
            "{\"x\":",
            "1}",
            "a({\"x\":1})",
            "{\"y\":",
            "2}",
            "b({\"y\":2})",
            "{}",
            "c({})",
        ];
        assert_eq!(told(&pieces), wanted);
    }

    #[test]
    fn a_call_that_never_ends_hides_no_other() {
        let long = "x".repeat(WAITING + 1);
        let pieces = [
            ("0", Some("a"), "{"),
            ("1", Some("b"), "{"),
            ("1", None, long.as_str()),
        ];
        assert_eq!(told(&pieces)[..2], ["{", "a({)"]);
        assert_eq!(told(&pieces).len(), 4, "and b, when it ends");
    }
}
