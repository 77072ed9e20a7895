//! Asks the offline finder about the labels that guards speak against.

use deadloop_corpus::Entry;
use deadloop_score::proposing::{Reading, propose};
use deadloop_score::{Case, Evidence, against_labels};

use crate::exit::Outcome;
use crate::replaying::Again;
use deadloop_run::Replayed;

/// Of each case whether its label is in doubt; empty where no guard speaks against a label. `cells`: the guards that were not
/// chosen on this text. Only the transcripts that one of them stops against the label are read.
pub(super) fn doubted(
    done: &Replayed,
    evidence: &Evidence<'_>,
    cells: impl Iterator<Item = usize>,
    quiet: bool,
) -> Outcome<Vec<bool>> {
    let places = against_labels(evidence, cells, &done.judge);
    let wanted = |case: usize| !places[case].is_empty();
    if !(0..places.len()).any(wanted) {
        return Ok(Vec::new());
    }
    let again = Again {
        done,
        what: "looking at wrong alarms",
        interrupted: "interrupted while wrong alarms were looked at; the same command goes on from there",
        quiet,
    };
    let mut doubted = vec![false; places.len()];
    let rows = |entry: &Entry, _: &Case| propose(&entry.transcript).rows;
    again.some(evidence.cases, &wanted, rows, |case, rows| {
        let mut places = places[case].iter();
        doubted[case] = places.any(|place| Reading::at(&rows, Some(*place)).is_loop());
        Ok(())
    })?;
    Ok(doubted)
}
