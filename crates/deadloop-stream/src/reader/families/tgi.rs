//! Hugging Face's text-generation-inference.
//!
//! `/generate` returns `generated_text` with `details`. `/generate_stream` sends one event for each token, and the last
//! event repeats the whole text.
//!
//! The format: <https://huggingface.github.io/text-generation-inference/>, version 3.

use serde_json::Value;

use super::{Family, answer, failed_end, finish};
use crate::fields::{self, Object};
use crate::reader::content::{ObjectContent, TokenCounts};
use crate::reasons::usual;
use crate::wire::WireFault;

/// Tokens and answers of text-generation-inference.
pub const ENTRY: Family = Family {
    name: "tgi",
    keys: &["index", "token", "generated_text", "details"],
    tags: true,
    run: false,
    knows: |object| token(object) || is_whole_response(object),
    check: None,
    read,
    quick: None,
};

fn token(object: &Object) -> bool {
    let token = object.get("token").and_then(Value::as_object);
    token.is_some_and(|token| token.get("text").is_some_and(Value::is_string))
}

fn is_whole_response(object: &Object) -> bool {
    let text = object.get("generated_text").is_some_and(Value::is_string);
    text && object.get("details").is_some_and(Value::is_object)
}

fn read(mut object: Object) -> Result<ObjectContent, WireFault> {
    let mut said = ObjectContent::default();
    let piece = fields::object(&mut object, "token")?;
    let text = fields::string(&mut object, "generated_text")?;
    fields::any(&mut object, "index");
    match piece {
        Some(mut token) => {
            let special = fields::any(&mut token, "special") == Some(Value::Bool(true));
            let text = fields::string(&mut token, "text")?;
            said.event(0, answer(text.filter(|_| !special)));
            fields::any(&mut token, "id");
            said.left("token", token);
        }
        None => {
            said.begins = true;
            said.event(0, answer(text));
            said.ends = true;
        }
    }
    if let Some(mut details) = fields::object(&mut object, "details")? {
        let all = fields::count(&mut details, "generated_tokens")?;
        said.tokens = all.map(|all| TokenCounts {
            all,
            reasoning: None,
        });
        let reason = fields::string(&mut details, "finish_reason")?;
        said.event(0, finish(reason.map(|reason| usual(&reason))));
        said.ends = true;
        said.left("details", details);
    }
    if let Some(error) = fields::any(&mut object, "error") {
        said.event(0, Some(failed_end()));
        said.keep("error", Some(error));
    }
    said.left("", object);
    Ok(said)
}
