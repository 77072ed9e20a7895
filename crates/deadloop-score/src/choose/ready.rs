//! Step 1: the ready guards.
//!
//! Ready guards were not chosen on this corpus, so they need no folds. User limits: the estimate must hold. Default
//! limit: reject only if surely broken. On 300 transcripts, even a good guard sometimes has two wrong alarms where the
//! limit allows one. When the estimate had to hold, a guard that saves only 9 % stayed in use in a quarter of the draws
//! of `scripts/advice`. If the incumbent breaks the limit too, a ready guard with no more wrong alarms is a candidate
//! as well, ranked last: rejecting it would keep the worse guard.

use super::verdict::{Pick, Provenance, Replacement};
use super::{Candidate, Chooser, ReadyGuard, Sample, Ship};
use crate::tally::Tally;

impl Chooser<'_> {
    /// Returns the objective of a tally, signed so that more is better.
    fn merit(&self, tally: &Tally) -> f64 {
        let options = self.options;
        let value = options.objective.value(tally, &options.worth);
        value.map_or(f64::NEG_INFINITY, |value| options.objective.sign() * value)
    }

    /// Returns the first ready guard that is better or safer than the incumbent, in order of the objective.
    ///
    /// Candidates are the guards that are not surely over a limit, or have no more wrong alarms than the incumbent.
    /// Testing only the best guard would ship less at laxer limits.
    pub(super) fn best_ready(
        &self,
        sample: &Sample,
        incumbent: &Candidate,
        ready: &[ReadyGuard],
    ) -> Option<Replacement> {
        if !sample.is_enough_for_safer() {
            return None;
        }
        let now = self.sum(incumbent, &sample.pick);
        let mut standing: Vec<(bool, f64, &ReadyGuard)> = Vec::new();
        for guard in ready {
            let is_known = standing.iter().any(|(.., known)| known.cell == guard.cell);
            if is_known || Candidate::from_ready(guard.cell) == *incumbent {
                continue;
            }
            let tally = self.sum(&Candidate::from_ready(guard.cell), &sample.pick);
            let is_over = self.options.is_surely_over(&tally);
            if !is_over || tally.wrong() <= now.wrong() {
                standing.push((is_over, self.merit(&tally), guard));
            }
        }
        // The sort is stable, so ties go to the first in the list.
        standing.sort_by(|(over, a, _), (other, b, _)| over.cmp(other).then(b.total_cmp(a)));
        standing.into_iter().find_map(|(.., guard)| {
            let candidate = Candidate::from_ready(guard.cell);
            let (test, tally) = self.test(sample, &candidate, incumbent);
            let is_within = !self.options.given || self.options.is_within(&tally);
            let by = self.ships(sample, (&test, &tally), is_within)?;
            Some(Replacement {
                candidate,
                source: Provenance::Ready,
                name: guard.name.clone(),
                by,
                test,
            })
        })
    }

    /// Replaces settings of single models by a ready guard for all models that dominates them.
    ///
    /// A ready guard dominates if neither its objective nor its wrong alarms are worse, and one of the two is better.
    pub(super) fn replace_dominated(
        &self,
        sample: &Sample,
        (all, models): (Pick, Vec<(String, Pick)>),
    ) -> (Pick, Vec<(String, Pick)>) {
        if !models.iter().any(|(_, part)| matches!(part, Pick::Won(_))) {
            return (all, models);
        }
        let model_of = |i: usize| &*self.evidence.cases[i].model;
        let standing = |tally: &Tally| (self.merit(tally), tally.wrong());
        let of_model = |(model, part): &(String, Pick)| -> Tally {
            let pick = sample.pick.iter().copied();
            let pick: Vec<usize> = pick.filter(|i| model_of(*i) == model).collect();
            self.sum(part.candidate(), &pick)
        };
        let file = standing(&models.iter().map(of_model).sum());
        let dominates = |guard: &&ReadyGuard| {
            let candidate = Candidate::from_ready(guard.cell);
            let tally = self.sum(&candidate, &sample.pick);
            let (merit, wrong) = standing(&tally);
            merit >= file.0
                && wrong <= file.1
                && (merit, wrong) != file
                && self.options.meets_others(&tally)
        };
        let Some(guard) = self.options.ready.iter().find(dominates) else {
            return (all, models);
        };
        let candidate = Candidate::from_ready(guard.cell);
        let all = if *all.candidate() == candidate {
            all
        } else {
            let (test, _) = self.test(sample, &candidate, &Candidate::from_ready(self.in_use));
            let by = if test.wrong[0] < test.wrong[1] {
                Ship::Safer
            } else {
                Ship::Better
            };
            Pick::Won(Replacement {
                candidate: candidate.clone(),
                source: Provenance::Ready,
                name: guard.name.clone(),
                by,
                test,
            })
        };
        let kept = |(model, _)| (model, Pick::Kept(candidate.clone()));
        (all, models.into_iter().map(kept).collect())
    }
}
