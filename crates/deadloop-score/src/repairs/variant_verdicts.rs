//! Verdicts counted by variant and fault, and the best variant without harm.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use deadloop_replay::repairers::{Delay, Variant};
use serde::{Deserialize, Serialize};

use super::tally::RepairTally;
use crate::files::repairs::RepairRow;
use crate::judge::RepairVerdict;
use crate::tally::rank;
use crate::truth::Case;

/// The verdicts on the repairs of one stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StreamVerdicts {
    /// The id of the transcript.
    pub id: String,
    /// The fault of the stream. `None` if the stream is intact.
    pub fault: Option<String>,
    /// The severity of the fault.
    pub severity: u64,
    /// The verdict on each variant that ran on the stream.
    pub came: Vec<VariantVerdict>,
}

/// The verdict on the repair of a stream by one variant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VariantVerdict {
    /// The index of the variant in the list of variants.
    pub variant: usize,
    /// The verdict. `None` if the variant failed.
    pub verdict: Option<RepairVerdict>,
    /// Details of the verdict, in words.
    pub detail: String,
    /// The delay of text. `None` for events, programs and the unrepaired stream.
    pub delay: Option<Delay>,
}

/// The counts of a variant for one fault, or for all streams.
#[derive(Clone, Debug, PartialEq)]
pub struct RepairScore {
    /// The index of the variant.
    pub variant: usize,
    /// The fault, or [`INTACT`] or [`ALL_FAULTS`].
    pub fault: String,
    /// The counts of verdicts.
    pub tally: RepairTally,
    /// Number of streams on which the variant failed.
    pub errors: u64,
    /// The 95th percentile over streams of the longest run of chars read without output. `None` for events, programs
    /// and the unrepaired stream.
    pub silence: Option<u64>,
}

/// The best variant of a repairer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BestRepair {
    /// The name of the repairer.
    pub repairer: String,
    /// The index of the variant that recovers most streams without harm. `None` if no variant recovers a stream without
    /// harm. Ties go to the variant that leaks least.
    pub variant: Option<usize>,
}

/// The counts of all variants, and the best variant of each repairer.
#[derive(Clone, Debug)]
pub struct ScoredRepairs {
    /// The counts by variant, then by fault.
    pub scores: Vec<RepairScore>,
    /// The best variant of each repairer, in the order of the variants.
    pub best: Vec<BestRepair>,
}

impl ScoredRepairs {
    /// Counts the verdicts on the repairs of streams.
    pub fn from_outcomes(variants: &[Variant], outcomes: &[StreamVerdicts]) -> Self {
        let scores = count_scores(outcomes);
        let mut repairers: Vec<&str> = Vec::new();
        for variant in variants {
            if !repairers.contains(&variant.repairer()) {
                repairers.push(variant.repairer());
            }
        }
        let is_run = |repairer: &&str| {
            let mut read = scores.iter();
            read.any(|score| variants[score.variant].repairer() == *repairer)
        };
        let best = |repairer: &str| BestRepair {
            repairer: repairer.to_owned(),
            variant: find_best(&scores, |variant| variants[variant].repairer() == repairer),
        };
        let best = repairers.into_iter().filter(is_run).map(best).collect();
        Self { scores, best }
    }

    /// Returns the counts of a variant over all streams. `None` if it read no stream.
    pub fn total(&self, variant: usize) -> Option<&RepairScore> {
        let mut scores = self.scores.iter();
        scores.find(|score| score.variant == variant && score.fault == ALL_FAULTS)
    }
}

/// Returns the best variant without harm among those for which `is_own` is true.
///
/// A variant that fails on an intact stream does harm.
fn find_best(scores: &[RepairScore], is_own: impl Fn(usize) -> bool) -> Option<usize> {
    let of = |fault: &'static str| scores.iter().filter(move |score| score.fault == fault);
    let harms = |variant: usize| of(INTACT).any(|s| s.variant == variant && s.errors > 0);
    let recovered = |score: &RepairScore| score.tally.count(RepairVerdict::Recovered);
    let good = of(ALL_FAULTS).filter(|score| {
        is_own(score.variant)
            && score.tally.harm() == 0
            && recovered(score) > 0
            && !harms(score.variant)
    });
    let order = |score: &&RepairScore| {
        let leaked = score.tally.count(RepairVerdict::Leaked);
        (recovered(score), Reverse(leaked), Reverse(score.variant))
    };
    good.max_by_key(order).map(|score| score.variant)
}

/// The value of `fault` in rows that count all streams.
pub const ALL_FAULTS: &str = "*";
/// The value of `fault` in rows that count intact streams.
pub const INTACT: &str = "intact";

