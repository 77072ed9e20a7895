//! A file of plain text: one record.

use std::io::{BufRead, Read};

use super::{MAX_DOCUMENT_BYTES, RecordContent, RecordResult, SourceRecord};
use deadloop_corpus::Place;
use deadloop_corpus::files::lines::broken;
use deadloop_stream::wire::WireFault;

pub(super) fn read_records(
    bytes: impl BufRead,
    place: Place,
) -> impl Iterator<Item = RecordResult> {
    let mut bytes = Some(bytes);
    std::iter::from_fn(move || {
        let text = read_text(bytes.take()?).map_err(|(line, fault)| {
            let file = place.file.clone();
            fault.at(Place::new(file, line))
        });
        Some(text.map(|text| {
            let place = Place::new(place.file.clone(), 1);
            SourceRecord::new(place, RecordContent::Text(text))
        }))
    })
}

/// Reads the whole text. On error, also returns the line of the fault.
fn read_text(bytes: impl BufRead) -> Result<String, (u64, WireFault)> {
    let mut held = Vec::new();
    let limit = MAX_DOCUMENT_BYTES as u64 + 1;
    if let Err(e) = bytes.take(limit).read_to_end(&mut held) {
        return Err((line_after(&held), broken(&e)));
    }
    if held.len() > MAX_DOCUMENT_BYTES {
        let expected = format!("at most {MAX_DOCUMENT_BYTES} bytes");
        return Err((0, WireFault::new("a text that is too long", expected)));
    }
    String::from_utf8(held).map_err(|e| {
        let line = line_after(&e.as_bytes()[..e.utf8_error().valid_up_to()]);
        let fault = WireFault::new("bytes that are not UTF-8", "UTF-8 text");
        (line, fault)
    })
}

/// Returns the number of the line after these bytes.
fn line_after(bytes: &[u8]) -> u64 {
    1 + bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}
