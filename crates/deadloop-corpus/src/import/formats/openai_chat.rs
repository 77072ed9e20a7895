//! Chat completions of OpenAI and of the many servers that speak like it (vLLM, SGLang, llama.cpp,
//! OpenRouter, DeepSeek, …): responses, recorded streams (server-sent events or a chunk a line), and
//! the output of batches.

use crate::import::reader::Foreign;
use crate::import::stream::families::chat::ENTRY as FAMILY;
use crate::import::streams::{Streams, knows};

pub(crate) const ENTRY: Foreign = Foreign {
    name: "openai-chat",
    help: "OpenAI chat completions and their streams, of any server that speaks them; batches",
    knows: |head| knows(head, &FAMILY),
    shape: None,
    whole_folder: false,
    reader: || Box::new(Streams::of(&FAMILY)),
};
