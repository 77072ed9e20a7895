//! The rows of "what a limit costs": the ready guards, and the best setting of the grids within each limit.

use serde::{Deserialize, Serialize};

use super::search::{GridSearch, RungTrial};
use super::sentences::describe_test;
use super::test::Trial;
use super::verdict::{Advice, Figures};
use super::{Candidate, ChooseOptions, Chooser, ReadyGuard, Sample, Ship};
use crate::intervals::poisson_upper;
use crate::measure::{Measure, MeasureUnit, wrong_rate};
use crate::sentences::{several, thousands};
use crate::tally::Count;
use deadloop_replay::detect::Unit;

/// A row of "what a limit costs": the best setting within one limit on wrong alarms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rung {
    /// The limit, in the measure of the ladder.
    pub at_most: f64,
    /// The setting's number in the plan.
    #[serde(skip)]
    pub cell: usize,
    /// The setting.
    pub setting: String,
    /// The setting as a settings file.
    pub toml: String,
    /// The held-out figures, on all labels.
    pub held_out: Figures,
    /// The figures on all transcripts, on which the setting was chosen.
    pub in_sample: Figures,
    /// The rule by which the setting would replace the best ready guard. `None` if it would not.
    pub ships: Option<Ship>,
    /// The reason why it is not in the file, with its test against the best ready guard. Empty if nothing but a better
    /// row keeps it out.
    #[serde(default)]
    pub why: String,
    /// Whether the held-out figures meet every limit of the choice by estimate.
    #[serde(default)]
    pub is_within: bool,
    /// Whether a row above does at least as well within this limit. Tables leave it out.
    #[serde(default)]
    pub is_dominated: bool,
}

impl Rung {
    /// Formats the limit with at most three decimals. A share is in percent.
    pub fn name(&self, measure: &Measure) -> String {
        let (number, percent) = match measure.unit {
            MeasureUnit::Share => (100.0 * self.at_most, " %"),
            _ => (self.at_most, ""),
        };
        let text = format!("{number:.3}");
        let short = text.trim_end_matches('0').trim_end_matches('.');
        format!("{short}{percent}")
    }

    /// Returns whether the held-out rate of wrong alarms is above the limit of the row. False where the limit is on
    /// another measure.
    pub fn breaks_its_limit(&self, limited: &Measure, unit: Unit) -> bool {
        limited == wrong_rate(unit) && self.held_out.rate.is_some_and(|rate| rate > self.at_most)
    }

    /// Returns whether held-out figures are at least as good within the limit of the row: they keep this limit, or have
    /// no more wrong alarms.
    fn is_dominated_by(&self, other: &Figures, options: &ChooseOptions) -> bool {
        let is_rate = options.limited() == wrong_rate(options.judge.unit);
        let keeps = is_rate && other.rate.is_some_and(|rate| rate <= self.at_most);
        let merit = |of: &Figures| options.signed(of.objective);
        merit(other) >= merit(&self.held_out) && (keeps || other.wrong <= self.held_out.wrong)
    }
}

/// Marks the rows that a row `above` them makes needless: that of the file, a ready guard or a stricter limit. The row of
/// the file's setting `cell` stays.
pub(super) fn mark_dominated(
    rows: &mut [Rung],
    cell: usize,
    mut above: Vec<Figures>,
    options: &ChooseOptions,
) {
    for row in rows {
        let is_dominated = |other: &Figures| row.is_dominated_by(other, options);
        row.is_dominated = row.cell != cell && above.iter().any(is_dominated);
        above.push(row.held_out.clone());
    }
}

/// A ready guard on all labels, and the reason why the file has another setting for all models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GuardRow {
    /// The name in sentences.
    pub name: String,
    /// The figures. The guard was not chosen on these transcripts, so they need no folds.
    pub figures: Figures,
    /// Whether it meets every limit by estimate.
    pub is_within: bool,
    /// The reason, with the test against the setting in use. Empty for the setting of the file, and for the one in use.
    pub why: String,
}

