//! Events of OpenAI's Responses API, and its responses that are not streamed.
//!
//! Text comes in events whose type ends in `.delta`. Events that end in `.done`, and the last event, repeat the whole
//! text and are not read. A summary of the thinking counts as thinking, because some models show nothing else.

use serde_json::Value;

use super::{Family, answer_event, failure_event, finish_event, read_type, reasoning_event};
use crate::fields::{Object, ReadFields, as_object};
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
    let output = object.take_list("output")?.unwrap_or_default();
    for item in output {
        read_item(as_object("output[]", item)?, parsed)?;
    }
    read_last_response(std::mem::take(object), parsed)
}

/// The fields that locate an event in the response, separated by spaces. They add nothing to the order of the events.
const LOCATION_FIELDS: &str = "item_id output_index content_index summary_index obfuscation";

fn read_event(object: &mut Object, parsed: &mut ObjectContent) -> WireResult {
    let kind = object.take_string("type")?.unwrap_or_default();
    object.take("sequence_number");
    match kind.as_str() {
        "response.created" => {
            parsed.begins = true;
            let response = object.take_object("response")?.unwrap_or_default();
            read_metadata(response, parsed)?;
        }
        "response.output_text.delta" | "response.refusal.delta" => {
            parsed.push(0, answer_event(object.take_string("delta")?))
        }
        "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
            parsed.push(0, reasoning_event(object.take_string("delta")?))
        }
        "response.output_item.added" => {
            let item = object.take_object("item")?.unwrap_or_default();
            read_added_item(item, parsed)?;
        }
        "response.function_call_arguments.delta"
        | "response.custom_tool_call_input.delta"
        | "response.mcp_call_arguments.delta" => {
            let call = CallPiece {
                key: object.take_string("item_id")?.unwrap_or_default(),
                arguments: object.take_string("delta")?.unwrap_or_default(),
                ..CallPiece::default()
            };
            parsed.push_call(0, call);
        }
        "response.function_call_arguments.done"
        | "response.custom_tool_call_input.done"
        | "response.mcp_call_arguments.done" => {
            let key = object.take_string("item_id")?.unwrap_or_default();
            parsed.parts.push((0, ObjectPart::CallEnd(key)));
            object.clear();
        }
        "response.completed" | "response.incomplete" | "response.failed" => {
            let mut response = object.take_object("response")?.unwrap_or_default();
            // The deltas had this text already.
            response.take("output");
            read_last_response(response, parsed)?;
        }
        "error" => parsed.push(0, Some(failure_event())),
        _ if is_repetition(&kind) => object.clear(),
        _ => return Ok(()),
    }
    object.remove_fields(LOCATION_FIELDS);
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
    let status = response.take_string("status")?;
    let details = response.take_object("incomplete_details")?;
    let reason = details.and_then(|mut details| details.remove("reason"));
    let reason = reason.and_then(|reason| reason.as_str().map(str::to_owned));
    read_metadata(response, parsed)?;
    let end = match status.as_deref() {
        Some("failed") => Some(failure_event()),
        Some("incomplete") if reason.is_some() => finish_event(reason),
        _ => finish_event(status),
    };
    parsed.push(0, end);
    parsed.ends = true;
    Ok(())
}

/// Reads the metadata of a response at its beginning or end. Its settings are dropped, because they repeat the request.
fn read_metadata(mut response: Object, parsed: &mut ObjectContent) -> WireResult {
    parsed.response = response.take_label("id");
    parsed.model = response.take_label("model");
    parsed.tokens = response.get("usage").and_then(read_tokens);
    for name in ["created_at", "usage", "error"] {
        parsed.keep(name, response.take(name));
    }
    response.remove_fields("object status output completed_at");
    parsed.add_rest("response", response);
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
            key: item.take_label("id").unwrap_or_default(),
            id: item.take_label("call_id"),
            name: item.take_string("name")?,
            arguments: item.take_string("arguments")?.unwrap_or_default(),
            ends: true,
        };
        parsed.push_call(0, call);
    }
    Ok(())
}

/// Reads an output item of a response that was not streamed.
fn read_item(mut item: Object, parsed: &mut ObjectContent) -> WireResult {
    match read_type(&item) {
        "reasoning" => {
            for name in ["summary", "content"] {
                for part in item.take_list(name)?.unwrap_or_default() {
                    let mut part = as_object("output[].content[]", part)?;
                    parsed.push(0, reasoning_event(part.take_string("text")?));
                }
            }
        }
        "message" => {
            for part in item.take_list("content")?.unwrap_or_default() {
                let mut part = as_object("output[].content[]", part)?;
                part.take("type");
                parsed.push(0, answer_event(part.take_string("text")?));
                parsed.push(0, answer_event(part.take_string("refusal")?));
                parsed.add_rest("output[].content[]", part);
            }
        }
        "function_call" | "custom_tool_call" | "mcp_call" => read_added_item(item.clone(), parsed)?,
        _ => {
            parsed.add_rest("output[]", item);
            return Ok(());
        }
    }
    item.remove_fields("id type role status call_id name arguments");
    parsed.add_rest("output[]", item);
    Ok(())
}
