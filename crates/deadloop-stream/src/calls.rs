//! [`ResponseCalls`]: assembles tool calls from streamed pieces, for a guard.
//!
//! Pieces of a call's arguments are passed on as text as soon as they arrive. The call itself follows once it is
//! complete: when its arguments are valid JSON, when the API marks its end, or when another call begins. Where an API
//! marks the ends of calls, the pieces of several calls may be interleaved. A guard takes the arguments of one call at
//! a time, so the pieces of a later call wait until the earlier call ends. As in a recording, each call is complete
//! before the next one begins.

use std::collections::VecDeque;

use deadloop_detect::harness::{ArgumentsOf, JsonScan};
use deadloop_detect::{OwnedEvent, TextChannel};
use serde::de::IgnoredAny;

use crate::Arrival;
use crate::reader::content::CallPiece;

/// The maximum number of argument bytes that wait for the end of an earlier call. Beyond it, the earlier call is
/// closed, so that a loop in the later one is detected.
const MAX_WAITING_BYTES: usize = 4096;

/// The maximum number of argument bytes kept for a call's own event. Later bytes are emitted only as text.
const MAX_ARGUMENT_BYTES: usize = 4 << 20;

/// The maximum number of open calls. Beyond it, the earliest call is closed.
const MAX_OPEN_CALLS: usize = 16;

/// The maximum number of bytes kept of a call's name.
const MAX_NAME_BYTES: usize = 64 << 10;

/// The tool calls of one response.
#[derive(Debug, Default)]
pub(crate) struct ResponseCalls {
    /// The calls that may get further pieces, in order of their beginning.
    open: VecDeque<PartialCall>,
    /// The latest closed calls, without their arguments. Holds at most [`MAX_OPEN_CALLS`].
    ended: VecDeque<PartialCall>,
}

#[derive(Debug)]
struct PartialCall {
    /// The key that joins the call's pieces.
    key: String,
    id: Option<String>,
    name: String,
    arguments: String,
    /// The number of argument bytes already emitted as text.
    emitted_bytes: usize,
    bracket: BracketEnd,
    ended: bool,
    /// The byte offset in the stream at which the call's last piece ends.
    end: u64,
}

impl ResponseCalls {
    /// Adds a piece of a call. `end` is the byte offset in the stream after the piece. Events that the piece completes
    /// are pushed to `out`.
    pub(crate) fn push(&mut self, mut piece: CallPiece, end: u64, out: &mut VecDeque<Arrival>) {
        let same = |open: &&mut PartialCall| open.accepts(&piece);
        if let Some(open) = self.open.iter_mut().rfind(same) {
            open.add_piece(piece, end);
        } else if let Some(ended) = self.ended.iter().rfind(|ended| ended.accepts(&piece)) {
            if !ended.bracket.complete || piece.arguments.trim().is_empty() {
                return;
            }
            // Some servers write each call in the same place.
            (piece.id, piece.name) = (ended.id.clone(), Some(ended.name.clone()));
            self.begin_call(piece, end);
        } else {
            self.begin_call(piece, end);
        }
        self.emit_ready(out);
    }

    fn begin_call(&mut self, piece: CallPiece, end: u64) {
        if !piece.ends {
            self.open.iter_mut().for_each(|open| open.ended = true);
        }
        self.open.push_back(PartialCall::new(piece, end));
    }

    /// Closes the call with this key, whose end the API has reported.
    pub(crate) fn close_call(&mut self, key: &str, out: &mut VecDeque<Arrival>) {
        if let Some(open) = self.open.iter_mut().rfind(|open| open.key == key) {
            open.ended = true;
        }
        self.emit_ready(out);
    }

    /// Closes all calls.
    pub(crate) fn close_all(&mut self, out: &mut VecDeque<Arrival>) {
        self.open.iter_mut().for_each(|open| open.ended = true);
        self.emit_ready(out);
        self.ended.clear();
    }

