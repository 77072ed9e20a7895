//! Events of Anthropic's Messages API, and messages that are not streamed.
//!
//! Signatures and citations are not read as text.

use serde_json::Value;

use super::{Family, answer_event, failure_event, finish_event, read_type, reasoning_event};
use crate::fields::{Object, ReadFields, as_object};
use crate::reader::content::{CallPiece, ObjectContent, ObjectPart};
use crate::wire::WireResult;

const EVENT_TYPES: [&str; 8] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
    "error",
];

/// The family of Anthropic's Messages API.
pub const ENTRY: Family = Family {
    name: "anthropic",
    keys: &[
        "type",
        "index",
        "delta",
        "message",
        "content_block",
        "error",
        "id",
        "model",
    ],
    knows: |object| {
        // The AI SDK has errors too, with their text in `errorText`.
        let other = read_type(object) == "error" && object.contains_key("errorText");
        (EVENT_TYPES.contains(&read_type(object)) && !other) || is_whole_message(object)
    },
    read,
    ..Family::PLAIN
};

/// Returns whether the object is a message that was not streamed.
fn is_whole_message(object: &Object) -> bool {
    read_type(object) == "message" && object.get("content").is_some_and(Value::is_array)
}

fn read(object: &mut Object, parsed: &mut ObjectContent) -> WireResult {
    if is_whole_message(object) {
        parsed.begins = true;
        read_message(std::mem::take(object), parsed)?;
        parsed.ends = true;
        return Ok(());
    }
    let kind = object.take_string("type")?.unwrap_or_default();
    let index = object.take_count("index")?.unwrap_or(0);
    match kind.as_str() {
        "message_start" => {
            parsed.begins = true;
            read_message(object.take_object("message")?.unwrap_or_default(), parsed)?;
        }
        "content_block_start" => {
            let part = object.take_object("content_block")?.unwrap_or_default();
            read_block(part, index, "content_block", parsed)?;
        }
        "content_block_delta" => {
            let part = object.take_object("delta")?.unwrap_or_default();
            read_block(part, index, "delta", parsed)?;
        }
        "message_delta" => {
            let mut delta = object.take_object("delta")?.unwrap_or_default();
            parsed.push(0, finish_event(delta.take_string("stop_reason")?));
            parsed.add_rest("delta", delta);
            parsed.take_usage(object, "output_tokens");
        }
        // A block that is no call has no key to end.
        "content_block_stop" => parsed
            .parts
            .push((0, ObjectPart::CallEnd(index.to_string()))),
        "message_stop" => parsed.ends = true,
        "error" => {
            parsed.push(0, Some(failure_event()));
            parsed.keep("error", object.take("error"));
        }
        _ => {}
    }
    Ok(())
}

/// Reads a message that is complete or just beginning.
fn read_message(mut message: Object, parsed: &mut ObjectContent) -> WireResult {
    parsed.response = message.take_label("id");
    parsed.model = message.take_label("model");
    let content = message.take_list("content")?.unwrap_or_default();
    for (index, part) in content.into_iter().enumerate() {
        read_block(
            as_object("content[]", part)?,
            index as u64,
            "content[]",
            parsed,
        )?;
    }
    parsed.push(0, finish_event(message.take_string("stop_reason")?));
    parsed.take_usage(&mut message, "output_tokens");
    message.remove_fields("type role");
    parsed.add_rest("message", message);
    Ok(())
}

/// Reads the start of a block, which may already hold text, or a delta of a block.
fn read_block(
    mut block: Object,
    index: u64,
    path: &'static str,
    parsed: &mut ObjectContent,
) -> WireResult {
    let kind = block.take_string("type")?.unwrap_or_default();
    match kind.as_str() {
        "text" | "text_delta" => parsed.push(0, answer_event(block.take_string("text")?)),
        "thinking" | "thinking_delta" => {
            parsed.push(0, reasoning_event(block.take_string("thinking")?))
        }
        "tool_use" | "server_tool_use" | "mcp_tool_use" | "input_json_delta" => {
            let input = block.take("input").filter(|input| match input {
                // The start of a block has an empty input, which comes later.
                Value::Object(input) => !input.is_empty() || path == "content[]",
                _ => true,
            });
            let piece = block.take_string("partial_json")?;
            let call = CallPiece {
                key: index.to_string(),
                id: block.take_label("id"),
                name: block.take_string("name")?,
                arguments: piece
                    .or(input.map(|input| input.to_string()))
                    .unwrap_or_default(),
                ends: true,
            };
            parsed.push_call(0, call);
        }
        _ => {}
    }
    parsed.add_rest(path, block);
    Ok(())
}
