//! The formats that recordings are imported from: one file each, all of them in [`FOREIGN`].
//!
//! To add one: a file beside this one with an `ENTRY`, `mod x;` and `&x::ENTRY` here, and a sample
//! in `tests/formats` whose name begins with the format's name.

use crate::import::reader::Foreign;

mod cline;
mod gemini_cli;
mod huggingface;
mod inspect;
mod lm_eval;
mod openhands;
mod sglang;
mod sharegpt;
mod swe_agent;
mod text;

/// Every format that is imported.
pub(crate) const FOREIGN: &[&Foreign] = &[
    &cline::ENTRY,
    &gemini_cli::ENTRY,
    &huggingface::ENTRY,
    &inspect::ENTRY,
    &lm_eval::ENTRY,
    &openhands::ENTRY,
    &sglang::ENTRY,
    &sharegpt::ENTRY,
    &swe_agent::ENTRY,
    &text::ENTRY,
];
