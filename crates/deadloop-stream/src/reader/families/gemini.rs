//! Responses of Google's Gemini API (`generateContent`, `streamGenerateContent`, Vertex AI).
//!
//! Responses and their chunks have `candidates`. Thoughts are flagged parts. A chunk names its response in
//! `responseId`, which older servers leave out.
//!
//! The format: <https://ai.google.dev/api/generate-content>.

use serde_json::Value;

use super::{Family, answer_event, failure_event, finish_event, reasoning_event};
use crate::fields::{self, Object};
use crate::reader::content::{CallPiece, ObjectContent, TokenCounts};
use crate::reasons::usual;
use crate::wire::WireResult;

/// The family of the Gemini API's responses and chunks.
pub const ENTRY: Family = Family {
    name: "gemini",
    keys: &[
        "candidates",
        "usageMetadata",
        "modelVersion",
        "responseId",
        "promptFeedback",
    ],
    knows: |object| {
        let candidates = object.get("candidates").and_then(Value::as_array);
        let known = |candidate: &Value| {
            let fields = ["content", "finishReason"];
            fields.iter().any(|name| candidate.get(*name).is_some())
        };
        let metadata = ["promptFeedback", "usageMetadata"];
        candidates.is_some_and(|all| all.iter().all(known))
            || metadata.iter().any(|name| object.contains_key(*name))
                && object.contains_key("modelVersion")
    },
    read,
    ..Family::PLAIN
};

fn read(object: &mut Object, parsed: &mut ObjectContent) -> WireResult {
    parsed.response = fields::label(object, "responseId");
    parsed.model = fields::label(object, "modelVersion");
    let usage = fields::any(object, "usageMetadata");
    let count = |name: &str| usage.as_ref().and_then(|usage| usage.get(name)?.as_u64());
    let thoughts = count("thoughtsTokenCount");
    parsed.tokens = count("candidatesTokenCount").map(|answer| TokenCounts {
        all: answer.saturating_add(thoughts.unwrap_or(0)),
        reasoning: thoughts,
    });
    parsed.keep("usage", usage);
    for candidate in fields::list(object, "candidates")?.unwrap_or_default() {
        let mut candidate = fields::as_object("candidates[]", candidate)?;
        let index = fields::count(&mut candidate, "index")?.unwrap_or(0);
        let mut content = fields::object(&mut candidate, "content")?.unwrap_or_default();
        fields::any(&mut content, "role");
        for part in fields::list(&mut content, "parts")?.unwrap_or_default() {
            read_part(fields::as_object("parts[]", part)?, index, parsed)?;
        }
        let reason = fields::string(&mut candidate, "finishReason")?;
        parsed.event(index, finish_event(reason.map(|reason| usual(&reason))));
        parsed.left("candidates[].content", content);
        parsed.left("candidates[]", candidate);
    }
    if let Some(feedback) = fields::any(object, "promptFeedback") {
        if feedback.get("blockReason").is_some() {
            parsed.event(0, Some(failure_event()));
        }
        parsed.keep("error", Some(feedback));
    }
    Ok(())
}

fn read_part(mut part: Object, index: u64, parsed: &mut ObjectContent) -> WireResult {
    let thought = fields::any(&mut part, "thought") == Some(Value::Bool(true));
    let text = fields::string(&mut part, "text")?;
    let side = if thought {
        reasoning_event
    } else {
        answer_event
    };
    parsed.event(index, side(text));
    if let Some(mut call) = fields::object(&mut part, "functionCall")? {
        let piece = CallPiece {
            id: fields::label(&mut call, "id"),
            name: fields::string(&mut call, "name")?,
            arguments: fields::any(&mut call, "args")
                .map_or(String::new(), |args| args.to_string()),
            ..CallPiece::default()
        };
        parsed.call(index, piece);
        parsed.left("parts[].functionCall", call);
    }
    parsed.left("candidates[].content.parts[]", part);
    Ok(())
}
