//! [`Selection`]: finds the best setting within the limits at a level of assurance and, among settings that are as
//! good, the one with the fewest wrong alarms.
//!
//! In scoring.md a setting is as good as the best if it is within one standard error of it, and the one nearest to
//! the setting in use is taken. That fails in a large grid: of many settings the best one uses up, by luck, the wrong
//! alarms that the limit allows; it breaks the limit on the folds left out, and nothing ships. So a setting is also as
//! good if it is less than `--worthwhile` points below the best, since nobody would change a setting for less. Of all
//! that are as good, the one with the fewest wrong alarms is taken: it is farthest from the limit. `scripts/advice`
//! measures what that is worth.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use super::blend::{Blend, Weights};
use super::board::{Board, Field, Place};
use super::careful::{distance, strictness};
use super::cross::Cross;
use super::options::ChooseOptions;
use super::pooling::Borrowing;
use crate::constraint::{Assurance, Constraint};
use crate::measure::Measure;
use crate::tally::{Count, Tally};

mod near;

use near::Near;

/// The counts of all candidates: over all transcripts, and over each text once.
pub(crate) struct Boards {
    pub(crate) all: Board,
    /// `None`: no transcript is a copy.
    once: Option<Board>,
}

impl Boards {
    /// Counts what `options` ask for over `pick`; `firsts` says which transcripts are the first with their text.
    pub(crate) fn new(
        field: &Field<'_>,
        pick: &[usize],
        firsts: &[bool],
        options: &ChooseOptions,
    ) -> Self {
        let once: Vec<usize> = pick.iter().copied().filter(|i| firsts[*i]).collect();
        let board = |pick: &[usize]| Board::new(field, pick, &asked(options));
        Self {
            all: board(pick),
            once: (once.len() < pick.len()).then(|| board(&once)),
        }
    }

    fn once(&self) -> &Board {
        self.once.as_ref().unwrap_or(&self.all)
    }
}

/// The counts that candidates are chosen by: those of the objective and the limits, and wrong alarms.
fn asked(options: &ChooseOptions) -> Vec<Count> {
    let limits = options.constraints.iter().map(|c| c.metric);
    let counts = limits.chain([options.objective]).flat_map(Measure::counted);
    let all: BTreeSet<Count> = counts.chain(Count::WRONG).collect();
    all.into_iter().collect()
}

/// Whose transcripts a selection is made on.
#[derive(Clone, Copy)]
pub(crate) enum Voice<'a> {
    /// All that are on the board.
    All(&'a Boards),
    /// Those of one model, helped by the others.
    Helped {
        /// Of all models.
        all: &'a Boards,
        /// Of the one.
        own: &'a Boards,
        /// How much the others help: without each fold, then with all.
        borrowing: &'a [Borrowing],
        /// The choice for all models together: the setting to stay near to.
        pooled: &'a Cross,
    },
}

/// A selection that is to be made.
#[derive(Clone, Copy)]
pub(crate) struct Selection<'a> {
    pub(crate) field: &'a Field<'a>,
    pub(crate) options: &'a ChooseOptions,
    pub(crate) voice: Voice<'a>,
    /// The transcripts that count in full.
    pub(crate) pick: &'a [usize],
    /// Those of the other models, where they help.
    pub(crate) rest: &'a [usize],
    /// The setting in use.
    pub(crate) in_use: usize,
}

/// A candidate on some transcripts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    pub(crate) cell: usize,
    /// The objective, more always better.
    pub(crate) merit: f64,
    /// Wrong alarms, on all transcripts.
    pub(crate) wrong: u64,
    /// The highest level at which it is within the limits that have closed forms, and by estimate within the
    /// others.
    pub(crate) level: Option<Assurance>,
    /// Whether it is as likely as not within the limits that are not of wrong alarms.
    pub(crate) others: bool,
}

/// The candidates on all transcripts of a selection but those of one fold.
pub(crate) struct Stand<'a> {
    selection: Selection<'a>,
    sample: Sample,
    pub(crate) standings: Vec<Standing>,
}

