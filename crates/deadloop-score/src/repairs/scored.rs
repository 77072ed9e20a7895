//! Counts verdicts by variant and fault, and chooses a variant of each repairer under a limit on harm.

use std::collections::BTreeMap;

use deadloop_replay::repairers::{Delay, Variant};
use serde::{Deserialize, Serialize};

use super::choose::{Candidate, Judged, RepairChoice, RepairTally, best, choose_repair};
use crate::files::repairs::{RepairRow, RepairScore};
use crate::judge::Mended;
use crate::tally::rank;

/// The verdicts on the repairs of one stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MendedStream {
    /// The id of the transcript.
    pub id: String,
    /// The group of the transcript, which stays on one side when streams are held out.
    pub group: String,
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

/// Counts and chooses. `in_use` are names of variants.
pub fn score_repairs(
    variants: &[Variant],
    outcomes: &[MendedStream],
    in_use: &[String],
    limit: f64,
) -> ScoredRepairs {
    let group_of = groups(outcomes);
    let mut candidates: Vec<Candidate> = (0..variants.len())
        .map(|variant| Candidate {
            variant,
            judged: Vec::new(),
        })
        .collect();
    for (stream, outcome) in outcomes.iter().enumerate() {
        for Fare {
            variant, verdict, ..
        } in &outcome.came
        {
            // A variant that failed has no output: the damaged stream is lost, or the intact one is changed.
            let failed = if outcome.fault.is_some() {
                Mended::Lost
            } else {
                Mended::FalseRepair
            };
            let verdict = verdict.unwrap_or(failed);
            candidates[*variant].judged.push(Judged { stream, verdict });
        }
    }
    let scores = scores(variants, outcomes);
    let mut order: Vec<&str> = Vec::new();
    for variant in variants {
        if !order.contains(&variant.repairer()) {
            order.push(variant.repairer());
        }
    }
    let chosen = order.into_iter().filter_map(|repairer| {
        let own: Vec<Candidate> = candidates
            .iter()
            .filter(|c| variants[c.variant].repairer() == repairer && !c.judged.is_empty())
            .cloned()
            .collect();
        let named = |c: &Candidate| in_use.contains(&variants[c.variant].name);
        let used = own.iter().position(named).unwrap_or(0);
        let in_use = own.get(used)?.variant;
        Some(ChosenRepair {
            repairer: repairer.to_owned(),
            in_use,
            choice: choose_repair(&own, &group_of, used, limit),
            prices: prices(&own, limit),
        })
    });
    ScoredRepairs {
        chosen: chosen.collect(),
        scores,
    }
}

/// The number of each outcome's group.
fn groups(outcomes: &[MendedStream]) -> Vec<usize> {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let groups = outcomes.iter().map(|outcome| outcome.group.as_str());
    let number = |group| {
        let next = known.len();
        *known.entry(group).or_insert(next)
    };
    groups.map(number).collect()
}

fn prices(own: &[Candidate], limit: f64) -> Vec<PricedRepair> {
    let mut limits: Vec<f64> = LIMITS.into_iter().chain([limit]).collect();
    limits.sort_by(f64::total_cmp);
    limits.dedup();
    let price = |limit: f64| PricedRepair {
        limit,
        best: best(own, limit, |_| true).map(|(c, tally)| (c.variant, tally)),
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

/// The rows of repairs.parquet.
pub fn repair_rows<'a>(
    variants: &'a [Variant],
    outcomes: &'a [MendedStream],
) -> impl Iterator<Item = RepairRow> + 'a {
    outcomes.iter().flat_map(move |outcome| {
        outcome.came.iter().map(move |fare| RepairRow {
            transcript: outcome.id.clone(),
            fault: outcome.fault.clone(),
            severity: outcome.severity,
            variant: variants[fare.variant].name.clone(),
            verdict: fare.verdict,
            detail: fare.detail.clone(),
            held: fare.delay.map(|delay| delay.most_held),
            silence: fare.delay.map(|delay| delay.longest_silence),
        })
    })
}
