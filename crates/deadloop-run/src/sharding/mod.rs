//! A corpus on several machines: each replays one shard of its files and leaves a *part*, and `deadloop merge` makes of
//! all parts what one machine would have left.
//!
//! | to find | look in |
//! |---|---|
//! | `part.json`: of what a part is, and why two do not belong together | `part` |
//! | `records.jsonl.zst`, `names.jsonl.zst`: a line a transcript | `lines` |
//! | a shard replayed into a part | `writing` |
//! | parts put together, in the order of the corpus | `merging` |
//!
//! A part holds no text. Whatever all transcripts together decide (`--limit`, `--sample`, repeated ids, labels of no
//! transcript, the hash) is decided where parts are merged; whatever one transcript decides, where its shard is.

mod lines;
mod merging;
mod part;
mod writing;

pub use merging::Parts;
pub use writing::Written;
pub(crate) use writing::write;
