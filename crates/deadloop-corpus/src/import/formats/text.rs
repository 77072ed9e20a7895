//! Plain text: a file is one answer, with its thinking between `<think>` and `</think>`. It is called
//! as its file is.

use crate::RecordedEvent;
use crate::import::cut::{Content, Record, Shape};
use crate::import::head::Certainty;
use crate::import::reader::{Foreign, Out, Reader, entry};
use crate::think::split_think;
use crate::transcript::wire::WireFault;

pub(crate) const ENTRY: Foreign = Foreign {
    name: "text",
    help: "plain text, one answer a file, thinking in <think>…</think>; never guessed",
    // A text may be anything: a log, a page, what the user wrote.
    knows: |_| Certainty::No,
    shape: Some(Shape::Text),
    whole_folder: false,
    reader: || Box::new(Text),
};

struct Text;

impl Reader for Text {
    fn take(&mut self, record: Record, out: &mut Out) -> Result<(), WireFault> {
        let Content::Text(text) = record.content else {
            return Err(WireFault::new("JSON", "plain text"));
        };
        let pieces = split_think(&text, out.options.think.clone()).into_iter();
        let events = pieces.map(|(side, text)| RecordedEvent::of(side.body(text)));
        let mut entry = entry(record.place, events.collect());
        entry.transcript.id = out.stem().to_owned();
        out.emit(entry);
        Ok(())
    }
}
