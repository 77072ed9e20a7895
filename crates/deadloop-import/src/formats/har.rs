//! HTTP archives (HAR 1.2) of browsers, mitmproxy and Charles.
//!
//! Reads the request and the response, streamed or not, of each exchange with a model's API.
//!
//! The format: <https://w3c.github.io/web-performance/specs/HAR/Overview.html>.

use serde_json::Value;

use crate::paths;
use crate::reader::{Intake, RecordReader, known_entry};
use crate::responses::streams::Streams;
use crate::source::records::{MOST_VALUES, RecordContent, SourceRecord};
use deadloop_corpus::Place;
use deadloop_stream::fields::{self, Object};
use deadloop_stream::reader::families;
use deadloop_stream::reader::{Frame, Frames, object};
use deadloop_stream::wire::WireFault;

known_entry! { Har = is_har, "har", "HTTP archives (.har) with exchanges of a model's API"; }

fn is_har(object: &Object) -> bool {
    let log = object.get("log").and_then(Value::as_object);
    log.is_some_and(|log| log.contains_key("entries") || log.contains_key("creator"))
}

/// The maximum size of an event of a stream, in bytes.
const EVENT: usize = 64 << 20;

#[derive(Default)]
struct Har;

impl RecordReader for Har {
    fn take(&mut self, record: SourceRecord, out: &mut Intake) -> Result<(), WireFault> {
        let (place, mut archive) = record.into_place_and_object()?;
        let entries = paths::all(&mut archive, "log.entries[]");
        if entries.is_empty() {
            return Err(fields::missing("log.entries", "at least one exchange"));
        }
        for entry in entries {
            exchange(fields::as_object("log.entries[]", entry)?, &place, out);
        }
        Ok(())
    }
}

/// Reads the response of an exchange. A response of another API is counted as a loss.
fn exchange(mut entry: Object, place: &Place, out: &mut Intake) {
    let body = paths::take(&mut entry, "response.content.text");
    let encoded = paths::take(&mut entry, "response.content.encoding");
    let sent = paths::take(&mut entry, "request.postData.text");
    let Some(Value::String(body)) = body.filter(|_| encoded.is_none()) else {
        out.losses.add("log.entries[] (without a text)");
        return;
    };
    let request = sent.and_then(|sent| object(sent.as_str()?, MOST_VALUES).ok());
    let mut said = body_objects(&body);
    let family = said.iter().find_map(|content| match content {
        StreamItem::Object(object) => families::recognize(object),
        StreamItem::Broken | StreamItem::Done => None,
    });
    let Some(family) = family else {
        out.losses.add("log.entries[] (no response of a model)");
        return;
    };
    let mut streams = Streams::new(family);
    let mut request = request;
    for one in said.drain(..) {
        let object = match one {
            StreamItem::Done => {
                let record = SourceRecord {
                    place: place.clone(),
                    member: String::new(),
                    content: RecordContent::Done,
                };
                // The end of a stream cannot fail.
                let _ = streams.take(record, out);
                continue;
            }
            StreamItem::Broken => {
                out.warn(place, "a chunk that is not JSON", "one JSON object");
                out.losses.add(BROKEN);
                streams.gap();
                continue;
            }
            StreamItem::Object(object) => object,
        };
        // The first object is wrapped with the request, as a proxy would have recorded it.
        let object = match request.take() {
            Some(request) => Object::from_iter([
                ("request".to_owned(), Value::Object(request)),
                ("response".to_owned(), Value::Object(object)),
            ]),
            None => object,
        };
        if let Err(fault) = streams.object(object, place, out) {
            let problem = fault.at(place.clone());
            out.warn(place, &problem.what, &problem.expected);
            out.losses.add(BROKEN);
            streams.gap();
        }
    }
    streams.end(out);
}

/// The name of an unreadable chunk among losses.
const BROKEN: &str = "log.entries[] (a chunk that cannot be read)";

/// An object of a response, an unreadable chunk, or the end of a stream.
enum StreamItem {
    Object(Object),
    Broken,
    Done,
}

/// Returns the objects of a body: the body itself, or its lines and events.
fn body_objects(body: &str) -> Vec<StreamItem> {
    if let Ok(whole) = object(body, MOST_VALUES) {
        return vec![StreamItem::Object(whole)];
    }
    let mut frames = Frames::new(true, EVENT);
    let mut found = Vec::new();
    let mut take = |framed: Frame<'_>| match framed {
        Frame::Done => found.push(StreamItem::Done),
        Frame::Object(text) => {
            let read = object(&text, MOST_VALUES);
            found.push(read.map_or(StreamItem::Broken, StreamItem::Object));
        }
    };
    for line in body.lines() {
        if let Some(Ok(framed)) = frames.read(line.as_bytes()) {
            take(framed);
        }
    }
    if let Some(Ok(framed)) = frames.end() {
        take(framed);
    }
    found
}
