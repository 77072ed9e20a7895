//! Several runs in their order.

use crate::numbers::Estimate;
use deadloop_score::replay::detect::Unit;
use deadloop_score::{Flip, Metric};

/// The same measures of several runs.
#[derive(Debug, Clone)]
pub struct History {
    /// In what loops and healthy output are counted, in every run.
    pub unit: Unit,
    /// The measures, in the order of each run's figures.
    pub measures: Vec<Metric>,
    /// The runs, in the order in which they were given.
    pub runs: Vec<PastRun>,
}

/// A run of a history.
#[derive(Debug, Clone)]
pub struct PastRun {
    /// Its folder.
    pub name: String,
    /// When it was made, as its manifest says.
    pub when: String,
    /// `tune`, `sweep` or `replay`, and the corpus.
    pub of: String,
    /// The setting whose figures these are.
    pub setting: String,
    /// How many transcripts are judged.
    pub transcripts: u64,
    /// How many loops are labelled.
    pub loops: u64,
    /// A value for each measure.
    pub figures: Vec<Estimate>,
    /// What became of the transcripts since the run before; `None` for the first run.
    pub since: Option<Since>,
}

/// What changed from one run to the next.
#[derive(Debug, Clone)]
pub enum Since {
    /// The transcripts whose verdict is another one.
    Flips(Vec<Flip>),
    /// Why transcripts cannot be held against each other.
    Unknown(String),
}
