//! The formats of imported recordings, listed in [`FOREIGN`].
//!
//! Logs of agents and chats are TOML files of rows, read by [`log`](crate::sessions::log); `shapes` has the conversions that rows
//! cannot describe. Tools that write one answer per record are TOML files of columns, read by [`table`]. `apis` has a row for
//! each API. The others are files in Rust. `examples/formats` has files for `--format`.
//!
//! To add one: a TOML file, a row, or a file in Rust with an `ENTRY`; its entry here; and a sample in
//! `tests/formats/import` whose name begins with the format's name.

use std::path::Path;
use std::sync::LazyLock;

use deadloop_corpus::read_text;

use crate::reader::ForeignFormat;

mod apis;
mod autogen;
mod cline;
pub(crate) mod columns;
pub(crate) mod deadloop;
mod gemini_cli;
mod har;
mod inspect;
mod intercode;
mod langfuse;
mod langsmith;
mod markdown;
mod opencode;
mod openhands;
mod opentelemetry;
mod sglang;
pub(crate) mod shapes;
mod swe_agent;
pub(crate) mod table;
mod tau2;
mod tau_bench;
mod text;
mod turn_log;

/// Reads the format of a TOML file beside this one.
macro_rules! rows {
    ($name:literal) => {
        match ForeignFormat::of_rows($name, include_str!(concat!($name, ".toml"))) {
            Ok(format) => format,
            Err(why) => unreachable!("{}: {why}", $name),
        }
    };
}

/// All foreign formats.
pub(crate) static FOREIGN: LazyLock<Vec<ForeignFormat>> = LazyLock::new(|| {
    vec![
        apis::OPENAI_CHAT_ENTRY,
        apis::OPENAI_RESPONSES_ENTRY,
        apis::ANTHROPIC_ENTRY,
        apis::GEMINI_ENTRY,
        apis::BEDROCK_ENTRY,
        apis::OLLAMA_ENTRY,
        sglang::ENTRY,
        apis::TGI_ENTRY,
        apis::LLAMA_CPP_ENTRY,
        apis::AI_SDK_ENTRY,
        har::ENTRY,
        table::ENTRY,
        rows!("messages"),
        rows!("langgraph"),
        inspect::ENTRY,
        rows!("promptfoo"),
        rows!("mt-bench"),
        swe_agent::ENTRY,
        openhands::ENTRY,
        rows!("atif"),
        cline::ENTRY,
        gemini_cli::ENTRY,
        rows!("gemini-stream"),
        rows!("qwen-code"),
        rows!("claude-code"),
        rows!("codex"),
        rows!("codex-exec"),
        rows!("copilot-cli"),
        rows!("cursor-agent"),
        rows!("cursor"),
        rows!("crush"),
        opencode::ENTRY,
        rows!("opencode-run"),
        rows!("pi"),
        rows!("goose"),
        rows!("continue"),
        markdown::SPECSTORY_ENTRY,
        markdown::AIDER_ENTRY,
        rows!("chatgpt"),
        rows!("claude-ai"),
        rows!("lm-studio"),
        rows!("open-webui"),
        rows!("sillytavern"),
        rows!("vscode"),
        langsmith::ENTRY,
        langfuse::ENTRY,
        opentelemetry::ENTRY,
        tau_bench::ENTRY,
        tau2::ENTRY,
        intercode::ENTRY,
        autogen::ENTRY,
        turn_log::ENTRY,
        apis::AGENT_ENTRY,
        deadloop::ENTRY,
        text::ENTRY,
    ]
});

/// Reads a format from a file of the user. The format has the name of the file.
///
/// # Errors
/// The file cannot be read, or does not describe a format.
pub(crate) fn read_format_file(path: &Path) -> Result<&'static ForeignFormat, String> {
    let fault = |why: String| format!("{}: {}", path.display(), why.trim_end());
    let text = read_text(path).map_err(|e| fault(e.to_string()))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let format = ForeignFormat::of_rows(name.into_owned().leak(), &text).map_err(fault)?;
    Ok(Box::leak(Box::new(format)))
}