    fn emit_ready(&mut self, out: &mut VecDeque<Arrival>) {
        while let Some(first) = self.open.front_mut() {
            first.emit_new_text(out);
            let ended = first.ended || first.bracket.complete;
            let waiting = self.open.iter().skip(1);
            let waiting = waiting.map(|open| open.arguments.len() + open.name.len());
            if !ended
                && self.open.len() <= MAX_OPEN_CALLS
                && waiting.sum::<usize>() <= MAX_WAITING_BYTES
            {
                return;
            }
            let Some(mut ended) = self.open.pop_front() else {
                return;
            };
            out.push_back(ended.take_call());
            self.ended.push_back(ended);
            self.ended
                .drain(..self.ended.len().saturating_sub(MAX_OPEN_CALLS));
        }
    }

    /// Returns whether a piece belongs to a call that has already begun.
    pub(crate) fn has_call_of(&self, piece: &CallPiece) -> bool {
        let mut all = self.open.iter().chain(&self.ended);
        all.any(|open| open.accepts(piece))
    }
}

impl PartialCall {
    fn new(mut piece: CallPiece, end: u64) -> Self {
        let mut open = Self {
            ended: piece.key.is_empty(),
            key: std::mem::take(&mut piece.key),
            id: None,
            name: String::new(),
            arguments: String::new(),
            emitted_bytes: 0,
            bracket: BracketEnd::default(),
            end,
        };
        open.add_piece(piece, end);
        open
    }

    /// Returns whether a piece continues this call. A piece with another id starts a new call, even under the same key.
    fn accepts(&self, piece: &CallPiece) -> bool {
        let same = piece.id.is_none() || self.id.is_none() || piece.id == self.id;
        !piece.key.is_empty() && piece.key == self.key && same
    }

    fn add_piece(&mut self, piece: CallPiece, end: u64) {
        self.id = self.id.take().or(piece.id);
        if let Some(more) = piece.name.filter(|more| *more != self.name) {
            self.name.push_str(&more);
            let end = self.name.floor_char_boundary(MAX_NAME_BYTES);
            self.name.truncate(end);
        }
        self.arguments.push_str(&piece.arguments);
        if self.bracket.is_closed_by(&piece.arguments) {
            self.bracket.complete = serde_json::from_str::<IgnoredAny>(&self.arguments).is_ok();
        }
        self.end = end;
    }

    fn emit_new_text(&mut self, out: &mut VecDeque<Arrival>) {
        let text = &self.arguments[self.emitted_bytes..];
        if text.is_empty() {
            return;
        }
        let event = OwnedEvent::Text(TextChannel::Arguments, text.to_owned());
        let end = self.end;
        out.push_back(Arrival { event, end });
        if self.arguments.len() > MAX_ARGUMENT_BYTES {
            let end = self.arguments.floor_char_boundary(MAX_ARGUMENT_BYTES);
            self.arguments.truncate(end.max(self.emitted_bytes));
        }
        self.emitted_bytes = self.arguments.len();
    }

    fn take_call(&mut self) -> Arrival {
        let event = OwnedEvent::Call {
            id: self.id.clone(),
            name: self.name.clone(),
            arguments: ArgumentsOf::Raw(std::mem::take(&mut self.arguments)),
        };
        let end = self.end;
        Arrival { event, end }
    }
}

/// Detector of the end of a JSON text's first bracket, fed char by char.
#[derive(Debug, Default)]
struct BracketEnd {
    scan: JsonScan,
    /// Whether the first bracket was closed. The text is parsed as JSON only once, at that point.
    closed: bool,
    /// Whether the arguments are complete JSON, so that no further piece can belong to them.
    complete: bool,
}