/// The verdicts, the number of failures and the longest silences of a variant.
type VariantTally = (RepairTally, u64, Vec<u64>);

fn count_scores(outcomes: &[StreamVerdicts]) -> Vec<RepairScore> {
    let mut tallies: BTreeMap<(usize, &str), VariantTally> = BTreeMap::new();
    for outcome in outcomes {
        let fault = outcome.fault.as_deref().unwrap_or(INTACT);
        for result in &outcome.came {
            for fault in [ALL_FAULTS, fault] {
                let (tally, errors, silences) = tallies.entry((result.variant, fault)).or_default();
                match result.verdict {
                    Some(verdict) => tally.add(verdict),
                    None => *errors += 1,
                }
                silences.extend(result.delay.map(|delay| delay.longest_silence));
            }
        }
    }
    let score = |((variant, fault), counts): ((usize, &str), VariantTally)| {
        let (tally, errors, silences) = counts;
        RepairScore {
            variant,
            fault: fault.to_owned(),
            tally,
            errors,
            silence: percentile_95(silences),
        }
    };
    tallies.into_iter().map(score).collect()
}

/// Returns the 95th percentile of the silences, by nearest rank.
fn percentile_95(mut silences: Vec<u64>) -> Option<u64> {
    silences.sort_unstable();
    let rank = rank(0.95, silences.len() as u64)?;
    silences
        .get(usize::try_from(rank).ok()?.checked_sub(1)?)
        .copied()
}

/// Builds the rows of repairs.parquet. `cases` has the case of each stream, in the order of `outcomes`.
pub fn repair_rows<'a>(
    variants: &'a [Variant],
    outcomes: &'a [StreamVerdicts],
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
            ..RepairRow::default()
        };
        outcome.came.iter().map(move |result| {
            let variant = &variants[result.variant];
            RepairRow {
                variant: text(&variant.name),
                repairer: text(variant.repairer()),
                verdict: text(result.verdict.map_or("error", RepairVerdict::name)),
                detail: text(&result.detail),
                held: result.delay.map(|delay| delay.most_held),
                silence: result.delay.map(|delay| delay.longest_silence),
                ..stream.clone()
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use deadloop_replay::repairers::RepairGrid;

    use super::*;

    fn stream(fault: Option<&str>, came: &[Option<RepairVerdict>]) -> StreamVerdicts {
        let result = |(variant, verdict): (usize, &Option<RepairVerdict>)| VariantVerdict {
            variant,
            verdict: *verdict,
            detail: String::new(),
            delay: None,
        };
        StreamVerdicts {
            id: "a".to_owned(),
            fault: fault.map(str::to_owned),
            severity: 1,
            came: came.iter().enumerate().map(result).collect(),
        }
    }

    /// The best of five variants on a damaged stream, another, and an intact one.
    fn best(
        first: [Option<RepairVerdict>; 5],
        second: [Option<RepairVerdict>; 5],
        intact: [Option<RepairVerdict>; 5],
    ) -> Option<usize> {
        let grid = "[[repairer]]\nname = \"tags\"\npresets = true\n";
        let variants = RepairGrid::parse(grid).expect("a grid").variants;
        assert_eq!(variants.len(), 5);
        let outcomes = [
            stream(Some("unclosed"), &first),
            stream(Some("case"), &second),
            stream(None, &intact),
        ];
        let scored = ScoredRepairs::from_outcomes(&variants, &outcomes);
        assert_eq!(scored.best.len(), 1);
        scored.best[0].variant
    }

    #[test]
    fn the_best_does_no_harm() {
        use RepairVerdict::{FalseRepair, Intact, Leaked, Lost, Recovered, Wrong};
        let of = |all: [RepairVerdict; 5]| all.map(Some);
        let intact = of([Intact, Intact, FalseRepair, Intact, Intact]);
        // The first recovers nothing, the second is wrong once, the third changes what is intact.
        let one = of([Lost, Recovered, Recovered, Recovered, Recovered]);
        let two = of([Lost, Wrong, Recovered, Leaked, Lost]);
        assert_eq!(best(one, two, intact), Some(4));
        // As good: the first of them.
        assert_eq!(
            best(one, of([Lost, Wrong, Lost, Lost, Lost]), intact),
            Some(3)
        );
        // One that fails on an intact stream changes it.
        let mut failed = intact;
        failed[4] = None;
        assert_eq!(best(one, two, failed), Some(3));
        assert_eq!(best(of([Lost; 5]), two, of([FalseRepair; 5])), None);
    }
}
