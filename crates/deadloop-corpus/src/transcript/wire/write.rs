//! Writing a transcript back: known fields in a fixed order, what was kept after them.

use serde::ser::{Serialize, SerializeMap, Serializer};

use deadloop_stream::wire::{all, go_on, optional, write_event, write_text};

use crate::Entry;

/// Writes an entry as one JSON object. Fields without a value are left out.
///
/// Nearly all of it is text of events: that is escaped here, in a fraction of the time that the
/// JSON writer takes; all else is the JSON writer's.
pub(crate) fn line(entry: &Entry, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let transcript = &entry.transcript;
    let front = [
        ("id", Some(&transcript.id)),
        ("model", Some(&transcript.model)),
        ("profile", transcript.profile.as_ref()),
        ("group", transcript.group.as_ref()),
        ("lang", transcript.lang.as_ref()),
    ];
    out.push(b'{');
    for (name, text) in front {
        if let Some(text) = text {
            write_text(name, text, out);
            out.push(b',');
        }
    }
    if !transcript.meta.is_empty() {
        out.extend_from_slice(b"\"meta\":");
        serde_json::to_writer(&mut *out, &transcript.meta)?;
        out.push(b',');
    }
    out.extend_from_slice(b"\"events\":[");
    for (at, event) in entry.transcript.events.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_event(event, out)?;
    }
    out.push(b']');
    if entry.labels.is_none() && entry.rest.is_empty() {
        out.push(b'}')
    } else {
        go_on(out, &Back(entry))?
    }
    Ok(())
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
