//! What an object of some API says: what a live stream is watched for, and all else that a recording
//! keeps of it.

use serde_json::Value;

use crate::take::Object;
use crate::{Body, RecordedEvent};

/// What an object says.
#[derive(Debug, Default)]
pub struct Said {
    /// The response that it belongs to, where it says.
    pub response: Option<String>,
    /// The model, where it says.
    pub model: Option<String>,
    /// When it was made, in milliseconds since 1970, where each object says.
    pub at: Option<f64>,
    /// What happens, of each choice (0 where there is but one), in order. Texts may be empty.
    pub parts: Vec<(u64, SaidPart)>,
    /// What it says of the response as a whole, by name: usage, fingerprint and the like.
    pub about: Vec<(&'static str, Value)>,
    /// Tokens that the response has in all.
    pub tokens: Option<Tokens>,
    /// Milliseconds that the response took in all.
    pub took: Option<f64>,
    /// Whether a response begins with it.
    pub begins: bool,
    /// Whether a response ends with it.
    pub ends: bool,
    /// Whether it cannot begin a response, because its API marks beginnings and this has no mark.
    pub goes_on: bool,
    /// What was not understood, and where in the object it stands.
    pub rest: Vec<(&'static str, Object)>,
}

/// Tokens of a response.
#[derive(Clone, Copy, Debug)]
pub struct Tokens {
    /// Of all that the model wrote.
    pub all: u64,
    /// Of its thinking, where that is counted.
    pub reasoning: Option<u64>,
}

/// One thing that happens.
#[derive(Debug)]
pub enum SaidPart {
    /// Text, or the end.
    Event(RecordedEvent),
    /// A call of a tool, or a piece of one.
    Call(Call),
    /// The call with this key is over.
    Over(String),
}

/// A call of a tool, or a piece of one. A field that is empty or `None` came in another piece.
#[derive(Debug, Default)]
pub struct Call {
    /// What joins the pieces of one call; empty where it comes whole.
    pub key: String,
    /// Joins the call to its result.
    pub id: Option<String>,
    /// The tool.
    pub name: Option<String>,
    /// A piece of its arguments, JSON text.
    pub arguments: String,
    /// Whether the API says when it is over: else that is when another begins.
    pub ends: bool,
}

impl Said {
    /// Of one event of the only choice.
    pub fn of(event: impl IntoIterator<Item = RecordedEvent>) -> Self {
        let parts = event.into_iter().map(|event| (0, SaidPart::Event(event)));
        Self {
            parts: parts.collect(),
            ..Self::default()
        }
    }

    /// Adds what happens to a choice, where something does.
    pub fn event(&mut self, choice: u64, event: Option<RecordedEvent>) {
        self.parts
            .extend(event.map(|event| (choice, SaidPart::Event(event))));
    }

    /// What it says of the response as a whole, where it says it.
    pub fn keep(&mut self, name: &'static str, value: Option<Value>) {
        self.about.extend(value.map(|value| (name, value)));
    }

    /// Whether nothing is said of any response, as in a keep-alive.
    pub fn is_empty(&self) -> bool {
        let part = |(_, part): &(u64, SaidPart)| !matches!(part, SaidPart::Over(_));
        let spoken =
            self.parts.iter().any(part) || !self.about.is_empty() || self.begins || self.ends;
        !spoken && self.response.is_none() && self.model.is_none()
    }

    /// Whether there is text in it.
    pub fn has_text(&self) -> bool {
        let text = |part: &SaidPart| match part {
            SaidPart::Event(event) => matches!(event.body, Body::Reasoning(_) | Body::Answer(_)),
            SaidPart::Call(_) | SaidPart::Over(_) => false,
        };
        self.parts.iter().any(|(_, part)| text(part))
    }

    /// What is left of an object that stands at `path`.
    pub fn left(&mut self, path: &'static str, object: Object) {
        if !object.is_empty() {
            self.rest.push((path, object));
        }
    }

    /// What was left at a path.
    pub fn rest_of(&mut self, path: &str) -> Option<&mut Object> {
        let mut rests = self.rest.iter_mut();
        let (_, rest) = rests.find(|(at, _)| *at == path)?;
        Some(rest)
    }

    /// What a live stream is watched for: what happens of the first choice.
    pub fn watched(self) -> impl Iterator<Item = SaidPart> {
        let first = |(choice, part)| (choice == 0).then_some(part);
        self.parts.into_iter().filter_map(first)
    }
}
