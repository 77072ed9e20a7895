//! deadloop's own events, in the format of transcripts.

use serde_json::{Map, Value};

use super::{Family, read_type};
use crate::wire::{EVENT_TYPES, event_from_object};

/// Returns whether the object is one of deadloop's events. Other programs also use the types `user` and `system`, with
/// other fields.
fn knows(object: &Map<String, Value>) -> bool {
    let has = |field: &str| object.contains_key(field);
    match read_type(object) {
        "user" => has("text"),
        "system" => has("length") && has("sha256"),
        "handoff" => has("from") && has("to"),
        // Sessions of agents have other names for ids.
        "tool_call" | "tool_result" => !["session_id", "sessionId", "tool_id"]
            .iter()
            .any(|name| has(name)),
        other => EVENT_TYPES.contains(&other),
    }
}

/// The family of deadloop's own events.
pub const ENTRY: Family = Family {
    name: "events",
    keys: &["type", "text", "t_ms", "tokens"],
    // Writers of these events have already split the text.
    tags: false,
    run: true,
    knows,
    read: |object, parsed| {
        parsed.push(0, Some(event_from_object(std::mem::take(object))?));
        Ok(())
    },
    ..Family::PLAIN
};
