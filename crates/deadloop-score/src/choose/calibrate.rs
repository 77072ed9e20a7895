//! Calibration from clean text alone: which settings a budget of false alarms allows, where there is
//! no loop to choose by.
//!
//! Clean text can refute a setting and can support a claim about it; it cannot say which of two
//! settings finds more loops. So the current setting is kept where the text supports it, else the
//! nearest one that it does support is taken; and the loosest supported thresholds of each structure
//! are listed, beyond which the text says no.
//!
//! Groups are the unit: answers to one prompt are not independent. An exact Poisson bound holds for the groups with a
//! wrong alarm, and each counts as often as they have alarms on average (`G` alarms in `g` groups: the bound of `g`
//! times `G / g`); where every group has one, that is the bound of the alarms. Copies count once.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use deadloop_replay::detect::harness::ThresholdSide;
use deadloop_replay::{Axis, Block};

use crate::choose::careful::distance;
use crate::intervals::poisson_upper;
use crate::judge::JudgeOptions;
use crate::tally::{Count, Evidence, Tally, tallies};
use crate::truth::{Case, Class, firsts};

/// The chance with which a claim is wrong, as in a constraint.
const ALPHA: f64 = 0.05;

/// What clean text says about one setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Supported {
    /// The setting's number in the plan.
    pub cell: usize,
    /// Its name.
    pub setting: String,
    /// Wrong alarms.
    pub wrong: u64,
    /// Clean chars that it watched.
    pub exposure: u64,
    /// The upper bound of its false alarms per million chars (95 %, one-sided, exact Poisson over groups).
    pub bound: Option<f64>,
    /// Clean chars that are missing for the claim, if they bring no further alarm; 0: the bound is
    /// within the budget.
    pub missing: u64,
}

impl Supported {
    /// `groups`: those with a wrong alarm.
    fn of(
        evidence: &Evidence<'_>,
        cell: usize,
        (tally, groups): (&Tally, u64),
        budget: f64,
    ) -> Self {
        let (wrong, exposure) = (tally.wrong(), tally.get(Count::Exposure));
        let each = if groups > 0 {
            wrong as f64 / groups as f64
        } else {
            1.0
        };
        let events = 1e6 * each * poisson_upper(groups, ALPHA);
        let needed = (events / budget).ceil() as u64;
        Self {
            cell,
            setting: evidence.plan.id(cell),
            wrong,
            exposure,
            bound: (exposure > 0).then(|| events / exposure as f64),
            missing: needed.saturating_sub(exposure),
        }
    }

    /// Whether the text supports the claim.
    pub fn holds(&self) -> bool {
        self.missing == 0
    }
}

/// What clean text says about the settings for a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The current setting.
    pub current: Supported,
    /// The current setting where it is supported, else the nearest supported one; `None`: the text
    /// supports none.
    pub chosen: Option<Supported>,
    /// The settings that are supported while no setting of their structure with one looser threshold
    /// is, in the order of the grid.
    pub loosest: Vec<Supported>,
    /// How many of the candidates are supported.
    pub supported: usize,
    /// The candidate with the least missing text, the first of equals.
    pub nearest: Option<Supported>,
    /// The chosen setting on each model: its own text seldom supports the claim by itself.
    pub models: Vec<(String, Supported)>,
    /// Groups with clean text.
    pub groups: usize,
}

/// Holds the cells `candidates` against a budget of false alarms per million clean chars.
pub fn calibrate(
    evidence: &Evidence<'_>,
    candidates: Range<usize>,
    current: usize,
    budget: f64,
    options: &JudgeOptions,
) -> Calibration {
    // A thousand copies of a text are evidence once.
    let firsts = firsts(evidence.cases, options.unit);
    let once = |pick: &[usize]| {
        pick.iter()
            .copied()
            .filter(|i| firsts[*i])
            .collect::<Vec<usize>>()
    };
    let of = |cell: usize, pick: &[usize]| {
        let pick = once(pick);
        let tally = evidence.tally(cell, &pick, options);
        let groups = alarming(evidence, cell, &pick, options);
        Supported::of(evidence, cell, (&tally, groups), budget)
    };
    let all = evidence.all();
    let now = of(current, &all);
    let mut held = Held::default();
    for index in 0..evidence.plan.blocks().len() {
        held.add((evidence, &firsts), index, &candidates, budget, options);
    }
    let chosen = if now.holds() {
        Some(now.clone())
    } else {
        let from = evidence.plan.setting(current).columns();
        let far = |cell: &usize| distance(&evidence.plan.setting(*cell).columns(), &from);
        let near = held.supported.iter().min_by_key(|cell| (far(cell), **cell));
        near.map(|cell| of(*cell, &all))
    };
    let shown = chosen.as_ref().map_or(current, |chosen| chosen.cell);
    let models = evidence.models().into_iter();
    let models = models.map(|(model, pick)| (model.to_owned(), of(shown, &pick)));
    let clean = evidence
        .cases
        .iter()
        .filter(|case| case.class() == Some(Class::Clean));
    let groups: BTreeSet<&str> = clean.map(Case::cluster).collect();
    Calibration {
        groups: groups.len(),
        current: now,
        chosen,
        loosest: held.loosest,
        supported: held.supported.len(),
        nearest: held.nearest,
        models: models.collect(),
    }
}

