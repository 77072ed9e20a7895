//! [`Ledger`]: what every transcript adds under every stop, judged once for all the selections of a
//! choice, which ask for it again and again.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use deadloop_replay::Record;

use super::board::blocks;
use super::options::ChooseOptions;
use super::paired::Steps;
use crate::judge::{Outcome, judge};
use crate::measure::{TERMS, Terms};
use crate::tally::{Evidence, Tally};

/// What every transcript adds.
///
/// Memory: 32 bytes for each distinct stop of each transcript and block that has candidates, and a tally and a
/// kilobyte a transcript.
pub(crate) struct Ledger {
    /// Under a setting that never alarms.
    pub(crate) quiet: Column,
    /// For each block of the plan; empty where none of its settings is asked for.
    blocks: Vec<Entries>,
    /// What a step of each term is.
    pub(crate) steps: Steps,
    /// How far apart two settings can be on each transcript, term by term.
    reach: Vec<Terms>,
    /// Which of the block's terms every transcript adds under the settings that were asked for last.
    asked: Memo<usize, Under>,
}

/// What every transcript adds under one setting.
pub(crate) struct Under {
    block: usize,
    /// Of each transcript the place of its terms.
    places: Vec<u32>,
}

/// The last results, kept for keys that come again and again.
pub(crate) struct Memo<K, V> {
    known: RefCell<BTreeMap<K, Rc<V>>>,
    most: usize,
}

impl<K: Ord, V> Memo<K, V> {
    /// Keeps up to `most` results.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            known: RefCell::default(),
            most,
        }
    }

    /// What `make` makes for a key; `make` may not ask this memo for another.
    pub(crate) fn get(&self, key: K, make: impl FnOnce() -> V) -> Rc<V> {
        let mut known = self.known.borrow_mut();
        if known.len() >= self.most && !known.contains_key(&key) {
            known.clear();
        }
        Rc::clone(known.entry(key).or_insert_with(|| Rc::new(make())))
    }
}

/// Settings that others are compared with, kept for the next selection: the best one is mostly the
/// same whatever is left out, and each preset is compared by itself. As many as take 16 MB, but some at least.
fn references(transcripts: usize) -> usize {
    ((4 << 20) / transcripts.max(1)).clamp(32, 1024)
}

/// The tally of each transcript under one setting.
pub(crate) struct Column(Vec<Tally>);

impl Column {
    /// The tally of some.
    pub(crate) fn over(&self, pick: &[usize]) -> Tally {
        pick.iter().map(|i| self.0[*i]).sum()
    }
}

/// The terms of each transcript under the stops of one block.
#[derive(Default)]
struct Entries {
    /// Where each transcript's begin, and where the last one's end.
    starts: Vec<usize>,
    /// Of each transcript: without an alarm, then under each stop.
    terms: Vec<Terms>,
}

/// What one transcript adds to the score: without an alarm, and under each stop of a block.
#[derive(Clone, Copy)]
pub(crate) struct Added<'a> {
    pub(crate) quiet: &'a Terms,
    pub(crate) stops: &'a [Terms],
}

impl Ledger {
    /// Judges every case under every stop of the blocks that have candidates or the setting in use.
    pub(crate) fn new(
        evidence: &Evidence<'_>,
        candidates: &Range<usize>,
        in_use: usize,
        options: &ChooseOptions,
    ) -> Self {
        let all = evidence.all();
        let mut entries: Vec<Entries> = Vec::new();
        entries.resize_with(evidence.plan.blocks().len(), Entries::default);
        let candidates_in = blocks(evidence.plan, candidates).map(|(index, _)| index);
        let in_use_in = evidence.plan.cell(in_use).block;
        let mut largest = [0.0_f64; TERMS];
        let mut ends = vec![[(f64::INFINITY, f64::NEG_INFINITY); TERMS]; all.len()];
        for index in candidates_in.chain([in_use_in]) {
            if entries[index].starts.is_empty() {
                entries[index] = Entries::judged(evidence, index, &all, options);
            }
            for terms in &entries[index].terms {
                (0..TERMS).for_each(|i| largest[i] = largest[i].max(terms[i].abs()));
            }
            for (case, ends) in ends.iter_mut().enumerate() {
                entries[index]
                    .of(case)
                    .iter()
                    .for_each(|terms| widen(ends, terms));
            }
        }
        Self {
            quiet: Column(evidence.quiet_each(in_use, &all, &options.judge)),
            blocks: entries,
            steps: Steps::of(&largest),
            reach: ends
                .iter()
                .map(|ends| ends.map(|(lo, hi)| (hi - lo).max(0.0)))
                .collect(),
            asked: Memo::new(references(all.len())),
        }
    }

