//! Chunks of chat completions, of OpenAI and the many servers that speak like it, and of the older
//! text completions.
//!
//! Thinking comes as `reasoning_content` (DeepSeek, SGLang, llama.cpp) or `reasoning` (OpenRouter,
//! Groq, newer vLLM); a server that sends both sends the same text twice. Arguments of tool calls are
//! no text. Of several choices only the first is read: each is a stream of its own.

use serde_json::{Map, Value};

use super::{Family, answer, failed, finish, reasoning};
use crate::Event;
use crate::wire::Fault;

pub(super) const ENTRY: Family = Family {
    name: "chat",
    keys: &[
        "id", "object", "choices", "created", "model", "provider", "error",
    ],
    tags: true,
    knows: |object| {
        let choices = object.get("choices").is_some_and(Value::is_array);
        choices || (!object.contains_key("type") && error(object))
    },
    read,
};

/// Sent in place of a chunk.
fn error(object: &Map<String, Value>) -> bool {
    object.get("error").is_some_and(Value::is_object)
}

fn read(object: Map<String, Value>) -> Result<Vec<Event>, Fault> {
    if error(&object) {
        return Ok(vec![failed()]);
    }
    let choices = object.get("choices").and_then(Value::as_array);
    let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
    let Some(choice) = choices.and_then(|choices| choices.iter().find(first)) else {
        return Ok(Vec::new());
    };
    // A response that is not streamed has a message.
    let delta = choice.get("delta").or_else(|| choice.get("message"));
    let field = |name| delta.and_then(|delta| delta.get(name));
    let thinking = reasoning(field("reasoning_content")).or_else(|| reasoning(field("reasoning")));
    let content = answer(field("content")).or_else(|| answer(choice.get("text")));
    let end = finish(choice.get("finish_reason"));
    Ok([thinking, content, end].into_iter().flatten().collect())
}
