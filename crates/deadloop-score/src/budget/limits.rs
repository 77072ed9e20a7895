//! [`limit_rows`]: the effect of iteration limits on recorded runs.
//!
//! A turn is useful if it is outside the labelled loops. A cut turn is saved if it is in a loop, and lost if it is
//! useful.
//!
//! A turn is useful if it is outside the labelled loops. A limit loses the useful turns that it cuts and saves the
//! others.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use deadloop_replay::budget::{Limit, LimitEffect};

use crate::files::store::{FileError, write_csv};
use deadloop_tables::{Schema, schema};

/// A recorded run, reduced to the number of its turns and its loops.
#[derive(Clone, Debug, Default)]
pub struct LimitCase {
    /// The number of turns.
    pub turns: u64,
    /// The first and the last turn of each labelled loop, counted from 0.
    pub stuck: Vec<(u64, u64)>,
    /// Whether the run has a label. Only then its useful turns are known.
    pub labelled: bool,
    /// The source of the run, as recorded.
    pub source: Arc<str>,
}

/// A row of `limits.csv`: the effect of one limit on the runs of one source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitRow {
    /// The limit that is applied to each run.
    pub limit: Limit,
    /// The source of the runs, or `*` for all sources.
    pub source: String,
    /// Number of runs.
    pub runs: u64,
    /// Number of turns of these runs together.
    pub turns: u64,
    /// Number of runs in which the limit asks the user.
    pub ask: u64,
    /// Number of times that the user agrees to continue.
    pub confirmations: u64,
    /// Number of runs with a warning.
    pub warned: u64,
    /// Number of turns from the first warning to the first question or stop, summed over the `led` runs.
    pub lead: u64,
    /// Number of runs in which a question or a stop follows a warning.
    pub led: u64,
    /// Number of runs that the limit stops.
    pub stopped: u64,
    /// Number of labelled runs without a loop.
    pub healthy: u64,
    /// Number of labelled runs without a loop that the limit stops.
    pub healthy_cut: u64,
    /// Number of runs with a labelled loop.
    pub looping: u64,
    /// Number of runs in which the limit cuts turns of a labelled loop.
    pub ended: u64,
    /// Number of labelled runs that lose a useful turn.
    pub good_cut: u64,
    /// Number of useful turns cut from labelled runs.
    pub useful_cut: u64,
    /// Number of turns in loops cut from labelled runs.
    pub saved: u64,
}

impl LimitRow {
    fn add_run(&mut self, case: &LimitCase, effect: &LimitEffect) {
        self.runs += 1;
        self.turns += case.turns;
        self.ask += u64::from(effect.questions > 0);
        self.confirmations += effect.confirmations;
        self.warned += u64::from(effect.warned.is_some());
        if let Some(lead) = effect.lead() {
            self.led += 1;
            self.lead += lead;
        }
        let loops = !case.stuck.is_empty();
        self.healthy += u64::from(case.labelled && !loops);
        self.looping += u64::from(case.labelled && loops);
        let Some(at) = effect.stopped else { return };
        self.stopped += 1;
        if !case.labelled {
            return;
        }
        self.healthy_cut += u64::from(!loops);
        let within =
            |(from, to): &(u64, u64)| (*to).min(case.turns).saturating_sub((*from).max(at));
        let saved: u64 = case.stuck.iter().map(within).sum();
        let useful = (case.turns - at).saturating_sub(saved);
        self.saved += saved;
        self.useful_cut += useful;
        self.good_cut += u64::from(useful > 0);
        self.ended += u64::from(saved > 0);
    }

    /// Returns the confirmations per run. `None` without runs.
    pub(crate) fn confirmations_per_run(&self) -> Option<f64> {
        (self.runs > 0).then(|| self.confirmations as f64 / self.runs as f64)
    }

    /// Returns the confirmations per 1,000 turns. `None` without turns.
    pub(crate) fn confirmations_per_1000_turns(&self) -> Option<f64> {
        (self.turns > 0).then(|| 1000.0 * self.confirmations as f64 / self.turns as f64)
    }

    /// Returns the mean number of turns from the first warning to the first question or stop. `None` if there is none.
    pub(crate) fn mean_lead(&self) -> Option<f64> {
        (self.led > 0).then(|| self.lead as f64 / self.led as f64)
    }
}

/// Returns the grid of limits to try. A limit that is reached always asks the user, stops the run at once, or stops it
/// at the second question.
pub fn limit_grid() -> Vec<Limit> {
    const GROWTH: [(f64, u64); 4] = [(1.0, 0), (1.5, 0), (2.0, 0), (1.0, 10)];
    let mut limits = Vec::new();
    for limit in [5, 10, 20, 25, 50, 100, 200] {
        for warn_at in [0.6, 0.8, 0.9] {
            for (grow, grow_by) in GROWTH {
                for cancel_after in [None, Some(0), Some(1)] {
                    // The limit grows only after a confirmation.
                    if cancel_after == Some(0) && (grow, grow_by) != GROWTH[0] {
                        continue;
                    }
                    limits.push(Limit {
                        limit,
                        grow,
                        grow_by,
                        hard: 0,
                        warn_at,
                        cancel_after,
                    });
                }
            }
        }
    }
    limits
}

