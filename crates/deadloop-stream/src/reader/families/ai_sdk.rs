//! The UI message stream of Vercel's AI SDK 5.
//!
//! Its parts have a `type` (`text-delta`, `reasoning-delta`, `tool-input-available`, …) and come between `start` and
//! `finish`.
//!
//! The format: <https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol>.

use serde_json::Value;

use super::{Family, answer, failed_end, finish, kind, reasoning};
use crate::fields::{self, Object};
use crate::reader::content::{CallPiece, ObjectContent, ObjectPart};
use crate::reasons::usual;
use crate::wire::WireFault;
use crate::{Body, RecordedEvent};

/// The parts of the stream, each with its required field.
const PARTS: [(&str, &str); 18] = [
    ("start", "messageId"),
    ("start-step", ""),
    ("text-start", "id"),
    ("text-delta", "delta"),
    ("text-end", "id"),
    ("reasoning-start", "id"),
    ("reasoning-delta", "delta"),
    ("reasoning-end", "id"),
    ("tool-input-start", "toolCallId"),
    ("tool-input-delta", "toolCallId"),
    ("tool-input-available", "toolCallId"),
    ("tool-input-error", "toolCallId"),
    ("tool-output-available", "toolCallId"),
    ("tool-output-error", "toolCallId"),
    ("finish-step", ""),
    ("finish", ""),
    ("abort", ""),
    ("error", "errorText"),
];

/// Parts of the UI message stream.
pub const ENTRY: Family = Family {
    name: "ai_sdk",
    keys: &["type", "id", "delta", "messageId", "toolCallId"],
    tags: true,
    run: false,
    knows: |object| {
        let mut parts = PARTS.iter().filter(|(part, _)| *part == kind(object));
        let has = |field: &str| field.is_empty() || object.contains_key(field);
        // OpenCode's events have a `part`, and deadloop's own ends have a `reason` or `t_ms`.
        let others = ["part", "reason", "t_ms"];
        let other = others.iter().any(|name| object.contains_key(*name));
        parts.any(|(_, field)| has(field)) && !other
    },
    check: None,
    read,
    quick: None,
};

fn read(mut object: Object) -> Result<ObjectContent, WireFault> {
    let kind = fields::string(&mut object, "type")?.unwrap_or_default();
    let mut said = ObjectContent::default();
    match kind.as_str() {
        "start" => {
            said.begins = true;
            fields::any(&mut object, "messageId");
        }
        "text-delta" => {
            let text = fields::string(&mut object, "delta")?;
            said.event(0, answer(text));
        }
        "reasoning-delta" => {
            let text = fields::string(&mut object, "delta")?;
            said.event(0, reasoning(text));
        }
        // The arguments came in pieces before, and are repeated as a whole.
        "tool-input-available" => call(&mut object, &mut said)?,
        "tool-output-available" | "tool-output-error" => {
            let output = ["output", "errorText"].map(|name| fields::any(&mut object, name));
            let output = output.into_iter().flatten().next();
            let body = Body::ToolResult {
                id: fields::label(&mut object, "toolCallId"),
                content: match output {
                    Some(Value::String(text)) => text,
                    Some(other) => other.to_string(),
                    None => String::new(),
                },
                error: Some(kind == "tool-output-error"),
            };
            said.event(0, Some(RecordedEvent::new(body)));
        }
        "finish" => {
            let reason = fields::string(&mut object, "finishReason")?;
            said.event(0, finish(reason.map(|reason| usual(&reason))));
            said.ends = true;
        }
        "error" => {
            said.event(0, Some(failed_end()));
            said.keep("error", fields::any(&mut object, "errorText"));
        }
        _ => {}
    }
    fields::any(&mut object, "id");
    said.left("", object);
    Ok(said)
}

/// Adds a call with its whole arguments.
fn call(object: &mut Object, said: &mut ObjectContent) -> Result<(), WireFault> {
    let made = CallPiece {
        id: fields::label(object, "toolCallId"),
        name: fields::string(object, "toolName")?,
        arguments: fields::any(object, "input").map_or(String::new(), |input| input.to_string()),
        ..CallPiece::default()
    };
    said.parts.push((0, ObjectPart::Call(made)));
    Ok(())
}