impl<'a> Selection<'a> {
    /// How every candidate stands on all transcripts, or on all but those of one fold.
    pub(crate) fn stand(&self, without: Option<usize>) -> Stand<'a> {
        let sample = self.sample(without);
        let ChooseOptions {
            objective, worth, ..
        } = self.options;
        let mut standings = Vec::with_capacity(self.field.candidates.len());
        let [mut blend, mut once] = [Blend::default(); 2];
        self.field.each(|place| {
            self.blend(place, &sample, false, &mut blend);
            self.blend(place, &sample, true, &mut once);
            let [all, others] = self.within(&blend, &once);
            standings.push(Standing {
                cell: place.cell,
                merit: objective.merit(&blend, worth),
                wrong: blend.own.wrong(),
                level: Assurance::of(all),
                others: others >= Assurance::Likely.probability(),
            });
        });
        Stand {
            selection: *self,
            sample,
            standings,
        }
    }

    /// The least P(within) of the limits, and of those that are not of wrong alarms.
    fn within(&self, blend: &Blend, once: &Blend) -> [f64; 2] {
        let ChooseOptions {
            constraints, worth, ..
        } = self.options;
        let mut least = [1.0_f64; 2];
        for c in constraints {
            let probability = c.smoothed(once).unwrap_or_else(|| {
                let value = c.metric.smoothed(blend, worth);
                f64::from(u8::from(value.is_some_and(|x| c.admits(x))))
            });
            least[0] = least[0].min(probability);
            if !c.limits_wrong() {
                least[1] = least[1].min(probability);
            }
        }
        least
    }

    /// What is left when a fold is.
    fn sample(&self, without: Option<usize>) -> Sample {
        let [own, rest] = [self.pick, self.rest].map(|pick| self.field.kept(pick, without));
        let borrowing = match self.voice {
            Voice::Helped { borrowing, .. } => borrowing
                .get(without.unwrap_or(self.field.fold_count))
                .copied(),
            Voice::All(_) => None,
        };
        Sample {
            without,
            borrowing,
            own,
            rest,
        }
    }

    /// Writes the counts of a candidate into `blend`; `once`: each text once.
    fn blend(&self, place: &Place, sample: &Sample, once: bool, blend: &mut Blend) {
        let of = |boards: &'a Boards| if once { boards.once() } else { &boards.all };
        match self.voice {
            Voice::All(boards) => of(boards).read(place, sample.without, &mut blend.own),
            Voice::Helped { all, own, .. } => {
                of(own).read(place, sample.without, &mut blend.own);
                of(all).read(place, sample.without, &mut blend.rest);
                for count in of(all).counts() {
                    blend.rest[*count] -= blend.own[*count];
                }
                sample.weigh(blend);
            }
        }
    }

    /// What to stay near to: for one model that of all models together, else what is in use.
    fn anchor(&self, without: Option<usize>) -> usize {
        match self.voice {
            Voice::Helped { pooled, .. } => pooled.cell(without).unwrap_or(self.in_use),
            Voice::All(_) => self.in_use,
        }
    }
}

