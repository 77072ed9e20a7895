//! Fingerprints (length and hash) of texts that are not kept.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::files::digest::to_hex;
use crate::{Body, RecordedEvent};

/// Creates the event of a system prompt, which holds the fingerprint of the text.
pub fn system_event(text: &str) -> RecordedEvent {
    let mut event = RecordedEvent::new(Body::System);
    add_fingerprint(text, &mut event.rest);
    event
}

/// Adds the length of a text in chars, and its hash, to the fields of an event.
pub fn add_fingerprint(text: &str, fields: &mut Map<String, Value>) {
    fields.insert("length".to_owned(), text.chars().count().into());
    fields.insert("sha256".to_owned(), hash(text, 8).into());
}

/// Returns the first `bytes` bytes of a text's SHA-256, as hexadecimal digits.
pub fn hash(text: &str, bytes: usize) -> String {
    to_hex(&Sha256::digest(text.as_bytes())[..bytes])
}
