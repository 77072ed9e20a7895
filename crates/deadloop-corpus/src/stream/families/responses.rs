//! Events of OpenAI's Responses API.
//!
//! Text comes in events that end in `.delta`; those that end in `.done`, and the last one, hold it
//! all once more and are not read. A summary of the thinking counts as thinking: it is all of it that
//! some models show.

use serde_json::{Map, Value};

use super::{Family, answer, failed, finish, kind, reasoning};
use crate::Event;
use crate::wire::Fault;

pub(super) const ENTRY: Family = Family {
    name: "responses",
    keys: &[
        "type",
        "sequence_number",
        "event_id",
        "delta",
        "content_index",
        "item_id",
        "response",
    ],
    tags: true,
    knows: |object| kind(object).starts_with("response."),
    read,
};

fn read(object: Map<String, Value>) -> Result<Vec<Event>, Fault> {
    let delta = object.get("delta");
    let response = |path| object.get("response").and_then(|r| r.pointer(path));
    let event = match kind(&object) {
        "response.output_text.delta" => answer(delta),
        "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
            reasoning(delta)
        }
        "response.completed" => finish(response("/status")),
        "response.incomplete" => finish(response("/incomplete_details/reason")),
        "response.failed" => Some(failed()),
        _ => None,
    };
    Ok(event.into_iter().collect())
}
