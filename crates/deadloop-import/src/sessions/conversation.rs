//! [`Conversation`]: the events of a conversation's messages.
//!
//! Reads messages of the APIs of OpenAI, Anthropic and Gemini, and of data sets with `from` and `value`.
//!
//! Each message of the model is a turn. User messages and tool results are kept as text, system prompts as length and hash.
//! The first user message is the prompt, from which the group of the transcript is computed.

use serde_json::Value;

use crate::reader::Output;
use crate::sessions::turn::{TurnData, Usage};
use deadloop_corpus::transcript::fingerprint::hash;
use deadloop_corpus::{Body, RecordedEvent, tool_call, tool_result};
use deadloop_stream::fields::{Object, ReadFields, as_object, missing_field, wrong_type};
use deadloop_stream::wire::{WireFault, WireResult};

/// A collector of the events of a conversation.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// Events so far.
    pub(crate) events: Vec<RecordedEvent>,
    /// First user message.
    pub(crate) prompt: Option<String>,
    /// Number of turns.
    pub(crate) turns: u64,
    /// Whether a turn is open, which began after the last user message or tool result.
    pub(crate) in_turn: bool,
    /// Response id of the open turn, if recorded.
    pub(crate) response: Option<String>,
    /// Whether the turn of the next message has already begun.
    turn_announced: bool,
}

/// Speaker of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    System,
    User,
    Model,
    Tool,
}

/// Names of each role in recordings, separated by spaces.
const ROLES: [(Speaker, &str); 4] = [
    (Speaker::System, "system developer"),
    (Speaker::User, "user human prompter"),
    (Speaker::Model, MODEL_ROLES),
    (Speaker::Tool, TOOL_ROLES),
];
const MODEL_ROLES: &str = "assistant gpt chatgpt model gemini bot bing bard ai agent thinking";
const TOOL_ROLES: &str = "tool function observation tool_response toolResult tool_result";

impl Conversation {
    /// Adds the next message. `path` is its path in reported losses, and `t_ms` its time if known.
    ///
    /// # Errors
    /// The message has no known role, or a field of the wrong type. No event of the message is added.
    pub(crate) fn add_message(
        &mut self,
        mut message: Object,
        path: &str,
        t_ms: Option<f64>,
        out: &mut Output,
    ) -> WireResult {
        let kind = message.get("kind").and_then(Value::as_str);
        if let Some(kind @ ("tool_use" | "tool_call" | "tool_result")) = kind {
            let what = format!("an event of the kind {kind}, not a message");
            return Err(WireFault::new(what, "messages with `role` and `content`"));
        }
        let (role, named) = take_role(&mut message)?;
        let content = take_content(&mut message, &named);
        let mut read = MessageEvents {
            events: Vec::new(),
            path,
            out,
        };
        let (mut text, mut turn) = (None, None);
        match role {
            Speaker::Model => {
                read.add_model_message(&mut message, content)?;
                turn = Some(read.take_turn(&mut message, t_ms)?);
            }
            Speaker::Tool => read.add_result(&mut message, content)?,
            Speaker::User | Speaker::System => text = Some(read.read_incoming_text(content)?),
        }
        read.out.losses.add_fields(path, &message);
        let bodies = read.events;
        if let Some(turn) = turn {
            // Formats with more data on the turn begin the turn themselves.
            let begun = std::mem::take(&mut self.turn_announced);
            if begun || self.has_only_thinking() {
                self.add_usage(turn.usage)
            } else {
                self.begin_turn(turn)
            }
        }
        bodies.into_iter().for_each(|body| self.push(body, t_ms));
        match (role, text) {
            (Speaker::System, Some(text)) => self.add_system(&text, t_ms),
            (_, Some(text)) => self.add_user(text, t_ms),
            _ => {}
        }
        Ok(())
    }

    /// Returns whether the open turn has only reasoning, which some recorders write as a separate message.
    pub(crate) fn has_only_thinking(&self) -> bool {
        let mut since = self.events.iter().rev();
        let mut thoughts = since.by_ref().map_while(|event| match event.body {
            Body::Reasoning(_) => Some(true),
            Body::Turn => Some(false),
            _ => None,
        });
        thoughts.next() == Some(true) && thoughts.any(|thought| !thought)
    }

