//! What SGLang's own `/generate` answers: `{"text": …, "meta_info": {…}}`, and streamed the same
//! again and again with the text so far, or with what was added (`incremental_streaming_output`).

use crate::import::cut::{Content, Record};
use crate::import::head::Certainty;
use crate::import::reader::{Foreign, Out, Reader, entry, keep};
use crate::import::take::{self, Object};
use crate::think::split_think;
use crate::wire::Fault;
use crate::{Body, Event};

pub(crate) const ENTRY: Foreign = Foreign {
    name: "sglang",
    help: "SGLang's own /generate: text and meta_info",
    knows: |head| Certainty::Certain.when(head.any(known)),
    shape: None,
    whole_folder: false,
    reader: || Box::new(Sglang),
};

fn known(object: &Object) -> bool {
    object.contains_key("text") && object.get("meta_info").is_some_and(|info| info.is_object())
}

struct Sglang;

impl Reader for Sglang {
    fn take(&mut self, record: Record, out: &mut Out) -> Result<(), Fault> {
        if matches!(record.content, Content::Done) {
            return Ok(());
        }
        let place = record.place.clone();
        let mut object = record.object()?;
        let text = take::string(&mut object, "text")?;
        let text = text.ok_or_else(|| take::missing("text", "`text`, a string"))?;
        let mut info = take::object(&mut object, "meta_info")?.unwrap_or_default();
        let pieces = split_think(&text, out.options.think.clone()).into_iter();
        let events = pieces.map(|(side, text)| Event::of(side.body(text)));
        let mut entry = entry(place, events.collect());
        entry.transcript.id = take::string(&mut info, "id")?.unwrap_or_default();
        keep(
            &mut entry.transcript.meta,
            "completion_tokens",
            take::any(&mut info, "completion_tokens"),
        );
        if let Some(mut reason) = take::object(&mut info, "finish_reason")? {
            let reason = take::string(&mut reason, "type")?;
            entry
                .transcript
                .events
                .push(Event::of(Body::Finish { reason }));
        }
        out.losses.rest("meta_info", &info);
        out.losses.rest("", &object);
        out.emit(entry);
        Ok(())
    }
}
