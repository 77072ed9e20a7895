//! `api_conversation_history.json` of Cline and Roo Code.
//!
//! The file is a list of the messages of both sides, in the form of Anthropic's API. Newer files of Roo Code are
//! `{"version": 2, "messages": […]}`, in the form of the AI SDK.

use serde_json::Value;

use crate::paths;
use crate::reader::{Output, head_entry};
use crate::sessions::run_session::{RunReader, RunSession};
use crate::source::head::SourceHead;
use deadloop_stream::fields::{Object, ReadFields, as_object};
use deadloop_stream::wire::WireResult;

head_entry! { ENTRY: Cline = |head| is_cline(head), None, "cline", "api_conversation_history.json of Cline and Roo Code"; }

fn is_cline(head: &SourceHead) -> bool {
    let message = |object: &Object| {
        let role = object.get("role").and_then(Value::as_str);
        matches!(role, Some("user" | "assistant")) && object.contains_key("content")
    };
    let versioned = |object: &Object| object.contains_key("version") && has_messages(object);
    // Roles and fields of OpenAI's messages never occur in these files.
    let of_openai = |object: &Object| {
        let role = object.get("role").and_then(Value::as_str);
        matches!(role, Some("system" | "developer" | "tool"))
            || object.contains_key("tool_calls")
            || object.contains_key("tool_call_id")
    };
    if head.is_list && head.any_object(of_openai) {
        return false;
    }
    head.any_object(|object| {
        if head.is_list {
            message(object)
        } else {
            versioned(object)
        }
    })
}

fn has_messages(object: &Object) -> bool {
    object.get("messages").is_some_and(Value::is_array)
}

/// A reader of the conversation in a file.
#[derive(Default)]
struct Cline {
    session: RunSession,
}

impl RunReader for Cline {
    const RECORD_PATH: &str = "";

    fn session(&mut self) -> &mut RunSession {
        &mut self.session
    }

    fn add_record(&mut self, object: &mut Object, out: &mut Output) -> WireResult {
        let sdk = has_messages(object);
        let messages = if sdk {
            object.take_list("messages")?.unwrap_or_default()
        } else {
            vec![Value::Object(std::mem::take(object))]
        };
        for message in messages {
            let mut message = as_object("messages[]", message)?;
            // The AI SDK has a role for results of tools; here they are user messages.
            if sdk && message.get("role").and_then(Value::as_str) == Some("tool") {
                message.insert("role".to_owned(), Value::String("user".to_owned()));
            }
            self.add_message(message, out)?;
        }
        object.take("version");
        Ok(())
    }
}

impl Cline {
    fn add_message(&mut self, mut message: Object, out: &mut Output) -> WireResult {
        let stamp = message.take("ts");
        if let Some(mut info) = message.take_object("modelInfo")? {
            self.session.model = info.take_string("modelId")?;
            out.losses.add_fields("modelInfo", &info);
        }
        move_usage(&mut message);
        convert_reasoning_item(&mut message);
        if let Some(Value::Array(blocks)) = message.get_mut("content") {
            blocks.iter_mut().for_each(convert_sdk_block);
        }
        let t_ms = self.session.clock.at(stamp.as_ref());
        self.session.run.add_message(message, "[]", t_ms, out)
    }
}

/// Moves the token counts of a model message to the field `usage`.
fn move_usage(message: &mut Object) {
    let metrics = message.get_mut("metrics").and_then(Value::as_object_mut);
    let Some(Value::Object(mut tokens)) = metrics.and_then(|metrics| metrics.remove("tokens"))
    else {
        return;
    };
    let names = [
        ("prompt", "prompt_tokens"),
        ("completion", "completion_tokens"),
    ];
    tokens.rename_fields(&names);
    message.insert("usage".to_owned(), Value::Object(tokens));
}

/// Converts Roo Code's separate reasoning item to a message.
fn convert_reasoning_item(message: &mut Object) {
    if message.get("type").and_then(Value::as_str) != Some("reasoning") {
        return;
    }
    message.remove("type");
    message.insert("role".to_owned(), Value::String("assistant".to_owned()));
    let parts = paths::take_list(message, "summary");
    let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
    let mut texts: Vec<&str> = texts.collect();
    let text = message.remove("text");
    texts.extend(text.as_ref().and_then(Value::as_str));
    let thinking = Value::String(texts.join("\n"));
    message.insert("reasoning".to_owned(), thinking);
}

/// Converts a block of the AI SDK to the fields of Anthropic's API.
fn convert_sdk_block(block: &mut Value) {
    let Some(fields) = block.as_object_mut() else {
        return;
    };
    let names: &[(&str, &str)] = match fields.get("type").and_then(Value::as_str) {
        Some("tool-call") => &[("toolCallId", "id"), ("toolName", "name")],
        Some("tool-result") => &[("toolCallId", "tool_use_id"), ("output", "content")],
        _ => return,
    };
    let result = names[1].0 == "output";
    fields.rename_fields(names);
    if result {
        fields.remove("toolName");
        let output = fields.get("content").and_then(|output| output.get("value"));
        if let Some(output) = output.cloned() {
            fields.insert("content".to_owned(), output);
        }
    }
    let kind = if result { "tool_result" } else { "tool_use" };
    fields.insert("type".to_owned(), Value::String(kind.to_owned()));
}