    /// Begins the turn of the next message, with data that is recorded outside the message.
    pub(crate) fn announce_turn(&mut self, turn: TurnData) {
        self.begin_turn(turn);
        self.turn_announced = true;
    }

    /// Returns the group, which transcripts with the same prompt share. `None` without a prompt.
    pub(crate) fn group(&self) -> Option<String> {
        self.prompt.as_deref().map(prompt_group)
    }
}

/// Returns the group name of a prompt.
pub(crate) fn prompt_group(prompt: &str) -> String {
    format!("prompt-{}", hash(prompt.trim(), 6))
}

/// Takes the content of a message. The content of a reasoning message moves to the field `thinking` instead.
fn take_content(message: &mut Object, role_name: &str) -> Option<Value> {
    let content = CONTENT_FIELDS
        .into_iter()
        .find_map(|name| message.take(name));
    match (content, role_name) {
        (Some(thought), "thinking") => {
            message.insert("thinking".to_owned(), thought);
            None
        }
        (None, _) => {
            let inner = message.get("message");
            let is_content = inner.is_some_and(|inner| inner.is_string() || inner.is_array());
            is_content.then(|| message.take("message"))?
        }
        (content, _) => content,
    }
}

/// Fields that may hold the content of a message.
const CONTENT_FIELDS: [&str; 5] = ["content", "value", "text", "parts", "mes"];
/// Fields that may hold the role of a message.
const ROLE_FIELDS: [&str; 4] = ["role", "from", "sender", "source"];

/// Removes the role from a message. Returns the speaker, and the role as it was recorded.
fn take_role(message: &mut Object) -> WireResult<(Speaker, String)> {
    const EXPECTED: &str = "`role` or `from` (system, user, assistant, tool, human, gpt, …)";
    let named = message.take_first_string(&ROLE_FIELDS)?;
    let named = named.ok_or_else(|| missing_field("role", EXPECTED))?;
    if let Some(agent) = named.strip_prefix("assistant-subagent-") {
        message.insert("agent".to_owned(), agent.into());
        return Ok((Speaker::Model, named));
    }
    let is = |name: &str| named.eq_ignore_ascii_case(name);
    let known = ROLES.iter().find(|(_, names)| names.split(' ').any(is));
    let unknown = || WireFault::new(format!("a message of the unknown role {named:?}"), EXPECTED);
    let (role, _) = known.ok_or_else(unknown)?;
    Ok((*role, named))
}

/// Unwraps a block in a field named for its kind, such as `{"functionCall": {…}}` of Gemini. Returns the kind and the
/// block.
fn take_named_block(block: &mut Object) -> Option<(&'static str, Object)> {
    const NAMED_BLOCKS: [(&str, &str); 7] = [
        ("functionCall", "tool_use"),
        ("functionResponse", "tool_result"),
        ("toolUse", "tool_use"),
        ("toolResult", "tool_result"),
        ("toolCall", "tool_use"),
        ("reasoningContent", "reasoning"),
        ("tool_call", "tool_use"),
    ];
    let (name, kind) = NAMED_BLOCKS
        .into_iter()
        .find(|(name, _)| block.get(*name).is_some_and(Value::is_object))?;
    let Some(Value::Object(mut inner)) = block.remove(name) else {
        return None;
    };
    // Goose wraps a call with the status of its parsing, and Bedrock wraps a text with its signature.
    for wrapped in ["value", "reasoningText"] {
        if let Some(Value::Object(value)) = inner.get_mut(wrapped) {
            inner = std::mem::take(value);
        }
    }
    if let Some(id) = block.remove("id") {
        inner.entry("id").or_insert(id);
    }
    for (theirs, ours) in [
        ("toolUseId", "id"),
        ("value", "content"),
        ("response", "content"),
    ] {
        if let Some(value) = inner.remove(theirs) {
            inner.entry(ours).or_insert(value);
        }
    }
    if kind == "tool_result"
        && let Some(id) = inner.remove("id")
    {
        inner.insert("tool_use_id".to_owned(), id);
    }
    block.remove("type");
    Some((kind, inner))
}

/// Returns whether a block is a tool result.
fn is_tool_result(block: &Value) -> bool {
    let typed = block.get("type").and_then(Value::as_str);
    let named = ["functionResponse", "toolResult"];
    typed == Some("tool_result") || named.iter().any(|name| block.get(*name).is_some())
}

