//! Chats of Gemini CLI, under `~/.gemini/tmp/<project>/`.
//!
//! Reads `chats/session-*.json` (one document), the newer `session-*.jsonl` (messages line by line, with corrections)
//! and checkpoints (`checkpoint-*.json`, contents of the Gemini API). `logs.json` has only user messages.

use serde_json::Value;

use crate::paths;
use crate::reader::{Output, RecordReader, known_entry};
use crate::sessions::conversation::Conversation;
use crate::sessions::turn::{TurnData, Usage, add_separate};
use crate::source::records::SourceRecord;
use deadloop_corpus::{Body, Place, RecordedEvent, tool_call, tool_result};
use deadloop_stream::fields::{Object, ReadFields, as_object, missing_field, wrong_type};
use deadloop_stream::time::EventClock;
use deadloop_stream::wire::{WireFault, WireResult, kind};

known_entry! { GeminiCli = is_gemini_cli, "gemini-cli", "chats of Gemini CLI: session-*.json and .jsonl, checkpoints, logs.json"; }

fn is_gemini_cli(object: &Object) -> bool {
    let log = object.contains_key("messageId") && object.contains_key("message");
    let session = object.contains_key("sessionId") && (object.contains_key("projectHash") || log);
    let content = |object: &Object| object.contains_key("role") && object.contains_key("parts");
    let history = object.get("history").and_then(Value::as_array);
    let content_in = |all: &Vec<Value>| all.iter().filter_map(Value::as_object).any(content);
    session || content(object) || history.is_some_and(content_in)
}

/// A reader of the chat in a file.
#[derive(Default)]
struct GeminiCli {
    place: Option<Place>,
    session: Option<String>,
    /// Messages of a session in order, with their ids.
    messages: Vec<(Option<String>, Object)>,
    /// Contents of a checkpoint.
    contents: Conversation,
    /// Whether the file is a `logs.json`, which has only user messages.
    is_user_log: bool,
}

impl RecordReader for GeminiCli {
    fn take_record(&mut self, record: SourceRecord, out: &mut Output) -> WireResult {
        let (place, mut object) = record.into_place_and_object()?;
        self.read_record(&mut object, out)?;
        out.losses.add_fields("", &object);
        self.place.get_or_insert(place);
        Ok(())
    }

    fn finish(&mut self, out: &mut Output) {
        let Some(place) = self.place.take() else {
            return;
        };
        if self.is_user_log {
            let expected = "chats/session-*.json, which hold the answers";
            out.warn(&place, "a log of what the user said alone", expected);
            return;
        }
        let mut run = std::mem::take(&mut self.contents);
        let (mut model, mut clock) = (None, EventClock::default());
        for (_, message) in self.messages.drain(..) {
            model = add_message(&mut run, message, &mut clock, out).or(model);
        }
        let mut entry = run.into_entry(place);
        let transcript = &mut entry.transcript;
        transcript.model = model.unwrap_or_default();
        transcript.id = self.session.take().unwrap_or_else(|| out.stem().to_owned());
        out.emit(entry);
    }
}

impl GeminiCli {
    /// Reads a record of a chat: a document, a line or a list element.
    fn read_record(&mut self, object: &mut Object, out: &mut Output) -> WireResult {
        // The output of the model is kept, even if the user rewound to an earlier point.
        if object.take_string("$rewindTo")?.is_some() {
            out.losses.add("$rewindTo");
            return Ok(());
        }
        if let Some(mut set) = object.take_object("$set")? {
            return self.read_session(&mut set, out);
        }
        if object.contains_key("messageId") {
            self.is_user_log = true;
            out.losses.add("[].message (user)");
            object.clear();
            return Ok(());
        }
        if object.contains_key("parts") {
            let content = std::mem::take(object);
            return self.add_content(content, "[]", out);
        }
        if let Some(history) = object.take_list("history")? {
            for content in history {
                let content = as_object("history[]", content)?;
                self.add_content(content, "history[]", out)?;
            }
            return Ok(());
        }
        if object.contains_key("projectHash") {
            return self.read_session(object, out);
        }
        let message = std::mem::take(object);
        self.add_message(message)
    }

