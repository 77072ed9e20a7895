//! Anthropic's Messages API: messages, recorded streams, batch results.

use crate::import::reader::Foreign;
use crate::import::streams::{Streams, knows};
use crate::stream::families::anthropic::ENTRY as FAMILY;

pub(crate) const ENTRY: Foreign = Foreign {
    name: "anthropic",
    help: "Anthropic messages and their streams; batches",
    knows: |head| knows(head, &FAMILY),
    shape: None,
    whole_folder: false,
    reader: || Box::new(Streams::of(&FAMILY)),
};
