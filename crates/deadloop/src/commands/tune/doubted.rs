//! Labels that are in doubt: they say clean, no person has confirmed them, a guard that was not chosen on this text stops the
//! transcript, and the offline finder sees a loop in it.

use deadloop_score::proposing::Reading;
use deadloop_score::{Evidence, JudgeOptions, Truth};

use crate::exit::Outcome;
use crate::replaying::Again;
use deadloop_run::Replayed;

/// Of each case whether its label is in doubt; empty where none is. `cells`: the guards that were not chosen on this text.
/// Only the transcripts that one of them stops against the label are read.
pub(super) fn doubted(
    done: &Replayed,
    evidence: &Evidence<'_>,
    cells: impl Iterator<Item = usize>,
    quiet: bool,
) -> Outcome<Vec<bool>> {
    let asked = asked(evidence, cells, &done.judge);
    if !asked.contains(&true) {
        return Ok(Vec::new());
    }
    let again = Again {
        done,
        what: "looking at wrong alarms",
        interrupted: "interrupted while wrong alarms were looked at; the same command goes on from there",
        quiet,
    };
    let mut doubted = vec![false; asked.len()];
    again.some(
        evidence.cases,
        &|case| asked[case],
        |entry, _| Reading::of(&entry.transcript, None).is_loop(),
        |case, looped| {
            doubted[case] = looped;
            Ok(())
        },
    )?;
    Ok(doubted)
}

/// The cases whose label a loop would put in doubt, and which some cell stops.
fn asked(
    evidence: &Evidence<'_>,
    cells: impl Iterator<Item = usize>,
    judge: &JudgeOptions,
) -> Vec<bool> {
    let is_open = |truth: &Option<Truth>| truth.as_ref().is_some_and(Truth::is_open_to_doubt);
    let cases = evidence.cases.iter().enumerate();
    let open: Vec<usize> = cases
        .filter(|(_, case)| is_open(&case.truth))
        .map(|(i, _)| i)
        .collect();
    let mut asked = vec![false; evidence.cases.len()];
    for cell in cells {
        let outcomes = evidence.outcomes(cell, &open, judge);
        for (case, outcome) in open.iter().zip(outcomes) {
            asked[*case] |= outcome.verdict.is_false();
        }
    }
    asked
}
