//! Step 2: the grids, searched by a ladder of rates of wrong alarms.
//!
//! Each rung selects a cell on all transcripts, and one without each fold. A rung is judged by the outcomes of these
//! cells on the folds left out.
//!
//! The ladder does not depend on the limit. A search up to the limit would then have to prove that the cell is below
//! it. Such a proof fails for rates from just under the rate in use to well above it, so a laxer limit would ship less.

use std::cell::RefCell;
use std::collections::HashMap;

use deadloop_replay::detect::Value;
use serde::{Deserialize, Serialize};

use super::candidates::{CellFigures, standings};
use super::test::Trial;
use super::verdict::{Pick, Provenance};
use super::{Candidate, Chooser, FOLDS, Sample};
use crate::intervals::{GroupSums, Resampling, percentile};
use crate::measure::{Measure, MeasureUnit, SAVED};
use crate::tally::{Count, Tally};

/// The rungs: wrong alarms per million chars or per thousand calls or turns; for a share, percent.
const LADDER: [f64; 22] = [
    0.0, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0,
    30.0, 50.0, 70.0, 100.0,
];
/// The minimum number of wrong alarms of the incumbent at which a candidate may have as many.
const FEW_WRONG: u64 = 5;
/// The Poisson mean at which zero wrong alarms have a probability of 20 %.
const MIN_EXPECTED: f64 = 1.61;
/// Number of rates for `saved_at_1`: 0, 0.05, … 1.
const RATES: usize = 21;

/// Returns how many times as much healthy text it takes to search the grid. `None` if there is enough, or if the winner of
/// step 1, with the tally `now`, has so many wrong alarms that a candidate only needs no more.
pub(super) fn text_lacking(chooser: &Chooser<'_>, sample: &Sample, now: &Tally) -> Option<f64> {
    let limit = chooser.options.limit()?;
    let expected = limit.expected_wrong(&chooser.tally_of_never(&sample.pick))?;
    (expected < MIN_EXPECTED && now.wrong() < FEW_WRONG).then(|| MIN_EXPECTED / expected)
}

/// The meaning of `saved_at_1`, for every output.
pub const SAVED_AT_1: &str = "saved_at_1 rates a grid as a whole: the mean of saved over limits on wrong alarms from 0 to 1. For each limit a setting is chosen on four fifths of the transcripts, and scored on the last fifth.";

/// Quality of a detector with its grid: the mean of `saved` over a range of wrong-alarm rates.
///
/// The limits run from 0 to 1 per million chars or per thousand calls. At each limit the best setting is chosen on the
/// other folds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedMean {
    /// The detectors of the grid.
    pub grid: String,
    /// The mean.
    pub value: Option<f64>,
    /// The lower end of the 95 % interval of the bootstrap over groups.
    pub lo: Option<f64>,
    /// The upper end.
    pub hi: Option<f64>,
}

/// The grids on a sample, searched for a replacement of the winner of step 1.
pub(super) struct GridSearch<'a> {
    pub(super) chooser: &'a Chooser<'a>,
    pub(super) sample: &'a Sample,
    pub(super) winner: &'a Candidate,
    /// The winner's counts.
    now: Tally,
    /// The figures of every cell: first on all transcripts, then without each fold.
    standings: Vec<Vec<CellFigures>>,
    /// The measure of the ladder.
    pub(super) rate: &'static Measure,
    bound: f64,
    /// The winner's rate of wrong alarms.
    own: f64,
    columns: Vec<(String, Value)>,
    /// The distances of cells from the winner, computed once each.
    distances: RefCell<HashMap<usize, (usize, u64)>>,
}

/// A rung that was tried.
pub(super) struct RungTrial {
    pub(super) at_most: f64,
    pub(super) trial: Trial,
}

impl<'a> GridSearch<'a> {
    /// Counts every cell on a sample.
    pub(super) fn new(chooser: &'a Chooser<'a>, sample: &'a Sample, winner: &'a Candidate) -> Self {
        let options = chooser.options;
        let rate = options.limited();
        let now = chooser.sum(winner, &sample.pick);
        Self {
            chooser,
            sample,
            winner,
            now,
            standings: standings(chooser, sample),
            rate,
            bound: options.limit().map_or(f64::INFINITY, |limit| limit.bound),
            own: rate.value(&now, &options.worth).unwrap_or(0.0),
            columns: chooser.evidence.plan.setting(winner.cell).columns(),
            distances: RefCell::default(),
        }
    }

