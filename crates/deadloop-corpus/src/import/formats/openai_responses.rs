//! OpenAI's Responses API: responses, and recorded streams.

use crate::import::reader::Foreign;
use crate::import::stream::families::responses::ENTRY as FAMILY;
use crate::import::streams::{Streams, knows};

pub(crate) const ENTRY: Foreign = Foreign {
    name: "openai-responses",
    help: "OpenAI Responses and their streams",
    knows: |head| knows(head, &FAMILY),
    shape: None,
    whole_folder: false,
    reader: || Box::new(Streams::of(&FAMILY)),
};
