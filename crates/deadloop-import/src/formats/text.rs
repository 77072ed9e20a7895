//! Plain text: a file is one answer, with thinking in `<think>` and `</think>`.
//!
//! The transcript is named after the file.

use crate::reader::{ForeignFormat, FormatReader, Intake, RecordReader, new_entry};
use crate::source::head::FormatCertainty;
use crate::source::records::{FileShape, SourceRecord};
use deadloop_corpus::RecordedEvent;
use deadloop_stream::wire::WireFault;

pub(crate) const ENTRY: ForeignFormat = ForeignFormat {
    name: "text",
    help: "plain text, one answer a file, thinking in <think>…</think>; never guessed",
    // No mark tells an answer of a model from another text.
    by: FormatReader::Code {
        certainty: |_| FormatCertainty::No,
        reader: || Box::new(TextReader),
    },
    shape: Some(FileShape::Text),
    whole_folder: false,
};

struct TextReader;

impl RecordReader for TextReader {
    fn take(&mut self, record: SourceRecord, out: &mut Intake) -> Result<(), WireFault> {
        let (place, text) = record.into_place_and_text()?;
        let events = out.split_thinking(text).map(RecordedEvent::new);
        let mut entry = new_entry(place, events.collect());
        entry.transcript.id = out.stem().to_owned();
        out.emit(entry);
        Ok(())
    }
}
