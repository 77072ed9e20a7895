//! Events of OpenAI's Responses API, and its responses that are not streamed.
//!
//! Text comes in events whose type ends in `.delta`. Events that end in `.done`, and the last event, repeat the whole
//! text and are not read. A summary of the thinking counts as thinking, because some models show nothing else.

use serde_json::Value;

use super::{Family, answer_event, failure_event, finish_event, read_type, reasoning_event};
use crate::fields::{self, Object};
use crate::reader::content::{CallPiece, ObjectContent, ObjectPart, TokenCounts};
use crate::wire::WireResult;

/// The family of OpenAI's Responses API.
pub const ENTRY: Family = Family {
    name: "responses",
    keys: &[
        "type",
        "sequence_number",
        "event_id",
        "delta",
        "content_index",
        "item_id",
        "response",
        "id",
        "object",
    ],
    knows: |object| read_type(object).starts_with("response.") || is_whole_response(object),
    read,
    ..Family::PLAIN
};

/// Returns whether the object is a response that was not streamed.
fn is_whole_response(object: &Object) -> bool {
    object.get("object").and_then(Value::as_str) == Some("response")
        && object.get("output").is_some_and(Value::is_array)
}

fn read(object: &mut Object, parsed: &mut ObjectContent) -> WireResult {
    if !is_whole_response(object) {
        return read_event(object, parsed);
    }
    parsed.begins = true;
    let output = fields::list(object, "output")?.unwrap_or_default();
    for item in output {
        read_item(fields::as_object("output[]", item)?, parsed)?;
    }
    read_last_response(std::mem::take(object), parsed)
}

/// The fields that locate an event in the response, separated by spaces. They add nothing to the order of the events.
const LOCATION_FIELDS: &str = "item_id output_index content_index summary_index obfuscation";

fn read_event(object: &mut Object, parsed: &mut ObjectContent) -> WireResult {
    let kind = fields::string(object, "type")?.unwrap_or_default();
    fields::any(object, "sequence_number");
    match kind.as_str() {
        "response.created" => {
            parsed.begins = true;
            let response = fields::object(object, "response")?.unwrap_or_default();
            read_metadata(response, parsed)?;
        }
        "response.output_text.delta" | "response.refusal.delta" => {
            parsed.event(0, answer_event(fields::string(object, "delta")?))
        }
        "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
            parsed.event(0, reasoning_event(fields::string(object, "delta")?))
        }
        "response.output_item.added" => {
            let item = fields::object(object, "item")?.unwrap_or_default();
            read_added_item(item, parsed)?;
        }
        "response.function_call_arguments.delta"
        | "response.custom_tool_call_input.delta"
        | "response.mcp_call_arguments.delta" => {
            let call = CallPiece {
                key: fields::string(object, "item_id")?.unwrap_or_default(),
                arguments: fields::string(object, "delta")?.unwrap_or_default(),
                ..CallPiece::default()
            };
            parsed.call(0, call);
        }
        "response.function_call_arguments.done"
        | "response.custom_tool_call_input.done"
        | "response.mcp_call_arguments.done" => {
            let key = fields::string(object, "item_id")?.unwrap_or_default();
            parsed.parts.push((0, ObjectPart::Over(key)));
            object.clear();
        }
        "response.completed" | "response.incomplete" | "response.failed" => {
            let mut response = fields::object(object, "response")?.unwrap_or_default();
            // The deltas had this text already.
            fields::any(&mut response, "output");
            read_last_response(response, parsed)?;
        }
        "error" => parsed.event(0, Some(failure_event())),
        _ if is_repetition(&kind) => object.clear(),
        _ => return Ok(()),
    }
    fields::remove_all(object, LOCATION_FIELDS);
    Ok(())
}

/// Returns whether events of this type only repeat content of other events.
fn is_repetition(kind: &str) -> bool {
    const REPEATING_TYPES: [&str; 4] = [
        "response.in_progress",
        "response.queued",
        "response.content_part.added",
        "response.reasoning_summary_part.added",
    ];
    kind.ends_with(".done") || REPEATING_TYPES.contains(&kind)
}

/// Reads the response object in the last event.
fn read_last_response(mut response: Object, parsed: &mut ObjectContent) -> WireResult {
    let status = fields::string(&mut response, "status")?;
    let details = fields::object(&mut response, "incomplete_details")?;
    let reason = details.and_then(|mut details| details.remove("reason"));
    let reason = reason.and_then(|reason| reason.as_str().map(str::to_owned));
    read_metadata(response, parsed)?;
    let end = match status.as_deref() {
        Some("failed") => Some(failure_event()),
        Some("incomplete") if reason.is_some() => finish_event(reason),
        _ => finish_event(status),
    };
    parsed.event(0, end);
    parsed.ends = true;
    Ok(())
}

/// Reads the metadata of a response at its beginning or end. Its settings are dropped, because they repeat the request.
fn read_metadata(mut response: Object, parsed: &mut ObjectContent) -> WireResult {
    parsed.response = fields::label(&mut response, "id");
    parsed.model = fields::label(&mut response, "model");
    parsed.tokens = response.get("usage").and_then(read_tokens);
    for name in ["created_at", "usage", "error"] {
        parsed.keep(name, fields::any(&mut response, name));
    }
    fields::remove_all(&mut response, "object status output completed_at");
    parsed.left("response", response);
    Ok(())
}

fn read_tokens(usage: &Value) -> Option<TokenCounts> {
    TokenCounts::from_usage(usage, "output_tokens", "output_tokens_details")
}

/// Reads an output item at its start. Only calls are read, for their names.
fn read_added_item(mut item: Object, parsed: &mut ObjectContent) -> WireResult {
    if matches!(
        read_type(&item),
        "function_call" | "custom_tool_call" | "mcp_call"
    ) {
        let call = CallPiece {
            key: fields::label(&mut item, "id").unwrap_or_default(),
            id: fields::label(&mut item, "call_id"),
            name: fields::string(&mut item, "name")?,
            arguments: fields::string(&mut item, "arguments")?.unwrap_or_default(),
            ends: true,
        };
        parsed.call(0, call);
    }
    Ok(())
}

/// Reads an output item of a response that was not streamed.
fn read_item(mut item: Object, parsed: &mut ObjectContent) -> WireResult {
    match read_type(&item) {
        "reasoning" => {
            for name in ["summary", "content"] {
                for part in fields::list(&mut item, name)?.unwrap_or_default() {
                    let mut part = fields::as_object("output[].content[]", part)?;
                    parsed.event(0, reasoning_event(fields::string(&mut part, "text")?));
                }
            }
        }
        "message" => {
            for part in fields::list(&mut item, "content")?.unwrap_or_default() {
                let mut part = fields::as_object("output[].content[]", part)?;
                fields::any(&mut part, "type");
                parsed.event(0, answer_event(fields::string(&mut part, "text")?));
                parsed.event(0, answer_event(fields::string(&mut part, "refusal")?));
                parsed.left("output[].content[]", part);
            }
        }
        "function_call" | "custom_tool_call" | "mcp_call" => read_added_item(item.clone(), parsed)?,
        _ => {
            parsed.left("output[]", item);
            return Ok(());
        }
    }
    fields::remove_all(&mut item, "id type role status call_id name arguments");
    parsed.left("output[]", item);
    Ok(())
}
