//! The card of a corpus, and how texts are split at `<think>`, which settings may say too.

use serde_json::{Map, Value as Json, json};

use super::object;

/// `dataset.toml`. Keys that deadloop does not know are kept.
pub(super) fn card() -> Map<String, Json> {
    object(json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "the name of the corpus"},
            "version": {"type": "string", "description": "its version, as text"},
            "licence": {"type": "string", "description": "what it may be passed on under"},
            "description": {"type": "string", "description": "what it is"},
            "how": {"type": "string", "description": "how it was made"},
            "models": {
                "type": "array", "description": "the models whose output it holds",
                "items": {"type": "object", "properties": {"name": {"type": "string"}}},
            },
            "think": think(),
        },
    }))
}

/// How the `text` of transcripts is split.
pub(super) fn think() -> Json {
    let blocks =
        json!({"enum": ["first", "all"], "description": "the block at the start, or every one"});
    let tags = json!({
        "type": "array", "items": {"type": "string", "minLength": 1},
        "description": "the tags that count, as <think>, <|a|>...<|b|>, harmony",
    });
    json!({
        "type": "object", "additionalProperties": false,
        "description": "how a text is split at <think> before a guard sees it",
        "properties": {
            "blocks": blocks, "tags": tags,
            "opened_in_prompt": {
                "type": "array", "items": {"type": "string"},
                "description": "globs: models whose template opens the tag in the prompt",
            },
            "model": {
                "type": "array", "description": "rules for some models; the first that matches counts",
                "items": {
                    "type": "object", "additionalProperties": false, "required": ["match"],
                    "properties": {
                        "match": {"type": "string"}, "blocks": blocks, "tags": tags,
                        "opened": {"type": "boolean", "description": "whether the prompt opens the tag"},
                    },
                },
            },
        },
    })
}
