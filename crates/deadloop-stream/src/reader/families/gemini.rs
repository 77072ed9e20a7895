//! Responses of Google's Gemini API (`generateContent`, `streamGenerateContent`, Vertex AI).
//!
//! Responses and their chunks have `candidates`. Thoughts are flagged parts. A chunk names its response in
//! `responseId`, which older servers leave out.
//!
//! The format: <https://ai.google.dev/api/generate-content>.

use serde_json::Value;

use super::{Family, answer_event, failure_event, finish_event, reasoning_event};
use crate::fields::{Object, ReadFields, as_object};
use crate::reader::content::{CallPiece, ObjectContent, TokenCounts};
use crate::reasons::normalize;
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
    parsed.response = object.take_label("responseId");
    parsed.model = object.take_label("modelVersion");
    let usage = object.take("usageMetadata");
    let count = |name: &str| usage.as_ref().and_then(|usage| usage.get(name)?.as_u64());
    let thoughts = count("thoughtsTokenCount");
    parsed.tokens = count("candidatesTokenCount").map(|answer| TokenCounts {
        all: answer.saturating_add(thoughts.unwrap_or(0)),
        reasoning: thoughts,
    });
    parsed.keep("usage", usage);
    for candidate in object.take_list("candidates")?.unwrap_or_default() {
        let mut candidate = as_object("candidates[]", candidate)?;
        let index = candidate.take_count("index")?.unwrap_or(0);
        let mut content = candidate.take_object("content")?.unwrap_or_default();
        content.take("role");
        for part in content.take_list("parts")?.unwrap_or_default() {
            read_part(as_object("parts[]", part)?, index, parsed)?;
        }
        let reason = candidate.take_string("finishReason")?;
        parsed.push(index, finish_event(reason.map(|reason| normalize(&reason))));
        parsed.add_rest("candidates[].content", content);
        parsed.add_rest("candidates[]", candidate);
    }
    if let Some(feedback) = object.take("promptFeedback") {
        if feedback.get("blockReason").is_some() {
            parsed.push(0, Some(failure_event()));
        }
        parsed.keep("error", Some(feedback));
    }
    Ok(())
}

fn read_part(mut part: Object, index: u64, parsed: &mut ObjectContent) -> WireResult {
    let thought = part.take("thought") == Some(Value::Bool(true));
    let text = part.take_string("text")?;
    let side = if thought {
        reasoning_event
    } else {
        answer_event
    };
    parsed.push(index, side(text));
    if let Some(mut call) = part.take_object("functionCall")? {
        let piece = CallPiece {
            id: call.take_label("id"),
            name: call.take_string("name")?,
            arguments: call
                .take("args")
                .map_or(String::new(), |args| args.to_string()),
            ..CallPiece::default()
        };
        parsed.push_call(index, piece);
        parsed.add_rest("parts[].functionCall", call);
    }
    parsed.add_rest("candidates[].content.parts[]", part);
    Ok(())
}
