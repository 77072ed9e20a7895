//! How the numbers of a report were made.

use crate::numbers::{decimal, percent};

/// How the numbers were made.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The command that made the folder.
    pub command: String,
    /// The name of the corpus.
    pub corpus: String,
    /// The name of its folder or file: where that lies is not said, reports are the same on every machine.
    pub corpus_file: String,
    /// Its chars.
    pub chars: u64,
    /// What tells this corpus from another of the same name.
    pub corpus_hash: Option<String>,
    /// Programs and versions, as they introduce themselves.
    pub versions: Vec<(String, String)>,
    /// The share of production's transcripts that loop, and what a false alarm costs (lambda).
    pub worth: Option<(f64, f64)>,
    /// The seed of every random draw.
    pub seed: Option<u64>,
    /// How an alarm was judged.
    pub judge: Vec<(String, String)>,
    /// What a chosen setting has to meet, as text.
    pub constraints: Vec<String>,
    /// The upper limit on `fa_per_mchar` among them, which charts draw.
    pub limit: Option<f64>,
    /// What settings are compared by along the grid.
    pub objective: Objective,
    /// Counts of what was read and left out, in the order in which they are shown.
    pub counts: Vec<(String, u64)>,
    /// How many models have no scores of their own: those of so many settings would be too large.
    pub models_left_out: u64,
    /// Why nothing was chosen, where no setting satisfies the constraints.
    pub nothing: Option<Nothing>,
    /// The constraints that the setting in use does not meet, as the choice decides it.
    pub current_over: Vec<Over>,
    /// Whether a choice was asked for without saying which settings are in use: the recommended guard stood in.
    pub stood_in: bool,
}

/// No setting satisfies the constraints.
#[derive(Debug, Clone)]
pub struct Nothing {
    /// All of them, as text.
    pub constraints: String,
    /// The one that fewest settings meet.
    pub restrictive: Option<Restrictive>,
    /// How many settings there are.
    pub cells: u64,
    /// Index into [`ReportData::settings`](crate::ReportData::settings) of the setting that violates them least.
    pub nearest: usize,
    /// Those that it violates.
    pub violated: Vec<Over>,
}

/// A limit, and what was held against it; most often one that is not kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Over {
    /// The limit, as text: `fa_per_mchar<=1`.
    pub constraint: String,
    /// What was compared with it: a confidence bound, or the estimate; none where it is n/a.
    pub compared: Option<f64>,
    /// Whether that is a bound.
    pub by_bound: bool,
}

impl Over {
    /// `fa_per_mchar 25.0 where 10 is allowed`.
    pub(crate) fn told(&self) -> String {
        let parts = self
            .constraint
            .split_once("<=")
            .map(|parts| (parts, "allowed"));
        let asked = || {
            self.constraint
                .split_once(">=")
                .map(|parts| (parts, "asked for"))
        };
        match parts.or_else(asked) {
            Some(((metric, bound), verb)) => {
                let compared = decimal(self.compared);
                format!("{metric} {compared} where {bound} is {verb}")
            }
            None => self.constraint.clone(),
        }
    }
}

/// The constraint that fewest settings meet.
#[derive(Debug, Clone)]
pub struct Restrictive {
    /// As text.
    pub constraint: String,
    /// How many settings meet it.
    pub met: u64,
    /// What was compared with its bound for the nearest setting: a confidence bound, or the estimate.
    pub compared: Option<f64>,
}

/// A column of the scores by which settings are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objective {
    /// The column's name.
    pub name: String,
    /// Whether more of it is better.
    pub more_is_better: bool,
    /// Whether it is a share, from 0 to 1.
    pub is_share: bool,
}

impl Default for Objective {
    fn default() -> Self {
        Self {
            name: "saved".into(),
            more_is_better: true,
            is_share: true,
        }
    }
}

impl Objective {
    /// A value with more always better.
    pub fn merit(&self, value: f64) -> f64 {
        if self.more_is_better { value } else { -value }
    }

    /// A value as it is written.
    pub(crate) fn write(&self, value: f64) -> String {
        if self.is_share {
            percent(Some(value))
        } else {
            decimal(Some(value))
        }
    }
}
