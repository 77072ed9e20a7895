//! Responses of Hugging Face's text-generation-inference.
//!
//! `/generate` returns `generated_text` with `details`. `/generate_stream` sends one event for each token, and the last
//! event repeats the whole text.
//!
//! The format: <https://huggingface.github.io/text-generation-inference/>, version 3.

use serde_json::Value;

use super::{Family, answer_event, failure_event, finish_event};
use crate::fields::{self, Object};
use crate::reader::content::{ObjectContent, TokenCounts};
use crate::reasons::usual;
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
    let piece = fields::object(object, "token")?;
    let text = fields::string(object, "generated_text")?;
    fields::any(object, "index");
    match piece {
        Some(mut token) => {
            let special = fields::any(&mut token, "special") == Some(Value::Bool(true));
            let text = fields::string(&mut token, "text")?;
            parsed.event(0, answer_event(text.filter(|_| !special)));
            fields::any(&mut token, "id");
            parsed.left("token", token);
        }
        None => {
            parsed.begins = true;
            parsed.event(0, answer_event(text));
            parsed.ends = true;
        }
    }
    if let Some(mut details) = fields::object(object, "details")? {
        let all = fields::count(&mut details, "generated_tokens")?;
        parsed.tokens = all.map(TokenCounts::without_reasoning);
        let reason = fields::string(&mut details, "finish_reason")?;
        parsed.event(0, finish_event(reason.map(|reason| usual(&reason))));
        parsed.ends = true;
        parsed.left("details", details);
    }
    if let Some(error) = fields::any(object, "error") {
        parsed.event(0, Some(failure_event()));
        parsed.keep("error", Some(error));
    }
    Ok(())
}
