//! A model's live stream: provider bytes into events, with a guard on them.
//!
//! A product embeds this crate beside `deadloop-detect`. The crate has no I/O, no clock and no threads: the caller
//! passes in the bytes and the time.
//!
//! | to find | look in |
//! |---|---|
//! | a response under a guard: bytes in, bytes that may be passed on out | [`WatchedResponse`] |
//! | the request that a response answers: its task and the user's messages | [`PromptInfo`] |
//! | bytes into events, for every API | [`StreamReader`] |
//! | thinking separated from the answer | [`ThinkSplitter`], [`ThinkRules`] |
//! | silence, measured with the caller's clock | [`SilenceTimer`] |
//! | a well-formed end for a response that is cut | [`Ending`] |
//! | an event with its time and tokens; a recording as events | [`RecordedEvent`], [`stream`] |
//! | parsers of each API's objects, for readers of recordings | [`reader`], [`fields`], [`wire`] |

#![deny(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "they panic where nobody reads any more"
)]

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
pub use ending::Ending;
pub use event::{Body, MAX_T_MS, MAX_TOKENS, RecordedEvent, UNTIL};
pub use events::stream;
pub use glob::ModelGlob;
pub use place::{Cost, Place, Problem, is_of_machine};
pub use prompt_info::PromptInfo;
pub use reader::{Arrival, StreamFormat, StreamReader};
pub use silence::SilenceTimer;
pub use think::{
    Blocks, ModelThink, TagSide, Tags, ThinkOptions, ThinkRules, ThinkSplitter, split_think,
    split_whole,
};
pub use watched_response::{
    RefusedCall, ResponseCounts, ResponseEvent, WatchStep, WatchedResponse,
};
pub use wire::EVENT_TYPES;

/// The longest line that is read, in bytes. A longer one is a problem, and is skipped without being held in memory: 64
/// MiB of text is far beyond any model's context.
pub const MAX_LINE: usize = 64 << 20;

/// The byte order mark that some tools write before UTF-8 text.
pub const BOM: &[u8] = b"\xef\xbb\xbf";

/// Compares the files of a folder of this crate, except `mod.rs`, with the names in its registry.
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
fn registered(folder: &str, mut names: Vec<&str>) {
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
