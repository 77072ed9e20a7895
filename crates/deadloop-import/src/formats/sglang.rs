//! Answers of SGLang's own `/generate`: `{"text", "meta_info"}`.
//!
//! Several answers are a list. A streamed answer is repeated with the text so far, or with only the added text
//! (`incremental_streaming_output`).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::reader::{Output, RecordReader, known_entry, new_entry, set_field};
use crate::source::records::{RecordContent, SourceRecord};
use deadloop_corpus::{Body, Place, RecordedEvent};
use deadloop_stream::fields::{Object, ReadFields, missing_field};
use deadloop_stream::think::{ThinkSplitter, add_piece};
use deadloop_stream::wire::WireResult;

known_entry! { Sglang = is_sglang, "sglang", "SGLang's own /generate, streamed or not: text and meta_info"; }

fn is_sglang(object: &Object) -> bool {
    object.contains_key("text") && object.get("meta_info").is_some_and(Value::is_object)
}

/// A reader of answers. `open` has the unfinished answers by id.
#[derive(Default)]
struct Sglang {
    open: BTreeMap<String, SglangAnswer>,
}

/// An unfinished answer.
struct SglangAnswer {
    place: Place,
    last: Place,
    text: String,
    /// End of each piece, as a byte offset in the text.
    piece_ends: Vec<usize>,
    /// Whether each record has only the added text.
    is_incremental: bool,
    info: Object,
    gaps: u64,
}

/// Fields of the whole answer that are kept in `meta`.
const META_FIELDS: &str =
    "prompt_tokens completion_tokens reasoning_tokens cached_tokens e2e_latency weight_version";

impl RecordReader for Sglang {
    fn take_record(&mut self, record: SourceRecord, out: &mut Output) -> WireResult {
        if matches!(record.content, RecordContent::Done) {
            self.finish(out);
            return Ok(());
        }
        let (place, mut object) = record.into_place_and_object()?;
        let text = object.take_string("text")?;
        let text = text.ok_or_else(|| missing_field("text", "`text`, a string"))?;
        let mut info = object.take_object("meta_info")?.unwrap_or_default();
        let id = info.take_label("id").unwrap_or_default();
        let index = object.take_count("index")?;
        out.losses.add_fields("", &object);
        let id = index
            .filter(|n| *n > 0)
            .map_or(id.clone(), |n| format!("{id}/{n}"));
        let ended = id.is_empty() || info.get("finish_reason").is_some_and(|why| !why.is_null());
        let answer = self.open.remove(&id);
        let mut answer = answer.unwrap_or_else(|| SglangAnswer::new(&place));
        answer.last = place;
        answer.add_text(text);
        answer.info = info;
        if ended {
            answer.emit(id, out)
        } else {
            self.open.insert(id, answer);
        }
        Ok(())
    }

    fn record_gap(&mut self) {
        self.open.values_mut().for_each(|answer| answer.gaps += 1);
    }

    fn finish(&mut self, out: &mut Output) {
        for (id, answer) in std::mem::take(&mut self.open) {
            let expected = "a finish reason: taken as it is, marked meta.cut";
            out.warn(&answer.last, "the stream ends here", expected);
            answer.emit(id, out);
        }
    }
}

impl SglangAnswer {
    fn new(place: &Place) -> Self {
        Self {
            place: place.clone(),
            last: place.clone(),
            text: String::new(),
            piece_ends: Vec::new(),
            is_incremental: false,
            info: Object::new(),
            gaps: 0,
        }
    }

    /// Adds the text of the next record.
    ///
    /// A text that does not begin with the previous text shows that all records have only the added text.
    fn add_text(&mut self, text: String) {
        if !self.is_incremental && !text.starts_with(&self.text) {
            self.is_incremental = true;
            let (ends, text) = (
                std::mem::take(&mut self.piece_ends),
                std::mem::take(&mut self.text),
            );
            for end in ends {
                self.text += &text[..end];
                self.piece_ends.push(self.text.len());
            }
        }
        if self.is_incremental {
            self.text += &text
        } else {
            self.text = text
        }
        self.piece_ends.push(self.text.len());
    }

    fn emit(mut self, id: String, out: &mut Output) {
        let mut events = self.split_events(out);
        let mut meta = Object::new();
        let finish = self.info.take("finish_reason");
        if let Some(mut finish) = finish {
            let reason = finish.get_mut("type").map(Value::take).unwrap_or(finish);
            let reason = reason.as_str().map(str::to_owned);
            events.push(RecordedEvent::new(Body::Finish { reason }));
        } else {
            meta.insert("cut".to_owned(), true.into());
        }
        let tokens = self.info.get("completion_tokens").and_then(Value::as_u64);
        if let [text, rest @ ..] = events.as_mut_slice()
            && rest
                .iter()
                .all(|event| matches!(event.body, Body::Finish { .. }))
        {
            text.tokens = tokens;
        }
        for name in META_FIELDS.split(' ') {
            set_field(&mut meta, name, self.info.take(name));
        }
        if self.gaps > 0 {
            meta.insert("gaps".to_owned(), self.gaps.into());
        }
        out.losses.add_fields("meta_info", &self.info);
        let mut entry = new_entry(self.place, events);
        entry.transcript.id = id;
        entry.transcript.meta = meta;
        out.emit(entry);
    }

    /// Splits the pieces of the text at `<think>` tags. Returns the resulting events.
    fn split_events(&self, out: &Output) -> Vec<RecordedEvent> {
        let mut splitter = ThinkSplitter::new(out.options.think.clone());
        let mut events = Vec::new();
        let mut from = 0;
        for end in &self.piece_ends {
            let mut pieces = Vec::new();
            splitter.push(&self.text[from..*end], &mut |side, text| {
                add_piece(&mut pieces, side, text);
            });
            let pieces = pieces.into_iter();
            events.extend(pieces.map(|(side, text)| RecordedEvent::new(side.body(text))));
            from = *end;
        }
        splitter
            .finish(&mut |side, text| events.push(RecordedEvent::new(side.body(text.to_owned()))));
        events
    }
}
