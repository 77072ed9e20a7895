//! The transcript: one recorded generation of one model, its events in order.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::files::formats::jsonl;
use crate::{Card, RecordDigest};

mod class;
mod events;
mod ids;
pub(crate) mod wire;

pub use class::Class;
pub use events::stream;
pub use ids::Ids;
pub use wire::EVENT_TYPES;

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

    fn concat(&self, pick: impl Fn(&Body) -> Option<&String>) -> String {
        self.events
            .iter()
            .filter_map(|event| pick(&event.body))
            .map(String::as_str)
            .collect()
    }
}

/// The latest time of an event, in milliseconds: some three centuries after the request. A recording that counts from
/// 1970 stays below it. With this and [`MAX_TOKENS`] no sum over a corpus overflows.
pub const MAX_T_MS: f64 = 1e13;

/// The most tokens of one event.
pub const MAX_TOKENS: u64 = 1_000_000_000_000;

/// One thing that arrived.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedEvent {
    /// What it is.
    pub body: Body,
    /// Milliseconds since the request, where recorded: at most [`MAX_T_MS`] before or after it.
    pub t_ms: Option<f64>,
    /// Tokens in this event, where recorded: at most [`MAX_TOKENS`].
    pub tokens: Option<u64>,
    /// Fields that deadloop does not know, kept and written back on conversion.
    pub rest: Map<String, Value>,
}

impl RecordedEvent {
    /// An event of which nothing but its body is known.
    pub fn of(body: Body) -> Self {
        Self {
            body,
            ..Self::default()
        }
    }

    /// A count that it has beside what deadloop knows, such as `tokens_in` of a turn. `None` if there is no such field, or
    /// if it is no whole number up to [`MAX_TOKENS`].
    pub fn count(&self, name: &str) -> Option<u64> {
        let count = self.rest.get(name)?.as_u64()?;
        (count <= MAX_TOKENS).then_some(count)
    }
}

/// What an event carries.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A chunk of thinking.
    Reasoning(String),
    /// A chunk of the answer.
    Answer(String),
    /// A call of a tool.
    ToolCall {
        /// Joins the call to its result.
        id: Option<String>,
        /// The tool.
        name: String,
        /// Its arguments, any JSON.
        arguments: Value,
    },
    /// What a tool gave back.
    ToolResult {
        /// The call's id.
        id: Option<String>,
        /// What it said.
        content: String,
        /// Whether the tool failed; `None` if the recording does not say, which counts as no error.
        error: Option<bool>,
    },
    /// A new turn of an agent run begins.
    Turn,
    /// What came from outside, the task first.
    User(String),
    /// A prompt or a tool's definition: its length and hash are among the event's other fields.
    System,
    /// One agent chose the next.
    Handoff {
        /// Who chose.
        from: String,
        /// Who is next.
        to: String,
    },
    /// The stream ended, and why, where the recording says.
    Finish {
        /// `stop`, `length`, …
        reason: Option<String>,
    },
}

impl Default for Body {
    fn default() -> Self {
        Self::Finish { reason: None }
    }
}

/// Where a transcript, label or split stands: `file:line`, lines from 1 (rows, in Parquet; 0: the
/// file as a whole).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file, as the user would name it.
    pub file: Arc<PathBuf>,
    /// Line or row, from 1; 0 for the file as a whole.
    pub line: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}", self.file.display())
        } else {
            write!(f, "{}:{}", self.file.display(), self.line)
        }
    }
}

impl Place {
    /// A line (or row) of a file.
    pub fn new(file: Arc<PathBuf>, line: u64) -> Self {
        Self { file, line }
    }

    /// A file as a whole.
    pub fn whole(file: impl Into<PathBuf>) -> Self {
        Self::new(Arc::new(file.into()), 0)
    }
}

/// One thing wrong with a corpus: where, what, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Where it is.
    pub place: Place,
    /// What is wrong, a lower-case fragment.
    pub what: String,
    /// What was expected instead.
    pub expected: String,
    /// How much it costs, and whose fault it is.
    pub cost: Cost,
}

/// What a [`Problem`] has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// The record, row or file that it stands at, and no more.
    #[default]
    Itself,
    /// Records that nobody has seen: which transcripts they are is not known.
    Unread,
    /// The same, for want of memory or file handles: it says nothing of the file.
    Machine,
}

impl Cost {
    /// What it costs that a file cannot be read, or not to its end.
    pub(crate) fn of(error: &std::io::Error) -> Self {
        if is_of_machine(error) {
            Self::Machine
        } else {
            Self::Unread
        }
    }
}

/// Whether an error says that this machine has no more memory or file handles, and so nothing of what was
/// to be read.
pub fn is_of_machine(error: &std::io::Error) -> bool {
    // EMFILE and ENFILE, for which std has no name; zstd tells of memory in words alone.
    let handles = cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24));
    handles
        || error.kind() == std::io::ErrorKind::OutOfMemory
        || error.to_string().contains("not enough memory")
}

impl Problem {
    /// What is wrong at `place`, and what was expected there. Of names that they quote from a
    /// file, line ends and whatever else a terminal obeys are escaped.
    pub fn new(place: Place, what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            place,
            what: one_line(&what.into()),
            expected: one_line(&expected.into()),
            cost: Cost::Itself,
        }
    }

    /// The same, where records were lost that nobody has seen.
    pub(crate) fn costing(self, cost: Cost) -> Self {
        Self { cost, ..self }
    }
}

fn one_line(text: &str) -> String {
    let one = |c: char| match c.is_control() {
        true => c.escape_default().collect(),
        false => String::from(c),
    };
    text.chars().map(one).collect()
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}; expected {}",
            self.place, self.what, self.expected
        )
    }
}

impl std::error::Error for Problem {}

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
    /// Where it stands.
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
