//! Writing a transcript back: known fields in a fixed order, what was kept after them.

use serde::ser::{Serialize, SerializeMap, Serializer};

use deadloop_stream::wire::{all, go_on, optional, write_event};

use crate::{Entry, Transcript};

/// Writes an entry as one JSON object. Fields without a value are left out.
///
/// Nearly all of it is text of events: that is escaped here, in a fraction of the time that the
/// JSON writer takes; all else is the JSON writer's.
pub(crate) fn line(entry: &Entry, out: &mut Vec<u8>) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *out, &Front(&entry.transcript))?;
    out.pop();
    out.extend_from_slice(b",\"events\":[");
    for (at, event) in entry.transcript.events.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_event(event, out)?;
    }
    out.push(b']');
    match entry.labels.is_none() && entry.rest.is_empty() {
        true => out.push(b'}'),
        false => go_on(out, &Back(entry))?,
    }
    Ok(())
}

/// What is before the events.
struct Front<'a>(&'a Transcript);

impl Serialize for Front<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let transcript = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &transcript.id)?;
        map.serialize_entry("model", &transcript.model)?;
        optional(&mut map, "profile", transcript.profile.as_ref())?;
        optional(&mut map, "group", transcript.group.as_ref())?;
        optional(&mut map, "lang", transcript.lang.as_ref())?;
        if !transcript.meta.is_empty() {
            map.serialize_entry("meta", &transcript.meta)?;
        }
        map.end()
    }
}

/// What is after the events.
struct Back<'a>(&'a Entry);

impl Serialize for Back<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        optional(&mut map, "labels", self.0.labels.as_ref())?;
        all(&mut map, &self.0.rest)?;
        map.end()
    }
}

/// The events as JSON text.
pub(crate) fn events_json(events: &[crate::RecordedEvent]) -> serde_json::Result<String> {
    serde_json::to_string(events)
}
