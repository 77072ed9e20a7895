//! Step 1: the ready guards. They were not chosen on this corpus, so they need no folds.
//!
//! A limit that the user gave is kept by estimate. The default limit holds a ready guard back only if it is surely over it: on
//! 300 transcripts every good guard has two wrong alarms now and then, where the limit allows one. Asking for the estimate
//! there kept a guard that saves 9 % in a quarter of the draws of `scripts/advice`.

use super::verdict::{Provenance, Won};
use super::{Candidate, Chooser, ReadyGuard, Sample};
use crate::tally::Tally;

impl Chooser<'_> {
    /// Returns the first ready guard that is better or safer than the incumbent, in order of the objective, among those
    /// that are not surely over a limit. Asking the best alone ships less at laxer limits.
    pub(super) fn best_ready(
        &self,
        sample: &Sample,
        incumbent: &Candidate,
        ready: &[ReadyGuard],
    ) -> Option<Won> {
        if !sample.is_enough_for_safer() {
            return None;
        }
        let merit = |tally: &Tally| {
            let value = self.options.objective.value(tally, &self.options.worth);
            value.map_or(f64::NEG_INFINITY, |value| {
                self.options.objective.sign() * value
            })
        };
        let mut standing: Vec<(f64, &ReadyGuard)> = Vec::new();
        for guard in ready {
            let is_known = standing.iter().any(|(_, known)| known.cell == guard.cell);
            if is_known || Candidate::ready(guard.cell) == *incumbent {
                continue;
            }
            let tally: Tally = self
                .tallies(&Candidate::ready(guard.cell), &sample.pick)
                .into_iter()
                .sum();
            if !self.options.is_surely_over(&tally) {
                standing.push((merit(&tally), guard));
            }
        }
        // Stable: of equal ones the first of the list.
        standing.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        standing.into_iter().find_map(|(_, guard)| {
            let candidate = Candidate::ready(guard.cell);
            let (test, tally) = self.test(sample, &candidate, incumbent);
            let is_within = !self.options.given || self.options.is_within(&tally);
            let by = self.ships(sample, (&test, &tally), is_within)?;
            Some(Won {
                candidate,
                source: Provenance::Ready,
                name: guard.name.clone(),
                by,
                test,
            })
        })
    }
}