    /// Returns the rate up to which a rung may ship: the limit or the winner's, if larger.
    pub(super) fn top(&self) -> f64 {
        self.bound.max(self.own)
    }

    /// Tries the rungs up to a rate against the winner of step 1.
    ///
    /// Rungs with the same candidate are tried once. A rung that no setting meets on all transcripts is left out.
    pub(super) fn climb(&self, top: f64) -> Vec<RungTrial> {
        let mut all: Vec<RungTrial> = Vec::new();
        for at_most in self.rungs_up_to(top) {
            let is_new = |one: &Candidate| all.iter().all(|tried| tried.trial.candidate != *one);
            let Some(candidate) = self.candidate(at_most).filter(is_new) else {
                continue;
            };
            let (chooser, winner) = (self.chooser, self.winner);
            let mut trial = chooser.trial(self.sample, candidate, winner, true);
            trial.by = trial.by.filter(|_| self.may(&trial, at_most));
            all.push(RungTrial { at_most, trial });
        }
        all
    }

    /// Returns the candidate of the rung that ships. `None` if no rung passes or there is too little healthy text to
    /// search.
    pub(super) fn best(&self, tried: &[RungTrial]) -> Option<Pick> {
        let options = self.chooser.options;
        let lacks_text = text_lacking(self.chooser, self.sample, &self.now).is_some();
        if !options.ships_grid || lacks_text || !self.sample.has_enough_loops() {
            return None;
        }
        let may = |rung: &&RungTrial| rung.trial.by.is_some() && rung.at_most <= self.top();
        let passed = || tried.iter().filter(may);
        let within = passed().filter(|rung| rung.at_most <= self.bound);
        // Ties go to the lowest rung.
        let best = first_best(within, |rung| options.merit(&rung.trial.tally));
        let tried = best.or_else(|| passed().next());
        tried.map(|rung| Pick::from_trial(&rung.trial, Provenance::Grid, "a setting of the grid"))
    }

    /// Checks the wrong alarms of a rung.
    ///
    /// They must be surely below the limit. In a rung up to the winner's own rate, no more than the winner's also
    /// suffices, if the winner has at least [`FEW_WRONG`].
    fn may(&self, trial: &Trial, at_most: f64) -> bool {
        let [new, old] = trial.test.wrong;
        let limit = self.chooser.options.limit();
        trial.candidate != *self.winner
            && (limit.is_none_or(|limit| limit.is_surely_kept(&trial.tally))
                || at_most <= self.own && old >= FEW_WRONG && new <= old)
    }

    /// Returns the rungs up to `top` and the winner's own rate, in the measure of the limit. Without loops there are
    /// none.
    fn rungs_up_to(&self, top: f64) -> Vec<f64> {
        let is_share = self.rate.unit == MeasureUnit::Share;
        let scale = if is_share { 0.01 } else { 1.0 };
        let rungs = LADDER.map(|rung| rung * scale).into_iter();
        let may = |rung: &f64| *rung <= top && self.sample.loops > 0;
        let mut rungs: Vec<f64> = rungs.chain([self.own]).filter(may).collect();
        rungs.sort_by(f64::total_cmp);
        rungs.dedup();
        rungs
    }

    /// Selects the best cell within a rung, on all transcripts and without each fold. `None` if no cell is within it on
    /// all transcripts; a fold without one keeps the winner.
    fn candidate(&self, at_most: f64) -> Option<Candidate> {
        let [cell, without @ ..]: [Option<usize>; 1 + FOLDS] =
            std::array::from_fn(|nth| self.select(nth, at_most));
        let winner = self.winner.held_out();
        let without = std::array::from_fn(|fold| without[fold].unwrap_or(winner[fold]));
        Some(Candidate {
            cell: cell?,
            without: Some(without),
        })
    }

    /// Selects the cell with the fewest wrong alarms among those within the rung and one point of the best.
    ///
    /// Ties go to the cell nearest to the winner of step 1.
    fn select(&self, nth: usize, at_most: f64) -> Option<usize> {
        let may =
            |s: &&CellFigures| s.rate <= at_most && s.meets_others && s.merit > f64::NEG_INFINITY;
        let within = || self.standings[nth].iter().filter(may);
        let best = within().map(|s| s.merit).max_by(f64::total_cmp)?;
        let point = self.chooser.options.objective.point(best);
        let alike = || within().filter(|s| s.merit >= best - point);
        let fewest = alike().map(|s| s.wrong).min()?;
        let safest = alike().filter(|s| s.wrong == fewest).map(|s| s.cell);
        safest.min_by_key(|cell| (self.distance(*cell), *cell))
    }

