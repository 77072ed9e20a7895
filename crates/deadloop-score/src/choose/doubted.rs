//! Labels in doubt. A label may be wrong, and then every good guard seems to have wrong alarms: three labels of a hundred that
//! are wrong put the recommended guard over the default limit. So a label that no person has confirmed is in doubt where a
//! guard stops the transcript against it and the offline finder, which asks no detector, sees a loop at that alarm.

use std::collections::BTreeSet;

use deadloop_replay::detect::Channel;

use crate::judge::JudgeOptions;
use crate::tally::Evidence;

/// Of each case whose label no person has confirmed, the places at which some of the cells stop it against that label: the
/// channel, and the position in it, in its unit. Where the finder sees a loop at one of them ([`sees_loop`](crate::proposing::sees_loop)), the label is in
/// doubt.
pub fn against_labels(
    evidence: &Evidence<'_>,
    cells: impl Iterator<Item = usize>,
    judge: &JudgeOptions,
) -> Vec<BTreeSet<(Channel, u64)>> {
    let mut places = vec![BTreeSet::new(); evidence.cases.len()];
    let is_open = |i: &usize| {
        let truth = evidence.cases[*i].truth.as_ref();
        truth.is_some_and(|truth| !truth.reviewed)
    };
    let open: Vec<usize> = (0..evidence.cases.len()).filter(is_open).collect();
    for cell in cells.collect::<BTreeSet<usize>>() {
        let cell = evidence.plan.cell(cell);
        for case in &open {
            let trial = evidence.trial(cell.block, *case);
            if !trial.outcome(&cell.at, judge).verdict.is_false() {
                continue;
            }
            let stop = trial.decided.stop(&cell.at);
            places[*case].extend(stop.map(|stop| {
                let at = stop.exact.seen.units(stop.channel);
                (stop.channel, at.count())
            }));
        }
    }
    places
}
