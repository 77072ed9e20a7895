//! Lines of Ollama's `/api/chat` (`message`) and `/api/generate` (`response`).

use serde_json::Value;

use super::{Family, answer_event, failure_event, finish_event, reasoning_event};
use crate::fields::{Object, ReadFields, as_object};
use crate::reader::content::{CallPiece, ObjectContent, TokenCounts};
use crate::time::parse_millis;
use crate::wire::WireResult;

/// The family of Ollama's API.
pub const ENTRY: Family = Family {
    name: "ollama",
    keys: &[
        "model",
        "created_at",
        "message",
        "response",
        "thinking",
        "done",
        "error",
    ],
    knows: |object| {
        let chunk = object.get("done").is_some_and(Value::is_boolean)
            && (object.contains_key("message") || object.contains_key("response"));
        chunk || is_failure(object)
    },
    read,
    ..Family::PLAIN
};

/// Returns whether the object is an error that was sent in place of a chunk: a nonempty error without fields of other
/// APIs.
fn is_failure(object: &Object) -> bool {
    const ERROR_FIELDS: [&str; 4] = ["error", "model", "created_at", "done"];
    has_error(object)
        && object
            .keys()
            .all(|key| ERROR_FIELDS.contains(&key.as_str()))
}

/// Returns whether the object has a nonempty `error`.
fn has_error(object: &Object) -> bool {
    let error = object.get("error").and_then(Value::as_str);
    error.is_some_and(|error| !error.is_empty())
}

/// The fields of the last line that describe the whole response.
const SUMMARY_FIELDS: [&str; 7] = [
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
    "error",
];

fn read(object: &mut Object, parsed: &mut ObjectContent) -> WireResult {
    const NANOS_PER_MS: f64 = 1e6;
    let failed = has_error(object).then(failure_event);
    parsed.model = object.take_label("model");
    parsed.at = object.take("created_at").and_then(|at| parse_millis(&at));
    parsed.ends = object.take("done") == Some(Value::Bool(true));
    let took = object.get("total_duration").and_then(Value::as_f64);
    parsed.took = took.map(|nanos| nanos / NANOS_PER_MS);
    let all = object.get("eval_count").and_then(Value::as_u64);
    parsed.tokens = all.map(TokenCounts::without_reasoning);
    for name in SUMMARY_FIELDS {
        parsed.keep(name, object.take(name));
    }
    let mut message = object.take_object("message")?.unwrap_or_default();
    message.take("role");
    for part in [&mut message, object] {
        parsed.push(0, reasoning_event(part.take_string("thinking")?));
    }
    parsed.push(0, answer_event(message.take_string("content")?));
    parsed.push(0, answer_event(object.take_string("response")?));
    let calls = message.take_list("tool_calls")?.unwrap_or_default();
    for call in calls {
        read_call(as_object("tool_calls[]", call)?, parsed)?;
    }
    parsed.push(0, finish_event(object.take_string("done_reason")?));
    parsed.push(0, failed);
    parsed.add_rest("message", message);
    Ok(())
}

/// Reads a call, which always comes whole.
fn read_call(mut call: Object, parsed: &mut ObjectContent) -> WireResult {
    let id = call.take_label("id");
    let mut function = call.take_object("function")?.unwrap_or_default();
    function.take("index");
    let name = function.take_string("name")?;
    let arguments = function.take("arguments");
    let piece = CallPiece {
        id,
        name,
        arguments: arguments.map_or(String::new(), |arguments| arguments.to_string()),
        ..CallPiece::default()
    };
    parsed.push_call(0, piece);
    parsed.add_rest("message.tool_calls[].function", function);
    parsed.add_rest("message.tool_calls[]", call);
    Ok(())
}
