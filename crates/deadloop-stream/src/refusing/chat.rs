//! Chunks of chat completions, and whole answers: a refused call becomes text of the answer. The calls that are left get
//! the places that they would have without it, because clients join the pieces of a call by its place.

use serde_json::Value;

use super::{Replacing, WireCalls};
use crate::take::Object;

/// Every call of this API is run by the client.
pub(crate) const REPLACING: Replacing = Replacing {
    able: |_| true,
    replace,
};

fn replace(mut object: Object, calls: &[usize], all: &mut WireCalls) -> Vec<Object> {
    let alone = object.get("usage").is_none_or(Value::is_null)
        && choices(&mut object).is_some_and(|choices| choices.len() == 1);
    let Some(choice) = first(&mut object) else {
        return vec![object];
    };
    let mut empty = false;
    for name in ["delta", "message"] {
        if let Some(Value::Object(delta)) = choice.get_mut(name) {
            empty = without(delta, calls, all) && name == "delta";
        }
    }
    let reason = choice.get("finish_reason").and_then(Value::as_str);
    empty &= reason.is_none();
    if all.none_left() && matches!(reason, Some("tool_calls" | "function_call")) {
        choice.insert("finish_reason".to_owned(), "stop".into());
    }
    if empty && alone {
        Vec::new()
    } else {
        vec![object]
    }
}

fn choices(object: &mut Object) -> Option<&mut Vec<Value>> {
    object.get_mut("choices")?.as_array_mut()
}

/// The choice that is watched.
fn first(object: &mut Object) -> Option<&mut Object> {
    let mut choices = choices(object)?.iter_mut();
    let index = |choice: &Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0);
    choices.find(|choice| index(choice) == 0)?.as_object_mut()
}

/// Replaces the refused calls of a delta or a message. Whether they were all that it said.
fn without(delta: &mut Object, calls: &[usize], all: &mut WireCalls) -> bool {
    let (mut places, mut texts, mut removed) = (calls.iter(), Vec::new(), false);
    if let Some(Value::Array(list)) = delta.get_mut("tool_calls") {
        list.retain_mut(|call| {
            let Some(place) = places.next() else {
                return true;
            };
            texts.extend(all.tell(*place));
            let before = all.refused_before(*place) as u64;
            if let Some(index) = call.get("index").and_then(Value::as_u64) {
                call["index"] = index.saturating_sub(before).into();
            }
            removed |= all.refused(*place);
            !all.refused(*place)
        });
        if list.is_empty() && removed {
            delta.shift_remove("tool_calls");
        }
    }
    if delta.contains_key("function_call")
        && let Some(place) = places.next()
        && all.refused(*place)
    {
        texts.extend(all.tell(*place));
        removed |= delta.shift_remove("function_call").is_some();
    }
    texts.into_iter().for_each(|text| add(delta, text, all));
    let says = |(name, value): (&String, &Value)| {
        name != "role" && !value.is_null() && value.as_str() != Some("")
    };
    removed && !delta.iter().any(says)
}

/// Adds a text to what the answer says, as a paragraph of its own.
pub(super) fn add(message: &mut Object, text: String, all: &mut WireCalls) {
    let more = all.speak();
    let content = match message.get_mut("content") {
        Some(Value::Array(blocks)) => {
            blocks.push(serde_json::json!({"type": "text", "text": text}));
            return;
        }
        Some(Value::String(said)) if !said.is_empty() => format!("{said}\n\n{text}"),
        _ if more => format!("\n\n{text}"),
        _ => text,
    };
    message.insert("content".to_owned(), content.into());
}
