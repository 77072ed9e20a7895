//! Parser of lines into JSON texts, bare or in server-sent events.
//!
//! The caller checks whether the texts are objects.
//!
//! A `data` line with a whole object is returned at once, before the blank line that ends its event, so that an alarm
//! is not delayed. An object that continues in further `data` lines is returned at its end.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::wire::{WireFault, WireResult, kind, parse, read_utf8};

/// The data of the last event, as many servers send it.
pub(super) const DONE: &str = "[DONE]";
/// The field names of server-sent events. An event's name matters only if it is `error`.
pub(super) const SSE_FIELDS: [&str; 4] = ["data", "event", "id", "retry"];

/// A finished frame, or the fault of its line.
pub type FrameResult<'a> = WireResult<Frame<'a>>;

/// A unit of the stream that a line completes.
pub enum Frame<'a> {
    /// A text that may be a JSON object, to be parsed by [`object`].
    Object(Cow<'a, str>),
    /// `[DONE]`.
    Done,
}

/// Parser of consecutive lines into frames.
#[derive(Debug)]
pub struct Frames {
    /// Whether fields of server-sent events are parsed.
    is_sse: bool,
    /// The data of the unfinished event, at most `limit` bytes.
    data: String,
    /// Whether the unfinished event is named `error`.
    is_error_event: bool,
    /// Whether the last line was blank. It ended an event, and the next event has no name yet.
    is_after_blank_line: bool,
    /// The maximum size of an event's data, in bytes.
    pub(super) limit: usize,
}

impl Frames {
    /// Returns a parser of events of at most `limit` bytes. With `is_sse`, it also parses the fields of server-sent
    /// events.
    pub fn new(is_sse: bool, limit: usize) -> Self {
        Self {
            is_sse,
            data: String::new(),
            is_error_event: false,
            is_after_blank_line: false,
            limit,
        }
    }

    /// Parses the next line, given without its line end. Returns the frame that it completes.
    pub fn read<'a>(&mut self, line: &'a [u8]) -> Option<FrameResult<'a>> {
        let line = match read_utf8(line) {
            Ok(line) => line,
            Err(fault) => return Some(Err(fault)),
        };
        self.is_error_event &= !std::mem::take(&mut self.is_after_blank_line);
        if line.trim_ascii().is_empty() {
            self.is_after_blank_line = true;
            return self.end();
        }
        if self.is_sse
            && let Some((name, value)) = parse_field(line)
        {
            let value = value.trim_ascii();
            self.is_error_event |= name == "event" && value == "error";
            return (name == "data").then(|| self.take_data(value))?;
        }
        let line = line.trim_ascii();
        Some(Ok(match line {
            DONE => Frame::Done,
            line => Frame::Object(line.into()),
        }))
    }

    /// Returns whether the event of the last line is named `error`.
    pub(super) fn is_error(&self) -> bool {
        self.is_error_event
    }

    /// Ends the current event and returns its frame. Called at a blank line and at the end of the stream.
    pub fn end(&mut self) -> Option<FrameResult<'static>> {
        let data = std::mem::take(&mut self.data);
        (!data.is_empty()).then_some(Ok(Frame::Object(data.into())))
    }

    fn take_data<'a>(&mut self, value: &'a str) -> Option<FrameResult<'a>> {
        if self.data.len() + value.len() > self.limit {
            self.data = String::new();
            let expected = format!("at most {} bytes", self.limit);
            return Some(Err(WireFault::new("an event that is too long", expected)));
        }
        if self.data.is_empty() {
            if value.is_empty() {
                return None;
            }
            if value == DONE {
                return Some(Ok(Frame::Done));
            }
            match serde_json::from_str::<IgnoredAny>(value) {
                Err(e) if e.is_eof() => {}
                _ => return Some(Ok(Frame::Object(value.into()))),
            }
        } else {
            self.data.push('\n');
        }
        self.data.push_str(value);
        None
    }
}

