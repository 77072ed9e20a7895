//! The formats of imported recordings, listed in [`FORMATS`].
//!
//! Logs of agents and chats are TOML files with rules, read by [`log`](crate::sessions::log). `shapes` has the conversions that
//! rules cannot describe. Tables with one answer per record are TOML files with columns, read by [`table`]. `apis` registers
//! each API. All other formats are Rust files. `examples/formats` has files for `--format`.
//!
//! A new format needs a TOML file, a line in `apis`, or a Rust file with an `ENTRY`. It also needs an entry in [`FORMATS`],
//! and a sample in `tests/formats/import` whose name begins with the format's name.

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

/// Parses the TOML file `formats/$name.toml`.
macro_rules! toml_format {
    ($name:literal) => {
        match ForeignFormat::from_toml($name, include_str!(concat!($name, ".toml"))) {
            Ok(format) => format,
            Err(why) => unreachable!("{}: {why}", $name),
        }
    };
}

/// The registry of all importable formats.
pub(crate) static FORMATS: LazyLock<Vec<ForeignFormat>> = LazyLock::new(|| {
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
        toml_format!("messages"),
        toml_format!("langgraph"),
        inspect::ENTRY,
        toml_format!("promptfoo"),
        toml_format!("mt-bench"),
        swe_agent::ENTRY,
        openhands::ENTRY,
        toml_format!("atif"),
        cline::ENTRY,
        gemini_cli::ENTRY,
        toml_format!("gemini-stream"),
        toml_format!("qwen-code"),
        toml_format!("claude-code"),
        toml_format!("codex"),
        toml_format!("codex-exec"),
        toml_format!("copilot-cli"),
        toml_format!("cursor-agent"),
        toml_format!("cursor"),
        toml_format!("crush"),
        opencode::ENTRY,
        toml_format!("opencode-run"),
        toml_format!("pi"),
        toml_format!("goose"),
        toml_format!("continue"),
        markdown::SPECSTORY_ENTRY,
        markdown::AIDER_ENTRY,
        toml_format!("chatgpt"),
        toml_format!("claude-ai"),
        toml_format!("lm-studio"),
        toml_format!("open-webui"),
        toml_format!("sillytavern"),
        toml_format!("vscode"),
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

/// Reads a format from a TOML file of the user. The format has the name of the file.
///
/// # Errors
/// The file cannot be read, or does not describe a format.
pub(crate) fn read_format_file(path: &Path) -> Result<&'static ForeignFormat, String> {
    let fault = |why: String| format!("{}: {}", path.display(), why.trim_end());
    let text = read_text(path).map_err(|e| fault(e.to_string()))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let format = ForeignFormat::from_toml(name.into_owned().leak(), &text).map_err(fault)?;
    Ok(Box::leak(Box::new(format)))
}
