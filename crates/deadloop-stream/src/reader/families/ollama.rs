//! Lines of Ollama's `/api/chat` (`message`) and `/api/generate` (`response`).

use serde_json::Value;

use super::{Family, answer, failed_end, finish, reasoning};
use crate::fields::{self, Object};
use crate::reader::content::{CallPiece, ObjectContent, ObjectPart, TokenCounts};
use crate::time::millis;
use crate::wire::WireFault;

/// Lines of Ollama's API.
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
    tags: true,
    run: false,
    knows: |object| {
        let chunk = object.get("done").is_some_and(Value::is_boolean)
            && (object.contains_key("message") || object.contains_key("response"));
        chunk || failure(object)
    },
    check: None,
    read,
    quick: None,
};

/// Returns whether the object is an error that is sent in place of a chunk: a nonempty error, without fields of other
/// APIs.
fn failure(object: &Object) -> bool {
    const BESIDE: [&str; 4] = ["error", "model", "created_at", "done"];
    error(object) && object.keys().all(|key| BESIDE.contains(&key.as_str()))
}

/// Returns whether the object has a nonempty error.
fn error(object: &Object) -> bool {
    let error = object.get("error").and_then(Value::as_str);
    error.is_some_and(|error| !error.is_empty())
}

/// The fields of the last line that describe the whole response.
const ABOUT: [&str; 7] = [
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
    "error",
];

fn read(mut object: Object) -> Result<ObjectContent, WireFault> {
    const NANOS: f64 = 1e6;
    let failed = error(&object).then(failed_end);
    let mut said = ObjectContent {
        model: fields::label(&mut object, "model"),
        at: fields::any(&mut object, "created_at").and_then(|at| millis(&at)),
        ends: fields::any(&mut object, "done") == Some(Value::Bool(true)),
        ..ObjectContent::default()
    };
    let took = object.get("total_duration").and_then(Value::as_f64);
    said.took = took.map(|nanos| nanos / NANOS);
    let all = object.get("eval_count").and_then(Value::as_u64);
    said.tokens = all.map(|all| TokenCounts {
        all,
        reasoning: None,
    });
    for name in ABOUT {
        said.keep(name, fields::any(&mut object, name));
    }
    let mut message = fields::object(&mut object, "message")?.unwrap_or_default();
    fields::any(&mut message, "role");
    for part in [&mut message, &mut object] {
        let thinking = fields::string(part, "thinking")?;
        said.event(0, reasoning(thinking));
    }
    let text = fields::string(&mut message, "content")?;
    said.event(0, answer(text));
    let text = fields::string(&mut object, "response")?;
    said.event(0, answer(text));
    let calls = fields::list(&mut message, "tool_calls")?.unwrap_or_default();
    for call in calls {
        read_call(fields::as_object("tool_calls[]", call)?, &mut said)?;
    }
    let reason = fields::string(&mut object, "done_reason")?;
    said.event(0, finish(reason));
    said.event(0, failed);
    said.left("message", message);
    said.left("", object);
    Ok(said)
}

/// Reads a call, which is always whole.
fn read_call(mut call: Object, said: &mut ObjectContent) -> Result<(), WireFault> {
    let id = fields::label(&mut call, "id");
    let mut function = fields::object(&mut call, "function")?.unwrap_or_default();
    fields::any(&mut function, "index");
    let name = fields::string(&mut function, "name")?;
    let arguments = fields::any(&mut function, "arguments");
    let call_said = CallPiece {
        id,
        name,
        arguments: arguments.map_or(String::new(), |arguments| arguments.to_string()),
        ..CallPiece::default()
    };
    said.parts.push((0, ObjectPart::Call(call_said)));
    said.left("message.tool_calls[].function", function);
    said.left("message.tool_calls[]", call);
    Ok(())
}