/// Splits a line of a server-sent event into field name and value. The name of a comment is empty. `None` if the line
/// is no field.
fn parse_field(line: &str) -> Option<(&str, &str)> {
    if line.starts_with('{') {
        return None;
    }
    let (name, value) = line.split_once(':').unwrap_or((line, ""));
    (name.is_empty() || SSE_FIELDS.contains(&name)).then_some((name, value))
}

/// Returns the maximum number of values per object for lines of at most `limit` bytes. A list of zeros takes fifty
/// times the memory of its text, so limiting lines is not enough.
pub(super) fn max_values(limit: usize) -> u32 {
    u32::try_from(limit / 64).unwrap_or(u32::MAX)
}

/// Parses a text as a single JSON object. Its lists and objects may contain at most `max_values` values.
///
/// # Errors
///
/// The text is not a JSON object, or has more values.
pub fn object(text: &str, max_values: u32) -> WireResult<Map<String, Value>> {
    match parse(text, max_values) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(other) => Err(WireFault::new(
            format!("{} alone", kind(&other)),
            "one JSON object",
        )),
        Err(e) => Err(WireFault::json(&e, text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(fields: bool, lines: &[&str]) -> Vec<Result<String, String>> {
        let mut frames = Frames::new(fields, 40);
        let all = lines.iter().filter_map(|l| frames.read(l.as_bytes()));
        let mut all: Vec<FrameResult<'_>> = all.collect();
        all.extend(frames.end());
        let text = |frame| match frame {
            Frame::Object(text) => object(&text, 99).map(|map| Value::Object(map).to_string()),
            Frame::Done => Ok(DONE.to_owned()),
        };
        let read = all.into_iter().map(|frame| frame.and_then(text));
        read.map(|read| read.map_err(|fault| fault.at(crate::Place::whole("x")).what))
            .collect()
    }

    #[test]
    fn data_comes_in_one_line_or_several() {
        let lines = [
            "data: {\"a\":1}",
            "",
            "data:{\"a\":",
            "data",
            "data: 2}\r",
            "\r",
            "data: {\"a\":",
            "data: 3}",
        ];
        let expected: Vec<_> = [1, 2, 3].map(|n| Ok(format!("{{\"a\":{n}}}"))).into();
        assert_eq!(frames(true, &lines), expected);
    }

    #[test]
    fn an_object_has_no_more_values_than_its_line_stands_for() {
        let of = |values: usize| format!("{{\"x\":[{}0]}}", "0,".repeat(values - 1));
        let max_values = max_values(64 * 1001);
        assert!(object(&of(1000), max_values).is_ok());
        assert!(object(&of(1001), max_values).is_err());
        let nested = format!("{{\"x\":{}{}}}", "[".repeat(100), "]".repeat(100));
        assert!(object(&nested, 100).is_ok() && object(&nested, 99).is_err());
    }

    #[test]
    fn what_says_nothing_is_no_problem() {
        let lines = [
            ": keep-alive",
            ":",
            "event: ping",
            "id: 1",
            "retry: 3000",
            "data:",
            "data",
            "",
            " ",
            "data: [DONE]",
            "[DONE]",
        ];
        let done = || Ok(DONE.to_owned());
        assert_eq!(frames(true, &lines), [done(), done()]);
    }

    #[test]
    fn what_cannot_be_read_is_one_problem_each() {
        let lines = [
            "hello",
            "datas: {}",
            "data: x",
            "data: \"text\"",
            "data: {\"a\":",
            "",
            "data: {\"a\": \"\\ud83d\"}",
            "{\"a\":",
        ];
        let bad = frames(true, &lines);
        assert_eq!(bad.len(), 7);
        assert!(bad.iter().all(Result::is_err), "{bad:?}");
        assert_eq!(bad[3], Err("a string alone".into()));
        let bytes = Frames::new(true, 40).read(b"\xff{}").map(|f| f.is_err());
        assert_eq!(bytes, Some(true));
        let long = format!("data: {{\"a\":\"{}\"}}", "x".repeat(40));
        assert!(frames(true, &[&long])[0].is_err());
        let none = frames(false, &["data: {\"a\":1}", ": x"]);
        assert!(none.iter().all(Result::is_err));
    }
}
