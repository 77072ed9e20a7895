//! Reader of a stream of JSON objects: lines into objects, objects into events.

use std::collections::VecDeque;

use deadloop_detect::OwnedEvent;
use serde_json::{Map, Value};

use super::content::{CallPiece, ObjectContent, ObjectPart};
use super::families::{self, Family};
use super::frames::{Frame, FrameResult, Frames, max_values, object};
use super::lines::StreamLines;
use super::{Arrival, BadParts, MAX_REPORTED_PARTS, StreamFormat, ThinkLookup};
use crate::BOM;
use crate::calls::ResponseCalls;
use crate::think::{ThinkOptions, ThinkSplitter};
use crate::wire::{WireFault, WireResult};
use crate::{Body, RecordedEvent};

/// Reader of a stream of JSON lines or server-sent events.
pub(super) struct ObjectReader {
    format: StreamFormat,
    lines: StreamLines,
    /// The number of the last line, from 1.
    line: u64,
    /// The byte offset in the stream after the last line.
    at: u64,
    frames: Frames,
    think: ThinkOptions,
    by_model: Option<ThinkLookup>,
    /// The name of the model, from the first object that names one.
    model: Option<String>,
    /// The server's first error messages.
    errors: Vec<String>,
    /// The splitter of answers, which contain `<think>` if the server does not separate thinking. `None` after thinking
    /// in a separate field.
    splitter: Option<ThinkSplitter>,
    calls: ResponseCalls,
    /// Whether the objects may belong to a whole agent run.
    run: bool,
    ended: bool,
}

impl ObjectReader {
    /// Returns a reader of lines of at most `limit` bytes. With `is_sse`, it also reads the fields of server-sent
    /// events.
    pub(super) fn new(
        format: StreamFormat,
        is_sse: bool,
        limit: usize,
        think: ThinkOptions,
    ) -> Self {
        Self {
            format,
            lines: StreamLines::new(limit),
            line: 0,
            at: 0,
            frames: Frames::new(is_sse, limit),
            splitter: Some(ThinkSplitter::new(think.clone())),
            think,
            by_model: None,
            model: None,
            errors: Vec::new(),
            calls: ResponseCalls::default(),
            run: false,
            ended: false,
        }
    }

    /// Sets the maximum size of a line, and of an event in several lines, in bytes.
    pub(super) fn set_limit(&mut self, bytes: usize) {
        self.lines.limit = bytes;
        self.frames.limit = bytes;
    }

    pub(super) fn format(&self) -> StreamFormat {
        self.format
    }

    /// Sets the function that returns the think options once the stream names its model.
    pub(super) fn set_think_lookup(&mut self, by_model: Option<ThinkLookup>) {
        self.by_model = by_model;
    }

    pub(super) fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    pub(super) fn may_be_run(&self) -> bool {
        self.run
    }

    pub(super) fn errors(&self) -> &[String] {
        &self.errors
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.lines.feed(bytes);
    }

    pub(super) fn end(&mut self) {
        self.lines.end();
        self.ended = true;
    }

    /// Reads lines until one yields an event, so that lines after an alarm stay unread.
    pub(super) fn read_until_event(&mut self, out: &mut VecDeque<Arrival>, bad: &mut BadParts) {
        let limit = self.lines.limit;
        while out.is_empty() {
            let Some(line) = self.lines.next_line() else {
                break;
            };
            self.line += 1;
            self.at = line.end;
            let frame = match line.bytes {
                Ok(bytes) if self.line == 1 => {
                    self.frames.read(bytes.strip_prefix(BOM).unwrap_or(bytes))
                }
                Ok(bytes) => self.frames.read(bytes),
                Err(fault) => Some(Err(fault)),
            };
            let object = frame.and_then(|frame| read_frame(frame, limit));
            let object = if self.frames.is_error() {
                object.map(|object| object.map(wrap_error))
            } else {
                object
            };
            self.take_object(object, out, bad);
        }
        if out.is_empty() && std::mem::take(&mut self.ended) {
            let last = self.frames.end().and_then(|frame| read_frame(frame, limit));
            self.take_object(last, out, bad);
            self.calls.close_all(out);
            self.release_splitter(out);
        }
    }

    fn take_object(
        &mut self,
        object: Option<ParsedObject>,
        out: &mut VecDeque<Arrival>,
        bad: &mut BadParts,
    ) {
        if let Some(Ok(object)) = &object
            && self.errors.len() < MAX_REPORTED_PARTS
        {
            self.errors.extend(read_error_message(object));
        }
        match object.map(|object| object.and_then(read_content)) {
            None => {}
            Some(Err(fault)) => bad.record_fault(self.line, fault),
            Some(Ok((family, parsed))) => {
                self.take_model_name(parsed.model.as_deref(), out);
                let ends = parsed.ends;
                self.run |= family.run;
                for part in parsed.into_watched_parts() {
                    match part {
                        ObjectPart::Event(event) => self.take_event(family, event, out),
                        ObjectPart::Call(call) => self.take_call(call, out),
                        ObjectPart::CallEnd(key) => self.calls.close_call(&key, out),
                    }
                }
                if ends {
                    self.calls.close_all(out);
                }
            }
        }
    }

