//! What the page of a budget is made of: plain data.

use serde::{Deserialize, Serialize};

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// What the corpus is called.
    pub corpus: String,
    /// Its hash.
    pub corpus_hash: String,
    /// Its runs.
    pub runs: u64,
    /// Windows and prices, each with its verdict.
    pub worlds: Vec<World>,
    /// One run, turn by turn.
    pub trace: Option<Trace>,
    /// How long the runs of each source are.
    pub strips: Vec<Strip>,
    /// The rows of the table of iteration limits, under [`LIMIT_HEADER`]; cells as they are shown.
    pub limits: Vec<Vec<String>>,
}

/// The heads of the table of iteration limits.
pub const LIMIT_HEADER: [&str; 13] = [
    "source",
    "limit",
    "which",
    "runs",
    "ask",
    "confirmations",
    "a run",
    "per 1,000 turns",
    "warned",
    "lead",
    "good runs cut",
    "useful turns cut",
    "turns saved",
];

/// A window at a price of cached tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct World {
    /// Tokens.
    pub window: u64,
    /// The price of a cached token.
    pub cache: f64,
    /// How tokens are counted.
    pub counter: String,
    /// The share that is kept free.
    pub reserve: f64,
    /// Tokens of the tools' definitions.
    pub tools: u64,
    /// Runs.
    pub runs: u64,
    /// Those that overflow without a guard.
    pub overflow_never: u64,
    /// `ship`, `decide`, ….
    pub verdict: String,
    /// Why.
    pub reason: String,
    /// Settings.
    pub points: Vec<BudgetPoint>,
    /// The price list.
    pub prices: Vec<PriceRow>,
}

/// A setting in a world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BudgetPoint {
    /// Its id.
    pub setting: String,
    /// What it is called.
    pub names: String,
    /// What is done.
    pub policy: String,
    /// When, a share of the window.
    pub threshold: f64,
    /// What stays, a share of the window.
    pub keep: f64,
    /// The cost against no guard, on the runs that it does not kill.
    pub cost: Option<f64>,
    /// Its 95 % interval.
    pub cost_lo: Option<f64>,
    /// See `cost_lo`.
    pub cost_hi: Option<f64>,
    /// The price of a cached token above which it pays.
    pub even: Option<f64>,
    /// Runs that overflow.
    pub overflow: u64,
    /// Times that something was done.
    pub summaries: u64,
    /// Whether its threshold is above what the reserve leaves.
    pub is_unsafe: bool,
    /// The preset that it is.
    pub preset: Option<String>,
    /// Whether it is in use.
    pub in_use: bool,
    /// Whether it is the candidate.
    pub candidate: bool,
}

/// A row of the price list, held out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PriceRow {
    /// The most runs that may overflow.
    pub at_most: u64,
    /// The setting in words.
    pub what: String,
    /// How many runs overflow.
    pub overflow: u64,
    /// The upper bound of their share, at 95 %.
    pub hi: f64,
    /// The cost relative to no guard.
    pub cost: Option<f64>,
    /// What it is called.
    pub is: String,
}

/// A run under a setting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The run's id.
    pub run: String,
    /// Its source.
    pub source: String,
    /// The setting in words.
    pub what: String,
    /// Tokens of the window.
    pub window: u64,
    /// Tokens above which something is done.
    pub threshold: f64,
    /// Tokens above which a prompt overflows.
    pub most: f64,
    /// Turn by turn: tokens wanted, tokens sent, whether something was done, whether it overflowed.
    pub steps: Vec<(u64, u64, bool, bool)>,
    /// Tokens of each turn's prompt without a guard.
    pub free: Vec<u64>,
}

/// The runs of a source: turns, and how many of them are in a loop; the shortest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Strip {
    /// The source.
    pub source: String,
    /// Run by run.
    pub runs: Vec<(u64, u64)>,
}