    /// No difference of two settings has a larger standard error than this, on transcripts with their weights.
    pub(crate) fn largest_error(&self, transcripts: &[(usize, f64)], slopes: &Terms) -> f64 {
        let squares = transcripts.iter().map(|(case, weight)| {
            let apart: f64 = self.reach[*case]
                .iter()
                .zip(slopes)
                .map(|(x, s)| x * s.abs())
                .sum();
            weight * apart * apart
        });
        let n: f64 = transcripts.iter().map(|(_, weight)| weight).sum();
        let bessel = if n > 1.0 { n / (n - 1.0) } else { 1.0 };
        (squares.sum::<f64>() * bessel).sqrt()
    }

    /// What one transcript adds under the stops of one block.
    pub(crate) fn added(&self, block: usize, case: usize) -> Added<'_> {
        let of_case = self.blocks[block].of(case);
        Added {
            quiet: &of_case[0],
            stops: &of_case[1..],
        }
    }

    /// What every transcript adds under a candidate or the setting in use.
    pub(crate) fn under(&self, evidence: &Evidence<'_>, cell: usize) -> Rc<Under> {
        let find = || {
            let place = evidence.plan.cell(cell);
            let starts = &self.blocks[place.block].starts;
            let one = |(case, record): (usize, &Record)| {
                let quiet = starts[case];
                if quiet + 1 == starts[case + 1] {
                    return quiet;
                }
                let region = record.blocks[place.block].region(&place.at);
                quiet + region.map_or(0, |region| 1 + region.stop)
            };
            let places = evidence.records.iter().enumerate().map(one);
            Under {
                block: place.block,
                places: places
                    .map(|place| u32::try_from(place).unwrap_or(u32::MAX))
                    .collect(),
            }
        };
        self.asked.get(cell, find)
    }

    /// What one transcript adds under such a setting.
    pub(crate) fn terms(&self, under: &Under, case: usize) -> &Terms {
        &self.blocks[under.block].terms[under.places[case] as usize]
    }
}

fn widen(ends: &mut [(f64, f64); TERMS], terms: &Terms) {
    for ((lo, hi), x) in ends.iter_mut().zip(terms) {
        (*lo, *hi) = (lo.min(*x), hi.max(*x));
    }
}

impl Entries {
    /// Those of one transcript: without an alarm, then under each stop.
    fn of(&self, case: usize) -> &[Terms] {
        &self.terms[self.starts[case]..self.starts[case + 1]]
    }

    fn judged(
        evidence: &Evidence<'_>,
        block: usize,
        all: &[usize],
        options: &ChooseOptions,
    ) -> Self {
        let ChooseOptions {
            objective,
            worth,
            judge: how,
            ..
        } = options;
        let mut entries = Self::default();
        for case in all {
            entries.starts.push(entries.terms.len());
            let trial = evidence.trial(block, *case);
            let mut add = |outcome: &Outcome| {
                let terms = objective.terms(&Tally::of(outcome), worth);
                entries.terms.push(terms);
            };
            if trial.decided.error.is_some() {
                add(&Outcome::error());
                continue;
            }
            let stops = trial.decided.stops.iter().map(Some);
            for stop in [None].into_iter().chain(stops) {
                add(&judge(trial.case, trial.watch, stop, how));
            }
        }
        entries.starts.push(entries.terms.len());
        entries
    }
}
