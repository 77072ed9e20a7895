//! Counts verdicts by variant and fault, and chooses a variant of each repairer under a limit on harm.

use std::collections::BTreeMap;
use std::sync::Arc;

use deadloop_replay::detect::Unit;
use deadloop_replay::repairers::{Delay, Variant};
use serde::{Deserialize, Serialize};

use super::choose::{Candidate, Contending, RepairChoice, RepairTally};
use crate::choose::advice::Ruling;
use crate::choose::pieces::EvidencePieces;
use crate::files::cases::Described;
use crate::files::repairs::{RepairRow, RepairScore};
use crate::intervals::Resampling;
use crate::judge::Mended;
use crate::tally::rank;
use crate::truth::Case;

/// The verdicts on the repairs of one stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MendedStream {
    /// The id of the transcript.
    pub id: String,
    /// The fault; `None` for an intact stream.
    pub fault: Option<String>,
    /// The severity of the fault.
    pub severity: u64,
    /// What came of it in the hands of each variant that reads it.
    pub came: Vec<Fare>,
}

/// What a variant made of a stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fare {
    /// The index of the variant.
    pub variant: usize,
    /// The verdict; `None` if it failed.
    pub verdict: Option<Mended>,
    /// A detail in words.
    pub detail: String,
    /// How long text waited; `None` for events, programs and the stream as it is.
    pub delay: Option<Delay>,
}

/// The counts, and the choices.
#[derive(Clone, Debug)]
pub struct ScoredRepairs {
    /// The counts by variant, then by fault.
    pub scores: Vec<RepairScore>,
    /// The choice for each repairer, in the order of the variants.
    pub chosen: Vec<ChosenRepair>,
}

/// The choice among the variants of a repairer.
#[derive(Clone, Debug)]
pub struct ChosenRepair {
    /// The repairer.
    pub repairer: String,
    /// The index of the variant in use.
    pub in_use: usize,
    /// The choice.
    pub choice: RepairChoice,
    /// The price list: the best variant at each limit on harm.
    pub prices: Vec<PricedRepair>,
}

impl ChosenRepair {
    /// The index of the variant to run: the chosen one where it ships, else the one in use.
    pub fn to_run(&self) -> usize {
        match self.choice.chosen {
            Some((variant, _)) if self.choice.ruling == Ruling::Ship => variant,
            _ => self.in_use,
        }
    }
}

/// What the settings of a run of repairers are called, for those that are compared with another run.
pub fn described_repairs(
    variants: &[Variant],
    scored: &ScoredRepairs,
) -> BTreeMap<String, Described> {
    let mut all = BTreeMap::new();
    for (at, variant) in variants.iter().enumerate() {
        let of = |is: fn(&ChosenRepair) -> usize| scored.chosen.iter().any(|c| is(c) == at);
        let names = [
            ("chosen", of(ChosenRepair::to_run)),
            ("current", of(|chosen| chosen.in_use)),
        ];
        let names = names.into_iter().filter(|(_, has)| *has);
        let described = Described {
            names: names.map(|(name, _)| name.to_owned()).collect(),
            toml: variant.toml(),
        };
        all.insert(variant.name.clone(), described);
    }
    all
}

/// A line of a price list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PricedRepair {
    /// The limit on harm, a share.
    pub limit: f64,
    /// The best variant within it, and its counts.
    pub best: Option<(usize, RepairTally)>,
}

/// A wrong repair, opened: what arrived, what came out, what was meant.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WrongRepair {
    /// The id of the transcript.
    pub transcript: String,
    /// The name of the variant.
    pub variant: String,
    /// The fault; empty for an intact stream.
    pub fault: String,
    /// What arrived.
    pub before: String,
    /// What came out.
    pub after: String,
    /// What was meant.
    pub gold: String,
}

/// Wrong repairs: those that were opened, and how many more there are.
#[derive(Clone, Debug, Default)]
pub struct WrongRepairs {
    /// The opened ones, by variant and fault.
    pub opened: Vec<WrongRepair>,
    /// How many more there are.
    pub left: u64,
}

/// The limits of the price list, beside the one that was asked for: shares of wrong repairs and of changed intact
/// streams.
const LIMITS: [f64; 4] = [0.0, 0.01, 0.1, 1.0];

/// Streams that were mended, and what is asked of the choice among the variants.
pub struct RepairOptions<'a> {
    /// Names of the variants in use.
    pub in_use: &'a [String],
    /// The limit on harm, a share.
    pub limit: f64,
    /// Replicates and seed.
    pub resampling: Resampling,
}

