//! The formats of imported recordings, listed in [`FOREIGN`].
//!
//! Most formats are rows of tables: `apis` of APIs, `agent_logs`, `exports` and `logs` of agents and chats, `databases`
//! of programs, `columns` of tables. The others are files.
//!
//! To add one: a row in a table, or a file beside this one with an `ENTRY`; its entry here; and a sample in
//! `tests/formats/import` whose name begins with the format's name.

use crate::reader::Foreign;

mod agent_logs;
mod apis;
mod autogen;
mod claude_code;
mod cline;
mod codex;
mod columns;
mod copilot_cli;
pub(crate) mod databases;
pub(crate) mod deadloop;
mod exports;
mod gemini_cli;
mod har;
mod inspect;
mod intercode;
mod langfuse;
mod langsmith;
mod lm_eval;
mod logs;
mod markdown;
mod opencode;
mod openhands;
mod opentelemetry;
mod program_output;
mod sglang;
mod sharegpt;
mod swe_agent;
pub(crate) mod table;
mod tau2;
mod tau_bench;
mod text;
mod turn_log;

/// All foreign formats.
pub(crate) const FOREIGN: &[&Foreign] = &[
    &apis::OPENAI_CHAT_ENTRY,
    &apis::OPENAI_RESPONSES_ENTRY,
    &apis::ANTHROPIC_ENTRY,
    &apis::GEMINI_ENTRY,
    &apis::BEDROCK_ENTRY,
    &apis::OLLAMA_ENTRY,
    &sglang::ENTRY,
    &apis::TGI_ENTRY,
    &apis::LLAMA_CPP_ENTRY,
    &apis::AI_SDK_ENTRY,
    &har::ENTRY,
    &table::ENTRY,
    &sharegpt::ENTRY,
    &logs::MESSAGES_ENTRY,
    &columns::KOBOLD_ENTRY,
    &columns::LLM_ENTRY,
    &databases::LLM_DB_ENTRY,
    &columns::LANGCHAIN_ENTRY,
    &logs::LANGGRAPH_ENTRY,
    &columns::WHISPER_ENTRY,
    &program_output::CAPTIONS_ENTRY,
    &program_output::VLLM_LOG_ENTRY,
    &lm_eval::ENTRY,
    &inspect::ENTRY,
    &columns::PROMPTFOO_ENTRY,
    &columns::BFCL_ENTRY,
    &columns::MT_BENCH_ENTRY,
    &columns::OPENAI_EVALS_ENTRY,
    &swe_agent::ENTRY,
    &openhands::ENTRY,
    &agent_logs::ATIF_ENTRY,
    &cline::ENTRY,
    &gemini_cli::ENTRY,
    &agent_logs::GEMINI_STREAM_ENTRY,
    &agent_logs::QWEN_CODE_ENTRY,
    &claude_code::ENTRY,
    &codex::ENTRY,
    &agent_logs::CODEX_EXEC_ENTRY,
    &copilot_cli::ENTRY,
    &agent_logs::CURSOR_AGENT_ENTRY,
    &databases::CURSOR_ENTRY,
    &databases::CRUSH_ENTRY,
    &opencode::ENTRY,
    &agent_logs::OPENCODE_RUN_ENTRY,
    &agent_logs::PI_ENTRY,
    &agent_logs::GOOSE_ENTRY,
    &agent_logs::CONTINUE_ENTRY,
    &markdown::SPECSTORY_ENTRY,
    &markdown::AIDER_ENTRY,
    &exports::CHATGPT_ENTRY,
    &exports::CLAUDE_AI_ENTRY,
    &exports::LM_STUDIO_ENTRY,
    &exports::OPEN_WEBUI_ENTRY,
    &exports::SILLYTAVERN_ENTRY,
    &langsmith::ENTRY,
    &langfuse::ENTRY,
    &opentelemetry::ENTRY,
    &tau_bench::ENTRY,
    &tau2::ENTRY,
    &intercode::ENTRY,
    &autogen::ENTRY,
    &turn_log::ENTRY,
    &apis::AGENT_ENTRY,
    &deadloop::ENTRY,
    &text::ENTRY,
];
