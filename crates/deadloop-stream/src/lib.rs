//! Guarded live streams of models: provider bytes in, events out.
//!
//! A product embeds this crate beside `deadloop-detect`. The crate has no I/O, no clock and no threads: the caller
//! passes in the bytes and the time.
//!
//! | to find | look in |
//! |---|---|
//! | guarded responses: bytes in, bytes to forward out | [`WatchedResponse`] |
//! | the task and the user's messages of a request | [`PromptInfo`] |
//! | conversion of bytes into events, for every API | [`StreamReader`] |
//! | separation of thinking and answer | [`ThinkSplitter`], [`ThinkRules`] |
//! | detection of silence, with the caller's clock | [`SilenceTimer`] |
//! | well-formed ends for cut responses | [`EndingWriter`] |
//! | recorded events, and their conversion for detectors | [`RecordedEvent`], [`stream`] |
//! | parsers of each API's objects, for readers of recordings | [`reader`], [`fields`], [`wire`] |

// These macros panic if the reader of the output is gone.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod calls;
mod ending;
mod event;
mod events;
pub mod fields;
mod glob;
#[cfg(test)]
mod live_cases;
mod place;
mod prompt_info;
pub mod reader;
pub mod reasons;
mod silence;
pub mod think;
pub mod time;
mod turns;
mod watched_response;
pub mod wire;

pub use deadloop_detect as detect;
pub use ending::EndingWriter;
pub use event::{Body, MAX_T_MS, MAX_TOKENS, RecordedEvent, UNTIL};
pub use events::stream;
pub use glob::ModelGlob;
pub use place::{Cost, Place, Problem, is_of_machine};
pub use prompt_info::PromptInfo;
pub use reader::{Arrival, StreamFormat, StreamReader};
pub use silence::SilenceTimer;
pub use think::{
    Blocks, ModelThink, TagSide, Tags, ThinkOptions, ThinkRules, ThinkSplitter, split_owned,
    split_think,
};
pub use watched_response::{
    RefusedCall, ResponseCounts, ResponseEvent, WatchStep, WatchedResponse,
};
pub use wire::EVENT_TYPES;

/// The maximum length of a line, in bytes.
///
/// A longer line is reported as a problem and skipped without being held in memory. 64 MiB of text is far beyond any
/// model's context.
pub const MAX_LINE: usize = 64 << 20;

/// The byte order mark that some tools write before UTF-8 text.
pub const BOM: &[u8] = b"\xef\xbb\xbf";

/// Asserts that `names`, the registry of a folder, lists each of its files except `mod.rs`.
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
fn assert_registered(folder: &str, mut names: Vec<&str>) {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<String> = std::fs::read_dir(here)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| name != "mod")
        .collect();
    files.sort();
    names.sort_unstable();
    assert_eq!(files, names, "{folder}");
}
