//! `api_conversation_history.json` of Cline and Roo Code: a list of the messages that went to and
//! fro, in the form of Anthropic's API. Newer ones of Roo Code are `{"version": 2, "messages": […]}`,
//! in the form of the AI SDK.

use serde_json::Value;

use crate::Place;
use crate::import::conversation::Conversation;
use crate::import::cut::Record;
use crate::import::head::{Certainty, Head};
use crate::import::reader::{Foreign, Out, Reader};
use crate::import::take::{self, Object};
use crate::import::time::{EventClock, millis};
use crate::transcript::wire::WireFault;

pub(crate) const ENTRY: Foreign = Foreign {
    name: "cline",
    help: "api_conversation_history.json of Cline and Roo Code",
    knows,
    shape: None,
    whole_folder: false,
    reader: || Box::<Cline>::default(),
};

fn knows(head: &Head) -> Certainty {
    let message = |object: &Object| {
        let role = object.get("role").and_then(Value::as_str);
        matches!(role, Some("user" | "assistant")) && object.contains_key("content")
    };
    let versioned = |object: &Object| object.contains_key("version") && has_messages(object);
    if head.list {
        Certainty::Certain.when(head.any(message))
    } else {
        Certainty::Certain.when(head.any(versioned))
    }
}

fn has_messages(object: &Object) -> bool {
    object.get("messages").is_some_and(Value::is_array)
}

/// The one conversation of a file.
#[derive(Default)]
struct Cline {
    conversation: Conversation,
    place: Option<Place>,
    model: String,
    clock: EventClock,
}

impl Reader for Cline {
    fn take(&mut self, record: Record, out: &mut Out) -> Result<(), WireFault> {
        let place = record.place.clone();
        let mut object = record.object()?;
        let messages = if has_messages(&object) {
            take::list(&mut object, "messages")?.unwrap_or_default()
        } else {
            vec![Value::Object(std::mem::take(&mut object))]
        };
        for message in messages {
            let message = take::as_object("messages[]", message)?;
            self.message(message, out)?;
        }
        take::any(&mut object, "version");
        out.losses.rest("", &object);
        self.place.get_or_insert(place);
        Ok(())
    }

    fn end(&mut self, out: &mut Out) {
        let Some(place) = self.place.take() else {
            return;
        };
        let mut entry = std::mem::take(&mut self.conversation).entry(place);
        entry.transcript.id = out.stem().to_owned();
        entry.transcript.model = std::mem::take(&mut self.model);
        out.emit(entry);
    }
}

impl Cline {
    fn message(&mut self, mut message: Object, out: &mut Out) -> Result<(), WireFault> {
        let stamp = take::any(&mut message, "ts").as_ref().and_then(millis);
        if let Some(mut info) = take::object(&mut message, "modelInfo")? {
            self.model = take::string(&mut info, "modelId")?.unwrap_or_default();
            out.losses.rest("modelInfo", &info);
        }
        usage(&mut message);
        reasoning_item(&mut message);
        if let Some(Value::Array(blocks)) = message.get_mut("content") {
            blocks.iter_mut().for_each(sdk_block);
        }
        // The AI SDK gives results of tools a role; here they are what the user says.
        if message.get("role").and_then(Value::as_str) == Some("tool") {
            message.insert("role".to_owned(), Value::String("user".to_owned()));
        }
        let t_ms = self.clock.since(stamp);
        let think = out.options.think.clone();
        self.conversation
            .message(message, "[]", t_ms, think, &mut out.losses)
    }
}

/// Puts the tokens of a message of the model where APIs have them.
fn usage(message: &mut Object) {
    let metrics = message.get_mut("metrics").and_then(Value::as_object_mut);
    let Some(Value::Object(mut tokens)) = metrics.and_then(|metrics| metrics.remove("tokens"))
    else {
        return;
    };
    for (theirs, ours) in [
        ("prompt", "prompt_tokens"),
        ("completion", "completion_tokens"),
    ] {
        if let Some(count) = tokens.remove(theirs) {
            tokens.insert(ours.to_owned(), count);
        }
    }
    message.insert("usage".to_owned(), Value::Object(tokens));
}

/// Roo Code keeps what a model of OpenAI thought as an item of its own.
fn reasoning_item(message: &mut Object) {
    if message.get("type").and_then(Value::as_str) != Some("reasoning") {
        return;
    }
    message.remove("type");
    message.insert("role".to_owned(), Value::String("assistant".to_owned()));
    let parts = match message.remove("summary") {
        Some(Value::Array(parts)) => parts,
        _ => Vec::new(),
    };
    let mut texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| part.get("text")?.as_str())
        .collect();
    let text = message.remove("text");
    texts.extend(text.as_ref().and_then(Value::as_str));
    let thinking = Value::String(texts.join("\n"));
    message.insert("reasoning".to_owned(), thinking);
}

/// A block of the AI SDK, in the words of Anthropic's API.
fn sdk_block(block: &mut Value) {
    let Some(fields) = block.as_object_mut() else {
        return;
    };
    let names: &[(&str, &str)] = match fields.get("type").and_then(Value::as_str) {
        Some("tool-call") => &[("toolCallId", "id"), ("toolName", "name")],
        Some("tool-result") => &[("toolCallId", "tool_use_id"), ("output", "content")],
        _ => return,
    };
    let result = names[1].0 == "output";
    for (theirs, ours) in names {
        if let Some(value) = fields.remove(*theirs) {
            fields.insert((*ours).to_owned(), value);
        }
    }
    if result {
        fields.remove("toolName");
        let output = fields
            .get("content")
            .and_then(|output| output.get("value"))
            .cloned();
        if let Some(output) = output {
            fields.insert("content".to_owned(), output);
        }
    }
    let kind = if result { "tool_result" } else { "tool_use" };
    fields.insert("type".to_owned(), Value::String(kind.to_owned()));
}