/// The groups in which a setting has a wrong alarm.
fn alarming(evidence: &Evidence<'_>, cell: usize, pick: &[usize], options: &JudgeOptions) -> u64 {
    let outcomes = evidence.each_outcome(cell, pick, options);
    let wrong = pick
        .iter()
        .zip(outcomes)
        .filter(|(_, outcome)| Tally::of(outcome).wrong() > 0);
    let groups: BTreeSet<&str> = wrong.map(|(i, _)| evidence.cases[*i].cluster()).collect();
    groups.len() as u64
}

/// For each cell of a block, by how much its wrong alarms on `once` are more than the groups that they stand in.
/// Groups of one transcript, and those without an alarm, cost nothing.
fn beyond_groups(
    (evidence, index): (&Evidence<'_>, usize),
    once: &[usize],
    options: &JudgeOptions,
) -> Vec<u64> {
    let block = &evidence.plan.blocks()[index];
    let mut beyond = vec![0; block.len()];
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let alarms = |i: &&usize| !evidence.trial(index, **i).decided.regions.is_empty();
    for i in once.iter().filter(alarms) {
        groups
            .entry(evidence.cases[*i].cluster())
            .or_default()
            .push(*i);
    }
    for members in groups.values().filter(|members| members.len() > 1) {
        let trials = members.iter().map(|i| evidence.trial(index, *i));
        let sheet = tallies(&block.shape(), trials, options, &Count::WRONG);
        for (nth, beyond) in beyond.iter_mut().enumerate() {
            *beyond += sheet.tally(&block.at(nth)).wrong().saturating_sub(1);
        }
    }
    beyond
}

/// What holding candidates against the budget gave so far.
#[derive(Default)]
struct Held {
    supported: Vec<usize>,
    loosest: Vec<Supported>,
    nearest: Option<Supported>,
}

impl Held {
    /// Holds those candidates against it that stand in block `index` of the plan.
    fn add(
        &mut self,
        (evidence, firsts): (&Evidence<'_>, &[bool]),
        index: usize,
        candidates: &Range<usize>,
        budget: f64,
        options: &JudgeOptions,
    ) {
        let block = &evidence.plan.blocks()[index];
        let first = block.first();
        let range = candidates.start.max(first)..candidates.end.min(first + block.len());
        if range.is_empty() {
            return;
        }
        let once: Vec<usize> = (0..evidence.cases.len()).filter(|i| firsts[*i]).collect();
        let beyond = beyond_groups((evidence, index), &once, options);
        let trials = once.iter().map(|i| evidence.trial(index, *i));
        let sheet = tallies(&block.shape(), trials, options, &Count::ALL);
        let each = range.map(|cell| {
            let at = block.at(cell - first);
            let tally = sheet.tally(&at);
            let groups = tally.wrong() - beyond[cell - first];
            (Supported::of(evidence, cell, (&tally, groups), budget), at)
        });
        let each: Vec<(Supported, Vec<u16>)> = each.collect();
        for (one, _) in &each {
            if self
                .nearest
                .as_ref()
                .is_none_or(|n| one.missing < n.missing)
            {
                self.nearest = Some(one.clone());
            }
        }
        let holds = each.iter().filter(|(one, _)| one.holds());
        let at: HashSet<&[u16]> = holds.clone().map(|(_, at)| at.as_slice()).collect();
        let ends = holds
            .clone()
            .filter(|(_, one)| !has_looser(block, one, &at));
        self.loosest.extend(ends.map(|(one, _)| one.clone()));
        self.supported.extend(holds.map(|(one, _)| one.cell));
    }
}

/// Whether a setting with one threshold a step looser is supported too.
fn has_looser(block: &Block, at: &[u16], held: &HashSet<&[u16]>) -> bool {
    let looser = |(axis, values): (usize, &Axis)| {
        let mut at = at.to_vec();
        at[axis] = match values.threshold.side {
            ThresholdSide::AtMost => at[axis].checked_sub(1)?,
            ThresholdSide::AtLeast => at[axis] + 1,
        };
        Some(at)
    };
    let mut steps = block.axes().iter().enumerate().filter_map(looser);
    steps.any(|at| held.contains(at.as_slice()))
}
