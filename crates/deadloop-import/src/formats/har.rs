//! HTTP archives (HAR 1.2) of browsers, mitmproxy and Charles.
//!
//! Reads the request and the response, streamed or not, of each exchange with a model's API.
//!
//! The format: <https://w3c.github.io/web-performance/specs/HAR/Overview.html>.

use serde_json::{Value, json};

use crate::paths;
use crate::reader::{Output, RecordReader, known_entry};
use crate::responses::streams::ResponseStreams;
use crate::source::records::{MAX_VALUES, RecordContent, SourceRecord};
use deadloop_corpus::Place;
use deadloop_stream::fields::{Object, as_object, missing_field};
use deadloop_stream::reader::families;
use deadloop_stream::reader::{Frame, FrameResult, Frames, object};
use deadloop_stream::wire::{WireFault, WireResult};

known_entry! { @read_archive = is_har, "har", "HTTP archives (.har) with exchanges of a model's API"; }

fn is_har(object: &Object) -> bool {
    let log = object.get("log").and_then(Value::as_object);
    log.is_some_and(|log| log.contains_key("entries") || log.contains_key("creator"))
}

/// The maximum size of a stream event, in bytes.
const MAX_EVENT_BYTES: usize = 64 << 20;

fn read_archive(record: SourceRecord, out: &mut Output) -> WireResult {
    let (place, mut archive) = record.into_place_and_object()?;
    let entries = paths::take_all(&mut archive, "log.entries[]");
    if entries.is_empty() {
        return Err(missing_field("log.entries", "at least one exchange"));
    }
    for entry in entries {
        read_exchange(as_object("log.entries[]", entry)?, &place, out);
    }
    Ok(())
}

/// Reads the response of an exchange. A response of another API counts as a loss.
fn read_exchange(mut entry: Object, place: &Place, out: &mut Output) {
    let body = paths::take_at(&mut entry, "response.content.text");
    let encoded = paths::take_at(&mut entry, "response.content.encoding");
    let sent = paths::take_at(&mut entry, "request.postData.text");
    let Some(Value::String(body)) = body.filter(|_| encoded.is_none()) else {
        out.losses.add("log.entries[] (without a text)");
        return;
    };
    let mut request = sent.and_then(|sent| object(sent.as_str()?, MAX_VALUES).ok());
    let contents = split_body(&body);
    let family = contents.iter().find_map(|content| match content {
        Some(RecordContent::Json(value)) => families::recognize(value.as_object()?),
        _ => None,
    });
    let Some(family) = family else {
        out.losses.add("log.entries[] (no response of a model)");
        return;
    };
    let mut streams = ResponseStreams::new(family);
    for content in contents {
        let read = match content {
            None => Err(WireFault::new(
                "a chunk that is not JSON",
                "one JSON object",
            )),
            Some(RecordContent::Json(mut response)) => {
                // The first object is wrapped with the request, as in the recording of a proxy.
                if let Some(request) = request.take() {
                    response = json!({"request": request, "response": response});
                }
                streams.read_object(paths::object_or_empty(response), place, out)
            }
            Some(content) => streams.take_record(SourceRecord::new(place.clone(), content), out),
        };
        if let Err(fault) = read {
            let problem = fault.at(place.clone());
            out.warn(place, &problem.what, &problem.expected);
            out.losses
                .add("log.entries[] (a chunk that cannot be read)");
            streams.record_gap();
        }
    }
    streams.finish(out);
}

/// Splits a body into its lines and events, unless it is one JSON object. A chunk that is not JSON becomes `None`.
fn split_body(body: &str) -> Vec<Option<RecordContent>> {
    let json = |text: &str| {
        object(text, MAX_VALUES)
            .ok()
            .map(|o| RecordContent::Json(o.into()))
    };
    if let Some(whole) = json(body) {
        return vec![Some(whole)];
    }
    let mut frames = Frames::new(true, MAX_EVENT_BYTES);
    let mut found = Vec::new();
    let mut add = |frame: Option<FrameResult<'_>>| match frame {
        Some(Ok(Frame::Done)) => found.push(Some(RecordContent::Done)),
        Some(Ok(Frame::Object(text))) => found.push(json(&text)),
        Some(Err(_)) | None => {}
    };
    body.lines()
        .for_each(|line| add(frames.read(line.as_bytes())));
    add(frames.end());
    found
}
