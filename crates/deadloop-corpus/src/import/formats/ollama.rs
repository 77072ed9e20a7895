//! Ollama's own API: the lines of `/api/chat` and `/api/generate`.

use crate::import::reader::Foreign;
use crate::import::stream::families::ollama::ENTRY as FAMILY;
use crate::import::streams::{Streams, knows};

pub(crate) const ENTRY: Foreign = Foreign {
    name: "ollama",
    help: "Ollama's chat and generate, streamed or not",
    knows: |head| knows(head, &FAMILY),
    shape: None,
    whole_folder: false,
    reader: || Box::new(Streams::of(&FAMILY)),
};
