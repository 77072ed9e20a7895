//! What `deadloop compare` found, as its `comparison.json` says it. Fields that a page does not show are not read.

use serde::Deserialize;

/// Two results side by side.
#[derive(Debug, Clone, Deserialize)]
pub struct ComparedResults {
    /// What is compared with.
    pub base: SideRow,
    /// What is compared.
    pub new: SideRow,
    /// `improved`, `regressed`, `equivalent`, `inconclusive`.
    pub verdict: String,
    /// Why, in sentences.
    #[serde(default)]
    pub why: Vec<String>,
    /// What had to be passed.
    #[serde(default)]
    pub gates: Vec<GateRow>,
    /// Every metric of every model.
    #[serde(default)]
    pub rows: Vec<Difference>,
    /// The transcripts that changed.
    #[serde(default)]
    pub flips: Vec<FlipRow>,
}

/// One of the two.
#[derive(Debug, Clone, Deserialize)]
pub struct SideRow {
    /// What it is called.
    pub name: String,
}

/// What had to be passed.
#[derive(Debug, Clone, Deserialize)]
pub struct GateRow {
    /// Its name.
    pub gate: String,
    /// Whether it was met; `None` where it could not be evaluated.
    pub passed: Option<bool>,
    /// Why.
    #[serde(default)]
    pub why: String,
}

/// A metric of a model on both sides.
#[derive(Debug, Clone, Deserialize)]
pub struct Difference {
    /// The model, or [`ALL_MODELS`](crate::ALL_MODELS).
    pub model: String,
    /// Its column in the scores.
    pub metric: String,
    /// Its value before.
    pub base: Option<f64>,
    /// Its value after.
    pub new: Option<f64>,
    /// The difference.
    pub difference: Option<f64>,
    /// Its interval.
    pub lo: Option<f64>,
    /// See `lo`.
    pub hi: Option<f64>,
    /// What is made of it.
    pub verdict: Option<String>,
}

/// A transcript that changed.
#[derive(Debug, Clone, Deserialize)]
pub struct FlipRow {
    /// Its id.
    pub transcript: String,
    /// Its model.
    pub model: String,
    /// `flip`, or `moved` where only the alarm did.
    pub change: String,
    /// `better`, `worse` or `neutral`.
    pub direction: String,
    /// Where its loop begins.
    pub onset: Option<u64>,
    /// What became of it before.
    pub base: Became,
    /// What became of it after.
    pub new: Became,
    /// What explains it.
    pub explain: Option<String>,
}

/// What became of a transcript.
#[derive(Debug, Clone, Deserialize)]
pub struct Became {
    /// The verdict.
    pub verdict: String,
    /// Where the alarm came.
    pub alarm_at: Option<u64>,
}
