//! A corpus on several machines, one *part* for each.
//!
//! Each machine replays one shard of the files and writes a part. `deadloop merge` combines all parts into the result
//! that a single machine would give.
//!
//! | to find | look in |
//! |---|---|
//! | `part.json`: the description of a part, and how two differ | `part` |
//! | `records.jsonl.zst`, `names.jsonl.zst`: a line for each record or id | `lines` |
//! | a shard replayed into a part | `shard_run` |
//! | parts merged, in the order of the corpus | `shard_parts` |
//!
//! A part holds no text. Decisions that need all transcripts (`--limit`, `--sample`, repeated ids, labels of no
//! transcript, the hash) are made where parts are merged. Decisions on one transcript are made in its shard.

mod lines;
mod part;
mod shard_parts;
mod shard_run;

pub(crate) use part::versions;
pub use shard_parts::ShardParts;
pub use shard_run::PartSummary;
pub(crate) use shard_run::write;
