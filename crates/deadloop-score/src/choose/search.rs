//! Step 2: the grids, searched by a ladder of rates of wrong alarms.
//!
//! Each rung selects a cell on all transcripts, and one without each fold. A rung is judged by the outcomes of these
//! cells on the folds left out.
//!
//! The ladder does not depend on the limit. A search up to the limit would then have to prove that the cell is below
//! it. Such a proof fails for rates from just under the rate in use to well above it, so a laxer limit would ship less.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use deadloop_replay::detect::{Unit, Value};
use serde::{Deserialize, Serialize};

use super::candidates::CellCounts;
use super::verdict::{Figures, Provenance, Replacement};
use super::{Candidate, Chooser, FOLDS, PairedTest, Sample, Ship};
use crate::intervals::{GroupSums, Resampling, percentile};
use crate::measure::{Measure, MeasureUnit, SAVED, wrong_rate};
use crate::tally::{Count, Tally};

/// The rungs: wrong alarms per million chars or per thousand calls or turns; for a share, percent.
const LADDER: [f64; 22] = [
    0.0, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0,
    30.0, 50.0, 70.0, 100.0,
];
/// The minimum number of wrong alarms of the incumbent at which a candidate may have as many.
const FEW_WRONG: u64 = 5;
/// The Poisson mean at which zero wrong alarms have a probability of 20 %.
const LEAST_EXPECTED: f64 = 1.61;
/// Number of rates for `saved_at_1`: 0, 0.05, … 1.
const RATES: usize = 21;

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
}

impl Rung {
    /// Formats the limit with at most three decimals. A share is in percent.
    pub fn name(&self, measure: &Measure) -> String {
        if measure.unit == MeasureUnit::Share {
            format!("{} %", format_short(100.0 * self.at_most))
        } else {
            format_short(self.at_most)
        }
    }

    /// Returns whether the held-out rate of wrong alarms is above the limit of the row. False where the limit is on
    /// another measure.
    pub fn breaks_its_limit(&self, limited: &Measure, unit: Unit) -> bool {
        limited == wrong_rate(unit) && self.held_out.rate.is_some_and(|rate| rate > self.at_most)
    }
}

/// Returns how many times as much healthy text it takes to search the grid. `None` if there is enough, or if the winner of
/// step 1, with the tally `now`, has so many wrong alarms that a candidate only needs no more.
pub(super) fn text_lacking(chooser: &Chooser<'_>, sample: &Sample, now: &Tally) -> Option<f64> {
    let limit = chooser.options.limit()?;
    let expected = limit.expected_wrong(&chooser.tally_of_never(&sample.pick))?;
    (expected < LEAST_EXPECTED && now.wrong() < FEW_WRONG).then(|| LEAST_EXPECTED / expected)
}

