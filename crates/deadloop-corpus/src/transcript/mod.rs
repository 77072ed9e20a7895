//! [`Transcript`]: one recorded generation of one model, its events in order.

use deadloop_detect::{Event, ModelTask};
use deadloop_stream::wire::WireResult;
use serde_json::{Map, Value};

use crate::{Body, Card, Place, Problem, RecordDigest, RecordedEvent, ThinkOptions, stream};

mod benign;
mod class;
pub mod fingerprint;
mod ids;
mod order;
pub(crate) mod wire;

pub use benign::{BenignReason, BenignSpan};
pub use class::Class;
pub use ids::Ids;
pub use order::{Disorder, DisorderKind, find_disorders};

/// A recorded generation, or a recorded agent task, of one model.
///
/// A transcript has no label. Labels are in [`Entry::labels`], so that the engine cannot read them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// Id, unique in its corpus.
    pub id: String,
    /// Name of the model, or `unknown` if it was not recorded.
    pub model: String,
    /// Sampling profile, as named by the recorder.
    pub profile: Option<String>,
    /// Group that folds must not split, usually the prompt.
    pub group: Option<String>,
    /// Language tag.
    pub lang: Option<String>,
    /// Other values stored by the recorder.
    pub meta: Map<String, Value>,
    /// Events, in order.
    pub events: Vec<RecordedEvent>,
}

impl Transcript {
    /// Returns the name of the model and the name of the task. The task is `meta.task` if that is a string.
    pub fn work(&self) -> ModelTask<'_> {
        ModelTask {
            model: &self.model,
            task: self.meta.get("task").and_then(Value::as_str).unwrap_or(""),
        }
    }

    /// Returns the whole reasoning as one text.
    pub fn reasoning(&self) -> String {
        self.concat_texts(|body| match body {
            Body::Reasoning(text) => Some(text),
            _ => None,
        })
    }

    /// Returns the whole answer as one text.
    pub fn answer(&self) -> String {
        self.concat_texts(|body| match body {
            Body::Answer(text) => Some(text),
            _ => None,
        })
    }

    /// Returns the last recorded finish reason. `None` if it is missing, or if text or a call follows it.
    pub fn finish_reason(&self) -> Option<&str> {
        let ends = self
            .events
            .iter()
            .rev()
            .map_while(|event| match &event.body {
                Body::Reasoning(text) | Body::Answer(text) if text.is_empty() => Some(None),
                Body::Reasoning(_) | Body::Answer(_) | Body::ToolCall { .. } => None,
                Body::Finish { reason } => Some(reason.as_deref()),
                _ => Some(None),
            });
        ends.flatten().next()
    }

    /// Iterates over the events as a detector reads them. See [`stream`].
    pub fn stream(&self) -> impl Iterator<Item = (u64, Event<'_>)> {
        stream(&self.events)
    }

    fn concat_texts(&self, select: impl Fn(&Body) -> Option<&String>) -> String {
        self.events
            .iter()
            .filter_map(|event| select(&event.body))
            .map(String::as_str)
            .collect()
    }
}

/// Creates the body of a tool call.
pub fn tool_call(id: Option<String>, name: impl Into<String>, arguments: impl Into<Value>) -> Body {
    Body::ToolCall {
        id,
        name: name.into(),
        arguments: arguments.into(),
    }
}

/// Creates the body of a tool result. `error` is whether the tool failed, if known.
pub fn tool_result(id: Option<String>, content: impl Into<String>, error: Option<bool>) -> Body {
    Body::ToolResult {
        id,
        content: content.into(),
        error,
    }
}

/// A transcript of a corpus, with the data that must not reach the engine.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The transcript, which is all that the engine reads.
    pub transcript: Transcript,
    /// Unparsed value of `labels`. Only `deadloop-score` interprets it.
    pub labels: Option<Value>,
    /// Unknown top-level fields, which are written back on conversion.
    pub rest: Map<String, Value>,
    /// Split of the transcript, from `splits.csv`.
    pub split: Option<String>,
    /// File and line of the transcript.
    pub place: Place,
}

impl Entry {
    /// Parses a transcript from a line of JSON. Also returns the digest of the line, from which the hash of a corpus is
    /// computed.
    ///
    /// `card` determines how `text` is split at `<think>` tags. The `split` of the entry is `None`.
    ///
    /// # Errors
    /// Returns the problem of the line, at `place`.
    pub fn from_line(
        line: &[u8],
        place: Place,
        card: Option<&Card>,
    ) -> Result<(Self, RecordDigest), Problem> {
        let raw = crate::RawRecord::new(place, line.trim_ascii().to_vec());
        Ok((raw.decode_entry(card)?, raw.digest()))
    }

    /// Converts a JSON object to a transcript. `think` returns the options for splitting the `text` of a model.
    ///
    /// # Errors
    /// Returns the first invalid field.
    pub fn from_object(
        object: Map<String, Value>,
        place: &Place,
        think: impl Fn(&str) -> ThinkOptions,
    ) -> WireResult<Self> {
        wire::WireTranscript::from_object(object)?.into_entry(place, think)
    }

    /// Serializes the transcript as one line of JSON, including its labels.
    ///
    /// # Errors
    /// Returns an error if a value cannot be written as JSON.
    pub fn to_line(&self) -> serde_json::Result<String> {
        let mut line = Vec::new();
        wire::write_line(self, &mut line)?;
        Ok(String::from_utf8_lossy(&line).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_ended_as_the_last_finish_with_a_reason_says() {
        let finish = |reason: Option<&str>| Body::Finish {
            reason: reason.map(str::to_owned),
        };
        let said = || Body::Answer("x".into());
        let ended = |bodies: Vec<Body>| {
            let transcript = Transcript {
                events: bodies.into_iter().map(RecordedEvent::new).collect(),
                ..Transcript::default()
            };
            transcript.finish_reason().map(str::to_owned)
        };
        let (stop, length) = (finish(Some("stop")), finish(Some("length")));
        let one = |reason: &str| Some(reason.to_owned());
        assert_eq!(ended(vec![said(), stop.clone(), length]), one("length"));
        assert_eq!(ended(vec![said(), stop.clone(), finish(None)]), one("stop"));
        assert_eq!(ended(vec![said(), finish(None)]), None);
        assert_eq!(ended(vec![stop.clone(), Body::Turn, said()]), None);
        assert_eq!(ended(vec![stop, said(), finish(None)]), None);
    }
}