/// A collector of the events of one message.
struct MessageEvents<'a> {
    events: Vec<Body>,
    path: &'a str,
    out: &'a mut Output,
}

impl MessageEvents<'_> {
    /// Adds a message of the model.
    fn add_model_message(&mut self, message: &mut Object, content: Option<Value>) -> WireResult {
        let mut thinking = None;
        for name in ["reasoning_content", "reasoning", "thinking"] {
            let text = message.take_string(name)?;
            thinking = thinking.or(text);
        }
        self.push(thinking.map(Body::Reasoning));
        match content {
            None => {}
            Some(Value::String(text)) => self.add_text(text),
            Some(Value::Array(blocks)) => {
                for block in blocks {
                    self.add_block(block)?;
                }
            }
            Some(Value::Object(block)) => self.add_block(Value::Object(block))?,
            Some(other) => return Err(wrong_type("content", &other, "a string or blocks")),
        }
        let calls = match message.take_list("tool_calls")? {
            Some(calls) => Some(calls),
            None => message.take_list("toolCalls")?,
        };
        for call in calls.unwrap_or_default() {
            let mut call = as_object("tool_calls[]", call)?;
            let body = take_call(&mut call)?;
            self.push(Some(body));
            self.count_losses("tool_calls[]", &call);
        }
        if let Some(mut call) = message.take_object("function_call")? {
            let body = take_call(&mut call)?;
            self.push(Some(body));
        }
        Ok(())
    }

    /// Removes the token counts and the agent from a message, and returns them as the data on its turn.
    fn take_turn(&mut self, message: &mut Object, t_ms: Option<f64>) -> WireResult<TurnData> {
        let mut usage = match message.get("usage") {
            Some(Value::Object(_)) => message.take_object("usage")?.unwrap_or_default(),
            _ => Object::new(),
        };
        let agent = match message.get("agent") {
            Some(Value::String(_)) => message.take_string("agent")?,
            _ => None,
        };
        let turn = TurnData {
            agent,
            usage: Usage::take_from(&mut usage),
            t_ms,
            ..TurnData::default()
        };
        self.count_losses("usage", &usage);
        Ok(turn)
    }

    fn push(&mut self, body: Option<Body>) {
        self.events.extend(body);
    }

    /// Counts the unmapped fields of a part of the message as losses.
    fn count_losses(&mut self, part: &str, object: &Object) {
        if !object.is_empty() {
            self.out
                .losses
                .add_fields(&format!("{}.{part}", self.path), object);
        }
    }

    /// Adds text of the model, which may contain `<think>` tags.
    fn add_text(&mut self, text: String) {
        self.events.extend(self.out.split_thinking(text));
    }

    /// Adds a content block of the model.
    fn add_block(&mut self, block: Value) -> WireResult {
        let mut block = match block {
            Value::String(text) => {
                self.add_text(text);
                return Ok(());
            }
            other => as_object("content[]", other)?,
        };
        let named = take_named_block(&mut block);
        let kind = match named {
            Some((kind, inner)) => {
                self.count_losses("content[]", &block);
                block = inner;
                kind.to_owned()
            }
            None => block.take_string("type")?.unwrap_or_default(),
        };
        match kind.as_str() {
            "thinking" | "reasoning" => {
                let text = take_first_text(&mut block, &["thinking", "reasoning", "text"])?;
                self.push(text.map(Body::Reasoning));
            }
            "tool_use" | "server_tool_use" | "toolCall" => {
                let body = take_call(&mut block)?;
                self.push(Some(body));
            }
            "tool_result" => {
                let content = block.take("content");
                self.add_result(&mut block, content)?;
            }
            // Gemini marks thoughts by a flag.
            _ if block.take("thought") == Some(Value::Bool(true)) => {
                let text = block.take_string("text")?;
                self.push(text.map(Body::Reasoning));
            }
            _ => {
                if let Some(text) = block.take_string("text")? {
                    self.add_text(text);
                } else if !kind.is_empty() {
                    self.count_block_loss(&kind);
                    return Ok(());
                }
            }
        }
        self.count_losses("content[]", &block);
        Ok(())
    }

    fn add_result(&mut self, message: &mut Object, content: Option<Value>) -> WireResult {
        let content = match content {
            None => String::new(),
            Some(Value::String(text)) => text,
            Some(Value::Array(blocks)) => self.join_texts(blocks),
            Some(Value::Object(mut fields)) => match fields.take("output") {
                Some(Value::String(text)) if fields.is_empty() => text,
                output => {
                    fields.extend(output.map(|output| ("output".to_owned(), output)));
                    Value::Object(fields).to_string()
                }
            },
            Some(other) => other.to_string(),
        };
        let error = take_tool_failure(message);
        let id = message.take_first_string(&RESULT_ID_FIELDS)?;
        self.push(Some(tool_result(id, content, error)));
        Ok(())
    }

    /// Returns the text of a message that was sent to the model. Tool results in the message become events.
    fn read_incoming_text(&mut self, content: Option<Value>) -> WireResult<String> {
        let blocks = match content {
            None => return Ok(String::new()),
            Some(Value::String(text)) => return Ok(text),
            Some(Value::Array(blocks)) => blocks,
            Some(other) => return Err(wrong_type("content", &other, "a string or blocks")),
        };
        let mut texts = Vec::new();
        for block in blocks {
            if is_tool_result(&block) {
                self.add_block(block)?;
            } else {
                texts.push(block);
            }
        }
        Ok(self.join_texts(texts))
    }

    /// Joins the texts of blocks. Blocks of other kinds count as losses.
    fn join_texts(&mut self, blocks: Vec<Value>) -> String {
        let mut all = String::new();
        for block in blocks {
            let text = block.as_str().or_else(|| block.get("text")?.as_str());
            match text {
                Some(text) => all.push_str(text),
                None => {
                    let kind = block.get("type").and_then(Value::as_str);
                    self.count_block_loss(kind.unwrap_or("?"));
                }
            }
        }
        all
    }

    /// Counts a block of this kind as a loss.
    fn count_block_loss(&mut self, kind: &str) {
        let block = format!("{}.content[] ({kind})", self.path);
        self.out.losses.add(&block);
    }
}

