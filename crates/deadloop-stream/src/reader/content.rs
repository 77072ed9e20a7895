//! [`ObjectContent`]: the content of one API object.
//!
//! It has the parts that a live stream is watched for, and everything else that a recording keeps.

use serde_json::Value;

use crate::fields::{self, Object};
use crate::{Body, RecordedEvent};

/// The content of one API object.
#[derive(Debug, Default)]
pub struct ObjectContent {
    /// The id of the response that the object belongs to, if it has one.
    pub response: Option<String>,
    /// The name of the model, if the object has one.
    pub model: Option<String>,
    /// The creation time, in milliseconds since 1970, if each object has one.
    pub at: Option<f64>,
    /// The events and calls, in order, each with the index of its choice (0 if there is only one). Texts may be empty.
    pub parts: Vec<(u64, ObjectPart)>,
    /// Facts about the whole response by name, such as usage and fingerprint.
    pub about: Vec<(&'static str, Value)>,
    /// The number of tokens of the whole response.
    pub tokens: Option<TokenCounts>,
    /// The duration of the whole response, in milliseconds.
    pub took: Option<f64>,
    /// Whether a response begins with the object.
    pub begins: bool,
    /// Whether a response ends with the object.
    pub ends: bool,
    /// Whether the object cannot begin a response, because its API marks beginnings and the object has no such mark.
    pub goes_on: bool,
    /// The fields that were not understood, with their paths in the object.
    pub rest: Vec<(&'static str, Object)>,
}

/// The numbers of tokens of a response.
#[derive(Clone, Copy, Debug)]
pub struct TokenCounts {
    /// The tokens of all output.
    pub all: u64,
    /// The tokens of the thinking, if counted.
    pub reasoning: Option<u64>,
}

impl TokenCounts {
    /// Reads the counts of OpenAI's APIs: `all` in `usage`, and `reasoning_tokens` in its field `details`.
    pub(super) fn from_usage(usage: &Value, all: &str, details: &str) -> Option<Self> {
        let details = usage.get(details);
        let reasoning = details.and_then(|details| details.get("reasoning_tokens"));
        Some(Self {
            all: usage.get(all)?.as_u64()?,
            reasoning: reasoning.and_then(Value::as_u64),
        })
    }
}

/// An event, or a part of a call.
#[derive(Debug)]
pub enum ObjectPart {
    /// Text, or the end.
    Event(RecordedEvent),
    /// A call of a tool, or a piece of one.
    Call(CallPiece),
    /// The end of the call with this key.
    Over(String),
}

/// A call of a tool, or a piece of one. A field that is empty or `None` came in another piece.
#[derive(Debug, Default)]
pub struct CallPiece {
    /// The key that joins the pieces of one call. Empty if the call comes whole.
    pub key: String,
    /// The id that joins the call to its result.
    pub id: Option<String>,
    /// The name of the tool.
    pub name: Option<String>,
    /// A piece of the arguments, JSON text.
    pub arguments: String,
    /// Whether the API marks the call's end. If not, the call ends where another begins.
    pub ends: bool,
}

impl ObjectContent {
    /// Returns the content of an object with one event of the only choice.
    pub fn from_events(event: impl IntoIterator<Item = RecordedEvent>) -> Self {
        let parts = event.into_iter().map(|event| (0, ObjectPart::Event(event)));
        Self {
            parts: parts.collect(),
            ..Self::default()
        }
    }

    /// Adds the event of a choice, if there is one.
    pub fn event(&mut self, choice: u64, event: Option<RecordedEvent>) {
        self.parts
            .extend(event.map(|event| (choice, ObjectPart::Event(event))));
    }

    /// Adds a call of a choice, or a piece of one.
    pub fn call(&mut self, choice: u64, call: CallPiece) {
        self.parts.push((choice, ObjectPart::Call(call)));
    }

    /// Keeps a fact about the whole response, if there is a value.
    pub fn keep(&mut self, name: &'static str, value: Option<Value>) {
        self.about.extend(value.map(|value| (name, value)));
    }

    /// Takes `usage` from an object, with the number of tokens at `key`.
    pub fn usage(&mut self, object: &mut Object, key: &str) {
        let usage = fields::any(object, "usage");
        let all = usage.as_ref().and_then(|usage| usage.get(key)?.as_u64());
        self.tokens = all.map(|all| TokenCounts {
            all,
            reasoning: None,
        });
        self.keep("usage", usage);
    }

    /// Returns whether the object carries no information about a response, such as a keep-alive.
    pub fn is_empty(&self) -> bool {
        let part = |(_, part): &(u64, ObjectPart)| !matches!(part, ObjectPart::Over(_));
        let spoken =
            self.parts.iter().any(part) || !self.about.is_empty() || self.begins || self.ends;
        !spoken && self.response.is_none() && self.model.is_none()
    }

    /// Returns whether the object holds text.
    pub fn has_text(&self) -> bool {
        let text = |part: &ObjectPart| match part {
            ObjectPart::Event(event) => matches!(event.body, Body::Reasoning(_) | Body::Answer(_)),
            ObjectPart::Call(_) | ObjectPart::Over(_) => false,
        };
        self.parts.iter().any(|(_, part)| text(part))
    }

    /// Records the remaining fields of the part at `path` as not understood.
    pub fn left(&mut self, path: &'static str, object: Object) {
        if !object.is_empty() {
            self.rest.push((path, object));
        }
    }

    /// Returns the fields at `path` that were not understood.
    pub fn rest_of(&mut self, path: &str) -> Option<&mut Object> {
        let mut rests = self.rest.iter_mut();
        let (_, rest) = rests.find(|(at, _)| *at == path)?;
        Some(rest)
    }

    /// Returns the parts of the first choice, for which a live stream is watched.
    pub fn watched(self) -> impl Iterator<Item = ObjectPart> {
        let first = |(choice, part)| (choice == 0).then_some(part);
        self.parts.into_iter().filter_map(first)
    }
}
