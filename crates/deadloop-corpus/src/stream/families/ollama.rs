//! Lines of Ollama's `/api/chat` (`message`) and `/api/generate` (`response`).

use serde_json::{Map, Value};

use super::{Family, answer, failed, finish, reasoning};
use crate::Event;
use crate::wire::Fault;

pub(super) const ENTRY: Family = Family {
    name: "ollama",
    keys: &[
        "model",
        "created_at",
        "message",
        "response",
        "thinking",
        "done",
        "error",
    ],
    tags: true,
    knows: |object| {
        let chunk = object.get("done").is_some_and(Value::is_boolean)
            && (object.contains_key("message") || object.contains_key("response"));
        chunk || (!object.contains_key("type") && error(object))
    },
    read,
};

/// Sent in place of a chunk.
fn error(object: &Map<String, Value>) -> bool {
    object.get("error").is_some_and(Value::is_string)
}

fn read(object: Map<String, Value>) -> Result<Vec<Event>, Fault> {
    if error(&object) {
        return Ok(vec![failed()]);
    }
    let message = |name| object.get("message").and_then(|message| message.get(name));
    let thinking = reasoning(message("thinking").or_else(|| object.get("thinking")));
    let text = answer(message("content").or_else(|| object.get("response")));
    let end = finish(object.get("done_reason"));
    Ok([thinking, text, end].into_iter().flatten().collect())
}
