//! One selection: the best feasible cell, the most careful one that is as good, or the current one.

use std::cmp::Ordering;

use crate::blend::{Blend, Weights};
use crate::board::{Board, Field, Place};
use crate::careful::{copies, distance};
use crate::choice::ChooseOptions;
use crate::constraint::Standing;
use crate::cross::Cross;
use crate::infeasible::NothingFeasible;
use crate::metric::linear;
use crate::paired::Difference;
use crate::pairing::References;
use crate::pooling::Borrowing;
use crate::tally::Tally;

mod feasible;

/// Whose transcripts a selection is made on.
#[derive(Clone, Copy)]
pub(crate) enum Voice<'a> {
    /// All that are on the board.
    All(&'a Board),
    /// Those of all models but one.
    Others {
        /// Of all models.
        all: &'a Board,
        /// Of the one.
        own: &'a Board,
        /// What pairs all with a setting.
        references: &'a References,
    },
    /// Those of one model, helped by the others.
    Helped {
        /// Of all models.
        all: &'a Board,
        /// Of the one.
        own: &'a Board,
        /// How much the others help: without each fold, then with all.
        borrowing: &'a [Borrowing],
        /// The choice for all models together.
        pooled: &'a Cross,
    },
}

/// A selection that is to be made.
pub(crate) struct Selection<'a> {
    pub(crate) field: &'a Field<'a>,
    pub(crate) options: &'a ChooseOptions,
    pub(crate) voice: Voice<'a>,
    /// The transcripts that count in full.
    pub(crate) pick: &'a [usize],
    /// Those of the other models, where they help.
    pub(crate) rest: &'a [usize],
    pub(crate) current: Option<usize>,
}

/// What a selection ended with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Selected {
    pub(crate) cell: usize,
    pub(crate) kept: bool,
    pub(crate) probability: Option<f64>,
    /// How each constraint stood.
    pub(crate) decided: Vec<Standing>,
}

/// Where a single transcript differs, its difference *is* the standard error: what is known of either to
/// some 5 digits (see [`Steps`](crate::paired::Steps)) must not decide whether it lies within.
const ROUNDING: f64 = 1e-3;

/// A candidate that is feasible.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    cell: usize,
    merit: f64,
    wrong: f64,
}

