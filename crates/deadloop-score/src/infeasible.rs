//! Why nothing was chosen, in words that say what to change.

use serde::{Deserialize, Serialize};

use crate::constraint::Constraint;

/// Why nothing was chosen.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChooseError {
    /// There is nothing to choose from.
    #[error("there is no setting to choose from")]
    NoCandidates,
    /// No transcript loops, or none is clean: every score that matters is n/a.
    #[error("{loops} loops and {clean} clean transcripts; both are needed to choose a setting")]
    TooLittleData {
        /// Labelled loops.
        loops: u64,
        /// Clean transcripts.
        clean: u64,
    },
    /// No setting meets the constraints.
    #[error(transparent)]
    NothingFeasible(#[from] Box<NothingFeasible>),
}

/// No setting meets the constraints; nothing is chosen.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[error("no setting satisfies {constraints}{}; the nearest setting is {nearest}{}",
    restriction(.restrictive.as_ref(), *.cells), value(.restrictive.as_ref()))]
pub struct NothingFeasible {
    /// All constraints, as text.
    pub constraints: String,
    /// The constraint that fewest settings meet.
    pub restrictive: Option<Restrictive>,
    /// How many settings there are.
    pub cells: usize,
    /// The number of the setting that violates the constraints least.
    pub cell: usize,
    /// Its name.
    pub nearest: String,
}

/// The constraint that fewest settings meet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Restrictive {
    /// Which one.
    pub constraint: Constraint,
    /// How many settings meet it.
    pub met: usize,
    /// What was compared with its bound for the nearest setting.
    pub compared: Option<f64>,
}

fn restriction(by: Option<&Restrictive>, cells: usize) -> String {
    let text = |r: &Restrictive| {
        format!(
            "; {} is the most restrictive: {} of {cells} settings meet it",
            r.constraint, r.met
        )
    };
    by.map_or_else(String::new, text)
}

fn value(by: Option<&Restrictive>) -> String {
    let shown = |x: Option<f64>| x.map_or_else(|| "n/a".into(), |x| format!("{x:.4}"));
    let text = |r: &Restrictive| format!(", {} {}", r.constraint.metric.name(), shown(r.compared));
    by.map_or_else(String::new, text)
}
