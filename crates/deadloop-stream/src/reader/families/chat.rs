//! Chunks of chat completions and of the older text completions.
//!
//! OpenAI and many compatible servers send them. A response that is not streamed is one chunk with a `message`.
//!
//! Thinking comes as `reasoning_content` (DeepSeek, SGLang, llama.cpp) or `reasoning` (OpenRouter, Groq, newer vLLM). A
//! server that sends both sends the same text twice. Of several choices, only the first is watched.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Family, answer_event, failure_event, finish_event, non_empty, reasoning_event};
use crate::RecordedEvent;
use crate::fields::{Object, ReadFields, RestFields, as_object, wrong_type};
use crate::reader::content::{CallPiece, ObjectContent, TokenCounts};
use crate::wire::WireResult;

/// The family of chat completions.
pub const ENTRY: Family = Family {
    name: "chat",
    keys: &[
        "id", "object", "choices", "created", "model", "provider", "error",
    ],
    knows: |object| {
        let choices = object.get("choices").and_then(Value::as_array);
        // MT-bench has choices of turns.
        let choice = |choice: &Value| choice.is_object() && choice.get("turns").is_none();
        let choices = choices.is_some_and(|choices| choices.iter().all(choice));
        let alone = !object.contains_key("type") && !object.contains_key("output");
        choices || (alone && is_error(object)) || is_bare_chunk(object)
    },
    read,
    quick: Some(parse_quickly),
    ..Family::PLAIN
};

/// Returns whether the object is a chunk without choices, recognised by its `object` field. Some servers send the token
/// counts in such chunks.
fn is_bare_chunk(object: &Object) -> bool {
    let name = object.get("object").and_then(Value::as_str);
    object.get("choices").is_none_or(Value::is_null) && name == Some("chat.completion.chunk")
}

/// Returns whether the object is an error that was sent in place of a chunk.
fn is_error(object: &Object) -> bool {
    object.get("error").is_some_and(Value::is_object)
}

/// A chunk, or a response that was not streamed.
///
/// Valid JSON text is parsed directly into it. Other objects are read field by field, so that messages can name the
/// fault.
#[derive(Deserialize)]
struct ChatChunk {
    id: Option<String>,
    model: Option<String>,
    created: Option<Value>,
    system_fingerprint: Option<Value>,
    usage: Option<Value>,
    choices: Vec<ChatChoice>,
    #[serde(rename = "object", default)]
    _object: IgnoredAny,
    #[serde(flatten)]
    rest: RestFields,
}

/// A choice in a chunk.
#[derive(Deserialize)]
struct ChatChoice {
    index: Option<u64>,
    /// The new content. Boxed, because most choices of a chunk with thousands are empty.
    delta: Option<Box<ChatDelta>>,
    message: Option<Box<ChatDelta>>,
    text: Option<String>,
    finish_reason: Option<String>,
    #[serde(flatten)]
    rest: RestFields,
}

/// The new content of a choice, or its whole message.
#[derive(Deserialize)]
struct ChatDelta {
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    content: Option<Value>,
    refusal: Option<String>,
    tool_calls: Option<Vec<Value>>,
    function_call: Option<Object>,
    /// The role, present only in the first piece of an answer.
    role: Option<IgnoredAny>,
    #[serde(flatten)]
    rest: RestFields,
}

fn read(object: &mut Object, parsed: &mut ObjectContent) -> WireResult {
    *parsed = ChatChunk::from_object(std::mem::take(object))?.into_content()?;
    Ok(())
}

fn parse_quickly(text: &str) -> Option<ObjectContent> {
    serde_json::from_str::<ChatChunk>(text)
        .ok()?
        .into_content()
        .ok()
}

impl ChatChunk {
    fn from_object(mut object: Object) -> WireResult<Self> {
        object.take("object");
        let choices = object.take_list("choices")?.unwrap_or_default();
        let choices = choices.into_iter();
        Ok(Self {
            id: object.take_label("id"),
            model: object.take_label("model"),
            created: object.take("created"),
            system_fingerprint: object.take("system_fingerprint"),
            usage: object.take("usage"),
            choices: choices
                .map(ChatChoice::from_value)
                .collect::<Result<_, _>>()?,
            _object: IgnoredAny,
            rest: RestFields(object),
        })
    }

