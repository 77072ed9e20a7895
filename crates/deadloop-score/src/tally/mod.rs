//! Counts of outcomes: [`Tally`] for one setting, and [`tallies`] for all settings of a block.
//!
//! Every score is computed from a tally. [`tallies`] counts all cells of a block at once, without a loop over cells.

mod any_evidence;
mod counts;
mod evidence;
mod latency;
mod packed;
mod paint;
mod sheet;

pub use any_evidence::AnyEvidence;
pub use counts::{Count, Tally};
pub use evidence::{Evidence, Mismatch};
pub use latency::{Latencies, Quantiles, RANKS, rank};
pub use packed::{PackedEvidence, PackedRecords, unpack};
pub(crate) use paint::{BoxAccumulator, MergedGrid};
pub use sheet::{BlockTrial, LatencySheet, Sheet, Sheets, tallies, tallies_and_latencies};
