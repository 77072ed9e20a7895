//! [`Lengths`]: a run without its text: how long each event is, and what its prompts were recorded to be.

use std::collections::HashMap;
use std::sync::Arc;

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_detect::Event as Seen;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::words::{Place, Uses};

/// One event that takes room in a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Item {
    /// Its number in the transcript.
    pub(super) event: u32,
    /// Its chars; those of the whole text where the recording has cut it.
    pub(super) chars: u64,
    /// Whether it is a prompt or a definition, which no policy touches.
    pub(super) system: bool,
    /// Of a result: the tool, as a number of [`Lengths::tools`].
    pub(super) result: Option<u32>,
}

/// What a turn was recorded to have read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// Items that stood before it.
    pub(super) items: u32,
    /// Tokens of the whole prompt, where recorded.
    pub tokens: Option<u64>,
}

/// When a later call needed a result: in which turn, and where else the same word stood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use {
    /// The turn, from 0.
    pub turn: u32,
    /// The results in which the word stood before that turn, as numbers among the results, rising.
    pub results: Vec<u32>,
    /// The newest of the other items in which it stood before that turn, as a number among the items.
    pub elsewhere: Option<u32>,
}

/// A run as budgets see it. No text is kept: some 24 bytes an event.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Lengths {
    pub(super) items: Vec<Item>,
    pub(super) prompts: Vec<Prompt>,
    /// The names of the tools that gave results.
    pub(super) tools: Vec<String>,
    /// What later calls needed of results, rising by turn.
    #[serde(serialize_with = "written", deserialize_with = "read")]
    pub(super) uses: Arc<[Use]>,
}

fn written<S: Serializer>(uses: &[Use], to: S) -> Result<S::Ok, S::Error> {
    uses.serialize(to)
}

fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<[Use]>, D::Error> {
    Vec::deserialize(from).map(Arc::from)
}

impl Lengths {
    /// Those of a transcript.
    pub fn of(transcript: &Transcript) -> Self {
        let mut lengths = Self::default();
        let mut called: HashMap<&str, u32> = HashMap::new();
        for (number, seen) in transcript.stream() {
            let at = usize::try_from(number).unwrap_or(usize::MAX);
            let Some(event) = transcript.events.get(at) else {
                continue;
            };
            if matches!(seen, Seen::Turn { .. }) {
                lengths.prompts.push(Prompt {
                    items: lengths.items.len() as u32,
                    tokens: recorded(event),
                });
                continue;
            }
            if let Seen::Call {
                id: Some(id), name, ..
            } = seen
            {
                called.insert(id, lengths.tool(name));
            }
            let result = match seen {
                Seen::Result { id, .. } => {
                    let tool = id.and_then(|id| called.get(id).copied());
                    Some(tool.unwrap_or_else(|| lengths.tool("")))
                }
                _ => None,
            };
            let chars = chars(event);
            if chars > 0 {
                lengths.items.push(Item {
                    event: number as u32,
                    chars,
                    system: matches!(event.body, Body::System),
                    result,
                });
            }
        }
        lengths.uses = needed(transcript, &lengths).into();
        lengths
    }

    /// The turns, and what each was recorded to have read.
    pub fn prompts(&self) -> &[Prompt] {
        &self.prompts
    }

    /// The number of a tool's name.
    fn tool(&mut self, name: &str) -> u32 {
        let known = self.tools.iter().position(|tool| tool == name);
        let at = known.unwrap_or_else(|| {
            self.tools.push(name.to_owned());
            self.tools.len() - 1
        });
        at as u32
    }
}

/// The tokens that a turn read, where its event says so.
fn recorded(event: &RecordedEvent) -> Option<u64> {
    match event.body {
        Body::Turn => event.count("tokens_in"),
        _ => None,
    }
}

/// How many chars an event puts into a prompt: those of the whole text where the recording says how long it was.
fn chars(event: &RecordedEvent) -> u64 {
    let count = |text: &str| text.chars().count() as u64;
    let cut = || event.count("length");
    let here = match &event.body {
        Body::Turn | Body::Finish { .. } | Body::Handoff { .. } => return 0,
        Body::Reasoning(text) | Body::Answer(text) | Body::User(text) => count(text),
        Body::System => event
            .rest
            .get("text")
            .and_then(Value::as_str)
            .map_or(0, count),
        Body::ToolResult { content, .. } => count(content),
        Body::ToolCall {
            name, arguments, ..
        } => count(name) + argument_chars(arguments),
    };
    cut().filter(|length| *length > 0).unwrap_or(here)
}

/// The chars of arguments: as they were written, or of the object as JSON.
fn argument_chars(arguments: &Value) -> u64 {
    match arguments {
        Value::Null => 0,
        Value::String(text) => text.chars().count() as u64,
        value => value.to_string().chars().count() as u64,
    }
}

/// What later calls needed of results.
fn needed(transcript: &Transcript, lengths: &Lengths) -> Vec<Use> {
    let mut uses = Uses::of(transcript);
    let mut items = (0..).zip(&lengths.items).peekable();
    let mut results = 0;
    let mut turns = 0_u32;
    let mut found = Vec::new();
    for (number, seen) in transcript.stream() {
        if matches!(seen, Seen::Turn { .. }) {
            turns += 1;
            uses.begin_turn();
            continue;
        }
        let item = items.next_if(|(_, item)| u64::from(item.event) == number);
        let place = item.map(|(at, item)| match item.result {
            Some(_) => {
                results += 1;
                Place::Result(results - 1)
            }
            None => Place::Elsewhere(at),
        });
        uses.take(&seen, place, turns.saturating_sub(1), &mut found);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_was_cut_has_its_whole_length() {
        let mut event = RecordedEvent::of(Body::Answer("日本".into()));
        assert_eq!(chars(&event), 2);
        event.rest.insert("length".into(), 40.into());
        assert_eq!(chars(&event), 40);
        let call = |arguments| {
            chars(&RecordedEvent::of(Body::ToolCall {
                id: None,
                name: "ls".into(),
                arguments,
            }))
        };
        assert_eq!(call(Value::Null), 2);
        assert_eq!(call("{\"a\":1}".into()), 9);
        assert_eq!(call(serde_json::json!({"a": 1})), 9);
    }
}
