//! Anthropic's messages: a refused call becomes a block of text in its place.

use serde_json::{Value, json};

use super::{Replacing, WireCalls};
use crate::take::Object;

/// Blocks that the client runs; the server runs the others itself.
pub(crate) const REPLACING: Replacing = Replacing { able, replace };

fn able(object: &Object) -> bool {
    let block = object.get("content_block").into_iter();
    let whole = object
        .get("content")
        .or(object.get("message").and_then(|m| m.get("content")));
    let blocks = whole.and_then(Value::as_array).into_iter().flatten();
    let kind = |block: &Value| block.get("type").and_then(Value::as_str).map(str::to_owned);
    let mut kinds = block.chain(blocks).filter_map(kind);
    !kinds.any(|kind| kind.ends_with("_tool_use"))
}

fn replace(mut object: Object, calls: &[usize], all: &mut WireCalls) -> Vec<Object> {
    let kind = object
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match kind {
        "content_block_start" => {
            let Some(call) = calls.first().copied().filter(|call| all.refused(*call)) else {
                return vec![object];
            };
            let index = object.get("index").cloned().unwrap_or_default();
            let told = all.tell(call).map(|text| block(&index, &text));
            return told.into_iter().flatten().collect();
        }
        "content_block_delta" | "content_block_stop" => {
            let index = object
                .get("index")
                .map(Value::to_string)
                .unwrap_or_default();
            let call = all.with_key(&index);
            return if call.is_some_and(|call| all.refused(call)) {
                Vec::new()
            } else {
                vec![object]
            };
        }
        "message_delta" => {
            if let Some(Value::Object(delta)) = object.get_mut("delta") {
                reason(delta, all);
            }
        }
        "message" => whole(&mut object, calls, all),
        "message_start" => {
            if let Some(Value::Object(message)) = object.get_mut("message") {
                whole(message, calls, all);
            }
        }
        _ => {}
    }
    vec![object]
}

/// The events of a block of text.
fn block(index: &Value, text: &str) -> Vec<Object> {
    let events = [
        json!({"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}),
        json!({"type": "content_block_stop", "index": index}),
    ];
    let events = events.into_iter();
    events
        .filter_map(|event| match event {
            Value::Object(event) => Some(event),
            _ => None,
        })
        .collect()
}

/// A message that is not streamed.
fn whole(message: &mut Object, calls: &[usize], all: &mut WireCalls) {
    let mut calls = calls.iter();
    let blocks = message.get_mut("content").and_then(Value::as_array_mut);
    for block in blocks.into_iter().flatten() {
        let kind = block
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if kind.ends_with("tool_use")
            && let Some(text) = calls.next().and_then(|call| all.text(*call))
        {
            *block = json!({"type": "text", "text": text});
        }
    }
    reason(message, all);
}

/// Where no call is left, none is waited for.
fn reason(of: &mut Object, all: &WireCalls) {
    if all.none_left() && of.get("stop_reason").and_then(Value::as_str) == Some("tool_use") {
        of.insert("stop_reason".to_owned(), "end_turn".into());
    }
}
