//! Plain text: a file is one answer, with thinking in `<think>` and `</think>`.
//!
//! The transcript is named after the file.

use crate::reader::{By, Foreign, Out, Reader, entry};
use crate::source::cut::{Record, Shape};
use crate::source::head::Certainty;
use deadloop_corpus::RecordedEvent;
use deadloop_stream::wire::WireFault;

pub(crate) const ENTRY: Foreign = Foreign {
    name: "text",
    help: "plain text, one answer a file, thinking in <think>…</think>; never guessed",
    // A text may be anything: a log, a page, user input.
    by: By::Code {
        knows: |_| Certainty::No,
        reader: || Box::new(Text),
    },
    shape: Some(Shape::Text),
    whole_folder: false,
};

struct Text;

impl Reader for Text {
    fn take(&mut self, record: Record, out: &mut Out) -> Result<(), WireFault> {
        let (place, text) = record.text()?;
        let events = out.split_thinking(text).map(RecordedEvent::new);
        let mut entry = entry(place, events.collect());
        entry.transcript.id = out.stem().to_owned();
        out.emit(entry);
        Ok(())
    }
}