impl Selection<'_> {
    /// Selects on all transcripts, or on all but those of one fold.
    pub(crate) fn select(&self, without: Option<usize>) -> Result<Selected, Box<NothingFeasible>> {
        let sample = self.sample(without);
        let feasible = self.feasible(&sample);
        // The first of the best: the order is the grid's, and of two equals the earlier stays.
        let better = |a: &&Candidate, b: &&Candidate| match a.merit.total_cmp(&b.merit) {
            Ordering::Equal => b.cell.cmp(&a.cell),
            unequal => unequal,
        };
        let Some(best) = feasible.iter().max_by(better).copied() else {
            return Err(self.nothing(&sample));
        };
        let cell = self.most_careful(best, &feasible, &sample);
        let (cell, kept, probability) = self.or_current(cell, &sample);
        Ok(Selected {
            cell,
            kept,
            probability,
            decided: self.standings(cell, &sample),
        })
    }

    /// What is left when a fold is.
    fn sample(&self, without: Option<usize>) -> Sample {
        let [own, rest] = [self.pick, self.rest].map(|pick| self.field.kept(pick, without));
        let borrowing = match self.voice {
            Voice::Helped { borrowing, .. } => borrowing
                .get(without.unwrap_or(self.field.fold_count))
                .copied(),
            _ => None,
        };
        Sample {
            without,
            borrowing,
            quiet: [&own, &rest].map(|pick| self.field.quiet(pick)),
            own,
            rest,
        }
    }

    /// Calls `visit` with each candidate cell and its counts.
    fn each(&self, sample: &Sample, mut visit: impl FnMut(usize, Blend)) {
        self.field
            .each(|place| visit(place.cell, self.blend(place, sample)));
    }

    /// The counts of a candidate.
    fn blend(&self, place: &Place, sample: &Sample) -> Blend {
        let without = sample.without;
        match self.voice {
            Voice::All(board) => Blend::whole(&board.tally(place, without)),
            Voice::Others { all, own, .. } => {
                Blend::whole(&(all.tally(place, without) - own.tally(place, without)))
            }
            Voice::Helped { all, own, .. } => {
                let own = own.tally(place, without);
                sample.blend(own, all.tally(place, without) - own)
            }
        }
    }

    /// The counts of a candidate by its number.
    fn counts(&self, cell: usize, sample: &Sample) -> Blend {
        let place = self.field.find(cell);
        let none = || Blend::whole(&Tally::default());
        place.map_or_else(none, |place| self.blend(&place, sample))
    }

    /// Among the feasible cells that are [`near`](Self::near) the best: for one model that of all
    /// models together; then fewest wrong alarms, then most copies asked for, then nearest to the
    /// current setting, then first in the grid.
    ///
    /// A model is less sure of its best than all models are of theirs, so more cells are near it, and
    /// the most careful of them is stricter for that reason alone: where models do not differ, worse
    /// than the pooled one (`reports/choosing.md`). So it is left only for a better one.
    fn most_careful(&self, best: Candidate, feasible: &[Candidate], sample: &Sample) -> usize {
        let near = self.near(best, feasible, sample);
        let pooled = self.pooled(sample.without);
        if let Some(same) = near.iter().find(|c| Some(c.cell) == pooled) {
            return same.cell;
        }
        let fewest = near.iter().map(|c| c.wrong).fold(f64::INFINITY, f64::min);
        let near: Vec<usize> = near
            .iter()
            .filter(|c| c.wrong <= fewest)
            .map(|c| c.cell)
            .collect();
        let plan = self.field.evidence.plan;
        let copies = |cell: &usize| copies(plan, *cell);
        let most = near.iter().map(copies).max().unwrap_or(0);
        let near = near.into_iter().filter(|cell| copies(cell) == most);
        match self.current {
            None => near.min(),
            Some(current) => {
                let from = plan.setting(current).columns();
                near.min_by_key(|cell| (distance(&plan.setting(*cell).columns(), &from), *cell))
            }
        }
        .unwrap_or(best.cell)
    }

    /// What is chosen for all models together on the same transcripts.
    pub(crate) fn pooled(&self, without: Option<usize>) -> Option<usize> {
        match self.voice {
            Voice::Helped { pooled, .. } => pooled.cell(without),
            _ => None,
        }
    }

    /// The feasible cells within so many standard errors of the best (of the paired difference), but
    /// none with more wrong alarms than it has.
    fn near(&self, best: Candidate, feasible: &[Candidate], sample: &Sample) -> Vec<Candidate> {
        let ChooseOptions {
            objective,
            worth,
            errors,
            ..
        } = self.options;
        if *errors == 0.0 {
            let as_good = |c: &&Candidate| c.merit >= best.merit && c.wrong <= best.wrong;
            return feasible.iter().filter(as_good).copied().collect();
        }
        let counts = self.counts(best.cell, sample);
        let transcripts = self.weighed(sample, counts.weights);
        let slopes = objective.slopes(&objective.at(&counts, worth));
        let n: f64 = transcripts.iter().map(|(_, weight)| weight).sum();
        let mut near = Vec::new();
        let mut rest = feasible;
        for (index, block) in self.field.blocks() {
            let end = rest.partition_point(|c| c.cell < block.first() + block.len());
            let (here, later) = rest.split_at(end);
            rest = later;
            let contends = |c: &&Candidate| c.wrong <= best.wrong;
            if !here.iter().any(|c| contends(&c)) {
                continue;
            }
            let pairing = self.pairing(best.cell, index, &transcripts);
            near.extend(here.iter().filter(contends).filter(|c| {
                let moments = pairing.moments(&block.at(c.cell - block.first()));
                let squares = moments.squares(&slopes, &self.field.ledger.steps);
                let error = Difference::of(best.merit - c.merit, squares, n).error;
                // n/a is never near; with an error of 0 only equals are.
                c.merit >= best.merit - errors * error * (1.0 + ROUNDING)
            }));
        }
        near
    }

    /// The transcripts that count, each with its weight.
    fn weighed(&self, sample: &Sample, weights: Weights) -> Vec<(usize, f64)> {
        let own = sample.own.iter().map(|i| (*i, 1.0));
        let weight = |i: &usize| {
            let quiet = self.field.quiet(&[*i]);
            (*i, self.options.objective.weight(&quiet, weights))
        };
        own.chain(sample.rest.iter().map(weight)).collect()
    }

    /// Keeps the current setting unless the new one is better with the asked-for probability, or
    /// the current one does not meet the constraints.
    fn or_current(&self, new: usize, sample: &Sample) -> (usize, bool, Option<f64>) {
        let Some(current) = self.current else {
            return (new, false, None);
        };
        let ChooseOptions {
            objective,
            worth,
            sure,
            ..
        } = self.options;
        let counts = self.counts(new, sample);
        let transcripts = self.weighed(sample, counts.weights);
        let slopes = objective.slopes(&objective.at(&counts, worth));
        let Field {
            evidence, ledger, ..
        } = self.field;
        let [a, b] = [new, current].map(|cell| {
            let under = ledger.under(evidence, cell);
            let one = |(i, _): &(usize, f64)| linear(&under[*i], &slopes);
            transcripts.iter().map(one).collect::<Vec<f64>>()
        });
        let weights: Vec<f64> = transcripts.iter().map(|(_, weight)| *weight).collect();
        let probability = Difference::between(&a, &b, &weights).probability();
        let kept = new == current || (self.allowed(sample) && probability < *sure);
        (if kept { current } else { new }, kept, Some(probability))
    }
}

/// The transcripts of one selection.
struct Sample {
    without: Option<usize>,
    borrowing: Option<Borrowing>,
    own: Vec<usize>,
    rest: Vec<usize>,
    /// The tallies of a setting that never alarms, own and rest.
    quiet: [Tally; 2],
}

impl Sample {
    /// A model's own tally, helped by that of the rest.
    fn blend(&self, own: Tally, rest: Tally) -> Blend {
        match &self.borrowing {
            None => Blend::whole(&own),
            Some(borrowing) => Blend {
                own,
                rest,
                weights: Weights {
                    loops: borrowing.loop_weight(),
                    clean: borrowing.char_weight(own.wrong() + rest.wrong()),
                },
            },
        }
    }

    /// A setting that never alarms, where the rest counts as it does for another setting: how much
    /// text there is to decide about that one.
    fn quiet_beside(&self, counts: &Blend) -> Blend {
        let [own, rest] = self.quiet;
        Blend {
            own,
            rest,
            weights: counts.weights,
        }
    }
}