impl GridSearch<'_> {
    /// Returns the held-out cost of each limit, one row for each rung with figures of its own.
    pub(super) fn rungs(&self, tried: Vec<RungTrial>) -> Vec<Rung> {
        let (chooser, plan) = (self.chooser, self.chooser.evidence.plan);
        let every = chooser.evidence.all();
        let row = |RungTrial { at_most, trial }: RungTrial| {
            let cell = trial.candidate.cell;
            let tallies = [&trial.candidate, &Candidate::from_ready(cell)];
            let tallies = tallies.map(|of| chooser.sum(of, &every));
            let [held_out, in_sample] = tallies.map(|of| Figures::new(&of, chooser.options));
            let mut rung = Rung {
                at_most,
                cell,
                setting: plan.id(cell),
                toml: plan.setting(cell).to_toml("guard"),
                is_within: chooser.options.is_within(&tallies[0]),
                held_out,
                in_sample,
                ships: trial.by,
                why: String::new(),
                is_dominated: false,
            };
            rung.why = match trial.by {
                None => obstacle(&trial, self.sample, chooser.options),
                _ if at_most > self.top() => {
                    format!("better, but takes a limit of {}", rung.name(self.rate))
                }
                _ if !chooser.options.ships_grid => {
                    "better, but grids ship only with --grid".to_owned()
                }
                _ => String::new(),
            };
            rung
        };
        let mut rows: Vec<Rung> = tried.into_iter().map(row).collect();
        rows.dedup_by(|b, a| a.held_out == b.held_out);
        rows
    }
}

impl Chooser<'_> {
    /// Builds the rows of the ready guards. `cell` is the file's setting of all models.
    pub(super) fn ready_rows(&self, sample: &Sample, cell: usize) -> Vec<GuardRow> {
        let (options, every) = (self.options, self.evidence.all());
        let in_use = Candidate::from_ready(self.in_use);
        let row = |guard: &ReadyGuard| {
            let tally = self.sum(&guard.candidate(), &every);
            GuardRow {
                name: guard.name.clone(),
                figures: Figures::new(&tally, options),
                is_within: options.is_within(&tally),
                why: if [cell, self.in_use].contains(&guard.cell) {
                    String::new()
                } else {
                    let trial = self.trial(sample, guard.candidate(), &in_use, options.given);
                    obstacle(&trial, sample, options)
                },
            }
        };
        options.ready.iter().map(row).collect()
    }
}

/// Gives the reason why a candidate does not replace the incumbent, with its test.
fn obstacle(trial: &Trial, sample: &Sample, options: &ChooseOptions) -> String {
    let (test, limited) = (&trial.test, options.limited());
    let reason = match test.times_needed() {
        _ if trial.by.is_some() && options.is_surely_over(&trial.tally) => {
            "better, but surely above the limit".to_owned()
        }
        _ if trial.by.is_some() => "it could ship, but another is better".to_owned(),
        _ if !sample.has_enough_loops() => "too few loops".to_owned(),
        _ if !options.meets_others(&trial.tally) => "breaks another limit".to_owned(),
        None => "not better".to_owned(),
        Some(times) if test.lo <= 0.0 => {
            format!("not proven better, which takes {times:.1} times as many transcripts")
        }
        _ if limited.unit == MeasureUnit::PerMillion => {
            let exposure = trial.tally.get(Count::Exposure) as f64 / limited.scale();
            let rate = poisson_upper(trial.test.wrong[0], 0.2) / exposure;
            let rate = (100.0 * rate).ceil() / 100.0;
            format!("better, but proven only within a limit of {rate}")
        }
        _ => "better, but not proven within the limit".to_owned(),
    };
    let tested = describe_test(test, options);
    let (gained, lost) = (several(test.gained, "loop"), thousands(test.lost as i64));
    format!("{reason}: {tested}, {gained} gained and {lost} lost")
}

impl Advice {
    /// Returns the rows of what a limit costs, without dominated ones.
    pub fn limit_rows(&self) -> impl DoubleEndedIterator<Item = &Rung> {
        self.limits.iter().filter(|rung| !rung.is_dominated)
    }

    /// Returns the rows of ready guards that are neither in use nor the setting of the file.
    pub fn guard_rows(&self) -> impl Iterator<Item = &GuardRow> {
        self.ready.iter().filter(|guard| !guard.why.is_empty())
    }

    /// Explains the rows of what a limit costs. `limited` is the measure of the limits.
    pub fn explain_limits(&self, limited: &Measure) -> String {
        let left_out = self.limits.iter().filter(|rung| rung.is_dominated);
        let left_out: Vec<String> = left_out.map(|rung| rung.name(limited)).collect();
        let left_out = match left_out.join(", ") {
            none if none.is_empty() => none,
            all => format!(" Left out, since a row above is at least as good within them: {all}."),
        };
        format!(
            "First settings.toml, then ready guards, which were not chosen on these transcripts. Each other row is the best setting of the grids under a limit, \
             held out: chosen on four fifths of the transcripts and scored on the last fifth, five times (answers to one prompt stay together). It ships if \
             it is within the limit and, with 80 % confidence, better than {}; a ready guard has to beat {}. Reasons have these tests, in which each text \
             counts once and labels in doubt do not.{left_out}",
            self.against, self.in_use_is
        )
    }
}
