//! The formats that recordings are imported from: one file each, all of them in [`FOREIGN`].
//!
//! To add one: a file beside this one with an `ENTRY`, `mod x;` and `&x::ENTRY` here, and a sample
//! in `tests/formats` whose name begins with the format's name.

use crate::import::reader::Foreign;

mod agent;
mod anthropic;
mod deadloop;
mod ollama;
mod openai_chat;
mod openai_responses;
mod sglang;
mod text;

/// Every format that is imported.
pub(crate) const FOREIGN: &[&Foreign] = &[
    &openai_chat::ENTRY,
    &openai_responses::ENTRY,
    &anthropic::ENTRY,
    &ollama::ENTRY,
    &sglang::ENTRY,
    &agent::ENTRY,
    &deadloop::ENTRY,
    &text::ENTRY,
];