    fn read_session(&mut self, object: &mut Object, out: &mut Output) -> WireResult {
        let session = object.take_string("sessionId")?;
        self.session = session.or(self.session.take());
        let messages = object.take_list("messages")?.unwrap_or_default();
        let messages = messages
            .into_iter()
            .map(|message| as_object("messages[]", message));
        for message in messages.collect::<Result<Vec<_>, _>>()? {
            self.add_message(message)?;
        }
        // Data on a session besides its messages.
        object.remove_fields("projectHash startTime lastUpdated kind");
        out.losses.add_fields("", object);
        object.clear();
        Ok(())
    }

    /// Adds a message of a session. A message with the same id replaces the previous one.
    fn add_message(&mut self, mut message: Object) -> WireResult {
        let known = message.get("type").is_some_and(Value::is_string);
        if !known {
            return Err(missing_field(
                "type",
                "a message of a chat (user, gemini, info, …)",
            ));
        }
        check_types(&message)?;
        let id = message.take_string("id")?;
        let mut messages = self.messages.iter_mut();
        match messages.find(|(known, _)| id.is_some() && *known == id) {
            Some((_, old)) => *old = message,
            None => self.messages.push((id, message)),
        }
        Ok(())
    }

    fn add_content(&mut self, mut content: Object, path: &str, out: &mut Output) -> WireResult {
        let mut calls = Vec::new();
        if let Some(Value::Array(parts)) = content.get_mut("parts") {
            parts.retain(|part| {
                let body = read_tool_part(part);
                let is_text = body.is_none();
                calls.extend(body.map(RecordedEvent::new));
                is_text
            });
        }
        let is_result = |event: &RecordedEvent| matches!(event.body, Body::ToolResult { .. });
        let parts = content.get("parts").and_then(Value::as_array);
        let is_only_tools = parts.is_some_and(Vec::is_empty);
        if !(is_only_tools && calls.iter().any(is_result)) {
            self.contents.add_message(content, path, None, out)?;
        }
        self.contents.events.append(&mut calls);
        Ok(())
    }
}

/// Reads a tool call or result from a part of the Gemini API.
fn read_tool_part(part: &Value) -> Option<Body> {
    let id = |part: &Value| part.get("id").and_then(Value::as_str).map(str::to_owned);
    if let Some(call) = part.get("functionCall") {
        let arguments = call.get("args").cloned().unwrap_or_default();
        return Some(tool_call(id(call), call.get("name")?.as_str()?, arguments));
    }
    let result = part.get("functionResponse")?;
    let response = result.get("response").cloned().unwrap_or_default();
    let error = response.get("error");
    let content = error.or_else(|| response.get("output"));
    let content = content.unwrap_or(&response);
    let text = content.as_str().map(str::to_owned);
    let text = text.unwrap_or_else(|| content.to_string());
    Some(tool_result(id(result), text, Some(error.is_some())))
}

/// Checks the types of a message's fields, so that a fault is reported with its line.
fn check_types(message: &Object) -> WireResult {
    for list in ["thoughts", "toolCalls"] {
        let value = message.get(list).filter(|value| !value.is_null());
        if let Some(value) = value.filter(|value| !value.is_array()) {
            return Err(WireFault::new(
                format!("`{list}` is {}", kind(value)),
                "a list",
            ));
        }
    }
    match message.get("content") {
        None | Some(Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_)) => Ok(()),
        Some(other) => Err(wrong_type("content", other, "a text or parts")),
    }
}

/// Converts thoughts to reasoning events. `tokens` is the token count of all thoughts, which is used only if there is a
/// single thought.
fn read_thoughts(
    thoughts: &[Value],
    tokens: Option<u64>,
    clock: &mut EventClock,
) -> Vec<RecordedEvent> {
    let one = |thought: &Value| {
        let field = |name| thought.get(name).and_then(Value::as_str);
        let text = ["subject", "description"].map(|name| field(name).unwrap_or_default());
        RecordedEvent {
            t_ms: clock.at(thought.get("timestamp")),
            tokens: tokens.filter(|_| thoughts.len() == 1),
            ..RecordedEvent::new(Body::Reasoning(text.join("\n").trim().to_owned()))
        }
    };
    thoughts.iter().map(one).collect()
}

