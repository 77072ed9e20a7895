//! Labels in doubt: unconfirmed labels that guards and the offline finder contradict.
//!
//! A wrong label makes every good guard seem to err: three wrong labels in a hundred put the recommended guard over the
//! default limit. An unconfirmed label is in doubt if good guards contradict it and the offline finder agrees with
//! the guards. The finder uses no detector.

use std::collections::BTreeSet;

use deadloop_replay::corpus::Transcript;
use deadloop_replay::detect::Channel;

use crate::judge::{JudgeOptions, Verdict};
use crate::proposals::sees_loop;
use crate::tally::Evidence;
use crate::truth::{Case, Class};

/// A channel and a position in this channel, in its unit.
type ChannelPosition = (Channel, u64);

/// Positions at which good guards contradict an unconfirmed label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContradictedLabel {
    /// Positions of alarms outside the labelled loops.
    pub alarms: BTreeSet<ChannelPosition>,
    /// The onset, middle and end of each labelled loop without an alarm.
    pub loops: BTreeSet<ChannelPosition>,
}

impl ContradictedLabel {
    /// Returns whether no guard contradicts the label.
    pub fn is_empty(&self) -> bool {
        self.alarms.is_empty() && self.loops.is_empty()
    }

    /// Returns whether the offline finder contradicts the label too. It finds a loop at one of the
    /// [`alarms`](Self::alarms), or none at any of the [`loops`](Self::loops).
    pub fn is_doubted(&self, transcript: &Transcript) -> bool {
        self.is_doubted_by(|places| sees_loop(transcript, places))
    }

    /// Returns whether `sees_loop` contradicts the label too. `sees_loop` returns whether there is a loop at one of
    /// some positions.
    pub fn is_doubted_by(&self, sees_loop: impl Fn(&BTreeSet<ChannelPosition>) -> bool) -> bool {
        !self.alarms.is_empty() && sees_loop(&self.alarms)
            || !self.loops.is_empty() && !sees_loop(&self.loops)
    }
}

/// Returns `doubted` without the doubts about a class of labels, if more than half of the class is in doubt.
///
/// The classes are the labels with a loop and the labels without one. So many labels are not mistakes. They follow a
/// different definition of a loop than the guards and the finder.
pub fn limit_doubt(cases: &[Case], mut doubted: Vec<bool>) -> Vec<bool> {
    for loops in [true, false] {
        let has_loop = |i: usize| cases[i].truth.as_ref().map(|t| t.first_loop().is_some());
        let of = (0..doubted.len()).filter(|i| has_loop(*i) == Some(loops));
        let of: Vec<usize> = of.collect();
        let in_doubt = of.iter().filter(|i| doubted[**i]).count();
        if 2 * in_doubt > of.len() {
            of.iter().for_each(|i| doubted[*i] = false);
        }
    }
    doubted
}

/// Returns for each case the positions at which the guards `cells` contradict its label. A confirmed label has none.
pub fn find_contradictions(
    evidence: &Evidence<'_>,
    cells: impl Iterator<Item = usize>,
    judge: &JudgeOptions,
) -> Vec<ContradictedLabel> {
    let cells: BTreeSet<usize> = cells.collect();
    let of = |i: usize| {
        let mut found = ContradictedLabel::default();
        let truth = evidence.cases[i].truth.as_ref();
        let Some(truth) = truth.filter(|truth| !truth.reviewed) else {
            return found;
        };
        let mut is_found = cells.is_empty();
        for cell in &cells {
            let cell = evidence.plan.cell(*cell);
            let trial = evidence.trial(cell.block, i);
            let verdict = trial.outcome(&cell.at, judge).verdict;
            is_found |= verdict != Verdict::Miss;
            if verdict.is_false() {
                let stop = trial.decided.stop(&cell.at);
                found.alarms.extend(stop.map(|stop| {
                    let at = stop.exact.seen.units(stop.channel);
                    (stop.channel, at.count())
                }));
            }
        }
        if !is_found {
            let spans = truth.spans.iter().filter(|span| span.class == Class::Loop);
            found.loops.extend(spans.flat_map(|span| {
                let (from, to) = (span.onset.count(), span.end.count());
                [from, u64::midpoint(from, to), to.saturating_sub(1)].map(|at| (span.channel, at))
            }));
        }
        found
    };
    (0..evidence.cases.len()).map(of).collect()
}
