//! Doubtful labels: good guards and the offline finder contradict them.

use deadloop_corpus::Entry;
use deadloop_score::choose::{ChooseOptions, ContradictedLabel, find_contradictions, limit_doubt};
use deadloop_score::{Case, Evidence};

use crate::failure::RunResult;
use crate::host::Host;
use crate::replay::ReplayRun;
use crate::replay::second_pass::SecondPass;

/// Returns for each case whether its label is in doubt. Empty if no label is contradicted. The ready guards serve as
/// good guards. Only transcripts with a contradicted label are read.
pub(super) fn find_doubted(
    done: &ReplayRun,
    evidence: &Evidence<'_>,
    options: &ChooseOptions,
    host: &dyn Host,
) -> RunResult<Vec<bool>> {
    let ready = options.ready.iter().map(|ready| ready.cell);
    let found: Vec<ContradictedLabel> = find_contradictions(evidence, ready, &options.judge);
    let wanted = |case: usize| !found[case].is_empty();
    if !(0..found.len()).any(wanted) {
        return Ok(Vec::new());
    }
    let again = SecondPass {
        done,
        what: "looking at doubtful labels",
        interrupted: "interrupted while labels were looked at; the same command goes on from there",
        host,
    };
    let mut doubted = vec![false; found.len()];
    let is_doubted =
        |entry: &Entry, (case, _): (usize, &Case)| found[case].is_doubted(&entry.transcript);
    again.for_each_wanted(evidence.cases, &wanted, is_doubted, |case, is| {
        doubted[case] = is;
        Ok(())
    })?;
    Ok(limit_doubt(evidence.cases, doubted))
}
