//! The schema of a transcript, which is one line of a corpus.
//!
//! Unknown fields are kept, and null counts as absent.

use deadloop_corpus::EVENT_TYPES;
use deadloop_detect::Fault;
use deadloop_detect::{Channel, Kind};
use deadloop_score::Class;
use serde_json::{Map, Value as Json, json};

use super::into_object;

/// Returns the schema of a transcript. Its text is in `events`, in `text`, or in `reasoning` and `answer`.
pub(super) fn transcript_schema() -> Map<String, Json> {
    let text = || json!({"type": ["string", "null"]});
    let given =
        |name: &str| json!({"required": [name], "properties": {name: {"not": {"type": "null"}}}});
    let parts = json!({"anyOf": [given("reasoning"), given("answer")]});
    into_object(json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "minLength": 1, "description": "its own in the corpus"},
            "model": {"type": ["string", "null"], "not": {"const": "*"}, "default": "unknown"},
            "profile": text(), "group": text(), "lang": text(),
            "text": text(), "reasoning": text(), "answer": text(),
            "meta": {"type": ["object", "null"]},
            "events": {"type": ["array", "null"], "items": event_schema()},
            "labels": {"type": ["array", "null"], "items": label_schema()},
        },
        "required": ["id"],
        "oneOf": [given("events"), given("text"), parts],
    }))
}

fn event_schema() -> Json {
    let needs = |kind: &str, fields: Json| {
        json!({
            "if": {"properties": {"type": {"const": kind}}},
            "then": {"required": fields.as_object().map(|f| f.keys().cloned().collect::<Vec<_>>()), "properties": fields},
        })
    };
    let text = || json!({"type": "string"});
    let or_null = || json!({"type": ["string", "null"]});
    json!({
        "type": "object",
        "properties": {
            "type": {"enum": EVENT_TYPES},
            "t_ms": {"type": ["number", "null"], "description": "milliseconds since the start"},
            "tokens": {"type": ["integer", "null"], "minimum": 0},
            "id": or_null(), "reason": or_null(), "content": or_null(),
            "error": {"type": ["boolean", "null"]},
        },
        "required": ["type"],
        "allOf": [
            needs("reasoning", json!({"text": text()})),
            needs("answer", json!({"text": text()})),
            needs("tool_call", json!({"name": text()})),
        ],
    })
}

fn label_schema() -> Json {
    let position =
        |what: &str| json!({"type": ["integer", "null"], "minimum": 0, "description": what});
    let or_null = |words: Vec<&str>| {
        let all: Vec<Json> = words
            .into_iter()
            .map(Json::from)
            .chain([Json::Null])
            .collect();
        json!({"enum": all})
    };
    let channels = [Channel::Reasoning, Channel::Answer, Channel::Tools];
    let faults = Fault::NAMES;
    let kinds = Kind::NAMES.into_iter().chain(faults);
    let kinds: Vec<&str> = kinds.collect();
    json!({
        "type": "object",
        "properties": {
            "class": {"enum": Class::NAMES},
            "kind": or_null(kinds),
            "channel": or_null(channels.map(Channel::name).to_vec()),
            "start": position("first char of the first copy"),
            "onset": position("first char of the second copy"),
            "earliest": position("from where on an alarm is right, where that is before the onset"),
            "end": position("one past the last char; absent: it never ended"),
            "period": position("length of one copy"),
            "by": {"type": ["string", "null"]}, "note": {"type": ["string", "null"]},
        },
        "required": ["class"],
        "if": {"properties": {"class": {"const": "loop"}}},
        "then": {"required": ["onset"], "properties": {"onset": {"not": {"type": "null"}}}},
    })
}