/// Returns the effect of each limit by source. The row of all sources comes first.
pub fn limit_rows(cases: &[LimitCase], limits: &[Limit]) -> Vec<LimitRow> {
    let mut rows = Vec::new();
    for limit in limits {
        let mut by: BTreeMap<&str, LimitRow> = BTreeMap::new();
        for case in cases {
            let effect = limit.effect(case.turns);
            for source in ["*", &*case.source] {
                by.entry(source).or_default().add_run(case, &effect);
            }
        }
        rows.extend(by.into_iter().map(|(source, row)| LimitRow {
            limit: *limit,
            source: source.to_owned(),
            ..row
        }));
    }
    rows
}

/// Writes `limits.csv`.
///
/// # Errors
/// The file cannot be written.
pub fn write_limits(dir: &Path, rows: &[LimitRow]) -> Result<(), FileError> {
    write_csv(dir, "limits", &limit_schema().frame(rows))
}

/// Returns the columns of `limits.csv`.
pub(crate) fn limit_schema() -> Schema<LimitRow> {
    schema![LimitRow;
        ("source", Text, "Whose runs; `*`: all together.", |row| &row.source),
        ("limit", Int["turns"], "The limit.", |row| row.limit.limit),
        ("warn_at", Float, "The share of the limit at which the person is warned.", |row| row.limit.warn_at),
        ("grow", Float, "By what the limit is multiplied when the person says yes.", |row| row.limit.grow),
        ("grow_by", Int["turns"], "What is added to it then.", |row| row.limit.grow_by),
        ("cancel_after", Int["confirmations"], "After how many the run is stopped; empty: never.", |row| row.limit.cancel_after),
        ("runs", Int["runs"], "How many runs there are.", |row| row.runs),
        ("turns", Int["turns"], "How long they are together.", |row| row.turns),
        ("ask", Int["runs"], "How many have a question for the person.", |row| row.ask),
        ("confirmations", Int["confirmations"], "How often the person says yes.", |row| row.confirmations),
        ("confirmations_per_run", Float["per run"], "The same per run.", |row| row.confirmations_per_run()),
        ("confirmations_per_1000_turns", Float["per 1,000 turns"], "The same per thousand turns.", |row| row.confirmations_per_1000_turns()),
        ("warned", Int["runs"], "How many are warned of.", |row| row.warned),
        ("lead", Float["turns"], "The mean from the first warning to the first question or stop.", |row| row.mean_lead()),
        ("stopped", Int["runs"], "How many are stopped.", |row| row.stopped),
        ("healthy_runs", Int["runs"], "How many have a label and no loop.", |row| row.healthy),
        ("healthy_runs_cut", Int["runs"], "How many of those are stopped.", |row| row.healthy_cut),
        ("loops", Int["runs"], "How many have a labelled loop.", |row| row.looping),
        ("loops_ended", Int["runs"], "In how many of those turns of the loop are not run.", |row| row.ended),
        ("good_runs_cut", Int["runs"], "Of the runs with a label, how many lose a useful turn: one outside loops.", |row| row.good_cut),
        ("useful_turns_cut", Int["turns"], "Of the runs with a label, how many useful turns are cut.", |row| row.useful_cut),
        ("turns_saved", Int["turns"], "Of the runs with a label, how many turns in loops are not run.", |row| row.saved),
        ("asked_or_stopped_after_warning", Int["runs"], "In how many a question or a stop follows a warning.", |row| row.led),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_limit_cuts_is_useful_or_saved() {
        let case = LimitCase {
            turns: 20,
            stuck: vec![(12, 40)],
            labelled: true,
            source: "a".into(),
        };
        let stop = Limit {
            limit: 10,
            cancel_after: Some(0),
            ..Limit::default()
        };
        let rows = limit_rows(&[case], &[stop]);
        assert_eq!(rows.len(), 2);
        let LimitRow {
            source,
            ask,
            confirmations,
            stopped,
            useful_cut,
            saved,
            lead,
            ended,
            looping,
            healthy_cut,
            ..
        } = &rows[1];
        assert_eq!(source, "a");
        assert_eq!((*ask, *confirmations, *stopped), (1, 0, 1));
        assert_eq!((*useful_cut, *saved, *lead), (2, 8, 2));
        assert_eq!((*looping, *ended, *healthy_cut), (1, 1, 0));
    }
}
