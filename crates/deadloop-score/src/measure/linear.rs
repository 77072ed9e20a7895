//! How much one transcript moves a measure: its linear form near the counts of a corpus.

use super::blended::blended;
use super::entry::Measure;
use super::formula::{RATIOS, Worth};
use crate::choose::blend::Blend;
use crate::tally::Tally;

/// The numerator and the denominator of each ratio of a score, near which the score is taken to be linear.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At([(f64, f64); RATIOS]);

/// What one transcript adds to the numerator and the denominator of each ratio of a score: n, d, n, d.
/// The linear form of the score is the sum of these, each times its slope.
pub(crate) type Terms = [f64; TERMS];

/// The length of [`Terms`].
pub(crate) const TERMS: usize = 2 * RATIOS;

impl Measure {
    /// Whether it can be an objective: only a weighted sum of ratios can.
    pub fn can_be_objective(&self) -> bool {
        self.formula.joined.factors().is_some()
    }

    /// The place near which influences are computed: these counts.
    pub(crate) fn at(&self, blend: &Blend, worth: &Worth) -> At {
        let mut at = [(0.0, 0.0); RATIOS];
        for (part, ratio) in at.iter_mut().zip(self.formula.ratios) {
            *part = blended(ratio, blend, worth);
        }
        At(at)
    }

    /// What a transcript with the tally `one` adds.
    pub(crate) fn terms(&self, one: &Tally, worth: &Worth) -> Terms {
        let mut terms = [0.0; TERMS];
        for (pair, ratio) in terms.chunks_exact_mut(2).zip(self.formula.ratios) {
            let (n, d) = ratio.parts(one, worth);
            pair.copy_from_slice(&[n, d]);
        }
        terms
    }

    /// How much one more of each term changes the score near `at`: for a ratio N/D, 1/D for n and -N/D² for d.
    /// The sign is turned where less is better.
    pub(crate) fn slopes(&self, at: &At) -> Terms {
        let factors = self.formula.joined.factors().unwrap_or_default();
        let mut slopes = [0.0; TERMS];
        let ratios = self.formula.ratios.iter().zip(at.0).zip(factors);
        for (pair, ((ratio, (n, d)), factor)) in slopes.chunks_exact_mut(2).zip(ratios) {
            if d > 0.0 {
                let scale = self.sign() * factor * ratio.scale;
                pair.copy_from_slice(&[scale / d, -scale * (n / d) / d]);
            }
        }
        slopes
    }

    /// What one transcript contributes to the score near `at` (the infinitesimal jackknife): for a ratio N/D,
    /// (n - (N/D)·d) / D. Differences of these sums are differences of the score, to first order; their
    /// variance is the score's. The sign is turned where less is better.
    pub(crate) fn influence(&self, one: &Tally, at: &At, worth: &Worth) -> f64 {
        linear(&self.terms(one, worth), &self.slopes(at))
    }
}

/// The sum of the terms, each times its slope.
pub(crate) fn linear(terms: &Terms, slopes: &Terms) -> f64 {
    terms.iter().zip(slopes).map(|(x, slope)| x * slope).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::blend::Weights;
    use crate::measure::table::*;
    use crate::tally::Count;

    fn tally(counts: &[(Count, i64)]) -> Tally {
        let mut tally = Tally::default();
        counts.iter().for_each(|(count, n)| tally[*count] = *n);
        tally
    }

    fn some() -> Tally {
        tally(&[
            (Count::Hit, 6),
            (Count::Stale, 1),
            (Count::Premature, 1),
            (Count::Miss, 2),
            (Count::FalseAlarm, 1),
            (Count::Quiet, 19),
            (Count::Exposure, 106_900),
            (Count::Lost, 3100),
            (Count::Saved, 10_100),
            (Count::LoopChars, 20_000),
            (Count::Delay, 9900),
            (Count::CutAt, 900),
            (Count::FalseAt, 2000),
            (Count::InPeriods, 5),
            (Count::Within500, 6),
            (Count::Within5, 6),
        ])
    }

    #[test]
    fn the_linear_form_is_the_metric() {
        let worth = Worth::default();
        for metric in MEASURES.into_iter().filter(|m| m.can_be_objective()) {
            let factors = metric.formula.joined.factors().unwrap();
            let ratios = metric.formula.ratios.iter().zip(factors);
            let sum: f64 = ratios
                .map(|(ratio, factor)| factor * ratio.value(&some(), &worth).unwrap())
                .sum();
            let value = metric.value(&some(), &worth).unwrap();
            assert!(
                (sum - value).abs() < 1e-9 * value.abs().max(1.0),
                "{metric:?}: {sum} {value}"
            );
        }
    }

    #[test]
    fn influences_predict_the_effect_of_one_transcript() {
        let worth = Worth::default();
        let big = (0..200).fold(Tally::default(), |sum, _| sum + some());
        let one = tally(&[
            (Count::Hit, 1),
            (Count::Saved, 1500),
            (Count::LoopChars, 2000),
            (Count::Exposure, 900),
            (Count::Delay, 500),
        ]);
        for metric in [&RECALL, &F1, &SAVED, &DELAY, &FA_PER_MCHAR] {
            let merit = |t: &Tally| metric.merit(&Blend::whole(t), &worth);
            let real = merit(&(big + one)) - merit(&big);
            let at = metric.at(&Blend::whole(&big), &worth);
            let linear = metric.influence(&one, &at, &worth);
            assert!(
                (real - linear).abs() <= 0.01 * real.abs(),
                "{metric:?}: {real} {linear}"
            );
        }
    }

    /// The rest with a weight of 1 is the sum, of 0 nothing, of 1/2 a corpus with half of it.
    #[test]
    fn a_blend_is_the_weighted_sum() {
        let worth = Worth::default();
        let rest = tally(&[
            (Count::Hit, 10),
            (Count::Miss, 10),
            (Count::FalseAlarm, 4),
            (Count::Quiet, 16),
            (Count::Exposure, 200_000),
            (Count::Saved, 8000),
            (Count::LoopChars, 40_000),
            (Count::Delay, 32_000),
            (Count::FalseAt, 9000),
        ]);
        for metric in MEASURES {
            let at = |weight: f64, own: Tally| {
                let weights = Weights {
                    loops: weight,
                    clean: weight,
                };
                let blend = Blend { own, rest, weights };
                metric.smoothed(&blend, &worth)
            };
            let value = |t: Tally| metric.value(&t, &worth);
            let same = |a: Option<f64>, b: Option<f64>| {
                let (a, b) = (a.unwrap(), b.unwrap());
                assert!(
                    (a - b).abs() < 1e-9 * b.abs().max(1.0),
                    "{metric:?}: {a} {b}"
                );
            };
            same(at(0.0, some()), value(some()));
            same(at(1.0, some()), value(some() + rest));
            same(
                at(0.5, some() + some()),
                value(some() + some() + some() + some() + rest),
            );
        }
    }
}
