//! What `deadloop compare` found, as its `comparison.json` says it. Fields that a page does not show are not read.

use deadloop_score::{Bearing, Flip, Gate, HealthyAlarms};
use serde::Deserialize;

/// Two results side by side.
#[derive(Debug, Clone, Deserialize)]
pub struct ComparedResults {
    /// What is compared with.
    pub base: SideRow,
    /// What is compared.
    pub new: SideRow,
    /// The verdict on it.
    pub verdict: Bearing,
    /// Why, in sentences.
    #[serde(default)]
    pub why: Vec<String>,
    /// What had to be passed.
    #[serde(default)]
    pub gates: Vec<Gate>,
    /// Every metric of every model.
    #[serde(default)]
    pub rows: Vec<Difference>,
    /// The alarms of both in healthy text.
    #[serde(default)]
    pub healthy: Option<[HealthyAlarms; 2]>,
    /// The transcripts that changed.
    #[serde(default)]
    pub flips: Vec<Flip>,
}

/// One of the two.
#[derive(Debug, Clone, Deserialize)]
pub struct SideRow {
    /// What it is called.
    pub name: String,
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
    pub verdict: Option<Bearing>,
}
