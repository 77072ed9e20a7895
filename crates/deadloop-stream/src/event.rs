//! [`RecordedEvent`]: one event of a recording or of a live stream.

use serde_json::{Map, Value};

/// The maximum time of an event, in milliseconds: some three centuries. Times since 1970 are below it. With
/// [`MAX_TOKENS`], it keeps sums over a corpus from overflowing.
pub const MAX_T_MS: f64 = 1e13;

/// The maximum number of tokens of one event.
pub const MAX_TOKENS: u64 = 1_000_000_000_000;

/// The name of the event field that holds when a call's arguments ended, in milliseconds since the request. The field
/// `t_ms` holds when they began.
pub const UNTIL: &str = "until_ms";

/// An event of a recording or of a live stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedEvent {
    /// The content of the event, by its kind.
    pub body: Body,
    /// The time of the event in milliseconds since the request, if recorded. Its absolute value is at most
    /// [`MAX_T_MS`].
    pub t_ms: Option<f64>,
    /// The number of tokens in this event, if recorded. At most [`MAX_TOKENS`].
    pub tokens: Option<u64>,
    /// The unknown fields, which are written back on conversion.
    pub rest: Map<String, Value>,
}

impl RecordedEvent {
    /// Returns an event with this body, without a time, tokens or other fields.
    pub fn new(body: Body) -> Self {
        Self {
            body,
            ..Self::default()
        }
    }

    /// Returns an event with a body and a time in milliseconds since the request.
    pub fn at(body: Body, t_ms: Option<f64>) -> Self {
        Self {
            t_ms,
            ..Self::new(body)
        }
    }

    /// Returns a count from the unknown fields, such as `tokens_in` of a turn. `None` if the field is absent or is no
    /// whole number up to [`MAX_TOKENS`].
    pub fn count(&self, name: &str) -> Option<u64> {
        let count = self.rest.get(name)?.as_u64()?;
        (count <= MAX_TOKENS).then_some(count)
    }
}

/// The content of an event, by its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A chunk of reasoning text.
    Reasoning(String),
    /// A chunk of answer text.
    Answer(String),
    /// A tool call.
    ToolCall {
        /// The id that joins the call to its result.
        id: Option<String>,
        /// The name of the tool.
        name: String,
        /// The arguments, as any JSON value.
        arguments: Value,
    },
    /// The result of a tool call.
    ToolResult {
        /// The id of the call.
        id: Option<String>,
        /// The text of the result.
        content: String,
        /// Whether the tool failed. `None` if not recorded, which is treated as success.
        error: Option<bool>,
    },
    /// The beginning of a new turn of an agent run.
    Turn,
    /// A message from outside the run. The first one is the task.
    User(String),
    /// A system prompt or tool definition, whose length and hash are in [`RecordedEvent::rest`].
    System,
    /// A handoff from one agent to the next.
    Handoff {
        /// The agent that hands over.
        from: String,
        /// The agent that takes over.
        to: String,
    },
    /// The end of the stream.
    Finish {
        /// The finish reason, such as `stop` or `length`, if recorded.
        reason: Option<String>,
    },
}

impl Default for Body {
    fn default() -> Self {
        Self::Finish { reason: None }
    }
}
