//! OpenAI's Responses API: a refused call becomes a message in its place among the items, also in the response as a whole
//! that the last event holds. The events after it are numbered anew, because they are more or fewer.

use serde_json::{Value, json};

use super::{Replacing, WireCalls};
use crate::take::Object;

/// Items that the client runs; the server runs the others itself.
pub(crate) const REPLACING: Replacing = Replacing { able, replace };

const NUMBER: &str = "sequence_number";

fn able(object: &Object) -> bool {
    let whole = object.get("output").and_then(Value::as_array);
    let mut items = object
        .get("item")
        .into_iter()
        .chain(whole.into_iter().flatten());
    items.all(|item| item.get("type").and_then(Value::as_str) != Some("mcp_call"))
}

fn replace(object: Object, calls: &[usize], all: &mut WireCalls) -> Vec<Object> {
    let mut events = changed(object, calls, all);
    events
        .iter_mut()
        .for_each(|event| all.number(event, NUMBER));
    events
}

fn changed(mut object: Object, calls: &[usize], all: &mut WireCalls) -> Vec<Object> {
    let kind = object
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if kind == "response.output_item.added" {
        let Some(call) = calls.first().copied().filter(|call| all.refused(*call)) else {
            return vec![object];
        };
        let told = all.tell(call);
        return told.map_or(Vec::new(), |text| message(&object, &text));
    }
    let item = object
        .get("item_id")
        .or(object.get("item").and_then(|item| item.get("id")));
    let item = item.and_then(Value::as_str).unwrap_or_default();
    if all.with_key(item).is_some_and(|call| all.refused(call)) {
        return Vec::new();
    }
    if let Some(Value::Object(response)) = object.get_mut("response") {
        whole(response, all);
    }
    whole(&mut object, all);
    vec![object]
}

/// The items of a response as a whole.
fn whole(response: &mut Object, all: &WireCalls) {
    let items = response.get_mut("output").and_then(Value::as_array_mut);
    for item in items.into_iter().flatten() {
        let said = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
        let call = all.with_key(said("id")).or(all.with_id(said("call_id")));
        if let Some(text) = call.and_then(|call| all.text(call)) {
            *item = message_item(&id(said("id")), Some(text));
        }
    }
}

/// The name of the message in the place of an item.
fn id(item: &str) -> String {
    format!("msg_deadloop_{item}")
}

/// A message; without its text it has just begun.
fn message_item(id: &str, text: Option<&str>) -> Value {
    let content: Vec<Value> = text.map(part).into_iter().collect();
    let status = text.map_or("in_progress", |_| "completed");
    json!({"type": "message", "id": id, "status": status, "role": "assistant", "content": content})
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

/// The events of a message, in the place of the item that `added` adds.
fn message(added: &Object, text: &str) -> Vec<Object> {
    let item = added.get("item").and_then(|item| item.get("id"));
    let id = id(item.and_then(Value::as_str).unwrap_or_default());
    let events = [
        (
            "output_item.added",
            json!({"item": message_item(&id, None)}),
        ),
        ("content_part.added", json!({"part": part("")})),
        ("output_text.delta", json!({"delta": text, "logprobs": []})),
        ("output_text.done", json!({"text": text, "logprobs": []})),
        ("content_part.done", json!({"part": part(text)})),
        (
            "output_item.done",
            json!({"item": message_item(&id, Some(text))}),
        ),
    ];
    let events = events.into_iter();
    events
        .map(|(kind, own)| {
            let mut event = Object::new();
            event.insert("type".to_owned(), format!("response.{kind}").into());
            for name in [NUMBER, "output_index"] {
                event.extend(
                    added
                        .get(name)
                        .map(|value| (name.to_owned(), value.clone())),
                );
            }
            if !kind.starts_with("output_item") {
                event.insert("item_id".to_owned(), id.clone().into());
                event.insert("content_index".to_owned(), 0.into());
            }
            event.extend(own.as_object().cloned().unwrap_or_default());
            event
        })
        .collect()
}