    /// Adds a piece of a call. A new call ends the text before it.
    fn take_call(&mut self, call: CallPiece, out: &mut VecDeque<Arrival>) {
        if self.splitter.is_some() && !self.calls.has_call_of(&call) {
            self.release_splitter(out);
            self.splitter = Some(ThinkSplitter::new(self.think.clone()));
        }
        self.calls.push(call, self.at, out);
    }

    /// Keeps the first model name, and splits later texts by the rules for that model.
    ///
    /// Later names are ignored, because a server may switch to another name of the same model within one response.
    fn take_model_name(&mut self, model: Option<&str>, out: &mut VecDeque<Arrival>) {
        let (None, Some(model)) = (&self.model, model) else {
            return;
        };
        self.model = Some(model.to_owned());
        let think = self.by_model.as_ref().map(|by_model| by_model(model));
        if let Some(think) = think.filter(|think| *think != self.think) {
            self.release_splitter(out);
            self.splitter = Some(ThinkSplitter::new(think.clone()));
            self.think = think;
        }
    }

    fn take_event(&mut self, family: &Family, event: RecordedEvent, out: &mut VecDeque<Arrival>) {
        let end = self.at;
        match &event.body {
            Body::Reasoning(text) | Body::Answer(text) if text.is_empty() => return,
            Body::Reasoning(_) | Body::Answer(_) => {}
            _ => self.calls.close_all(out),
        }
        match (&event.body, &mut self.splitter) {
            (Body::Answer(text), Some(splitter)) if family.tags => {
                splitter.push(text, &mut |side, text| {
                    let event = OwnedEvent::Text(side.channel(), text.to_owned());
                    out.push_back(Arrival { event, end });
                });
                return;
            }
            (Body::Reasoning(_), _) => self.release_splitter(out),
            // The next response in the same stream begins anew.
            (Body::Finish { .. }, Some(_)) => {
                self.release_splitter(out);
                self.splitter = Some(ThinkSplitter::new(self.think.clone()));
            }
            _ => {}
        }
        let event = event.as_detector_event().owned();
        out.push_back(Arrival { event, end });
    }

    /// Removes the splitter and emits the text that it held back.
    fn release_splitter(&mut self, out: &mut VecDeque<Arrival>) {
        let end = self.at;
        if let Some(splitter) = self.splitter.take() {
            splitter.finish(&mut |side, text| {
                let event = OwnedEvent::Text(side.channel(), text.to_owned());
                out.push_back(Arrival { event, end });
            });
        }
    }
}

/// A JSON object, or the fault of its text.
type ParsedObject = WireResult<Map<String, Value>>;

/// Parses the object of a frame. `None` for `[DONE]`, which does not end the reading.
fn read_frame(frame: FrameResult<'_>, limit: usize) -> Option<ParsedObject> {
    match frame {
        Ok(Frame::Done) => None,
        Ok(Frame::Object(text)) => Some(object(&text, max_values(limit))),
        Err(fault) => Some(Err(fault)),
    }
}

/// Wraps the data of an event named `error` in an object with the field `error`, unless the object belongs to an API.
fn wrap_error(object: Map<String, Value>) -> Map<String, Value> {
    match families::recognize(&object) {
        Some(_) => object,
        None => Map::from_iter([("error".to_owned(), Value::Object(object))]),
    }
}

/// Returns the error message of an object, if it has one.
fn read_error_message(object: &Map<String, Value>) -> Option<String> {
    /// The maximum number of chars kept of a message.
    const MAX_CHARS: usize = 300;
    let message = |object: &Map<String, Value>| {
        let message = object.get("message").and_then(Value::as_str);
        message.map(str::to_owned)
    };
    let parsed = match object.get("error") {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        Some(Value::Object(error)) => message(error).or_else(|| serde_json::to_string(error).ok()),
        _ if object.get("type").and_then(Value::as_str) == Some("error") => message(object),
        _ => None,
    };
    parsed.map(|text| text.chars().take(MAX_CHARS).collect())
}

/// Returns the content of an object, and the family that it belongs to.
fn read_content(object: Map<String, Value>) -> WireResult<(&'static Family, ObjectContent)> {
    let family = families::recognize(&object).ok_or_else(|| {
        let names: Vec<&str> = families::FAMILIES.iter().map(|f| f.name).collect();
        WireFault::new(
            "an object of no known stream",
            format!("one of: {}", names.join(", ")),
        )
    })?;
    Ok((family, family.content(object)?))
}
