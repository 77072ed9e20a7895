//! The protocol's messages: one JSON object a line.

use deadloop_detect::Value;
use serde::{Deserialize, Serialize};

/// The protocol's version, as `hello` names it.
const VERSION: u32 = 1;

/// What is sent to a program, besides the events.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Told<'a> {
    /// Once, before all else.
    Hello { protocol: u32, params: &'a Value },
    /// A transcript begins.
    Start { transcript: &'a str, model: &'a str },
    /// That was all of it.
    End,
}

impl<'a> Told<'a> {
    /// The first message, with the program's own parameters.
    pub(super) fn hello(params: &'a Value) -> Self {
        Self::Hello {
            protocol: VERSION,
            params,
        }
    }
}

/// Appends a message as a line; what cannot be written as JSON (nothing that deadloop makes) is the
/// reason.
pub(super) fn line(message: &impl Serialize, to: &mut Vec<u8>) -> Result<(), String> {
    serde_json::to_writer(&mut *to, message).map_err(|e| format!("cannot be told: {e}"))?;
    to.push(b'\n');
    Ok(())
}

/// What a program answers.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Answer {
    /// To `hello`.
    Ready(Ready),
    /// To a transcript: to the last that was begun where it names none.
    Verdict {
        transcript: Option<String>,
        // `null` is an answer, nothing at all is not.
        #[serde(deserialize_with = "Option::deserialize")]
        alarm: Option<Cry>,
    },
}

/// Who a program says it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// An alarm as a program says it. What else there may be is ignored.
#[derive(Deserialize)]
pub(super) struct Cry {
    /// Which of the events that it was sent, from 0.
    pub(super) event: usize,
    /// Chars of that event's channel up to where it knew.
    pub(super) at: u64,
    /// What kind of loop it takes it for.
    pub(super) kind: String,
    /// What it has to say of it, for people.
    #[serde(default)]
    detail: Option<serde_json::Value>,
}

/// Chars of a detail that are kept.
const DETAIL: usize = 300;

impl Cry {
    /// As printed: text as it is, anything else as JSON.
    pub(super) fn detail(&self) -> Option<String> {
        let text = match self.detail.as_ref()? {
            serde_json::Value::Null => return None,
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Some(text.chars().take(DETAIL).collect()).filter(|text: &String| !text.is_empty())
    }

    #[cfg(test)]
    pub(super) fn of(event: usize, at: u64, kind: &str, detail: Option<&str>) -> Self {
        Self {
            event,
            at,
            kind: kind.into(),
            detail: detail.map(Into::into),
        }
    }
}

/// How much of a line that makes no sense is quoted, chars.
const QUOTED: usize = 200;

impl Answer {
    /// Reads a line. `{"alarm": …}` alone is a verdict too: the contract shows an alarm so.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
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
            let said: String = said.chars().take(QUOTED).collect();
            format!("its answer is not of the protocol: {e}: {said:?}")
        })
    }
}