/// Counts and chooses. `cases`: the case of each stream.
pub fn score_repairs(
    variants: &[Variant],
    outcomes: &[MendedStream],
    cases: &[&Case],
    options: &RepairOptions<'_>,
) -> ScoredRepairs {
    let faults: Vec<Option<&str>> = outcomes.iter().map(|one| one.fault.as_deref()).collect();
    let seed = options.resampling.seed;
    let streams = EvidencePieces::of(cases, &faults, Unit::Chars, seed);
    let candidates = candidates(variants, outcomes);
    let mut order: Vec<&str> = Vec::new();
    for variant in variants {
        if !order.contains(&variant.repairer()) {
            order.push(variant.repairer());
        }
    }
    let chosen = order.into_iter().filter_map(|repairer| {
        let is_own = |c: &&Candidate| variants[c.variant].repairer() == repairer;
        let reads = |c: &&Candidate| c.judged.iter().any(Option::is_some);
        let own = candidates.iter().filter(is_own).filter(reads);
        let own: Vec<Candidate> = own.cloned().collect();
        let named = |c: &Candidate| options.in_use.contains(&variants[c.variant].name);
        let used = own.iter().position(named).unwrap_or(0);
        let in_use = own.get(used)?.variant;
        let contending = Contending {
            candidates: &own,
            streams: &streams,
            in_use: used,
            limit: options.limit,
            resampling: options.resampling,
        };
        Some(ChosenRepair {
            repairer: repairer.to_owned(),
            in_use,
            choice: contending.choose(),
            prices: prices(&contending),
        })
    });
    ScoredRepairs {
        chosen: chosen.collect(),
        scores: scores(variants, outcomes),
    }
}

/// What became of every stream in the hands of every variant.
fn candidates(variants: &[Variant], outcomes: &[MendedStream]) -> Vec<Candidate> {
    let candidate = |variant| Candidate {
        variant,
        judged: vec![None; outcomes.len()],
    };
    let mut candidates: Vec<Candidate> = (0..variants.len()).map(candidate).collect();
    for (stream, outcome) in outcomes.iter().enumerate() {
        // A variant that failed has no output: the damaged stream is lost, or the intact one is changed.
        let failed = if outcome.fault.is_some() {
            Mended::Lost
        } else {
            Mended::FalseRepair
        };
        for fare in &outcome.came {
            candidates[fare.variant].judged[stream] = Some(fare.verdict.unwrap_or(failed));
        }
    }
    candidates
}

fn prices(contending: &Contending<'_>) -> Vec<PricedRepair> {
    let mut limits: Vec<f64> = LIMITS.into_iter().chain([contending.limit]).collect();
    limits.sort_by(f64::total_cmp);
    limits.dedup();
    let price = |limit: f64| PricedRepair {
        limit,
        best: contending.best(limit),
    };
    limits.into_iter().map(price).collect()
}

/// The value of `fault` in rows that count all streams.
pub const ALL_FAULTS: &str = "*";
/// Its value in rows that count intact streams.
const INTACT: &str = "intact";

/// Verdicts, failures and waits of a variant.
type Tallied = (RepairTally, u64, Vec<Delay>);

fn scores(variants: &[Variant], outcomes: &[MendedStream]) -> Vec<RepairScore> {
    let mut tallies: BTreeMap<(usize, &str), Tallied> = BTreeMap::new();
    for outcome in outcomes {
        let fault = outcome.fault.as_deref().unwrap_or(INTACT);
        for fare in &outcome.came {
            for of in [ALL_FAULTS, fault] {
                let (tally, errors, delays) = tallies.entry((fare.variant, of)).or_default();
                match fare.verdict {
                    Some(verdict) => tally.add(verdict),
                    None => *errors += 1,
                }
                delays.extend(fare.delay);
            }
        }
    }
    let score = |((variant, fault), tallied): ((usize, &str), Tallied)| {
        let (tally, errors, delays) = tallied;
        let variant = &variants[variant];
        RepairScore {
            variant: variant.name.clone(),
            repairer: variant.repairer().to_owned(),
            params: variant.params(),
            fault: fault.to_owned(),
            tally,
            errors,
            held: p95(&delays, |delay| delay.most_held),
            silence: p95(&delays, |delay| delay.longest_silence),
        }
    };
    tallies.into_iter().map(score).collect()
}

/// The 95th percentile of a wait, by nearest rank.
fn p95(delays: &[Delay], of: impl Fn(&Delay) -> u64) -> Option<u64> {
    let mut waits: Vec<u64> = delays.iter().map(of).collect();
    waits.sort_unstable();
    let rank = rank(0.95, waits.len() as u64)?;
    waits
        .get(usize::try_from(rank).ok()?.checked_sub(1)?)
        .copied()
}

/// The rows of repairs.parquet. `cases`: the case of each stream.
pub fn repair_rows<'a>(
    variants: &'a [Variant],
    outcomes: &'a [MendedStream],
    cases: &'a [&Case],
) -> impl Iterator<Item = RepairRow> + 'a {
    let text = |text: &str| Some(text.into());
    outcomes.iter().zip(cases).flat_map(move |(outcome, case)| {
        let stream = RepairRow {
            transcript: text(&outcome.id),
            fault: outcome.fault.as_deref().map(Arc::from),
            severity: Some(outcome.severity),
            model: Some(case.model.clone()),
            group: text(case.cluster()),
            split: case.split.clone(),
            text: text(&case.text),
            ..RepairRow::default()
        };
        outcome.came.iter().map(move |fare| {
            let variant = &variants[fare.variant];
            RepairRow {
                variant: text(&variant.name),
                repairer: text(variant.repairer()),
                verdict: text(fare.verdict.map_or("error", Mended::name)),
                detail: text(&fare.detail),
                held: fare.delay.map(|delay| delay.most_held),
                silence: fare.delay.map(|delay| delay.longest_silence),
                ..stream.clone()
            }
        })
    })
}