/// Adds a user message. A description of the environment, written by the program, becomes a system prompt.
fn add_user_message(run: &mut Conversation, content: String, t_ms: Option<f64>) {
    if content.trim_start().starts_with("<session_context>") {
        run.add_system(&content, t_ms)
    } else {
        run.add_user(content, t_ms)
    }
}

/// Adds a message of a session to the run. Returns the name of the model that the message names, if any.
fn add_message(
    run: &mut Conversation,
    mut message: Object,
    clock: &mut EventClock,
    out: &mut Output,
) -> Option<String> {
    let stamp = message.take("timestamp");
    let t_ms = clock.at(stamp.as_ref());
    let content = join_texts(message.take("content").unwrap_or_default());
    let kind = message.take("type");
    let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
    if kind != "gemini" {
        match kind {
            "user" => add_user_message(run, content, t_ms),
            _ => out.losses.add(&format!("messages[].content ({kind})")),
        }
        return None;
    }
    let mut tokens = paths::take_object(&mut message, "tokens");
    let answer_tokens = tokens.get("output").and_then(Value::as_u64);
    let thinking_tokens = tokens.remove("thoughts").and_then(|count| count.as_u64());
    let mut usage = Usage::take_from(&mut tokens);
    // The output count excludes reasoning here.
    usage.output = usage
        .output
        .map(|count| add_separate(count, thinking_tokens));
    let thoughts = paths::take_list(&mut message, "thoughts");
    let mut events = read_thoughts(&thoughts, thinking_tokens, clock);
    if !content.is_empty() {
        events.push(RecordedEvent {
            t_ms,
            tokens: answer_tokens,
            ..RecordedEvent::new(Body::Answer(content))
        });
    }
    for call in paths::take_list(&mut message, "toolCalls") {
        let t_ms = clock.at(call.get("timestamp"));
        events.extend(read_call(&call).map(|body| RecordedEvent::at(body, t_ms)));
    }
    let model = message.take("model");
    let model = model.and_then(|model| Some(model.as_str()?.to_owned()));
    if !events.is_empty() {
        run.begin_turn(TurnData {
            usage,
            t_ms,
            ..TurnData::default()
        });
    }
    run.events.append(&mut events);
    out.losses.add_fields("messages[].tokens", &tokens);
    out.losses.add_fields("messages[]", &message);
    model
}

/// Returns a tool call and its result.
fn read_call(call: &Value) -> impl Iterator<Item = Body> {
    let field = |name: &str| call.get(name).and_then(Value::as_str).map(str::to_owned);
    let error = field("status").map(|status| status != "success");
    let result = call.get("result").filter(|result| !result.is_null());
    let parts = match result {
        Some(Value::Array(parts)) => parts.clone(),
        Some(one) => vec![one.clone()],
        None => Vec::new(),
    };
    let texts = parts.iter().map(|part| match read_tool_part(part) {
        Some(Body::ToolResult { content, .. }) => content,
        _ => join_texts(part.clone()),
    });
    let content: String = texts.collect();
    let result = result
        .is_some()
        .then(|| tool_result(field("id"), content, error));
    let arguments = call.get("args").cloned().unwrap_or_default();
    let call = tool_call(field("id"), field("name").unwrap_or_default(), arguments);
    [Some(call), result].into_iter().flatten()
}

/// Returns a text, the text of a part, or the joined texts of parts.
fn join_texts(content: Value) -> String {
    match content {
        Value::String(text) => text,
        Value::Array(parts) => parts.into_iter().map(join_texts).collect(),
        Value::Object(mut part) => match part.remove("text") {
            Some(Value::String(text)) => text,
            _ => String::new(),
        },
        _ => String::new(),
    }
}
