//! The live stream of a model: bytes or chunks of a provider in, events out, and a guard on them.
//!
//! This is what a product embeds beside `deadloop-detect`. It has no I/O, no clock and no thread: who has bytes hands
//! them in, and who has a clock says how late it is.
//!
//! | to find | look in |
//! |---|---|
//! | a response under a guard: bytes in, what may be passed on out | [`Watched`] |
//! | what a response answers: the task, and what the user wrote in a request | [`Prompted`] |
//! | bytes into events, whatever the API | [`StreamReader`] |
//! | thinking separated from the answer | [`ThinkSplitter`], [`ThinkRules`] |
//! | silence, from a clock that the caller has | [`Quiet`] |
//! | how a response that is cut ends well-formed | [`Ending`] |
//! | an event with its time and tokens; a recording as events | [`RecordedEvent`], [`stream`] |
//! | what an object of some API says, for readers of recordings | [`reader`], [`take`], [`wire`] |

#![deny(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "they panic where nobody reads any more"
)]

mod calls;
mod ending;
mod event;
mod events;
mod glob;
#[cfg(test)]
mod live_cases;
mod place;
mod prompted;
mod quiet;
pub mod reader;
pub mod reasons;
pub mod take;
pub mod think;
pub mod time;
mod turns;
mod watched;
pub mod wire;

pub use deadloop_detect as detect;
pub use ending::Ending;
pub use event::{Body, MAX_T_MS, MAX_TOKENS, RecordedEvent, UNTIL};
pub use events::stream;
pub use glob::ModelGlob;
pub use place::{Cost, Place, Problem, is_of_machine};
pub use prompted::Prompted;
pub use quiet::Quiet;
pub use reader::{Arrival, StreamFormat, StreamReader};
pub use think::{
    Blocks, ModelThink, TagSide, Tags, ThinkOptions, ThinkRules, ThinkSplitter, split_think,
    split_whole,
};
pub use watched::{Heard, RefusedCall, Step, ToldEvent, Watched};
pub use wire::EVENT_TYPES;

/// The longest line that is read, in bytes. A longer one is a problem and is skipped without being
/// held in memory: 64 MiB of text is far beyond any model's context.
pub const MAX_LINE: usize = 64 << 20;

/// The mark that some tools write before UTF-8 text.
pub const BOM: &[u8] = b"\xef\xbb\xbf";

/// Compares the files of a folder of this crate, but for `mod.rs`, with the names in its registry.
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
