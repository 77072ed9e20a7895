//! deadloop's own transcripts, one per line, and recorded streams of their events.
//!
//! Streams are in the format that `deadloop watch` reads. Labels and unknown fields are kept.

use serde_json::Value;

use super::table::has_data_set_column;
use crate::reader::{ForeignFormat, FormatReader, Output, RecordReader};
use crate::responses::streams::{ResponseStreams, rate_certainty};
use crate::source::head::FormatCertainty;
use crate::source::records::{RecordContent, SourceRecord};
use deadloop_corpus::Entry;
use deadloop_stream::fields::Object;
use deadloop_stream::reader::families::events::ENTRY as FAMILY;
use deadloop_stream::wire::WireResult;

pub(crate) const ENTRY: ForeignFormat = ForeignFormat {
    name: "deadloop",
    help: "deadloop's own transcripts, or streams of their events",
    format_reader: FormatReader::Code {
        certainty: |head| {
            let transcripts = FormatCertainty::Certain.only_if(head.any_object(is_transcript));
            transcripts.max(rate_certainty(head, &FAMILY))
        },
        reader: || Box::new(DeadloopReader(ResponseStreams::new(&FAMILY))),
    },
    shape: None,
    whole_folder: false,
};

/// Returns whether an object is a transcript: an id, and the text in one of the forms of a transcript.
///
/// A row of a data set may have an id and a text too. An object with a prompt or another text is left to the format
/// `table`, unless it has another field of transcripts.
fn is_transcript(object: &Object) -> bool {
    let string = |name: &&str| object.get(*name).is_some_and(Value::is_string);
    let labels = object.get("labels").and_then(Value::as_array);
    let marked = ["group", "profile"].iter().any(string)
        || labels.is_some_and(|labels| labels.iter().all(Value::is_object));
    let events = object.get("events").is_some_and(Value::is_array);
    let parts = ["reasoning", "answer"].iter().any(string);
    let text = string(&"text") && marked;
    let id = object
        .get("id")
        .is_some_and(|id| id.is_string() || id.is_u64());
    id && (events || text || (parts && (marked || !has_data_set_column(object))))
}

struct DeadloopReader(ResponseStreams);

impl RecordReader for DeadloopReader {
    fn take_record(&mut self, record: SourceRecord, out: &mut Output) -> WireResult {
        if matches!(record.content, RecordContent::Done) {
            return self.0.take_record(record, out);
        }
        let (place, object) = record.into_place_and_object()?;
        if (FAMILY.knows)(&object) {
            return self.0.read_object(object, &place, out);
        }
        let mut object = object;
        // Tables number their rows.
        if let Some(id @ Value::Number(_)) = object.get("id") {
            let id = id.to_string();
            object.insert("id".to_owned(), id.into());
        }
        let entry = Entry::from_object(object, &place, |model| out.think_options(model))?;
        out.emit(entry);
        Ok(())
    }

    fn record_gap(&mut self) {
        self.0.record_gap();
    }

    fn finish(&mut self, out: &mut Output) {
        self.0.finish(out);
    }
}
