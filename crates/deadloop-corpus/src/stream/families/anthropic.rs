//! Events of Anthropic's Messages API. Deltas other than text and thinking (tool arguments,
//! signatures, citations) are no text.

use serde_json::{Map, Value};

use super::{Family, answer, failed, finish, kind, reasoning};
use crate::Event;
use crate::wire::Fault;

const TYPES: [&str; 8] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
    "error",
];

pub(super) const ENTRY: Family = Family {
    name: "anthropic",
    keys: &[
        "type",
        "index",
        "delta",
        "message",
        "content_block",
        "error",
    ],
    tags: true,
    knows: |object| TYPES.contains(&kind(object)),
    read,
};

fn read(object: Map<String, Value>) -> Result<Vec<Event>, Fault> {
    let part = |name| object.get(name).and_then(Value::as_object);
    let event = match kind(&object) {
        "content_block_start" => part("content_block").and_then(block),
        "content_block_delta" => part("delta").and_then(block),
        "message_delta" => part("delta").and_then(|delta| finish(delta.get("stop_reason"))),
        "error" => Some(failed()),
        _ => None,
    };
    Ok(event.into_iter().collect())
}

/// A block as it starts, which may hold text already, or what is added to one.
fn block(block: &Map<String, Value>) -> Option<Event> {
    match kind(block) {
        "text" | "text_delta" => answer(block.get("text")),
        "thinking" | "thinking_delta" => reasoning(block.get("thinking")),
        _ => None,
    }
}