impl Stand<'_> {
    /// The fold that is left out.
    pub(crate) fn without(&self) -> Option<usize> {
        self.sample.without
    }

    /// The candidate of a level; `None`: no setting is within the limits at it.
    pub(crate) fn candidate(&self, level: Assurance) -> Option<usize> {
        let within: Vec<Standing> = self
            .standings
            .iter()
            .filter(|s| s.level >= Some(level) && s.merit > f64::NEG_INFINITY)
            .copied()
            .collect();
        let best = self.best(&within, level)?;
        let anchor = self.selection.anchor(self.sample.without);
        let alike = |cell: usize| within.iter().find(|s| s.cell == cell);
        let near = Near::of(self, best);
        if let Some(same) = alike(anchor).filter(|s| near.holds_one(s) && self.sure(s.cell, level))
        {
            return Some(same.cell);
        }
        let near = near.among(&within);
        let mut order = self.safest_first(&near, anchor);
        let safest = order.find(|cell| self.sure(*cell, level));
        safest.or(Some(best.cell))
    }

    /// How much less of the objective is no reason to change a setting: `--worthwhile` points.
    fn negligible(&self) -> f64 {
        let Selection {
            options, in_use, ..
        } = self.selection;
        let now = self.standings.iter().find(|s| s.cell == in_use);
        let point = now.map(|s| options.objective.point(s.merit));
        point.filter(|point| point.is_finite()).unwrap_or(0.0) * options.worthwhile
    }

    /// The best by the objective, the first of equals.
    fn best(&self, within: &[Standing], level: Assurance) -> Option<Standing> {
        let better = |a: &&Standing, b: &&Standing| {
            let merit = a.merit.total_cmp(&b.merit);
            merit.then(b.cell.cmp(&a.cell))
        };
        if self.unsure().next().is_none() {
            return within.iter().max_by(better).copied();
        }
        let mut order: Vec<&Standing> = within.iter().collect();
        order.sort_by(|a, b| better(b, a));
        order
            .into_iter()
            .find(|s| self.sure(s.cell, level))
            .copied()
    }

    /// The limits whose metric has no closed form.
    fn unsure(&self) -> impl Iterator<Item = &Constraint> {
        let constraints = &self.selection.options.constraints;
        let none = Tally::default();
        constraints
            .iter()
            .filter(move |c| c.probability(&none).is_none())
    }

    /// Whether a cell is within the limits without a closed form at a level, by the error of its value over
    /// groups (the infinitesimal jackknife): the bootstrap decides only about what is held out, since it would
    /// take an hour for a large grid.
    fn sure(&self, cell: usize, level: Assurance) -> bool {
        let options = self.selection.options;
        self.unsure().all(|c| {
            let (counts, weights) = (self.counts(cell), &self.weighed(cell));
            let value = c.metric.smoothed(&counts, &options.worth);
            let at = c.metric.at(&counts, &options.worth);
            let evidence = self.selection.field.evidence;
            let mut groups: BTreeMap<&str, f64> = BTreeMap::new();
            for (i, weight) in weights {
                let tally = evidence.tally(cell, &[*i], &options.judge);
                let group = groups.entry(evidence.cases[*i].cluster()).or_default();
                *group += weight * c.metric.influence(&tally, &at, &options.worth);
            }
            let squares: f64 = groups.values().map(|x| x * x).sum();
            c.normal(value, squares.sqrt()) >= level.probability()
        })
    }

    /// Fewer wrong alarms first, then the nearest to `anchor`, then the stricter of those with the same detectors, then
    /// the order of the grid.
    fn safest_first(&self, near: &[Standing], anchor: usize) -> impl Iterator<Item = usize> {
        let plan = self.selection.field.evidence.plan;
        let from = plan.setting(anchor).columns();
        // Detectors in the order in which the grid first has them.
        let mut families: Vec<Vec<&str>> = Vec::new();
        let mut key = |s: &Standing| {
            let setting = plan.setting(s.cell);
            let family: Vec<&str> = setting.members.iter().map(|m| m.detector.name).collect();
            let known = families.iter().position(|f| *f == family);
            let family = known.unwrap_or_else(|| {
                families.push(family);
                families.len() - 1
            });
            let far = distance(&setting.columns(), &from);
            let strict = Reverse(strictness(&setting));
            (s.wrong, far, family, strict, s.cell)
        };
        let mut order: Vec<_> = near.iter().map(&mut key).collect();
        order.sort_unstable();
        order.into_iter().map(|(.., cell)| cell)
    }

    /// The counts of a candidate by its number.
    fn counts(&self, cell: usize) -> Blend {
        let mut blend = Blend::default();
        if let Some(place) = self.selection.field.find(cell) {
            let Self {
                selection, sample, ..
            } = self;
            selection.blend(&place, sample, false, &mut blend);
        }
        blend
    }

    /// The transcripts that count, each with its weight beside a candidate.
    fn weighed(&self, cell: usize) -> Vec<(usize, f64)> {
        let weights = self.counts(cell).weights;
        let (field, objective) = (self.selection.field, self.selection.options.objective);
        let own = self.sample.own.iter().map(|i| (*i, 1.0));
        let weight = |i: &usize| (*i, objective.weight(&field.quiet(&[*i]), weights));
        own.chain(self.sample.rest.iter().map(weight)).collect()
    }
}

/// The transcripts of one selection.
struct Sample {
    without: Option<usize>,
    borrowing: Option<Borrowing>,
    own: Vec<usize>,
    rest: Vec<usize>,
}

impl Sample {
    /// Says what the rest counts beside a model's own; nothing, where there is nothing to say how much.
    fn weigh(&self, blend: &mut Blend) {
        match &self.borrowing {
            None => blend.rest = Tally::default(),
            Some(borrowing) => {
                let wrong = blend.own.wrong() + blend.rest.wrong();
                blend.weights = Weights {
                    loops: borrowing.loop_weight(),
                    clean: borrowing.char_weight(wrong),
                };
            }
        }
    }
}

/// The index of the best of some standings that has at most `wrong` wrong alarms and meets the other limits at its level.
/// Of equal ones, the one in use is taken, then the one with fewer wrong alarms, then the first of the grid.
pub(crate) fn at_most<'s>(
    standings: impl Iterator<Item = &'s Standing>,
    wrong: u64,
    in_use: usize,
) -> Option<usize> {
    let may = standings.filter(|s| s.wrong <= wrong && s.merit > f64::NEG_INFINITY);
    let better = |a: &&Standing, b: &&Standing| match a.merit.total_cmp(&b.merit) {
        Ordering::Equal => {
            let key = |s: &Standing| (s.cell != in_use, s.wrong, s.cell);
            key(b).cmp(&key(a))
        }
        unequal => unequal,
    };
    may.max_by(better).map(|s| s.cell)
}