fn format_short(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The mean of `saved` over a range of limits on wrong alarms, for a detector with its grid.
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

/// The figures of a cell on some transcripts.
#[derive(Clone, Copy)]
struct CellFigures {
    cell: usize,
    /// The objective, signed so that more is better.
    merit: f64,
    saved: f64,
    wrong: u64,
    /// The rate of wrong alarms, in the measure of the limit.
    rate: f64,
    meets_others: bool,
}

/// The figures of every cell of the grids on a sample.
pub(super) struct CellSearch {
    /// First on all transcripts, then without each fold.
    standings: Vec<Vec<CellFigures>>,
    /// The measure of the ladder.
    rate: &'static Measure,
    bound: f64,
}

/// A rung that was tried.
struct RungTrial {
    at_most: f64,
    candidate: Candidate,
    test: PairedTest,
    by: Option<Ship>,
    /// The held-out objective, signed so that more is better.
    merit: f64,
}

/// The rungs tried against the winner of step 1.
pub(super) struct RungSearch {
    /// The winner's rate of wrong alarms.
    own: f64,
    now: Tally,
    tried: Vec<RungTrial>,
}

impl CellSearch {
    /// Counts every cell on a sample.
    pub(super) fn new(chooser: &Chooser<'_>, sample: &Sample) -> Self {
        let options = chooser.options;
        let limit = options.limit();
        let rate = options.limited();
        let counts = CellCounts::new(chooser, sample);
        let stand = |without: Option<usize>| {
            let mut standings = Vec::new();
            counts.each(chooser, without, |cell, tally| {
                let value = |metric: &Measure| metric.value(tally, &options.worth);
                let merit = value(options.objective).map(|x| options.objective.sign() * x);
                standings.push(CellFigures {
                    cell,
                    merit: merit.unwrap_or(f64::NEG_INFINITY),
                    saved: value(&SAVED).unwrap_or(0.0),
                    wrong: tally.wrong(),
                    rate: value(rate).unwrap_or(0.0),
                    meets_others: options.meets_others(tally),
                });
            });
            standings
        };
        let folds = (0..FOLDS).map(Some);
        Self {
            standings: std::iter::once(None).chain(folds).map(stand).collect(),
            rate,
            bound: limit.map_or(f64::INFINITY, |limit| limit.bound),
        }
    }

    /// Tries all rungs against the winner of step 1, or only those up to a rate: the limit or the winner's, if larger.
    ///
    /// Rungs with the same candidate are tried once. A rung that no setting meets on all transcripts is left out.
    pub(super) fn climb(
        &self,
        chooser: &Chooser<'_>,
        sample: &Sample,
        winner: &Candidate,
        all_rungs: bool,
    ) -> RungSearch {
        let now = chooser.sum(winner, &sample.pick);
        let own = self.rate.value(&now, &chooser.options.worth).unwrap_or(0.0);
        let mut all: Vec<RungTrial> = Vec::new();
        if self.standings[0].is_empty() || sample.loops == 0 {
            return RungSearch {
                own,
                now,
                tried: all,
            };
        }
        let top = if all_rungs {
            f64::INFINITY
        } else {
            self.bound.max(own)
        };
        let near = Distances::new(chooser, winner.cell);
        for at_most in self.rungs_up_to(top, own) {
            let Some(candidate) = self.candidate(chooser, at_most, winner, &near) else {
                continue;
            };
            if all.iter().any(|tried| tried.candidate == candidate) {
                continue;
            }
            let (test, tally) = chooser.test(sample, &candidate, winner);
            let is_within = chooser.options.is_within(&tally);
            let by = chooser
                .ships(sample, (&test, &tally), is_within)
                .filter(|_| {
                    candidate != *winner && self.may(chooser, &tally, &test, at_most <= own)
                });
            let merit = chooser
                .options
                .objective
                .value(&tally, &chooser.options.worth);
            all.push(RungTrial {
                at_most,
                candidate,
                test,
                by,
                merit: merit.map_or(f64::NEG_INFINITY, |x| chooser.options.objective.sign() * x),
            });
        }
        RungSearch {
            own,
            now,
            tried: all,
        }
    }

    /// Returns the candidate of the rung that ships. `None` if no rung passes or there is too little healthy text to
    /// search.
    pub(super) fn best(
        &self,
        chooser: &Chooser<'_>,
        sample: &Sample,
        climb: &RungSearch,
    ) -> Option<Replacement> {
        if text_lacking(chooser, sample, &climb.now).is_some() || !sample.is_enough() {
            return None;
        }
        let top = self.bound.max(climb.own);
        let passed = || {
            climb
                .tried
                .iter()
                .filter(|tried| tried.by.is_some() && tried.at_most <= top)
        };
        let within: Vec<&RungTrial> = passed()
            .filter(|tried| tried.at_most <= self.bound)
            .collect();
        // Ties go to the lowest rung.
        let best = within
            .into_iter()
            .rev()
            .max_by(|a, b| a.merit.total_cmp(&b.merit));
        let tried = best.or_else(|| passed().next())?;
        Some(Replacement {
            candidate: tried.candidate.clone(),
            source: Provenance::Grid,
            name: "a setting of the grid".to_owned(),
            by: tried.by?,
            test: tried.test.clone(),
        })
    }

    /// Checks the wrong alarms of a rung.
    ///
    /// They must be surely below the limit. In a rung up to the winner's own rate, no more than the winner's also
    /// suffices, if the winner has at least [`FEW_WRONG`].
    fn may(
        &self,
        chooser: &Chooser<'_>,
        tally: &Tally,
        test: &PairedTest,
        up_to_own: bool,
    ) -> bool {
        let [new, old] = test.wrong;
        let limit = chooser.options.limit();
        limit.is_none_or(|limit| limit.is_surely_kept(tally))
            || up_to_own && old >= FEW_WRONG && new <= old
    }

    /// Returns the rungs up to `top` and the rate `own`, in the measure of the limit.
    fn rungs_up_to(&self, top: f64, own: f64) -> Vec<f64> {
        let scale = if self.rate.unit == MeasureUnit::Share {
            0.01
        } else {
            1.0
        };
        let ladder = LADDER.into_iter().map(|rung| rung * scale);
        let mut rungs: Vec<f64> = ladder.chain([own]).filter(|rung| *rung <= top).collect();
        rungs.sort_by(f64::total_cmp);
        rungs.dedup();
        rungs
    }

    /// Selects the best cell within a rung, on all transcripts and without each fold. `None` if no cell is within it on
    /// all transcripts; a fold without one keeps the winner.
    fn candidate(
        &self,
        chooser: &Chooser<'_>,
        at_most: f64,
        winner: &Candidate,
        near: &Distances<'_>,
    ) -> Option<Candidate> {
        let of = |nth: usize| self.select(chooser, nth, at_most, near);
        let cell = of(0)?;
        Some(Candidate {
            cell,
            without: Some(std::array::from_fn(|fold| {
                of(fold + 1).unwrap_or_else(|| winner.held_out_setting(fold))
            })),
        })
    }

    /// Selects the cell with the fewest wrong alarms among those within the rung and one point of the best.
    ///
    /// Ties go to the cell nearest to the winner of step 1.
    fn select(
        &self,
        chooser: &Chooser<'_>,
        nth: usize,
        at_most: f64,
        near: &Distances<'_>,
    ) -> Option<usize> {
        let may =
            |s: &&CellFigures| s.rate <= at_most && s.meets_others && s.merit > f64::NEG_INFINITY;
        let within = || self.standings[nth].iter().filter(may);
        let best = within().map(|s| s.merit).max_by(f64::total_cmp)?;
        let point = chooser.options.objective.point(best);
        let alike = || within().filter(|s| s.merit >= best - point);
        let fewest = alike().map(|s| s.wrong).min()?;
        let safest = alike().filter(|s| s.wrong == fewest);
        safest
            .map(|s| (near.distance_to(s.cell), s.cell))
            .min()
            .map(|(_, cell)| cell)
    }

    /// Returns the held-out cost of each limit, one row for each rung with figures of its own.
    pub(super) fn rungs(chooser: &Chooser<'_>, climb: RungSearch) -> Vec<Rung> {
        let options = chooser.options;
        let every = chooser.evidence.all();
        let row = |tried: RungTrial| {
            let held_out = chooser.sum(&tried.candidate, &every);
            let cell = tried.candidate.cell;
            let in_sample = chooser.evidence.tally(cell, &every, &options.judge);
            Rung {
                at_most: tried.at_most,
                cell,
                setting: chooser.evidence.plan.id(cell),
                toml: chooser.evidence.plan.setting(cell).to_toml("guard"),
                held_out: Figures::new(&held_out, options),
                in_sample: Figures::new(&in_sample, options),
                ships: tried.by,
            }
        };
        let mut rows: Vec<Rung> = climb.tried.into_iter().map(row).collect();
        rows.dedup_by(|b, a| a.held_out == b.held_out);
        rows
    }

    /// Returns `saved_at_1` of the grids. Grids with the same name count as one.
    pub(super) fn saved_at_1(&self, chooser: &Chooser<'_>, sample: &Sample) -> Vec<SavedMean> {
        if sample.loops == 0 {
            return Vec::new();
        }
        let of = |name: &str| {
            let named = chooser.grids.iter().filter(|grid| grid.name == name);
            let is_of = |cell: usize| named.clone().any(|grid| grid.cells.contains(&cell));
            let best = |fold: usize, rate: f64| {
                let within = self.standings[fold + 1].iter();
                let within = within.filter(|s| s.rate <= rate && is_of(s.cell));
                let best = within.max_by(|a, b| {
                    a.saved
                        .total_cmp(&b.saved)
                        .then(b.wrong.cmp(&a.wrong))
                        .then(b.cell.cmp(&a.cell))
                });
                best.map(|s| s.cell)
            };
            let mut sums = vec![Tally::default(); sample.pick.len()];
            for fold in 0..FOLDS {
                let at: Vec<usize> = (0..sums.len())
                    .filter(|at| chooser.folds[sample.pick[*at]] == fold)
                    .collect();
                let left: Vec<usize> = at.iter().map(|at| sample.pick[*at]).collect();
                // Many rates have the same best cell.
                let mut rates: BTreeMap<Option<usize>, usize> = BTreeMap::new();
                for step in 0..RATES {
                    let rate = step as f64 / (RATES - 1) as f64;
                    *rates.entry(best(fold, rate)).or_default() += 1;
                }
                for (cell, times) in rates {
                    let tallies = match cell {
                        Some(cell) => chooser.tallies(&Candidate::from_ready(cell), &left),
                        None => chooser.evidence.quiet_each(
                            chooser.in_use,
                            &left,
                            &chooser.options.judge,
                        ),
                    };
                    for (at, tally) in at.iter().zip(tallies) {
                        (0..times).for_each(|_| sums[*at] += tally);
                    }
                }
            }
            saved_interval(chooser, sample, &sums, name)
        };
        let mut names: Vec<&str> = Vec::new();
        for grid in chooser.grids.iter().filter(|grid| !grid.cells.is_empty()) {
            if !names.contains(&grid.name.as_str()) {
                names.push(&grid.name);
            }
        }
        names.into_iter().map(of).collect()
    }
}

/// Returns the saved share of some tallies, one per transcript of the sample, with its interval.
fn saved_interval(
    chooser: &Chooser<'_>,
    sample: &Sample,
    tallies: &[Tally],
    grid: &str,
) -> SavedMean {
    let options = chooser.options;
    let value = |tally: &Tally| SAVED.value(tally, &options.worth);
    let counts = [Count::Saved, Count::LoopChars].into();
    let groups = sample.pick.iter().zip(tallies);
    let groups =
        groups.map(|(i, tally)| (chooser.evidence.cases[*i].cluster(), [tally.only(&counts)]));
    let drawn = GroupSums::<1>::new(groups).draw(Resampling {
        replicates: options.replicates,
        seed: options.seed,
    });
    let mut values: Vec<f64> = drawn
        .tallies()
        .filter_map(|[tally]| value(&tally))
        .collect();
    let interval = percentile(&mut values);
    SavedMean {
        grid: grid.to_owned(),
        value: value(&tallies.iter().copied().sum()),
        lo: interval.map(|i| i.lo),
        hi: interval.map(|i| i.hi),
    }
}

/// Distances of cells from one setting, computed once each.
struct Distances<'a> {
    chooser: &'a Chooser<'a>,
    from: Vec<(String, Value)>,
    known: RefCell<HashMap<usize, (usize, u64)>>,
}

