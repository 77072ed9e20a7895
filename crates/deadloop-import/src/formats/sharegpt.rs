//! ShareGPT, a format of data sets of recorded chats.
//!
//! A conversation is `{"conversations": [{"from": "human", "value": …}, {"from": "gpt", "value": …}]}`. A file has one
//! conversation per line, or a list of conversations. Older files have `items`.

use serde_json::Value;

use crate::reader::{Intake, RecordReader, known_entry};
use crate::sessions::conversation::Conversation;
use crate::source::records::SourceRecord;
use deadloop_stream::fields::{self, Object};
use deadloop_stream::wire::WireFault;

use super::table::{columns, name};

known_entry! { ShareGpt = is_sharegpt, "sharegpt", "ShareGPT: conversations of from and value"; }

const MESSAGES: [&str; 2] = ["conversations", "items"];

fn is_sharegpt(object: &Object) -> bool {
    let messages = MESSAGES
        .iter()
        .find_map(|name| object.get(*name)?.as_array());
    let says = |message: &Value| message.get("from").is_some() && message.get("value").is_some();
    messages.is_some_and(|messages| messages.iter().take(4).any(says))
}

#[derive(Default)]
struct ShareGpt;

impl RecordReader for ShareGpt {
    fn take(&mut self, record: SourceRecord, out: &mut Intake) -> Result<(), WireFault> {
        let (place, mut object) = record.into_place_and_object()?;
        let mut conversation = Conversation::default();
        for field in MESSAGES {
            for message in fields::list(&mut object, field)?.unwrap_or_default() {
                let message = fields::as_object("conversations[]", message)?;
                conversation.message(message, "conversations[]", None, out)?;
            }
        }
        if conversation.turns() == 0 {
            return Err(fields::missing(
                "conversations",
                "at least one message from gpt",
            ));
        }
        let mut entry = conversation.entry(place);
        name(&mut entry.transcript, &mut object)?;
        columns(&mut entry.transcript.meta, object, &mut out.losses);
        out.emit(entry);
        Ok(())
    }
}
