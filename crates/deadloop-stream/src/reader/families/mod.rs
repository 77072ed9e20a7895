//! Parsers of stream objects. Each API has a file, registered in [`FAMILIES`].
//!
//! To add an API, write a file beside this one with an `ENTRY`, and add `mod x;` and `&x::ENTRY` here. An object
//! may belong to only one family. The tests check this on every sample.

use serde_json::{Map, Value};

use super::content::ObjectContent;
use crate::wire::WireResult;
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

/// All API families, in the order in which they are tried.
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

/// A function that checks whether a recorded object conforms to its API.
pub type ObjectCheck = fn(&Map<String, Value>) -> WireResult;

/// An API's parser of objects, and the functions that recognise them.
pub struct Family {
    /// The family's name in messages.
    pub name: &'static str,
    /// The keys with which its objects may begin.
    pub keys: &'static [&'static str],
    /// Whether its answers may contain `<think>` tags.
    pub tags: bool,
    /// Whether its objects may hold a whole agent run, with tool results and user messages.
    pub run: bool,
    /// Returns whether an object belongs to the family.
    pub knows: fn(&Map<String, Value>) -> bool,
    /// Checks that a recorded object conforms to the API. Skipped for live streams.
    pub check: Option<ObjectCheck>,
    /// Reads an object of the family. Removes the fields that it understands.
    read: fn(&mut Map<String, Value>, &mut ObjectContent) -> WireResult,
    /// Reads an object from its JSON text in a fraction of the time, for families whose streams have very many objects.
    /// Returns `None` if the text needs the full reader.
    pub quick: Option<fn(&str) -> Option<ObjectContent>>,
}

impl Family {
    /// The defaults of a family: no objects, and answers that may contain think tags.
    const PLAIN: Self = Self {
        name: "",
        keys: &[],
        tags: true,
        run: false,
        knows: |_| false,
        check: None,
        read: |_, _| Ok(()),
        quick: None,
    };

    /// Reads the content of an object of this family.
    pub fn content(&self, mut object: Map<String, Value>) -> WireResult<ObjectContent> {
        let mut parsed = ObjectContent::default();
        (self.read)(&mut object, &mut parsed)?;
        parsed.add_rest("", object);
        Ok(parsed)
    }
}

/// Returns the family of an object, if it is known.
pub fn recognize(object: &Map<String, Value>) -> Option<&'static Family> {
    FAMILIES
        .iter()
        .copied()
        .find(|family| (family.knows)(object))
}

/// Returns whether objects of some family may begin with this key.
pub fn begins(key: &[u8]) -> bool {
    let mut keys = FAMILIES.iter().flat_map(|family| family.keys);
    keys.any(|known| known.as_bytes() == key)
}

/// Returns the value of the field `type`. Empty if the field is absent.
fn read_type(object: &Map<String, Value>) -> &str {
    object.get("type").and_then(Value::as_str).unwrap_or("")
}

/// Returns a reasoning event. `None` if the text is absent or empty.
fn reasoning_event(text: Option<String>) -> Option<RecordedEvent> {
    non_empty(text).map(|text| RecordedEvent::new(Body::Reasoning(text)))
}

/// Returns an answer event. `None` if the text is absent or empty.
fn answer_event(text: Option<String>) -> Option<RecordedEvent> {
    non_empty(text).map(|text| RecordedEvent::new(Body::Answer(text)))
}

/// Returns a finish event. `None` if the reason is absent or empty.
fn finish_event(reason: Option<String>) -> Option<RecordedEvent> {
    non_empty(reason).map(|reason| {
        RecordedEvent::new(Body::Finish {
            reason: Some(reason),
        })
    })
}

/// Returns the finish event of a response that failed on the server.
fn failure_event() -> RecordedEvent {
    let reason = Some("error".to_owned());
    RecordedEvent::new(Body::Finish { reason })
}

/// Returns the text unless it is empty, as servers send it for unused fields.
fn non_empty(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_file_here_is_registered() {
        let names = FAMILIES.iter().map(|family| family.name);
        crate::assert_registered("src/reader/families", names.collect());
    }

    /// Returns every object of the samples in `tests/formats` that hold objects.
    fn samples() -> Vec<Map<String, Value>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/formats");
        let mut objects = Vec::new();
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.is_dir() || path.extension().is_some_and(|ending| ending == "txt") {
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            let lines = text.lines().map(|line| line.trim_start_matches("data:"));
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
            let family = known[0];
            for key in object.keys().take(1) {
                let named = family.keys.contains(&key.as_str());
                assert!(named, "{key} of {}", family.name);
            }
        }
    }
}