    fn into_content(self) -> WireResult<ObjectContent> {
        let RestFields(mut rest) = self.rest;
        let failed = is_error(&rest).then(failure_event);
        let mut parsed = ObjectContent {
            response: non_empty(self.id),
            model: non_empty(self.model),
            tokens: self.usage.as_ref().and_then(read_tokens),
            goes_on: self.choices.iter().all(ChatChoice::is_later_piece),
            ..ObjectContent::default()
        };
        parsed.keep("created", self.created);
        parsed.keep("system_fingerprint", self.system_fingerprint);
        for name in ["service_tier", "provider"] {
            parsed.keep(name, rest.take(name));
        }
        parsed.keep("usage", self.usage);
        for name in ["timings", "error"] {
            parsed.keep(name, rest.take(name));
        }
        for choice in self.choices {
            choice.add_to(&mut parsed)?;
        }
        parsed.push(0, failed);
        parsed.add_rest("", rest);
        Ok(parsed)
    }
}

fn read_tokens(usage: &Value) -> Option<TokenCounts> {
    TokenCounts::from_usage(usage, "completion_tokens", "completion_tokens_details")
}

impl ChatChoice {
    fn from_value(value: Value) -> WireResult<Self> {
        let mut object = as_object("choices[]", value)?;
        let delta = |object: Option<Object>| {
            object
                .map(ChatDelta::from_object)
                .transpose()
                .map(|d| d.map(Box::new))
        };
        Ok(Self {
            index: object.take_count("index")?,
            delta: delta(object.take_object("delta")?)?,
            message: delta(object.take_object("message")?)?,
            text: object.take_string("text")?,
            finish_reason: object.take_string("finish_reason")?,
            rest: RestFields(object),
        })
    }

    /// Returns whether the choice is a later piece of an answer.
    fn is_later_piece(&self) -> bool {
        let piece = self.delta.as_ref().filter(|delta| delta.role.is_none());
        piece.is_some() && self.message.is_none() && self.text.is_none()
    }

    fn add_to(self, parsed: &mut ObjectContent) -> WireResult {
        let index = self.index.unwrap_or(0);
        parsed.ends |= self.message.is_some();
        if let Some(delta) = self.message.or(self.delta) {
            delta.add_to(index, parsed)?;
        }
        parsed.push(index, answer_event(self.text));
        let RestFields(mut rest) = self.rest;
        let verdict = read_loop_verdict(&mut rest);
        parsed.push(index, verdict.or(finish_event(self.finish_reason)));
        parsed.add_rest("choices[]", rest);
        Ok(())
    }
}

/// Reads a report of vLLM that the response loops. It has a finish reason. The finish event gets the reason
/// `repetition`, and keeps the server's value as `raw_reason`.
fn read_loop_verdict(rest: &mut Object) -> Option<RecordedEvent> {
    let raw = rest.get("stop_reason")?.as_str()?;
    if !raw.contains("repetition") {
        return None;
    }
    let mut event = finish_event(Some("repetition".to_owned()))?;
    let raw = rest.take("stop_reason")?;
    event.rest.insert("raw_reason".to_owned(), raw);
    Some(event)
}

impl ChatDelta {
    fn from_object(mut object: Object) -> WireResult<Self> {
        Ok(Self {
            role: object.take("role").map(|_| IgnoredAny),
            reasoning_content: object.take_string("reasoning_content")?,
            reasoning: object.take_string("reasoning")?,
            content: object.take("content"),
            refusal: object.take_string("refusal")?,
            tool_calls: object.take_list("tool_calls")?,
            function_call: object.take_object("function_call")?,
            rest: RestFields(object),
        })
    }

