//! Plain text: a file is one answer, with reasoning in `<think>` tags.
//!
//! The transcript is named after the file.

use crate::reader::{ForeignFormat, FormatReader, Output, RecordReader, new_entry};
use crate::source::head::FormatCertainty;
use crate::source::records::{FileShape, SourceRecord};
use deadloop_corpus::RecordedEvent;
use deadloop_stream::wire::WireResult;

pub(crate) const ENTRY: ForeignFormat = ForeignFormat {
    name: "text",
    help: "plain text, one answer a file, thinking in <think>…</think>; never guessed",
    // Answers of a model cannot be distinguished from other texts.
    format_reader: FormatReader::Code {
        certainty: |_| FormatCertainty::No,
        reader: || Box::new(TextReader),
    },
    shape: Some(FileShape::Text),
    whole_folder: false,
};

struct TextReader;

impl RecordReader for TextReader {
    fn take_record(&mut self, record: SourceRecord, out: &mut Output) -> WireResult {
        let (place, text) = record.into_place_and_text()?;
        let events = out.split_thinking(text).map(RecordedEvent::new);
        let mut entry = new_entry(place, events.collect());
        entry.transcript.id = out.stem().to_owned();
        out.emit(entry);
        Ok(())
    }
}
