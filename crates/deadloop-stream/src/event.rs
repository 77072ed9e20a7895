//! [`RecordedEvent`]: one thing that arrived, as a recording or a reader of bytes holds it.

use serde_json::{Map, Value};

/// The latest time of an event, in milliseconds: some three centuries after the request. A recording that counts from
/// 1970 stays below it. With this and [`MAX_TOKENS`] no sum over a corpus overflows.
pub const MAX_T_MS: f64 = 1e13;

/// The most tokens of one event.
pub const MAX_TOKENS: u64 = 1_000_000_000_000;

/// The field of a call that was written over some time: milliseconds since the request when its arguments were whole.
/// Its `t_ms` is when they began.
pub const UNTIL: &str = "until_ms";

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

    /// The same, and when it came, in milliseconds since the request.
    pub fn at(body: Body, t_ms: Option<f64>) -> Self {
        Self {
            t_ms,
            ..Self::of(body)
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
