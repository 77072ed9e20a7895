//! Asks the offline finder about the labels that guards speak against.

use deadloop_corpus::Entry;
use deadloop_score::proposing::sees_loop;
use deadloop_score::{Case, ChooseOptions, Evidence, against_labels};

use crate::again::Again;
use crate::failure::RunResult;
use crate::host::Host;
use crate::replay::Replayed;

/// Of each case whether its label is in doubt; empty where no guard speaks against a label. Asked are the guard in use and the
/// ready ones, which were not chosen on this text. Only the transcripts that one of them stops against the label are read.
pub fn doubted(
    done: &Replayed,
    evidence: &Evidence<'_>,
    in_use: usize,
    options: &ChooseOptions,
    host: &dyn Host,
) -> RunResult<Vec<bool>> {
    let unchosen = options.ready.iter().map(|ready| ready.cell);
    let places = against_labels(evidence, unchosen.chain([in_use]), &options.judge);
    let wanted = |case: usize| !places[case].is_empty();
    if !(0..places.len()).any(wanted) {
        return Ok(Vec::new());
    }
    let again = Again {
        done,
        what: "looking at wrong alarms",
        interrupted: "interrupted while wrong alarms were looked at; the same command goes on from there",
        host,
    };
    let mut doubted = vec![false; places.len()];
    let seen =
        |entry: &Entry, (case, _): (usize, &Case)| sees_loop(&entry.transcript, &places[case]);
    again.some(evidence.cases, &wanted, seen, |case, seen| {
        doubted[case] = seen;
        Ok(())
    })?;
    Ok(doubted)
}
