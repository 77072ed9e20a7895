//! Chunks of chat completions, of OpenAI and the many servers that speak like it, and of the older
//! text completions; a response that is not streamed is one chunk with a `message`.
//!
//! Thinking comes as `reasoning_content` (DeepSeek, SGLang, llama.cpp) or `reasoning` (OpenRouter,
//! Groq, newer vLLM); a server that sends both sends the same text twice. Of several choices each is
//! a stream of its own; only the first is watched.

use serde_json::Value;

use super::{Family, answer, failed, finish, reasoning};
use crate::import::take::{self, Object};
use crate::stream::said::{Call, Part, Said, Tokens};
use crate::wire::Fault;

pub(crate) const ENTRY: Family = Family {
    name: "chat",
    keys: &[
        "id", "object", "choices", "created", "model", "provider", "error",
    ],
    tags: true,
    knows: |object| {
        let choices = object.get("choices").and_then(Value::as_array);
        let choices = choices.is_some_and(|choices| choices.iter().all(Value::is_object));
        let alone = !object.contains_key("type") && !object.contains_key("output");
        choices || (alone && error(object))
    },
    read,
};

/// Sent in place of a chunk.
fn error(object: &Object) -> bool {
    object.get("error").is_some_and(Value::is_object)
}

/// What is said of the response as a whole.
const ABOUT: [&str; 7] = [
    "created",
    "system_fingerprint",
    "service_tier",
    "provider",
    "usage",
    "timings",
    "error",
];

fn read(mut object: Object) -> Result<Said, Fault> {
    let mut said = Said {
        response: take::label(&mut object, "id"),
        model: take::label(&mut object, "model"),
        ..Said::default()
    };
    take::any(&mut object, "object");
    let failed = error(&object).then(failed);
    said.tokens = object.get("usage").and_then(tokens);
    for name in ABOUT {
        said.keep(name, take::any(&mut object, name));
    }
    for choice in take::list(&mut object, "choices")?.unwrap_or_default() {
        read_choice(take::as_object("choices[]", choice)?, &mut said)?;
    }
    said.event(0, failed);
    said.left("", object);
    Ok(said)
}

fn tokens(usage: &Value) -> Option<Tokens> {
    let details = usage.get("completion_tokens_details");
    let reasoning = details.and_then(|details| details.get("reasoning_tokens"));
    Some(Tokens {
        all: usage.get("completion_tokens")?.as_u64()?,
        reasoning: reasoning.and_then(Value::as_u64),
    })
}

fn read_choice(mut choice: Object, said: &mut Said) -> Result<(), Fault> {
    let index = take::count(&mut choice, "index")?.unwrap_or(0);
    let mut delta = take::object(&mut choice, "delta")?;
    if let Some(message) = take::object(&mut choice, "message")? {
        said.ends = true;
        delta = Some(message);
    }
    if let Some(mut delta) = delta {
        read_delta(&mut delta, index, said)?;
        said.left("choices[].message", delta);
    }
    let text = take::string(&mut choice, "text")?;
    said.event(index, answer(text));
    let reason = take::string(&mut choice, "finish_reason")?;
    said.event(index, finish(reason));
    said.left("choices[]", choice);
    Ok(())
}

fn read_delta(delta: &mut Object, index: u64, said: &mut Said) -> Result<(), Fault> {
    take::any(delta, "role");
    let thinking = take::string(delta, "reasoning_content")?;
    let again = take::string(delta, "reasoning")?;
    let thinking = thinking.filter(|text| !text.is_empty()).or(again);
    said.event(index, reasoning(thinking));
    match take::any(delta, "content") {
        None => {}
        Some(Value::String(text)) => said.event(index, answer(Some(text))),
        Some(Value::Array(blocks)) => {
            for block in blocks {
                read_block(take::as_object("content[]", block)?, index, said)?;
            }
        }
        Some(other) => return Err(take::wrong("content", &other, "a string or a list")),
    }
    let refusal = take::string(delta, "refusal")?;
    said.event(index, answer(refusal));
    for (at, call) in take::list(delta, "tool_calls")?
        .unwrap_or_default()
        .into_iter()
        .enumerate()
    {
        read_call(
            take::as_object("tool_calls[]", call)?,
            (index, at as u64),
            said,
        )?;
    }
    if let Some(function) = take::object(delta, "function_call")? {
        let mut call = Object::new();
        call.insert("function".to_owned(), Value::Object(function));
        read_call(call, (index, 0), said)?;
    }
    Ok(())
}

/// A block of content, as Mistral sends thinking.
fn read_block(mut block: Object, index: u64, said: &mut Said) -> Result<(), Fault> {
    take::any(&mut block, "type");
    for part in take::list(&mut block, "thinking")?.unwrap_or_default() {
        let text = part.get("text").and_then(Value::as_str);
        said.event(index, reasoning(text.map(str::to_owned)));
    }
    let text = take::string(&mut block, "text")?;
    said.event(index, answer(text));
    said.left("choices[].message.content[]", block);
    Ok(())
}

/// `at`: the choice, and the call's place among those of this object.
fn read_call(mut call: Object, at: (u64, u64), said: &mut Said) -> Result<(), Fault> {
    let (choice, place) = at;
    let index = take::count(&mut call, "index")?.unwrap_or(place);
    take::any(&mut call, "type");
    let id = take::label(&mut call, "id");
    let mut function = take::object(&mut call, "function")?.unwrap_or_default();
    let name = take::string(&mut function, "name")?;
    let arguments = match take::any(&mut function, "arguments") {
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let key = index.to_string();
    said.parts.push((
        choice,
        Part::Call(Call {
            key,
            id,
            name,
            arguments,
        }),
    ));
    said.left("choices[].message.tool_calls[].function", function);
    said.left("choices[].message.tool_calls[]", call);
    Ok(())
}
