//! How sure a difference between two settings is: both saw the same transcripts, so what counts is
//! how each transcript's contribution differs.
//!
//! Variances are over transcripts, not over groups: sums of squares over groups cannot be painted.
//! Where a group's transcripts agree with each other, the standard error is too small; the bootstrap
//! of the reported settings resamples groups and shows by how much.

use deadloop_replay::Region;
use statrs::function::erf::erfc;

use crate::judging::JudgeOptions;
use crate::paint::{Canvas, Painter};
use crate::sheet::Trial;
use crate::tally::Tally;
use crate::verdict::{Outcome, judge};

/// A difference of two scores and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Difference {
    pub(crate) mean: f64,
    pub(crate) error: f64,
}

impl Difference {
    /// From a difference and the weighted sum of squares of what the transcripts contribute to it;
    /// `n` is the sum of the weights. The variance of the sum is n/(n-1) x (squares - mean²/n).
    ///
    /// A transcript of another model with the weight w is w observations with its difference: it
    /// adds w d², where a sum that is merely scaled would add w² d² and look more certain than a
    /// prior of that strength is.
    pub(crate) fn of(mean: f64, squares: f64, n: f64) -> Self {
        let spread = (squares - mean * mean / n).max(0.0);
        let error = if n > 1.0 {
            (spread * n / (n - 1.0)).sqrt()
        } else {
            0.0
        };
        Self { mean, error }
    }

    /// From the contributions themselves.
    pub(crate) fn between(new: &[f64], old: &[f64], weights: &[f64]) -> Self {
        let d = || new.iter().zip(old).map(|(a, b)| a - b).zip(weights);
        let sum = d().map(|(d, w)| w * d).sum();
        let squares = d().map(|(d, w)| w * d * d).sum();
        Self::of(sum, squares, weights.iter().sum())
    }

    /// The probability that the difference is above 0, by the normal approximation; 0.5 for two
    /// settings that did the same everywhere.
    pub(crate) fn probability(&self) -> f64 {
        match self.error > 0.0 {
            true => 0.5 * erfc(-self.mean / self.error / std::f64::consts::SQRT_2),
            false => {
                0.5 + 0.5
                    * self
                        .mean
                        .partial_cmp(&0.0)
                        .map_or(0.0, |o| f64::from(o as i8))
            }
        }
    }
}

/// The squared differences of every cell of a block to one reference setting.
pub(crate) struct Paired {
    base: i64,
    unit: f64,
    canvas: Canvas,
    painter: Painter,
}

/// Steps between 0 and the largest contribution. Squares of differences stay below 2^42, so two
/// million transcripts fit into 64 bits.
const STEPS: f64 = 1_048_576.0;

/// One transcript against a block, and what it is paired with.
pub(crate) struct Pair<'a> {
    pub(crate) trial: Trial<'a>,
    /// What it contributes under the reference setting.
    pub(crate) reference: f64,
    /// The root of its weight.
    pub(crate) root: f64,
}

/// What a transcript contributes: without an alarm, and under each stop; scaled by the root of its
/// weight, so that squares are weighted.
struct Contribution<'a> {
    reference: f64,
    quiet: f64,
    boxes: Vec<(&'a Region, f64)>,
}

impl Paired {
    /// Pairs the cells of a block with a reference. `contribution` is what a transcript with this
    /// tally contributes.
    pub(crate) fn new<'a>(
        shape: &[usize],
        pairs: impl Iterator<Item = Pair<'a>>,
        options: &JudgeOptions,
        contribution: impl Fn(&Tally) -> f64,
    ) -> Self {
        let of = |pair| contributions(pair, options, &contribution);
        let all: Vec<Contribution> = pairs.map(of).collect();
        let each = || {
            all.iter()
                .flat_map(|c| c.boxes.iter().map(|b| b.1).chain([c.quiet, c.reference]))
        };
        let largest = each().fold(0.0, |m: f64, x| m.max(x.abs()));
        let unit = if largest > 0.0 { largest / STEPS } else { 1.0 };
        let canvas = Canvas::new(shape, all.iter().flat_map(|c| c.boxes.iter().map(|b| b.0)));
        let mut painter = Painter::default();
        painter.start(&canvas, 1);
        let mut base = 0;
        for c in &all {
            let steps = |x: f64| (x / unit).round() as i64;
            let squared = |x: f64| (steps(x) - steps(c.reference)).pow(2);
            let quiet = squared(c.quiet);
            base += quiet;
            for (region, x) in &c.boxes {
                painter.add(&canvas, region, &[(0, squared(*x) - quiet)]);
            }
        }
        painter.finish(&canvas);
        Self {
            base,
            unit,
            canvas,
            painter,
        }
    }

    /// The weighted sum of squared differences to the reference.
    pub(crate) fn squares(&self, at: &[u16]) -> f64 {
        let sum = self.base + self.painter.cell(self.canvas.index(at))[0];
        sum as f64 * self.unit * self.unit
    }
}

fn contributions<'a>(
    pair: Pair<'a>,
    options: &JudgeOptions,
    contribution: &impl Fn(&Tally) -> f64,
) -> Contribution<'a> {
    let Pair {
        trial: Trial {
            case,
            decided,
            watch,
        },
        reference,
        root,
    } = pair;
    let of = |outcome: &Outcome| root * contribution(&Tally::of(outcome));
    let reference = root * reference;
    if decided.error.is_some() {
        return Contribution {
            reference,
            quiet: of(&Outcome::error()),
            boxes: Vec::new(),
        };
    }
    let under = |stop| of(&judge(case, watch, stop, options));
    let stops: Vec<f64> = decided.stops.iter().map(|s| under(Some(s))).collect();
    let boxes = decided.regions.iter().map(|r| (r, stops[r.stop])).collect();
    Contribution {
        reference,
        quiet: under(None),
        boxes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_is_the_normal_one() {
        let p = |mean, error| Difference { mean, error }.probability();
        assert!((p(1.281_551_565_544_6, 1.0) - 0.9).abs() < 1e-9);
        assert!((p(-2.0, 2.0) - 0.158_655_253_931_457).abs() < 1e-9);
        assert_eq!((p(0.0, 0.0), p(1.0, 0.0), p(-1.0, 0.0)), (0.5, 1.0, 0.0));
    }

    #[test]
    fn the_error_of_a_sum_is_that_of_its_terms() {
        // Differences 1, 2, 3, 6: sum 12, mean 3, variance 14/3, of the sum 4 x 14/3.
        let (new, old) = ([2.0, 4.0, 6.0, 12.0], [1.0, 2.0, 3.0, 6.0]);
        let d = Difference::between(&new, &old, &[1.0; 4]);
        assert_eq!(d.mean, 12.0);
        assert!((d.error - (56.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        // A weight of 2 is the transcript twice.
        let twice = Difference::between(&new, &old, &[1.0, 1.0, 1.0, 2.0]);
        let (new, old) = ([2.0, 4.0, 6.0, 12.0, 12.0], [1.0, 2.0, 3.0, 6.0, 6.0]);
        assert_eq!(twice, Difference::between(&new, &old, &[1.0; 5]));
    }
}
