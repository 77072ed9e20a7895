//! [`AdviceDraw`]: a draw of whole groups, and the scores of its advice on all other transcripts.

use std::collections::{BTreeMap, BTreeSet};

use deadloop_score::choose::{Choices, ChooseOptions, choose, find_contradictions, limit_doubt};
use deadloop_score::measure::{FA_PER_MCHAR, SAVED};
use deadloop_score::proposals::is_loop_at;
use deadloop_score::replay::Record;
use deadloop_score::{Case, Evidence, JudgeOptions, Stakes, Tally, Weights};

use crate::label_noise::spoilt;
use crate::study_corpus::{IN_USE, StudyCorpus};
use crate::verdict::DrawResult;

/// Steps of the random weight of a group's name. A draw takes the groups with the smallest weights.
const STEPS: [u64; 255] = {
    let mut steps = [0; 255];
    let mut i = 0;
    while i < 255 {
        steps[i] = (i as u64 + 1) << 45;
        i += 1;
    }
    steps
};

/// A draw of transcripts.
pub(crate) struct AdviceDraw {
    size: usize,
    seed: u64,
    pub(crate) drawn: Vec<usize>,
    pub(crate) others: Vec<usize>,
    /// The best saved share of any setting within the limit on the transcripts not drawn.
    hindsight: f64,
}

impl AdviceDraw {
    /// Draws whole groups until there are `size` transcripts.
    pub(crate) fn sample(world: &StudyCorpus, size: usize, seed: u64) -> Self {
        let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (i, case) in world.cases.iter().enumerate() {
            let name = case.group.as_deref().unwrap_or(&case.id);
            groups.entry(name).or_default().push(i);
        }
        let mut order: Vec<(Vec<u8>, &str)> = groups
            .keys()
            .map(|name| {
                (
                    Weights::new(seed + 1000, name, &STEPS).take(8).collect(),
                    *name,
                )
            })
            .collect();
        order.sort();
        let mut drawn = BTreeSet::new();
        for (_, name) in order {
            if drawn.len() >= size {
                break;
            }
            drawn.extend(groups[name].iter().copied());
        }
        let others: Vec<usize> = (0..world.cases.len())
            .filter(|i| !drawn.contains(i))
            .collect();
        let drawn: Vec<usize> = drawn.into_iter().collect();
        let inside = world.tallies(&drawn).unwrap_or_default();
        let left = world
            .totals
            .iter()
            .zip(&inside)
            .map(|(all, here)| *all - *here);
        let hindsight = left
            .filter(|t| rate(t) <= 1.0)
            .map(|t| saved(&t))
            .fold(0.0, f64::max);
        Self {
            size,
            seed,
            drawn,
            others,
            hindsight,
        }
    }

    /// Scores the advice for each guard in use on the transcripts not drawn.
    pub(crate) fn trials(&self, world: &StudyCorpus, spoil: bool) -> Vec<DrawResult> {
        let mut cases: Vec<Case> = self.drawn.iter().map(|i| world.cases[*i].clone()).collect();
        if spoil {
            spoilt(&mut cases, self.seed);
        }
        let records: Vec<Record> = self
            .drawn
            .iter()
            .map(|i| world.records[*i].clone())
            .collect();
        let Ok(evidence) = Evidence::new(&world.plan, &cases, &records) else {
            return Vec::new();
        };
        let ready = world.ready.iter().map(|ready| ready.cell);
        let contradicted = find_contradictions(&evidence, ready, &JudgeOptions::default());
        let doubted = self.drawn.iter().zip(&contradicted);
        let doubted = doubted
            .map(|(i, found)| found.is_doubted_by(|places| is_loop_at(&world.rows[*i], places)));
        let options = ChooseOptions {
            doubted: limit_doubt(&cases, doubted.collect()),
            seed: self.seed,
            ready: world.ready.clone(),
            worth: world.worth,
            ..ChooseOptions::default()
        };
        let mut trials = Vec::new();
        for ships_grid in [false, true] {
            let options = ChooseOptions {
                ships_grid,
                ..options.clone()
            };
            for (name, cell) in IN_USE.iter().zip(&world.in_use) {
                let grids = if ships_grid { &world.grids[..] } else { &[] };
                if let Ok(choices) = choose(&evidence, grids, *cell, &options) {
                    trials.push(self.scored(world, (name, ships_grid), *cell, &choices, spoil));
                }
            }
        }
        trials
    }

    fn scored(
        &self,
        world: &StudyCorpus,
        (name, ships_grid): (&'static str, bool),
        in_use: usize,
        choices: &Choices,
        spoilt: bool,
    ) -> DrawResult {
        let now = world.on(in_use, &self.others);
        let then = world.on_cells(&choices.cells(), &self.others, in_use);
        let recommended = world.ready.first().map_or(in_use, |ready| ready.cell);
        let taken = world.on(recommended, &self.others);
        DrawResult {
            size: self.size,
            spoilt,
            ships_grid,
            in_use: name,
            verdict: choices.advice.verdict,
            saved: [saved(&now), saved(&then)],
            recommended: saved(&taken),
            rate: [rate(&now), rate(&then)],
            hindsight: self.hindsight.max(saved(&now)),
            seed: self.seed,
        }
    }
}

impl StudyCorpus {
    /// Returns the tally of a settings file on some transcripts. A transcript runs under the cell of its model, else of
    /// `*`, else `in_use`.
    pub(crate) fn on_cells(
        &self,
        cells: &BTreeMap<String, usize>,
        pick: &[usize],
        in_use: usize,
    ) -> Tally {
        let mut by_cell: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for i in pick {
            let cell = cells.get(&*self.cases[*i].model).or_else(|| cells.get("*"));
            by_cell
                .entry(cell.copied().unwrap_or(in_use))
                .or_default()
                .push(*i);
        }
        by_cell
            .iter()
            .map(|(cell, pick)| self.on(*cell, pick))
            .sum()
    }

    /// Returns the cell of a guard in use.
    pub(crate) fn cell(&self, name: &str) -> usize {
        let at = IN_USE.iter().position(|known| *known == name);
        at.map_or(0, |at| self.in_use[at])
    }

    pub(crate) fn on(&self, cell: usize, pick: &[usize]) -> Tally {
        Evidence::new(&self.plan, &self.cases, &self.records)
            .map(|evidence| evidence.tally(cell, pick, &JudgeOptions::default()))
            .unwrap_or_default()
    }
}

fn saved(tally: &Tally) -> f64 {
    SAVED.value(tally, &Stakes::default()).unwrap_or(0.0)
}

fn rate(tally: &Tally) -> f64 {
    FA_PER_MCHAR.value(tally, &Stakes::default()).unwrap_or(0.0)
}
