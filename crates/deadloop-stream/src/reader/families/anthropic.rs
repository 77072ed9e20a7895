//! Events of Anthropic's Messages API, and messages that are not streamed.
//!
//! Signatures and citations are not read as text.

use serde_json::Value;

use super::{Family, answer, failed_end, finish, kind, reasoning};
use crate::fields::{self, Object};
use crate::reader::content::{CallPiece, ObjectContent, ObjectPart};
use crate::wire::WireFault;

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

/// Events and messages of Anthropic's Messages API.
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
    tags: true,
    run: false,
    knows: |object| {
        // The AI SDK has errors too, with their text in `errorText`.
        let other = kind(object) == "error" && object.contains_key("errorText");
        (TYPES.contains(&kind(object)) && !other) || is_whole_message(object)
    },
    check: None,
    read,
    quick: None,
};

/// Returns whether the object is a message that is not streamed.
fn is_whole_message(object: &Object) -> bool {
    kind(object) == "message" && object.get("content").is_some_and(Value::is_array)
}

fn read(mut object: Object) -> Result<ObjectContent, WireFault> {
    let mut said = ObjectContent::default();
    if is_whole_message(&object) {
        said.begins = true;
        message(object, &mut said)?;
        said.ends = true;
        return Ok(said);
    }
    let kind = fields::string(&mut object, "type")?.unwrap_or_default();
    let index = fields::count(&mut object, "index")?.unwrap_or(0);
    match kind.as_str() {
        "message_start" => {
            said.begins = true;
            message(
                fields::object(&mut object, "message")?.unwrap_or_default(),
                &mut said,
            )?;
        }
        "content_block_start" => {
            let part = fields::object(&mut object, "content_block")?.unwrap_or_default();
            block(part, index, "content_block", &mut said)?;
        }
        "content_block_delta" => {
            let part = fields::object(&mut object, "delta")?.unwrap_or_default();
            block(part, index, "delta", &mut said)?;
        }
        "message_delta" => {
            let mut delta = fields::object(&mut object, "delta")?.unwrap_or_default();
            let reason = fields::string(&mut delta, "stop_reason")?;
            said.event(0, finish(reason));
            said.left("delta", delta);
            said.usage(&mut object, "output_tokens");
        }
        // A block that is no call has no key to end.
        "content_block_stop" => said.parts.push((0, ObjectPart::Over(index.to_string()))),
        "message_stop" => said.ends = true,
        "error" => {
            said.event(0, Some(failed_end()));
            said.keep("error", fields::any(&mut object, "error"));
        }
        _ => {}
    }
    said.left("", object);
    Ok(said)
}

/// Reads a message, whole or at its start.
fn message(mut message: Object, said: &mut ObjectContent) -> Result<(), WireFault> {
    said.response = fields::label(&mut message, "id");
    said.model = fields::label(&mut message, "model");
    let content = fields::list(&mut message, "content")?.unwrap_or_default();
    for (index, part) in content.into_iter().enumerate() {
        block(
            fields::as_object("content[]", part)?,
            index as u64,
            "content[]",
            said,
        )?;
    }
    let reason = fields::string(&mut message, "stop_reason")?;
    said.event(0, finish(reason));
    said.usage(&mut message, "output_tokens");
    for name in ["type", "role"] {
        fields::any(&mut message, name);
    }
    said.left("message", message);
    Ok(())
}

/// Reads the start of a block, which may hold text already, or a delta of one.
fn block(
    mut block: Object,
    index: u64,
    path: &'static str,
    said: &mut ObjectContent,
) -> Result<(), WireFault> {
    let kind = fields::string(&mut block, "type")?.unwrap_or_default();
    match kind.as_str() {
        "text" | "text_delta" => {
            let text = fields::string(&mut block, "text")?;
            said.event(0, answer(text));
        }
        "thinking" | "thinking_delta" => {
            let text = fields::string(&mut block, "thinking")?;
            said.event(0, reasoning(text));
        }
        "tool_use" | "server_tool_use" | "mcp_tool_use" | "input_json_delta" => {
            let input = fields::any(&mut block, "input").filter(|input| match input {
                // The start of a block has an empty input, which comes later.
                Value::Object(input) => !input.is_empty() || path == "content[]",
                _ => true,
            });
            let piece = fields::string(&mut block, "partial_json")?;
            let call = CallPiece {
                key: index.to_string(),
                id: fields::label(&mut block, "id"),
                name: fields::string(&mut block, "name")?,
                arguments: piece
                    .or(input.map(|input| input.to_string()))
                    .unwrap_or_default(),
                ends: true,
            };
            said.parts.push((0, ObjectPart::Call(call)));
        }
        _ => {}
    }
    said.left(path, block);
    Ok(())
}
