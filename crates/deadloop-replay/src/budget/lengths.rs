//! [`Lengths`]: the lengths of a run's events and prompts, without their text.

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_detect::{Event, token_chars};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An event that takes up space in a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PromptItem {
    /// The number of chars of the event. If the recording truncated the text, that of the whole text.
    pub(super) chars: u64,
    /// Whether the event is a prompt or a tool definition, which no policy removes.
    pub(super) system: bool,
}

/// The recorded prompt of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// The number of items before the turn.
    pub(super) items: u32,
    /// The recorded number of tokens of the whole prompt, if any.
    pub tokens: Option<u64>,
}

/// The lengths of a run's events and prompts. An event takes some 16 bytes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Lengths {
    pub(super) items: Vec<PromptItem>,
    pub(super) prompts: Vec<Prompt>,
}

impl Lengths {
    /// Measures the events and prompts of a transcript.
    pub fn from_transcript(transcript: &Transcript) -> Self {
        let mut lengths = Self::default();
        for (number, seen) in transcript.stream() {
            let at = usize::try_from(number).unwrap_or(usize::MAX);
            let Some(event) = transcript.events.get(at) else {
                continue;
            };
            if matches!(seen, Event::Turn { .. }) {
                lengths.prompts.push(Prompt {
                    items: lengths.items.len() as u32,
                    tokens: recorded_prompt_tokens(event),
                });
                continue;
            }
            let chars = count_chars(event);
            if chars > 0 {
                lengths.items.push(PromptItem {
                    chars,
                    system: matches!(event.body, Body::System),
                });
            }
        }
        lengths
    }

    /// Returns the prompts of the turns.
    pub fn prompts(&self) -> &[Prompt] {
        &self.prompts
    }
}

/// Returns the number of tokens that a turn read, if recorded.
fn recorded_prompt_tokens(event: &RecordedEvent) -> Option<u64> {
    match event.body {
        Body::Turn => event.count("tokens_in"),
        _ => None,
    }
}

/// Returns the number of chars that an event adds to a prompt: the recorded length of a truncated text, else the
/// [`token_chars`] of its text.
fn count_chars(event: &RecordedEvent) -> u64 {
    let cut = || event.count("length");
    let here = match &event.body {
        Body::Turn | Body::Finish { .. } | Body::Handoff { .. } => return 0,
        Body::Reasoning(text) | Body::Answer(text) | Body::User(text) => token_chars(text),
        Body::System => event
            .rest
            .get("text")
            .and_then(Value::as_str)
            .map_or(0, token_chars),
        Body::ToolResult { content, .. } => token_chars(content),
        Body::ToolCall {
            name, arguments, ..
        } => token_chars(name) + count_argument_chars(arguments),
    };
    cut().filter(|length| *length > 0).unwrap_or(here)
}

/// Returns the number of chars of arguments, recorded as text or formatted as JSON.
fn count_argument_chars(arguments: &Value) -> u64 {
    match arguments {
        Value::Null => 0,
        Value::String(text) => token_chars(text),
        value => token_chars(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_was_cut_has_its_whole_length() {
        let mut event = RecordedEvent::new(Body::Answer("日本".into()));
        assert_eq!(count_chars(&event), 4);
        event.rest.insert("length".into(), 40.into());
        assert_eq!(count_chars(&event), 40);
        let call = |arguments| {
            count_chars(&RecordedEvent::new(Body::ToolCall {
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
