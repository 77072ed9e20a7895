//! [`Advice`]: what a choice comes to, as every command, file and page says it.

use serde::{Deserialize, Serialize};

use super::duel::Figures;
use super::options::ChooseOptions;
use crate::constraint::Assurance;
use crate::measure::{DELAY, ENDED, Metric, RECALL, SAVED, wrong_rate};
use crate::tally::Tally;

deadloop_replay::detect::words! {
    /// The verdict of a choice: of a guard, of a repairer, of a budget.
    #[derive(Default)]
    pub enum Ruling {
        /// Ship `settings.toml`: what is chosen is better than what is in use, also where it was not chosen.
        Ship = "ship",
        /// The setting in use is over a limit, and what is within costs too much to be advised unasked: decide.
        Decide = "decide",
        /// Too little is known: collect more labels or text.
        Collect = "collect",
        /// Keep the setting in use.
        #[default]
        Keep = "keep",
        /// No setting is within the limits, or none does any good.
        None = "none",
    }

    /// What there is too little of to choose by.
    pub enum Lack {
        /// Labels: no transcript has one.
        Labels = "labels",
        /// Loops, or groups that have one.
        Loops = "loops",
        /// Clean text, or groups that have some.
        Clean = "clean",
        /// Certainty: the difference may be large either way.
        Certainty = "certainty",
    }

    /// By which rule something ships.
    pub enum Ship {
        /// It is better.
        Better = "better",
        /// It is as good, with fewer wrong alarms.
        Safer = "safer",
        /// What is in use breaks a limit that the user gave.
        Needed = "needed",
    }
}

/// A parameter that differs between what is in use and what is advised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// The model; `*`: every model without a setting of its own.
    pub model: String,
    /// The guard: its detector, with a number where there are several of one.
    pub guard: String,
    /// The parameter; `detector` where a guard is added or removed.
    pub param: String,
    /// Its value in use; `None`: the guard is not there.
    pub from: Option<String>,
    /// Its value as advised; `None`: the guard goes.
    pub to: Option<String>,
    /// What the new value means, where it does not say so itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
}

/// A row of the price list: the best setting with at most `at_most` wrong alarms on this corpus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// The most wrong alarms.
    pub at_most: u64,
    /// The setting's number in the plan.
    #[serde(skip)]
    pub cell: usize,
    /// The setting.
    pub setting: String,
    /// Its file in the folder of results.
    pub file: String,
    /// Loops that end, in them or in an earlier repetition, held out.
    #[serde(default)]
    pub ended: Option<f64>,
    /// Recall, held out.
    pub recall: Option<f64>,
    /// The objective, held out.
    pub objective: Option<f64>,
    /// The delay, held out.
    pub delay: Option<f64>,
    /// Wrong alarms per million healthy chars, held out, each text once.
    pub rate: Option<f64>,
    /// The lower bound of its exact 95 % interval.
    pub rate_lo: Option<f64>,
    /// The upper bound.
    pub rate_hi: Option<f64>,
    /// The highest level at which it is within the limits, held out; `None`: at none.
    pub assurance: Option<Assurance>,
    /// What it is besides: `candidate`, `in use`, `recommended`, or a preset's name.
    pub is: Vec<String>,
    /// Wrong alarms on all transcripts that it was chosen on.
    pub wrong: u64,
    /// Loops that end on those.
    #[serde(default)]
    pub ended_in_sample: Option<f64>,
    /// Recall on those.
    pub recall_in_sample: Option<f64>,
    /// The objective on those.
    pub objective_in_sample: Option<f64>,
}

/// The figures of one way to run a guard.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFigures {
    /// The setting.
    pub setting: String,
    /// The objective.
    pub objective: Option<f64>,
    /// `saved`, whatever the objective is.
    #[serde(default)]
    pub saved: Option<f64>,
    /// Loops that end, in them or in an earlier repetition.
    #[serde(default)]
    pub ended: Option<f64>,
    /// Recall.
    pub recall: Option<f64>,
    /// Wrong alarms per million healthy chars.
    pub rate: Option<f64>,
    /// Wrong alarms.
    pub wrong: u64,
    /// The delay.
    pub delay: Option<f64>,
}

impl RunFigures {
    /// Those of a tally.
    pub fn of(setting: String, tally: &Tally, options: &ChooseOptions) -> Self {
        let value = |measure: Metric| measure.value(tally, &options.worth);
        Self {
            setting,
            objective: value(options.objective),
            saved: value(&SAVED),
            ended: value(&ENDED),
            recall: value(&RECALL),
            rate: value(wrong_rate(options.judge.unit)),
            wrong: tally.wrong(),
            delay: value(&DELAY),
        }
    }
}

/// The candidate of a level of assurance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// The level.
    pub assurance: Assurance,
    /// The setting; `None`: none is within the limits at this level.
    pub setting: Option<String>,
    /// What it is on the transcripts that it was chosen on.
    pub in_sample: Option<RunFigures>,
    /// What such choices are on the folds left out.
    pub held_out: Option<RunFigures>,
    /// P(within every limit), held out.
    pub within: Option<f64>,
}

/// What a choice comes to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// What to do.
    pub verdict: Ruling,
    /// The same in one sentence, with the figures that decided.
    pub reason: String,
    /// What there is too little of, where the verdict is to collect more.
    #[serde(default)]
    pub lacks: Option<Lack>,
    /// By which rule the setting of all models ships.
    pub rule: Option<Ship>,
    /// Where the guard pays for itself, which share of looping responses was said, and where the guard does not pay there, the
    /// ready one that spares most.
    #[serde(default)]
    pub pays: String,
    /// What detectors that only warn would catch as stops beside the recommended guard, and at what price: a sentence each,
    /// of those that would change what happens here.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The ready guard that ships, as sentences call it: `the recommended guard`. `None`: none does.
    #[serde(default)]
    pub ready: Option<String>,
    /// What the setting in use is called: `the setting in use`, or `the recommended guard` where none was given.
    pub in_use_is: String,
    /// The setting in use, on the transcripts that are held out.
    pub in_use: RunFigures,
    /// The candidate, held out; `None` without a candidate.
    pub candidate: Option<RunFigures>,
    /// The level of assurance of the candidate.
    pub assurance: Option<Assurance>,
    /// Labels in doubt whose transcripts the verdict leaves out; 0 where nothing hung on them.
    #[serde(default)]
    pub doubted: u64,
    /// The candidates of all levels.
    pub levels: Vec<Level>,
    /// How sure the comparison is.
    pub figures: Option<Figures>,
    /// What `settings.toml` changes against what is in use; empty where nothing ships.
    pub changes: Vec<Changed>,
    /// What the candidate would change, where it does not ship.
    pub would_change: Vec<Changed>,
    /// The price list.
    pub prices: Vec<Price>,
    /// What to type next.
    pub next: Vec<String>,
}
