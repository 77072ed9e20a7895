//! Events of an agent server (`event_type`, `agent_source`, `payload`), as in the design document on
//! unstable output (seed 002), which sends them bare or as server-sent events.
//!
//! The document does not list the fields of a payload: it is taken as a text, or as an object with
//! one in `content`, `text`, `delta`, `data` or `message`. Thinking is what the names of the event or
//! of its content say is thinking.

use serde_json::{Map, Value};

use super::{Family, answer, failed, reasoning};
use crate::Event;
use crate::wire::Fault;

pub(super) const ENTRY: Family = Family {
    name: "agent",
    keys: &["event_type", "agent_source", "timestamp", "payload"],
    tags: true,
    knows: |object| {
        let named = object.get("event_type").is_some_and(Value::is_string);
        named && object.contains_key("payload")
    },
    read,
};

const TEXTS: [&str; 5] = ["content", "text", "delta", "data", "message"];
const THINKING: [&str; 3] = ["think", "thought", "reason"];

fn read(object: Map<String, Value>) -> Result<Vec<Event>, Fault> {
    let payload = object.get("payload");
    let field = |name: &str| payload.and_then(|payload| payload.get(name));
    let name = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("").to_lowercase();
    let kind = name(object.get("event_type"));
    if kind == "error" {
        return Ok(vec![failed()]);
    }
    let names = kind + " " + &name(field("content_type"));
    let text = payload.filter(|payload| payload.is_string()).or_else(|| {
        TEXTS
            .into_iter()
            .filter_map(field)
            .find(|value| value.is_string())
    });
    let event = match THINKING.iter().any(|word| names.contains(word)) {
        true => reasoning(text),
        false => answer(text),
    };
    Ok(event.into_iter().collect())
}
