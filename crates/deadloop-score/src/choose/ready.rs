//! Step 1 of a choice: the ready guards.
//!
//! Ready guards were not chosen on this corpus, so they need no folds. A guard must meet the user's limits by estimate.
//! It is rejected by the default limit only if it surely breaks it. On 300 transcripts, even a good guard sometimes has
//! two wrong alarms where the limit allows one. When the estimate had to hold, a guard that saves only 9 % stayed in
//! use in a quarter of the draws of `scripts/advice`. If the incumbent breaks the limit too, a ready guard with no more
//! wrong alarms is a candidate as well, ranked last: rejecting it would keep the worse guard.

use std::collections::BTreeMap;

use super::verdict::{Pick, Provenance};
use super::{Candidate, Chooser, ReadyGuard, Sample, Ship};
use crate::tally::Tally;

impl Chooser<'_> {
    /// Returns the first ready guard, in order of the objective, that is better or safer than the incumbent.
    ///
    /// The candidates are the guards that are not surely over a limit, and those with no more wrong alarms than the
    /// incumbent. A test of the best guard alone would replace less at laxer limits.
    pub(super) fn select_ready(
        &self,
        sample: &Sample,
        incumbent: &Candidate,
        ready: &[ReadyGuard],
    ) -> Option<Pick> {
        if !sample.has_enough_for_safer() {
            return None;
        }
        let options = self.options;
        let now = self.sum(incumbent, &sample.pick).wrong();
        let mut candidates: Vec<(bool, f64, &ReadyGuard)> = Vec::new();
        for guard in ready.iter().filter(|one| one.candidate() != *incumbent) {
            let tally = self.sum(&guard.candidate(), &sample.pick);
            let is_over = options.is_surely_over(&tally);
            if !is_over || tally.wrong() <= now {
                candidates.push((is_over, options.merit(&tally), guard));
            }
        }
        // The sort is stable, so ties go to the first in the list.
        candidates.sort_by(|(over, a, _), (other, b, _)| over.cmp(other).then(b.total_cmp(a)));
        let mut picks = candidates.into_iter().map(|(.., guard)| {
            let trial = self.trial(sample, guard.candidate(), incumbent, options.given);
            Pick::from_trial(&trial, Provenance::Ready, &guard.name)
        });
        picks.find(|pick| pick.ships.is_some())
    }

    /// Chooses for each model, then replaces the settings of single models by a ready guard for all models if one
    /// dominates them.
    ///
    /// A ready guard dominates if neither its objective nor its wrong alarms are worse, and one of the two is better.
    pub(super) fn choose_models(&self, sample: &Sample, all: Pick) -> (Pick, BTreeMap<&str, Pick>) {
        let models = self.choose_per_model(&all);
        if !models.values().any(|part| part.ships.is_some()) {
            return (all, models);
        }
        let options = self.options;
        let of = |i: &usize| &models[&*self.evidence.cases[*i].model].candidate;
        let file: Tally = sample.pick.iter().map(|i| self.sum(of(i), &[*i])).sum();
        let file = (options.merit(&file), file.wrong());
        let dominates = |guard: &&ReadyGuard| {
            let tally = self.sum(&guard.candidate(), &sample.pick);
            let (merit, wrong) = (options.merit(&tally), tally.wrong());
            merit >= file.0
                && wrong <= file.1
                && (merit, wrong) != file
                && options.meets_others(&tally)
        };
        let Some(guard) = options.ready.iter().find(dominates) else {
            return (all, models);
        };
        let all = if all.candidate == guard.candidate() {
            all
        } else {
            let in_use = Candidate::from_ready(self.in_use);
            let mut trial = self.trial(sample, guard.candidate(), &in_use, false);
            let is_safer = trial.test.wrong[0] < trial.test.wrong[1];
            trial.by = Some(if is_safer { Ship::Safer } else { Ship::Better });
            Pick::from_trial(&trial, Provenance::Ready, &guard.name)
        };
        let models = models.into_keys().map(|model| (model, all.for_model()));
        let models = models.collect();
        (all, models)
    }
}
