//! Ollama's lines, each with whole calls: a refused call becomes text of the message.

use serde_json::Value;

use super::chat::add;
use super::{Replacing, WireCalls};
use crate::take::Object;

/// Every call of this API is run by the client.
pub(crate) const REPLACING: Replacing = Replacing {
    able: |_| true,
    replace,
};

fn replace(mut object: Object, calls: &[usize], all: &mut WireCalls) -> Vec<Object> {
    let Some(Value::Object(message)) = object.get_mut("message") else {
        return vec![object];
    };
    let (mut places, mut texts) = (calls.iter(), Vec::new());
    if let Some(Value::Array(list)) = message.get_mut("tool_calls") {
        list.retain(|_| {
            let told = places.next().and_then(|place| all.tell(*place));
            let left = told.is_none();
            texts.extend(told);
            left
        });
        if list.is_empty() {
            message.shift_remove("tool_calls");
        }
    }
    texts.into_iter().for_each(|text| add(message, text, all));
    vec![object]
}