/// Fields that may hold the call id of a tool result.
const RESULT_ID_FIELDS: [&str; 4] = [
    "tool_call_id",
    "tool_use_id",
    "toolCallId",
    "source_call_id",
];

/// Removes the failure of a tool from its result and returns it. It is a boolean flag, or a status of LangChain or the
/// AI SDK.
fn take_tool_failure(message: &mut Object) -> Option<bool> {
    for name in ["is_error", "isError"] {
        if let Some(Value::Bool(error)) = message.take(name) {
            return Some(error);
        }
    }
    let error = match message.get("status").and_then(Value::as_str)? {
        "error" => true,
        "success" => false,
        _ => return None,
    };
    message.remove("status");
    Some(error)
}

/// Takes the first of these fields. The texts of a list of blocks are joined.
fn take_first_text(block: &mut Object, names: &[&str]) -> WireResult<Option<String>> {
    for name in names {
        match block.take(name) {
            None => {}
            Some(Value::String(text)) => return Ok(Some(text)),
            Some(Value::Array(parts)) => {
                let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
                return Ok(Some(texts.collect()));
            }
            Some(other) => return Err(wrong_type(name, &other, "a string")),
        }
    }
    Ok(None)
}

/// Takes a tool call in the format of OpenAI (`function`), Anthropic (`input`) or another API (`args`).
pub(crate) fn take_call(call: &mut Object) -> WireResult<Body> {
    let id = call.take_first_string(&["id", "tool_call_id", "toolCallId", "call_id"])?;
    call.take("type");
    // Inspect writes only the name in this field.
    let mut function = match call.get("function") {
        Some(Value::String(_)) => None,
        _ => call.take_object("function")?,
    };
    let part = function.as_mut().unwrap_or(call);
    let names = ["name", "function_name", "toolName", "tool_name", "function"];
    let name = part.take_first_string(&names)?;
    let name = name.ok_or_else(|| missing_field("name", "the name of the tool"))?;
    let mut names = ["arguments", "input", "args", "parameters"].into_iter();
    let arguments = names.find_map(|name| part.take(name));
    let arguments = arguments.map_or(Value::Null, null_if_empty);
    Ok(tool_call(id, name, arguments))
}

/// Replaces the empty arguments of a tool call by null.
pub(crate) fn null_if_empty(arguments: Value) -> Value {
    match arguments {
        Value::String(text) if text.is_empty() => Value::Null,
        other => other,
    }
}
