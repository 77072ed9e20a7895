//! Replays a corpus on several machines, one *part* for each.
//!
//! Each machine replays one shard of the corpus files and writes a part. [`merge()`](crate::merge()) combines all parts into
//! the result that a single machine would produce.
//!
//! | to find | look in |
//! |---|---|
//! | `part.json`: the description of a part, and the comparison of two | `part` |
//! | `records.jsonl.zst`, `names.jsonl.zst`: a line for each record or id | `lines` |
//! | the replay of a shard into a part | `shard_run` |
//! | the merge of parts, in the order of the corpus | `shard_parts` |
//!
//! A part holds no text. Decisions that need all transcripts (`--limit`, `--sample`, repeated ids, labels without a
//! transcript, the hash) are made when parts are merged. Decisions on one transcript are made in its shard.

mod lines;
mod part;
mod shard_parts;
mod shard_run;

pub(crate) use part::detector_versions;
pub use shard_parts::ShardParts;
pub use shard_run::PartSummary;
pub(crate) use shard_run::write_part;
