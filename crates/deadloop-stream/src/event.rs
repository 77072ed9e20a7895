//! [`RecordedEvent`]: one event of a recording or of a live stream.

use serde_json::{Map, Value};

/// The latest time of an event, in milliseconds: some three centuries after the request. Times that count from 1970
/// stay below it. With this limit and [`MAX_TOKENS`] no sum over a corpus overflows.
pub const MAX_T_MS: f64 = 1e13;

/// The maximum number of tokens of one event.
pub const MAX_TOKENS: u64 = 1_000_000_000_000;

/// The field of a call whose arguments took some time: milliseconds from the request until they were whole. `t_ms` is
/// the time at which they began.
pub const UNTIL: &str = "until_ms";

/// An event of a recording or of a live stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedEvent {
    /// The event's kind and content.
    pub body: Body,
    /// Milliseconds since the request, if recorded: at most [`MAX_T_MS`] before or after it.
    pub t_ms: Option<f64>,
    /// Number of tokens in this event, if recorded: at most [`MAX_TOKENS`].
    pub tokens: Option<u64>,
    /// Unknown fields, kept and written back on conversion.
    pub rest: Map<String, Value>,
}

impl RecordedEvent {
    /// Returns an event with only a body.
    pub fn new(body: Body) -> Self {
        Self {
            body,
            ..Self::default()
        }
    }

    /// Returns an event with a body and a time, in milliseconds since the request.
    pub fn at(body: Body, t_ms: Option<f64>) -> Self {
        Self {
            t_ms,
            ..Self::new(body)
        }
    }

    /// Returns a count among the other fields, such as `tokens_in` of a turn. `None` if the field is absent, or if it
    /// is not a whole number up to [`MAX_TOKENS`].
    pub fn count(&self, name: &str) -> Option<u64> {
        let count = self.rest.get(name)?.as_u64()?;
        (count <= MAX_TOKENS).then_some(count)
    }
}

/// The kind and content of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A chunk of thinking.
    Reasoning(String),
    /// A chunk of the answer.
    Answer(String),
    /// A call of a tool.
    ToolCall {
        /// The id that joins the call to its result.
        id: Option<String>,
        /// The name of the tool.
        name: String,
        /// The arguments, any JSON.
        arguments: Value,
    },
    /// The result of a call.
    ToolResult {
        /// The id of the call.
        id: Option<String>,
        /// The text of the result.
        content: String,
        /// Whether the tool failed. `None` if the recording has no such field, which counts as no error.
        error: Option<bool>,
    },
    /// The beginning of a new turn of an agent run.
    Turn,
    /// Input from outside, the task first.
    User(String),
    /// A prompt or a tool's definition. Its length and hash are among the event's other fields.
    System,
    /// A handoff from one agent to the next.
    Handoff {
        /// The agent that hands off.
        from: String,
        /// The next agent.
        to: String,
    },
    /// The end of the stream.
    Finish {
        /// The finish reason, if recorded: `stop`, `length`, …
        reason: Option<String>,
    },
}

impl Default for Body {
    fn default() -> Self {
        Self::Finish { reason: None }
    }
}