impl BracketEnd {
    /// Returns whether the first bracket is closed within this piece.
    fn is_closed_by(&mut self, piece: &str) -> bool {
        let before = self.closed;
        for c in piece.chars().take_while(|_| !before) {
            let closes = matches!(self.scan.outside(c), Some('}' | ']'));
            if closes && self.scan.depth() == 0 {
                self.closed = true;
                break;
            }
        }
        self.closed && !before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(key: &str, name: Option<&str>, arguments: &str, ends: bool) -> CallPiece {
        CallPiece {
            key: key.into(),
            id: name.map(|_| format!("id{key}")),
            name: name.map(str::to_owned),
            arguments: arguments.into(),
            ends,
        }
    }

    /// Returns the events after each piece: texts as they are, calls as `name(arguments)` with the piece after which
    /// they ended.
    fn events_after(pieces: &[(&str, Option<&str>, &str)], ends: bool) -> Vec<String> {
        let (mut calls, mut out, mut passed) =
            (ResponseCalls::default(), VecDeque::new(), Vec::new());
        for (n, (key, name, arguments)) in (1..).zip(pieces) {
            calls.push(piece(key, *name, arguments, ends), n, &mut out);
            passed.extend(out.drain(..).map(format_arrival));
            passed.push("|".into());
        }
        calls.close_all(&mut out);
        passed.extend(out.drain(..).map(format_arrival));
        passed
    }

    fn format_arrival(arrival: Arrival) -> String {
        match arrival.event {
            OwnedEvent::Text(TextChannel::Arguments, text) => text,
            OwnedEvent::Call {
                name,
                arguments: ArgumentsOf::Raw(text),
                ..
            } => format!("{name}({text})@{}", arrival.end),
            other => format!("{other:?}"),
        }
    }

    /// Rows of pieces, `place=name:text` or `place:text`, and the expected events (`|`: after each piece).
    const ROWS: &str = r#"
        0=a: 0:{"x" 0::[1]} => | {"x" | :[1]} a({"x":[1]})@3 |
        =a:{} =a:{} => {} a({})@1 | {} a({})@2 |
        0=a:{} 0:[1] => {} a({})@1 | [1] a([1])@2 |
        0=a: 1=b: 2=c: => | a()@1 | b()@2 | c()@3
        0=a:{ 1=b:{]} 2=c:7 => { | a({)@1 {]} | b({]})@2 7 | c(7)@3
        0=a:{ 1=b:{ 0:} => { | a({)@1 { | | b({)@2"#;

    /// Rows in which the API reports the ends of calls.
    const ROWS_WITH_ENDS: &str = r#"
        0=a: 1=b: => | | a()@1 b()@2
        0=a:{"x": 1=b:{"y": 0:1} 1:2} 2=c:{} => {"x": | | 1} a({"x":1})@3 {"y": | 2} b({"y":2})@4 | {} c({})@5 |"#;

    #[test]
    fn a_call_is_told_when_the_client_has_it() {
        fn piece(piece: &str) -> (&str, Option<&str>, &str) {
            let (call, text) = piece.split_once(':').unwrap();
            match call.split_once('=') {
                Some((place, name)) => (place, Some(name), text),
                None => (call, None, text),
            }
        }
        for (ends, rows) in [(false, ROWS), (true, ROWS_WITH_ENDS)] {
            for row in rows.trim().lines() {
                let (pieces, wanted) = row.trim().split_once(" => ").unwrap();
                let pieces: Vec<_> = pieces.split(' ').map(piece).collect();
                assert_eq!(events_after(&pieces, ends).join(" "), wanted, "{row}");
            }
        }
        let blanks = [
            ("0", Some("a"), "{}"),
            ("0", None, "\n"),
            ("0", Some("a"), ""),
        ];
        assert_eq!(events_after(&blanks, false).join(" "), "{} a({})@1 | | |");
    }

    #[test]
    fn calls_that_never_end_are_not_held_for_ever() {
        let (mut calls, mut out) = (ResponseCalls::default(), VecDeque::new());
        for n in 0..10_000 {
            calls.push(piece(&n.to_string(), Some("ls"), "", true), n, &mut out);
            let most = calls.open.len().max(calls.ended.len());
            assert!(most <= MAX_OPEN_CALLS, "{n}");
        }
        assert_eq!(out.len(), 10_000 - MAX_OPEN_CALLS);
        let name = "é".repeat(MAX_NAME_BYTES / 2 + 1);
        for _ in 0..3 {
            calls.push(piece("0", Some(&name), "", true), 0, &mut out);
        }
        let short = |open: &PartialCall| open.name.len() <= MAX_NAME_BYTES + name.len();
        assert!(calls.open.iter().all(short));
    }

    #[test]
    fn a_call_that_never_ends_hides_no_other() {
        let long = "x".repeat(MAX_WAITING_BYTES + 1);
        let [a, b] = ["a", "b"].map(Some);
        let passed = events_after(&[("0", a, "{"), ("1", b, "{"), ("1", None, &long)], true);
        assert_eq!(passed[..4], ["{", "|", "|", "a({)@1"]);
        assert_eq!(passed.len(), 7, "and b, when it ends");
    }
}
