//! What the objects of a stream say: one file for each API, all of them in [`FAMILIES`].
//!
//! To add one: a file beside this one with an `ENTRY`, `mod x;` and `&x::ENTRY` here. No two may
//! know the same object; the tests hold them to it on every sample.

use serde_json::{Map, Value};

use super::said::Said;
use crate::wire::WireFault;
use crate::{Body, RecordedEvent};

pub mod agent;
pub mod ai_sdk;
pub mod anthropic;
pub mod bedrock;
pub mod chat;
pub mod events;
pub mod gemini;
pub mod llama_cpp;
pub mod ollama;
pub mod responses;
pub mod tgi;

/// Every family that is read.
pub const FAMILIES: &[&Family] = &[
    &events::ENTRY,
    &chat::ENTRY,
    &responses::ENTRY,
    &anthropic::ENTRY,
    &ollama::ENTRY,
    &agent::ENTRY,
    &gemini::ENTRY,
    &bedrock::ENTRY,
    &tgi::ENTRY,
    &llama_cpp::ENTRY,
    &ai_sdk::ENTRY,
];

/// What keeps an object from being what its API says.
pub type Check = fn(&Map<String, Value>) -> Result<(), WireFault>;

/// What a family has to say about itself.
pub struct Family {
    /// What it is called in messages.
    pub name: &'static str,
    /// Keys that its objects may begin with.
    pub keys: &'static [&'static str],
    /// Whether its answers may hold `<think>`.
    pub tags: bool,
    /// Whether a whole run of an agent may come in such objects, with what tools and users said.
    pub run: bool,
    /// Whether an object is one of its own.
    pub knows: fn(&Map<String, Value>) -> bool,
    /// What keeps a recorded object from being what its API says; a live stream is watched all the same.
    pub check: Option<Check>,
    /// What such an object says.
    pub read: fn(Map<String, Value>) -> Result<Said, WireFault>,
    /// Reads the JSON text of such an object in a fraction of the time. Returns `None` if the text is no
    /// such object or needs the full reader. For families of which a stream has a great many objects.
    pub quick: Option<fn(&str) -> Option<Said>>,
}

/// The family of an object.
pub fn of(object: &Map<String, Value>) -> Option<&'static Family> {
    FAMILIES
        .iter()
        .copied()
        .find(|family| (family.knows)(object))
}

/// Whether objects of some family may begin with this key.
pub fn begins(key: &[u8]) -> bool {
    let mut keys = FAMILIES.iter().flat_map(|family| family.keys);
    keys.any(|known| known.as_bytes() == key)
}

/// The value of the field `type`; empty if the field is absent.
fn kind(object: &Map<String, Value>) -> &str {
    object.get("type").and_then(Value::as_str).unwrap_or("")
}

/// A chunk of thinking, of a field that may be absent, null or empty.
fn reasoning(text: Option<String>) -> Option<RecordedEvent> {
    filled(text).map(|text| RecordedEvent::of(Body::Reasoning(text)))
}

/// A chunk of the answer, of a field that may be absent, null or empty.
fn answer(text: Option<String>) -> Option<RecordedEvent> {
    filled(text).map(|text| RecordedEvent::of(Body::Answer(text)))
}

/// The end of the response, where the field says why.
fn finish(reason: Option<String>) -> Option<RecordedEvent> {
    filled(reason).map(|reason| {
        RecordedEvent::of(Body::Finish {
            reason: Some(reason),
        })
    })
}

/// The server gave up.
fn failed() -> RecordedEvent {
    let reason = Some("error".to_owned());
    RecordedEvent::of(Body::Finish { reason })
}

/// Servers send empty texts for fields that a chunk is not about.
fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_file_here_is_registered() {
        let names = FAMILIES.iter().map(|family| family.name);
        crate::registered("src/reader/families", names.collect());
    }

    /// Every object of the samples in `tests/formats` that hold objects.
    fn samples() -> Vec<Map<String, Value>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/formats");
        let mut objects = Vec::new();
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.is_dir() || path.extension().is_some_and(|ending| ending == "txt") {
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            let lines = text
                .lines()
                .map(|line| line.trim_start_matches("data:").trim());
            objects.extend(lines.filter_map(|line| serde_json::from_str(line).ok()));
        }
        objects
    }

    #[test]
    fn no_two_know_the_same_object_and_every_one_begins_as_its_family_says() {
        let samples = samples();
        assert!(samples.len() > 40, "{}", samples.len());
        for object in samples {
            let known: Vec<_> = FAMILIES.iter().filter(|f| (f.knows)(&object)).collect();
            assert_eq!(known.len(), 1, "{object:?}");
            for key in object.keys().take(1) {
                assert!(
                    known[0].keys.contains(&key.as_str()),
                    "{key} of {}",
                    known[0].name
                );
            }
        }
    }
}