    fn add_to(self, index: u64, parsed: &mut ObjectContent) -> WireResult {
        let thinking = self.reasoning_content.filter(|text| !text.is_empty());
        parsed.push(index, reasoning_event(thinking.or(self.reasoning)));
        match self.content {
            None => {}
            Some(Value::String(text)) => parsed.push(index, answer_event(Some(text))),
            Some(Value::Array(blocks)) => {
                for block in blocks {
                    read_block(as_object("content[]", block)?, index, parsed)?;
                }
            }
            Some(other) => return Err(wrong_type("content", &other, "a string or a list")),
        }
        parsed.push(index, answer_event(self.refusal));
        for (at, call) in self.tool_calls.into_iter().flatten().enumerate() {
            let call = as_object("tool_calls[]", call)?;
            read_call(call, (index, at as u64), parsed)?;
        }
        if let Some(function) = self.function_call {
            let mut call = Object::new();
            call.insert("function".to_owned(), Value::Object(function));
            read_call(call, (index, 0), parsed)?;
        }
        parsed.add_rest("choices[].message", self.rest.0);
        Ok(())
    }
}

/// Reads a content block, the form in which Mistral sends thinking.
fn read_block(mut block: Object, index: u64, parsed: &mut ObjectContent) -> WireResult {
    block.take("type");
    for part in block.take_list("thinking")?.unwrap_or_default() {
        let text = part.get("text").and_then(Value::as_str);
        parsed.push(index, reasoning_event(text.map(str::to_owned)));
    }
    let text = block.take_string("text")?;
    parsed.push(index, answer_event(text));
    parsed.add_rest("choices[].message.content[]", block);
    Ok(())
}

/// Reads a call. `at` is the index of its choice, and its own index within the object.
fn read_call(mut call: Object, at: (u64, u64), parsed: &mut ObjectContent) -> WireResult {
    let (choice, place) = at;
    let index = call.take_count("index")?.unwrap_or(place);
    call.take("type");
    let id = call.take_label("id");
    let mut function = call.take_object("function")?.unwrap_or_default();
    let name = function.take_string("name")?;
    let arguments = function.take_text("arguments");
    let piece = CallPiece {
        key: index.to_string(),
        id,
        name,
        arguments,
        ends: false,
    };
    parsed.push_call(choice, piece);
    parsed.add_rest("choices[].message.tool_calls[].function", function);
    parsed.add_rest("choices[].message.tool_calls[]", call);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::path::Path;

    /// Returns the objects of the samples, and variants of each with one value replaced.
    fn texts() -> Vec<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/formats");
        let mut texts = Vec::new();
        for name in [
            "chat.jsonl",
            "chat.sse",
            "chat-tags.sse",
            "import/openai-chat.jsonl",
            "import/openai-chat-stream.sse",
            "import/openai-chat-timed.jsonl",
            "import/openai-chat-batch.jsonl",
        ] {
            let text = std::fs::read_to_string(folder.join(name)).unwrap();
            let lines = text.lines().map(|line| line.trim_start_matches("data:"));
            texts.extend(lines.map(|line| line.trim().to_owned()));
        }
        let changed = texts.iter().flat_map(|text| {
            text.match_indices("\":").flat_map(move |(at, _)| {
                let (before, rest) = text.split_at(at + 2);
                let end = rest.find([',', '}', ']']).unwrap_or(rest.len());
                let others = ["7", "\"\"", "[1]", "{\"a\":null}", "null", "1,\"x\":[]"];
                others.map(|other| format!("{before}{other}{}", &rest[end..]))
            })
        });
        let changed: Vec<String> = changed.collect();
        texts.extend(changed);
        texts
    }

    /// Returns the parts of an object without the empty ones.
    fn parts_text(mut parsed: ObjectContent) -> String {
        let rest = std::mem::take(&mut parsed.rest).into_iter();
        let rest = rest.flat_map(|(path, rest)| {
            let fields = rest.into_iter().filter(|(_, value)| !value.is_null());
            fields.map(move |(name, value)| (format!("{path}.{name}"), value.to_string()))
        });
        let rest: BTreeMap<_, _> = rest.collect();
        format!("{parsed:?} {rest:?}")
    }

    #[test]
    fn the_quick_way_says_what_the_other_does() {
        let (mut both, mut left) = (0, 0);
        for text in texts() {
            let Some(parsed) = parse_quickly(&text) else {
                left += 1;
                continue;
            };
            let object = serde_json::from_str(&text).unwrap();
            assert!((ENTRY.knows)(&object), "{text}");
            assert_eq!(
                parts_text(parsed),
                parts_text(ENTRY.content(object).unwrap()),
                "{text}"
            );
            both += 1;
        }
        assert!(both > 500 && left > 100, "{both} {left}");
    }
}
