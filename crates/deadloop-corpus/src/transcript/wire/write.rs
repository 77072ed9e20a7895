//! Writes transcripts as JSON.
//!
//! Known fields have a fixed order, and kept fields come after them.

use serde::ser::{Serialize, SerializeMap, Serializer};

use deadloop_stream::wire::{write_all, write_optional};

use crate::Entry;

/// Writes an entry as one JSON object. Fields without a value are omitted.
pub(crate) fn write_line(entry: &Entry, out: &mut Vec<u8>) -> serde_json::Result<()> {
    serde_json::to_writer(out, &TranscriptJson(entry))
}

/// A transcript that serializes as JSON.
struct TranscriptJson<'a>(&'a Entry);

impl Serialize for TranscriptJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (entry, transcript) = (self.0, &self.0.transcript);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &transcript.id)?;
        map.serialize_entry("model", &transcript.model)?;
        write_optional(&mut map, "profile", transcript.profile.as_ref())?;
        write_optional(&mut map, "group", transcript.group.as_ref())?;
        write_optional(&mut map, "lang", transcript.lang.as_ref())?;
        let meta = Some(&transcript.meta).filter(|meta| !meta.is_empty());
        write_optional(&mut map, "meta", meta)?;
        map.serialize_entry("events", &transcript.events)?;
        write_optional(&mut map, "labels", entry.labels.as_ref())?;
        write_all(&mut map, &entry.rest)?;
        map.end()
    }
}
