//! The formats that recordings are imported from: one file each, all of them in [`FOREIGN`].
//!
//! To add one: a file beside this one with an `ENTRY`, `mod x;` and `&x::ENTRY` here, and a sample
//! in `tests/formats` whose name begins with the format's name.

use crate::import::reader::Foreign;

mod agent;
mod anthropic;
mod autogen;
mod claude_code;
mod cline;
mod codex;
mod copilot_cli;
mod deadloop;
mod gemini_cli;
pub(crate) mod huggingface;
mod inspect;
mod intercode;
mod langfuse;
mod langsmith;
mod lm_eval;
mod ollama;
mod openai_chat;
mod openai_responses;
mod opencode;
mod openhands;
mod opentelemetry;
mod sglang;
mod sharegpt;
mod swe_agent;
mod tau2;
mod tau_bench;
mod text;
mod turn_log;

/// Every format that is imported.
pub(crate) const FOREIGN: &[&Foreign] = &[
    &openai_chat::ENTRY,
    &openai_responses::ENTRY,
    &anthropic::ENTRY,
    &ollama::ENTRY,
    &sglang::ENTRY,
    &sharegpt::ENTRY,
    &huggingface::ENTRY,
    &lm_eval::ENTRY,
    &inspect::ENTRY,
    &swe_agent::ENTRY,
    &openhands::ENTRY,
    &cline::ENTRY,
    &gemini_cli::ENTRY,
    &claude_code::ENTRY,
    &codex::ENTRY,
    &copilot_cli::ENTRY,
    &opencode::ENTRY,
    &langsmith::ENTRY,
    &langfuse::ENTRY,
    &opentelemetry::ENTRY,
    &tau_bench::ENTRY,
    &tau2::ENTRY,
    &intercode::ENTRY,
    &autogen::ENTRY,
    &turn_log::ENTRY,
    &agent::ENTRY,
    &deadloop::ENTRY,
    &text::ENTRY,
];
