//! Responses of Hugging Face's text-generation-inference.
//!
//! `/generate` returns `generated_text` with `details`. `/generate_stream` sends one event for each token, and the last
//! event repeats the whole text.
//!
//! The format: <https://huggingface.github.io/text-generation-inference/>, version 3.

use serde_json::Value;

use super::{Family, answer_event, failure_event, finish_event};
use crate::fields::{Object, ReadFields};
use crate::reader::content::{ObjectContent, TokenCounts};
use crate::reasons::normalize;
use crate::wire::WireResult;

/// The family of text-generation-inference.
pub const ENTRY: Family = Family {
    name: "tgi",
    keys: &["index", "token", "generated_text", "details"],
    knows: |object| is_token(object) || is_whole_response(object),
    read,
    ..Family::PLAIN
};

fn is_token(object: &Object) -> bool {
    let token = object.get("token").and_then(Value::as_object);
    token.is_some_and(|token| token.get("text").is_some_and(Value::is_string))
}

fn is_whole_response(object: &Object) -> bool {
    let text = object.get("generated_text").is_some_and(Value::is_string);
    text && object.get("details").is_some_and(Value::is_object)
}

fn read(object: &mut Object, parsed: &mut ObjectContent) -> WireResult {
    let piece = object.take_object("token")?;
    let text = object.take_string("generated_text")?;
    object.take("index");
    match piece {
        Some(mut token) => {
            let special = token.take("special") == Some(Value::Bool(true));
            let text = token.take_string("text")?;
            parsed.push(0, answer_event(text.filter(|_| !special)));
            token.take("id");
            parsed.add_rest("token", token);
        }
        None => {
            parsed.begins = true;
            parsed.push(0, answer_event(text));
            parsed.ends = true;
        }
    }
    if let Some(mut details) = object.take_object("details")? {
        let all = details.take_count("generated_tokens")?;
        parsed.tokens = all.map(TokenCounts::without_reasoning);
        let reason = details.take_string("finish_reason")?;
        parsed.push(0, finish_event(reason.map(|reason| normalize(&reason))));
        parsed.ends = true;
        parsed.add_rest("details", details);
    }
    if let Some(error) = object.take("error") {
        parsed.push(0, Some(failure_event()));
        parsed.keep("error", Some(error));
    }
    Ok(())
}