impl<'a> Distances<'a> {
    fn new(chooser: &'a Chooser<'_>, cell: usize) -> Self {
        Self {
            chooser,
            from: chooser.evidence.plan.setting(cell).columns(),
            known: RefCell::default(),
        }
    }

    /// Returns the number of parameters that differ, then the sum of their differences in thousandths of the larger
    /// value.
    fn distance_to(&self, cell: usize) -> (usize, u64) {
        let far = || {
            distance(
                &self.chooser.evidence.plan.setting(cell).columns(),
                &self.from,
            )
        };
        *self.known.borrow_mut().entry(cell).or_insert_with(far)
    }
}

fn distance(a: &[(String, Value)], b: &[(String, Value)]) -> (usize, u64) {
    let mut far = (a.len().abs_diff(b.len()), 0);
    for (name, value) in a {
        match b.iter().find(|(other, _)| other == name) {
            Some((_, other)) if other == value => {}
            Some((_, other)) => {
                far.0 += 1;
                far.1 += value_distance(value, other);
            }
            None => far.0 += 1,
        }
    }
    far
}

fn value_distance(a: &Value, b: &Value) -> u64 {
    let number = |value: &Value| match value {
        Value::Int(n) => Some(*n as f64),
        Value::Float(x) => Some(*x),
        _ => None,
    };
    match (number(a), number(b)) {
        (Some(a), Some(b)) => {
            let share = (a - b).abs() / a.abs().max(b.abs()).max(f64::MIN_POSITIVE);
            (1000.0 * share).round() as u64
        }
        _ => 1000,
    }
}