    /// Returns the number of parameters in which a cell differs from the winner, then the sum of their differences in
    /// thousandths of the larger value.
    fn distance(&self, cell: usize) -> (usize, u64) {
        let setting = || self.chooser.evidence.plan.setting(cell);
        let far = || distance(&setting().columns(), &self.columns);
        *self.distances.borrow_mut().entry(cell).or_insert_with(far)
    }

    /// Returns `saved_at_1` of the grids. Adjacent grids with the same name count as one.
    pub(super) fn saved_at_1(&self) -> Vec<SavedMean> {
        let grids = self.chooser.grids.iter();
        let grids = grids.filter(|grid| !grid.cells.is_empty() && self.sample.loops > 0);
        let mut names: Vec<&str> = grids.clone().map(|grid| grid.name.as_str()).collect();
        names.dedup();
        let mean = |name: &str| {
            let grids = grids.clone().filter(|grid| grid.name == name);
            let best = |fold: usize, rate: f64| {
                let is_of = |cell| grids.clone().any(|grid| grid.cells.contains(&cell));
                let within = || {
                    let all = self.standings[fold + 1].iter();
                    all.filter(|s| s.rate <= rate && is_of(s.cell))
                };
                let most = within().map(|s| s.saved).max_by(f64::total_cmp)?;
                let best = within().filter(|s| s.saved >= most);
                best.map(|s| (s.wrong, s.cell)).min().map(|(_, cell)| cell)
            };
            let mut sums = vec![Tally::default(); self.sample.pick.len()];
            for step in 0..RATES {
                let rate = step as f64 / (RATES - 1) as f64;
                let cells = std::array::from_fn(|fold| best(fold, rate));
                let tallies = self.chooser.tallies(cells, &self.sample.pick);
                sums.iter_mut()
                    .zip(tallies)
                    .for_each(|(sum, tally)| *sum += tally);
            }
            self.saved_mean(&sums, name)
        };
        names.into_iter().map(mean).collect()
    }

    /// Returns the saved share of some tallies, one per transcript of the sample, with its interval.
    fn saved_mean(&self, tallies: &[Tally], grid: &str) -> SavedMean {
        let options = self.chooser.options;
        let value = |tally: &Tally| SAVED.value(tally, &options.worth);
        let counts = [Count::Saved, Count::LoopChars].into();
        let groups = self.chooser.groups(self.sample);
        let sums = tallies.iter().map(|tally| [tally.only(&counts)]);
        let drawn = GroupSums::<1>::new(groups.zip(sums)).draw(Resampling {
            replicates: options.replicates,
            seed: options.seed,
        });
        let values = drawn.tallies().filter_map(|[tally]| value(&tally));
        let interval = percentile(&mut values.collect::<Vec<f64>>());
        SavedMean {
            grid: grid.to_owned(),
            value: value(&tallies.iter().copied().sum()),
            lo: interval.map(|i| i.lo),
            hi: interval.map(|i| i.hi),
        }
    }
}

/// Returns the item with the largest merit, the first of equal ones.
pub(super) fn first_best<T>(all: impl Iterator<Item = T>, merit: impl Fn(&T) -> f64) -> Option<T> {
    all.min_by(|a, b| merit(b).total_cmp(&merit(a)))
}

fn distance(a: &[(String, Value)], b: &[(String, Value)]) -> (usize, u64) {
    let mut far = (a.len().abs_diff(b.len()), 0);
    for (name, value) in a {
        let other = b.iter().find(|(other, _)| other == name);
        let other = other.map(|(_, other)| other);
        if other != Some(value) {
            far.0 += 1;
            far.1 += other.map_or(0, |other| value_distance(value, other));
        }
    }
    far
}

/// Returns the relative difference of two values, in thousandths. 1000 if one is not a number.
fn value_distance(a: &Value, b: &Value) -> u64 {
    let Some((a, b)) = a.as_number().zip(b.as_number()) else {
        return 1000;
    };
    let share = (a - b).abs() / a.abs().max(b.abs()).max(f64::MIN_POSITIVE);
    (1000.0 * share).round() as u64
}
