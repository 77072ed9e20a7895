//! Anthropic's Messages API: messages, recorded streams, batch results.

use crate::import::reader::Foreign;
use crate::import::stream::families::anthropic::ENTRY as FAMILY;
use crate::import::streams::{Streams, knows};

pub(crate) const ENTRY: Foreign = Foreign {
    name: "anthropic",
    help: "Anthropic messages and their streams; batches",
    knows: |head| knows(head, &FAMILY),
    shape: None,
    whole_folder: false,
    reader: || Box::new(Streams::of(&FAMILY)),
};
