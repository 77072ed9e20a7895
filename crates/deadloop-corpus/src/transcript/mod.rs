//! The transcript: one recorded generation of one model, its events in order.

use deadloop_detect::{Event, Work};
use serde_json::{Map, Value};

use crate::files::formats::jsonl;
use crate::{Body, Card, Place, Problem, RecordDigest, RecordedEvent, stream};

mod class;
mod ids;
mod order;
pub(crate) mod wire;

pub use class::Class;
pub use ids::Ids;
pub use order::{Disorder, DisorderKind, disorders};

/// One recorded generation, or one agent task, of one model. It holds no label: what is true about
/// a transcript travels beside it ([`Entry::labels`]), so that what replays it cannot see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// Unique in its corpus.
    pub id: String,
    /// The model's name; `unknown` where the recording does not say.
    pub model: String,
    /// The sampling profile, as the recorder named it.
    pub profile: Option<String>,
    /// What belongs together in a fold: usually the prompt.
    pub group: Option<String>,
    /// Language tag.
    pub lang: Option<String>,
    /// Anything else the recorder wrote down.
    pub meta: Map<String, Value>,
    /// What arrived, in order.
    pub events: Vec<RecordedEvent>,
}

impl Transcript {
    /// Whose text it is: its model, and the task in `meta.task`, where that is a text.
    pub fn work(&self) -> Work<'_> {
        Work {
            model: &self.model,
            task: self.meta.get("task").and_then(Value::as_str).unwrap_or(""),
        }
    }

    /// All the thinking, put together.
    pub fn reasoning(&self) -> String {
        self.concat(|body| match body {
            Body::Reasoning(text) => Some(text),
            _ => None,
        })
    }

    /// All of the answer, put together.
    pub fn answer(&self) -> String {
        self.concat(|body| match body {
            Body::Answer(text) => Some(text),
            _ => None,
        })
    }

    /// Why the stream ended, where the recording says: the reason of the last finish that has one. What
    /// was said or called after it ended for a reason that nobody wrote down.
    pub fn finish_reason(&self) -> Option<&str> {
        let ends = self
            .events
            .iter()
            .rev()
            .map_while(|event| match &event.body {
                Body::Reasoning(text) | Body::Answer(text) if text.is_empty() => Some(None),
                Body::Reasoning(_) | Body::Answer(_) | Body::ToolCall { .. } => None,
                Body::Finish { reason } => Some(reason.as_deref()),
                Body::ToolResult { .. }
                | Body::Turn
                | Body::User(_)
                | Body::System
                | Body::Handoff { .. } => Some(None),
            });
        ends.flatten().next()
    }

    /// The events as a detector sees them: [`stream`].
    pub fn stream(&self) -> impl Iterator<Item = (u64, Event<'_>)> {
        stream(&self.events)
    }

    fn concat(&self, pick: impl Fn(&Body) -> Option<&String>) -> String {
        self.events
            .iter()
            .filter_map(|event| pick(&event.body))
            .map(String::as_str)
            .collect()
    }
}

/// A transcript of a corpus, and what belongs to it but must not reach the engine.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What the engine sees.
    pub transcript: Transcript,
    /// The value of `labels`, unread: only `deadloop-score` gives it a meaning.
    pub labels: Option<Value>,
    /// Top-level fields that deadloop does not know, kept and written back on conversion.
    pub rest: Map<String, Value>,
    /// Its split, from `splits.csv`.
    pub split: Option<String>,
    /// Where it is.
    pub place: Place,
}

impl Entry {
    /// The transcript of one line of JSON, and the digest that the hash of its corpus is made of: for
    /// whoever gets lines from elsewhere than a file. `card` says how `text` is split at think tags. The
    /// split is not known here.
    ///
    /// # Errors
    /// What is wrong with the line, at `place`.
    pub fn of_line(
        line: &[u8],
        place: Place,
        card: Option<&Card>,
    ) -> Result<(Self, RecordDigest), Problem> {
        let raw = jsonl::raw(line, place);
        Ok((raw.entry(card)?, raw.digest()))
    }

    /// Writes the transcript as one line of JSON, its labels inside.
    ///
    /// # Errors
    /// A value that JSON cannot say.
    pub fn to_line(&self) -> serde_json::Result<String> {
        let mut line = Vec::new();
        wire::line(self, &mut line)?;
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
                events: bodies.into_iter().map(RecordedEvent::of).collect(),
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
