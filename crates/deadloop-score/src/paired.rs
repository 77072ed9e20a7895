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
    /// From the sum and the sum of squares of `n` contributions: the variance of the sum is n/(n-1)
    /// x (sum of squares - sum² / n).
    pub(crate) fn of(sum: f64, squares: f64, n: usize) -> Self {
        let n = n as f64;
        let spread = (squares - sum * sum / n).max(0.0);
        let error = if n > 1.0 {
            (spread * n / (n - 1.0)).sqrt()
        } else {
            0.0
        };
        Self { mean: sum, error }
    }

    /// From the contributions themselves.
    pub(crate) fn between(new: &[f64], old: &[f64]) -> Self {
        let d = || new.iter().zip(old).map(|(a, b)| a - b);
        Self::of(d().sum(), d().map(|d| d * d).sum(), new.len())
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

/// The differences of every cell of a block to one reference setting.
pub(crate) struct Paired {
    base: [i64; 2],
    unit: f64,
    cases: usize,
    canvas: Canvas,
    painter: Painter,
}

/// Steps between 0 and the largest contribution. Squares of differences stay below 2^42, so two
/// million transcripts fit into 64 bits.
const STEPS: f64 = 1_048_576.0;

/// What a transcript contributes: without an alarm, and under each stop.
struct Contribution<'a> {
    quiet: f64,
    boxes: Vec<(&'a Region, f64)>,
}

impl Paired {
    /// Pairs the cells of a block with a reference whose contribution to the `i`-th trial is
    /// `reference[i]`. `contribution` is what a transcript with this tally contributes.
    pub(crate) fn new<'a>(
        shape: &[usize],
        trials: impl Iterator<Item = Trial<'a>>,
        options: &JudgeOptions,
        reference: &[f64],
        contribution: impl Fn(&Tally) -> f64,
    ) -> Self {
        let of = |trial| contributions(trial, options, &contribution);
        let all: Vec<Contribution> = trials.map(of).collect();
        let each = || {
            all.iter()
                .flat_map(|c| c.boxes.iter().map(|b| b.1).chain([c.quiet]))
        };
        let largest = each()
            .chain(reference.iter().copied())
            .fold(0.0, |m: f64, x| m.max(x.abs()));
        let unit = if largest > 0.0 { largest / STEPS } else { 1.0 };
        let canvas = Canvas::new(shape, all.iter().flat_map(|c| c.boxes.iter().map(|b| b.0)));
        let mut painter = Painter::default();
        painter.start(&canvas, 2);
        let mut base = [0, 0];
        for (c, reference) in all.iter().zip(reference) {
            let steps = |x: f64| (x / unit).round() as i64 - (reference / unit).round() as i64;
            let quiet = steps(c.quiet);
            base = [base[0] + quiet, base[1] + quiet * quiet];
            for (region, x) in &c.boxes {
                let d = steps(*x);
                painter.add(
                    &canvas,
                    region,
                    &[(0, d - quiet), (1, d * d - quiet * quiet)],
                );
            }
        }
        painter.finish(&canvas);
        Self {
            base,
            unit,
            cases: all.len(),
            canvas,
            painter,
        }
    }

    /// Cell minus reference.
    pub(crate) fn difference(&self, at: &[u16]) -> Difference {
        let sums = self.painter.cell(self.canvas.index(at));
        let sum = (self.base[0] + sums[0]) as f64 * self.unit;
        let squares = (self.base[1] + sums[1]) as f64 * self.unit * self.unit;
        Difference::of(sum, squares, self.cases)
    }
}

fn contributions<'a>(
    trial: Trial<'a>,
    options: &JudgeOptions,
    contribution: &impl Fn(&Tally) -> f64,
) -> Contribution<'a> {
    let Trial {
        case,
        decided,
        watch,
    } = trial;
    if decided.error.is_some() {
        let quiet = contribution(&Tally::of(&Outcome::error()));
        return Contribution {
            quiet,
            boxes: Vec::new(),
        };
    }
    let of = |stop| contribution(&Tally::of(&judge(case, watch, stop, options)));
    let stops: Vec<f64> = decided.stops.iter().map(|stop| of(Some(stop))).collect();
    let boxes = decided.regions.iter().map(|r| (r, stops[r.stop])).collect();
    Contribution {
        quiet: of(None),
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
        let d = Difference::between(&[2.0, 4.0, 6.0, 12.0], &[1.0, 2.0, 3.0, 6.0]);
        assert_eq!(d.mean, 12.0);
        assert!((d.error - (56.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    }
}
