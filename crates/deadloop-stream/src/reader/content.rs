//! [`ObjectContent`]: the content of one API object.
//!
//! It holds the watched parts of a live stream, and all other data that a recording keeps.

use serde_json::Value;

use crate::fields::{Object, ReadFields};
use crate::{Body, RecordedEvent};

/// The content of one API object.
#[derive(Debug, Default)]
pub struct ObjectContent {
    /// The id of the response that the object belongs to, if given.
    pub response: Option<String>,
    /// The name of the model, if given.
    pub model: Option<String>,
    /// The creation time of the object, in milliseconds since 1970, if given.
    pub at: Option<f64>,
    /// The events and pieces of calls in order, each with the index of its choice. Texts may be empty.
    pub parts: Vec<(u64, ObjectPart)>,
    /// Metadata of the whole response by name, such as usage and fingerprint.
    pub about: Vec<(&'static str, Value)>,
    /// The token counts of the whole response.
    pub tokens: Option<TokenCounts>,
    /// The duration of the whole response, in milliseconds.
    pub took: Option<f64>,
    /// Whether the object begins a response.
    pub begins: bool,
    /// Whether the object ends a response.
    pub ends: bool,
    /// Whether the object must continue a response, because its API marks beginnings and the object has no such mark.
    pub goes_on: bool,
    /// The fields that were not understood, each group with its path in the object.
    pub rest: Vec<(&'static str, Object)>,
}

/// The token counts of a response.
#[derive(Clone, Copy, Debug)]
pub struct TokenCounts {
    /// The number of output tokens, thinking included.
    pub all: u64,
    /// The number of thinking tokens, if reported.
    pub reasoning: Option<u64>,
}

impl TokenCounts {
    /// Returns the token counts of a response without a count of thinking tokens.
    pub(super) fn without_reasoning(all: u64) -> Self {
        let reasoning = None;
        Self { all, reasoning }
    }

    /// Reads the token counts from a `usage` object of OpenAI's APIs. `all` is the name of the field with the total,
    /// `details` that of the object with `reasoning_tokens`.
    pub(super) fn from_usage(usage: &Value, all: &str, details: &str) -> Option<Self> {
        let details = usage.get(details);
        let reasoning = details.and_then(|details| details.get("reasoning_tokens"));
        Some(Self {
            all: usage.get(all)?.as_u64()?,
            reasoning: reasoning.and_then(Value::as_u64),
        })
    }
}

/// An event, or a piece of a call.
#[derive(Debug)]
pub enum ObjectPart {
    /// A text, or the end of the response.
    Event(RecordedEvent),
    /// A tool call, or a piece of one.
    Call(CallPiece),
    /// The end of the call with this key.
    CallEnd(String),
}

/// A tool call, or a piece of one. Fields without a value came in another piece.
#[derive(Debug, Default)]
pub struct CallPiece {
    /// The key shared by all pieces of one call. Empty if the call comes whole.
    pub key: String,
    /// The id that joins the call to its result.
    pub id: Option<String>,
    /// The name of the tool.
    pub name: Option<String>,
    /// A piece of the arguments' JSON text.
    pub arguments: String,
    /// Whether the API marks the call's end. If not, the call ends where another begins.
    pub ends: bool,
}

impl ObjectContent {
    /// Adds an event of a choice. `None` adds nothing.
    pub fn push(&mut self, choice: u64, event: Option<RecordedEvent>) {
        self.parts
            .extend(event.map(|event| (choice, ObjectPart::Event(event))));
    }

    /// Adds a tool call of a choice, or a piece of one.
    pub fn push_call(&mut self, choice: u64, call: CallPiece) {
        self.parts.push((choice, ObjectPart::Call(call)));
    }

    /// Stores a metadata value of the whole response. `None` stores nothing.
    pub fn keep(&mut self, name: &'static str, value: Option<Value>) {
        self.about.extend(value.map(|value| (name, value)));
    }

    /// Moves `usage` from an object to the metadata, and reads the token count in its field `key`.
    pub fn take_usage(&mut self, object: &mut Object, key: &str) {
        let usage = object.take("usage");
        let all = usage.as_ref().and_then(|usage| usage.get(key)?.as_u64());
        self.tokens = all.map(TokenCounts::without_reasoning);
        self.keep("usage", usage);
    }

    /// Returns whether the object carries no information about a response, as a keep-alive does.
    pub fn is_empty(&self) -> bool {
        let part = |(_, part): &(u64, ObjectPart)| !matches!(part, ObjectPart::CallEnd(_));
        let spoken =
            self.parts.iter().any(part) || !self.about.is_empty() || self.begins || self.ends;
        !spoken && self.response.is_none() && self.model.is_none()
    }

    /// Returns whether the object holds text.
    pub fn has_text(&self) -> bool {
        let text = |part: &ObjectPart| match part {
            ObjectPart::Event(event) => matches!(event.body, Body::Reasoning(_) | Body::Answer(_)),
            ObjectPart::Call(_) | ObjectPart::CallEnd(_) => false,
        };
        self.parts.iter().any(|(_, part)| text(part))
    }

    /// Records the fields that remain in `object`, the part at `path`, as not understood.
    pub fn add_rest(&mut self, path: &'static str, object: Object) {
        if !object.is_empty() {
            self.rest.push((path, object));
        }
    }

    /// Returns the fields at `path` that were not understood, if any.
    pub fn rest_of(&mut self, path: &str) -> Option<&mut Object> {
        let mut rests = self.rest.iter_mut();
        let (_, rest) = rests.find(|(at, _)| *at == path)?;
        Some(rest)
    }

    /// Returns the parts of the first choice, which is the only one that a guard watches.
    pub fn into_watched_parts(self) -> impl Iterator<Item = ObjectPart> {
        let first = |(choice, part)| (choice == 0).then_some(part);
        self.parts.into_iter().filter_map(first)
    }
}
