//! How often two settings are right on the same transcripts: [`Consistency`].

use serde::{Deserialize, Serialize};

use crate::judge::{Outcome, Verdict};

/// Two settings on the transcripts that both were scored on, by who was right: `hit` and `quiet` are right, every
/// other verdict on a loop or a clean transcript is wrong. Transients, unlabelled ones and errors are left out.
///
/// Right or wrong, and not the verdicts themselves: two settings that alarm nowhere share every verdict, but so does a
/// label with itself, and a share of equal verdicts would mostly count how many transcripts are clean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consistency {
    /// Both are right.
    pub both_right: u64,
    /// Only the one is.
    pub only_one: u64,
    /// Only the other is.
    pub only_other: u64,
    /// Both are wrong.
    pub both_wrong: u64,
}

impl Consistency {
    /// Counts outcomes side by side: the same transcripts in the same order.
    pub fn of(
        one: impl IntoIterator<Item = Outcome>,
        other: impl IntoIterator<Item = Outcome>,
    ) -> Self {
        let mut counts = Self::default();
        let both = one.into_iter().zip(other);
        both.for_each(|(one, other)| counts.add(&one, &other));
        counts
    }

    /// Counts the outcomes of one more transcript.
    pub(crate) fn add(&mut self, one: &Outcome, other: &Outcome) {
        match right(one.verdict).zip(right(other.verdict)) {
            Some((true, true)) => self.both_right += 1,
            Some((true, false)) => self.only_one += 1,
            Some((false, true)) => self.only_other += 1,
            Some((false, false)) => self.both_wrong += 1,
            None => {}
        }
    }

    /// Transcripts that both were scored on.
    pub fn scored(&self) -> u64 {
        self.both_right + self.only_one + self.only_other + self.both_wrong
    }

    /// Transcripts on which both are right, or both wrong.
    pub fn agreed(&self) -> u64 {
        self.both_right + self.both_wrong
    }

    /// The share of agreement that two settings, each right as often as these, would have if one knew nothing of the
    /// other; `None` without transcripts.
    ///
    /// Right on 3 and on 2 of 4: 0.75 · 0.5 + 0.25 · 0.5 = 0.5.
    pub fn expected(&self) -> Option<f64> {
        let scored = self.scored();
        let share = |n: u64| n as f64 / scored as f64;
        let (one, other) = (
            share(self.both_right + self.only_one),
            share(self.both_right + self.only_other),
        );
        (scored > 0).then_some(one * other + (1.0 - one) * (1.0 - other))
    }

    /// Cohen's kappa of being right: agreement beyond chance, 1 where they always agree, 0 where they do as often as
    /// chance has it, negative where the one is right when the other is not (Geirhos, Meding and Wichmann 2020: error
    /// consistency). `None` where chance leaves no room: both are always right, or both always wrong.
    ///
    /// 2 both right, 1 only one, 0 only the other, 1 both wrong: (0.75 - 0.5) / (1 - 0.5) = 0.5.
    pub fn kappa(&self) -> Option<f64> {
        let expected = self.expected()?;
        let agreed = self.agreed() as f64 / self.scored() as f64;
        (expected < 1.0).then(|| (agreed - expected) / (1.0 - expected))
    }
}

fn right(verdict: Verdict) -> Option<bool> {
    match verdict {
        Verdict::Hit | Verdict::Quiet => Some(true),
        verdict => (verdict.is_loop() || verdict.is_false()).then_some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Cohen's kappa straight from two lists of ratings.
    fn slow(pairs: &[(bool, bool)]) -> Option<f64> {
        let n = pairs.len() as f64;
        let count = |keep: &dyn Fn(&(bool, bool)) -> bool| {
            pairs.iter().filter(|pair| keep(pair)).count() as f64 / n
        };
        let observed = count(&|pair| pair.0 == pair.1);
        let by_chance: f64 = [true, false]
            .into_iter()
            .map(|rating| count(&|pair| pair.0 == rating) * count(&|pair| pair.1 == rating))
            .sum();
        (!pairs.is_empty() && by_chance < 1.0).then(|| (observed - by_chance) / (1.0 - by_chance))
    }

    fn outcome(right: bool) -> Outcome {
        Outcome {
            verdict: if right { Verdict::Hit } else { Verdict::Miss },
            ..Outcome::error()
        }
    }

    proptest! {
        #[test]
        fn kappa_is_cohens(pairs in proptest::collection::vec(any::<(bool, bool)>(), 0..40)) {
            let (one, other): (Vec<_>, Vec<_>) =
                pairs.iter().map(|(a, b)| (outcome(*a), outcome(*b))).unzip();
            let counts = Consistency::of(one, other);
            prop_assert_eq!(counts.scored(), pairs.len() as u64);
            match (counts.kappa(), slow(&pairs)) {
                (Some(fast), Some(slow)) => prop_assert!((fast - slow).abs() < 1e-9),
                (fast, slow) => prop_assert_eq!(fast, slow),
            }
        }
    }

    #[test]
    fn what_is_not_scored_is_left_out() {
        let with = |verdict| Outcome {
            verdict,
            ..Outcome::error()
        };
        let one: Vec<Outcome> = Verdict::ALL.map(with).to_vec();
        let never = vec![with(Verdict::Quiet); one.len()];
        let counts = Consistency::of(one, never);
        assert_eq!((counts.scored(), counts.both_right), (7, 2), "{counts:?}");
        assert_eq!(Consistency::default().kappa(), None);
    }
}
