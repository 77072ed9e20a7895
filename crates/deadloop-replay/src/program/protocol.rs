//! Messages of the program protocol, one JSON object per line.

use deadloop_detect::Value;
use serde::{Deserialize, Serialize};

/// The protocol version sent in `hello`.
const PROTOCOL_VERSION: u32 = 1;

/// A message to a program, other than an event.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum ProgramMessage<'a> {
    /// The greeting of a new process.
    Hello { protocol: u32, params: &'a Value },
    /// The start of a transcript.
    Start { transcript: &'a str, model: &'a str },
    /// The end of a transcript.
    End,
}

impl<'a> ProgramMessage<'a> {
    /// Returns the greeting, with the program's parameters.
    pub(super) fn hello(params: &'a Value) -> Self {
        Self::Hello {
            protocol: PROTOCOL_VERSION,
            params,
        }
    }
}

/// Appends a message as a line of JSON.
///
/// # Errors
///
/// The message cannot be written as JSON. deadloop's own messages always can.
pub(super) fn write_line(message: &impl Serialize, to: &mut Vec<u8>) -> Result<(), String> {
    serde_json::to_writer(&mut *to, message).map_err(|e| format!("cannot be told: {e}"))?;
    to.push(b'\n');
    Ok(())
}

/// A message from a program.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum ProgramReply {
    /// The answer to `hello`.
    Ready(ProgramName),
    /// The answer to a transcript. Without an id, it is about the last started transcript.
    Verdict {
        transcript: Option<String>,
        // `null` is an answer, a missing field is not.
        #[serde(deserialize_with = "Option::deserialize")]
        alarm: Option<RawAlarm>,
    },
}

/// The name and version that a program reported when it started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramName {
    /// The name that the program reported.
    pub name: String,
    /// The version that the program reported.
    pub version: String,
}

/// The alarm in a program's answer. Other fields are ignored.
#[derive(Deserialize)]
pub(super) struct RawAlarm {
    /// The index of the event among those sent, from 0.
    pub(super) event: usize,
    /// The number of chars of the event's channel up to the alarm.
    pub(super) at: u64,
    /// The name of the kind of loop.
    pub(super) kind: String,
    /// An explanation for people.
    #[serde(default)]
    detail: Option<serde_json::Value>,
}

/// The maximum number of chars kept of a detail.
const MAX_DETAIL_CHARS: usize = 300;

impl RawAlarm {
    /// Returns the detail for display: a string as it is, any other value as JSON.
    pub(super) fn detail(&self) -> Option<String> {
        let text = match self.detail.as_ref()? {
            serde_json::Value::Null => return None,
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Some(text.chars().take(MAX_DETAIL_CHARS).collect()).filter(|text: &String| !text.is_empty())
    }

    #[cfg(test)]
    pub(super) fn new(event: usize, at: u64, kind: &str, detail: Option<&str>) -> Self {
        Self {
            event,
            at,
            kind: kind.into(),
            detail: detail.map(Into::into),
        }
    }
}

/// The maximum number of chars quoted from an invalid line.
const MAX_QUOTED_CHARS: usize = 200;

impl ProgramReply {
    /// Parses a line. An object with `alarm` but without `type` is a verdict too, because the protocol's description
    /// shows it in this form.
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let read = serde_json::from_slice::<serde_json::Value>(line).and_then(|mut message| {
            if let Some(fields) = message.as_object_mut()
                && fields.contains_key("alarm")
            {
                fields.entry("type").or_insert("verdict".into());
            }
            serde_json::from_value(message)
        });
        read.map_err(|e| {
            let said = String::from_utf8_lossy(line);
            let said: String = said.chars().take(MAX_QUOTED_CHARS).collect();
            format!("its answer is not of the protocol: {e}: {said:?}")
        })
    }
}
