//! How sure a difference between two settings is: both saw the same transcripts, so what counts is
//! how each transcript's contribution differs.
//!
//! Variances are over transcripts, not over groups: sums of squares over groups cannot be painted.
//! Where a group's transcripts agree with each other, the standard error is too small; the bootstrap
//! of the reported settings resamples groups and shows by how much.

use std::ops::Sub;

use deadloop_replay::Region;

use super::ledger::Added;
use crate::measure::{TERMS, Terms};
use crate::tally::{Canvas, Painter};

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
}

/// One transcript against a block, and what it is paired with: what it adds to the score without an
/// alarm, under each stop, and under the reference setting.
pub(crate) struct Pair<'a> {
    pub(crate) regions: &'a [Region],
    pub(crate) added: Added<'a>,
    pub(crate) reference: Terms,
    /// The root of its weight.
    pub(crate) root: f64,
}

/// For every cell of a block, the [`Moments`] of its differences to one reference setting.
///
/// What the moments weigh depends on the counts near which the score is taken, they do not: so those
/// of all transcripts, less those of one model, serve the choice without that model.
pub(crate) struct Paired {
    base: Moments,
    /// The products that are painted; the others are 0.
    painted: Vec<usize>,
    canvas: Canvas,
    painter: Painter,
}

/// The terms of each product of two.
const PRODUCTS: [(usize, usize); 10] = {
    let mut all = [(0, 0); 10];
    let (mut at, mut i) = (0, 0);
    while i < TERMS {
        let mut j = i;
        while j < TERMS {
            all[at] = (i, j);
            (at, j) = (at + 1, j + 1);
        }
        i += 1;
    }
    all
};

/// Weighted sums over transcripts of the products of two terms' differences, in steps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moments([i64; PRODUCTS.len()]);

impl Moments {
    fn of(d: &[i64; TERMS]) -> Self {
        Self(PRODUCTS.map(|(i, j)| d[i] * d[j]))
    }

    fn zip(self, other: Self, of: impl Fn(i64, i64) -> i64) -> Self {
        Self(std::array::from_fn(|i| of(self.0[i], other.0[i])))
    }

    /// The sum of the squared differences of the score, near the counts that `slopes` are of.
    pub(crate) fn squares(&self, slopes: &Terms, steps: &Steps) -> f64 {
        let slope = |i: usize| slopes[i] * steps.0[i];
        let terms = PRODUCTS.iter().zip(self.0).map(|((i, j), sum)| {
            let twice = if i == j { 1.0 } else { 2.0 };
            twice * slope(*i) * slope(*j) * sum as f64
        });
        terms.sum()
    }
}

impl Sub for Moments {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

/// What a step of each term is, so that sums are exact: in any order, and less one another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps(Terms);

impl Steps {
    /// A millionth of the largest. Squares of differences stay below 2^42, so two million
    /// transcripts fit into 64 bits.
    pub(crate) fn of(largest: &Terms) -> Self {
        Self(largest.map(|x| if x > 0.0 { x / 1_048_576.0 } else { 1.0 }))
    }

    /// Terms in steps, times the root of a weight.
    fn of_terms(&self, terms: &Terms, root: f64) -> [i64; TERMS] {
        std::array::from_fn(|i| match terms[i] {
            // Most are; rounding costs more than asking.
            0.0 => 0,
            x => (root * x / self.0[i]).round() as i64,
        })
    }
}

/// What the transcripts add, before it is painted.
#[derive(Default)]
struct Draft<'a> {
    base: Moments,
    /// Whether some difference of a term is not 0.
    terms: [bool; TERMS],
    /// The boxes whose stop changes something, and what.
    strokes: Vec<(&'a Region, Moments)>,
}

impl<'a> Draft<'a> {
    fn add(&mut self, pair: &Pair<'a>, steps: &Steps, changes: &mut Vec<Moments>) {
        let reference = steps.of_terms(&pair.reference, pair.root);
        let difference = |terms: &Terms| {
            let terms = steps.of_terms(terms, pair.root);
            std::array::from_fn(|i| terms[i] - reference[i])
        };
        let quiet: [i64; TERMS] = difference(pair.added.quiet);
        let without = Moments::of(&quiet);
        self.base = self.base.zip(without, |a, b| a + b);
        changes.clear();
        for stop in pair.added.stops {
            let with: [i64; TERMS] = difference(stop);
            for (i, some) in self.terms.iter_mut().enumerate() {
                *some |= with[i] != 0 || quiet[i] != 0;
            }
            changes.push(Moments::of(&with) - without);
        }
        for region in pair.regions {
            let change = changes[region.stop];
            if change.0.iter().any(|n| *n != 0) {
                self.strokes.push((region, change));
            }
        }
    }

    /// The products that some stop changes. Most scores change in one term: what they are shares of is there whatever
    /// a setting does.
    fn changing(&self) -> Vec<usize> {
        let changes = |product: &usize| {
            let (i, j) = PRODUCTS[*product];
            self.terms[i] && self.terms[j]
        };
        (0..PRODUCTS.len()).filter(changes).collect()
    }
}

impl Paired {
    /// Pairs the cells of a block with a reference.
    pub(crate) fn new<'a>(
        shape: &[usize],
        pairs: impl Iterator<Item = Pair<'a>>,
        steps: &Steps,
    ) -> Self {
        let mut draft = Draft::default();
        let mut changes = Vec::new();
        for pair in pairs {
            draft.add(&pair, steps, &mut changes);
        }
        let painted = draft.changing();
        let canvas = Canvas::new(shape, draft.strokes.iter().map(|(region, _)| *region));
        let mut painter = Painter::default();
        painter.start(&canvas, painted.len());
        let mut amounts = Vec::new();
        for (region, change) in &draft.strokes {
            amounts.clear();
            amounts.extend(painted.iter().map(|product| change.0[*product]).enumerate());
            painter.add(&canvas, region, &amounts);
        }
        painter.finish(&canvas);
        Self {
            base: draft.base,
            painted,
            canvas,
            painter,
        }
    }

    /// Those of one cell.
    pub(crate) fn moments(&self, at: &[u16]) -> Moments {
        let mut moments = self.base;
        let painted = self.painter.cell(self.canvas.index(at));
        for (product, sum) in self.painted.iter().zip(painted) {
            moments.0[*product] += sum;
        }
        moments
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::measure::linear;

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

    /// One transcript of a generated block: its regions, what it adds, which stop its reference has.
    #[derive(Clone, Debug)]
    struct Made {
        regions: Vec<Region>,
        quiet: Terms,
        stops: Vec<Terms>,
        reference: Terms,
    }

    /// One axis of 6 values, cut in up to three pieces.
    fn made() -> impl Strategy<Value = Made> {
        let terms = || prop::array::uniform2(-50_i8..50).prop_map(|t| t.map(f64::from));
        let cuts = prop::collection::btree_set(0_u16..=6, 0..4);
        let stops = prop::collection::vec(terms(), 4);
        (cuts, terms(), stops, terms()).prop_map(|(cuts, quiet, stops, reference)| {
            let cuts: Vec<u16> = cuts.into_iter().collect();
            let region = |(stop, pair): (usize, &[u16])| Region {
                lo: vec![pair[0]],
                hi: vec![pair[1]],
                stop,
            };
            let regions = cuts.windows(2).enumerate().map(region).collect();
            Made {
                regions,
                quiet,
                stops,
                reference,
            }
        })
    }

    fn paired(all: &[Made], steps: &Steps) -> Paired {
        let pairs = all.iter().map(|made| Pair {
            regions: &made.regions,
            added: Added {
                quiet: &made.quiet,
                stops: &made.stops,
            },
            reference: made.reference,
            root: 1.0,
        });
        Paired::new(&[6], pairs, steps)
    }

    /// The squares of a cell, the slow way.
    fn squares(all: &[Made], at: u16, slopes: &Terms) -> f64 {
        let one = |made: &Made| {
            let holds = |r: &&Region| r.lo[0] <= at && at < r.hi[0];
            let region = made.regions.iter().find(holds);
            let terms = region.map_or(&made.quiet, |r| &made.stops[r.stop]);
            (linear(terms, slopes) - linear(&made.reference, slopes)).powi(2)
        };
        all.iter().map(one).sum()
    }

    proptest! {
        #[test]
        fn the_squares_are_those_of_the_differences(
            all in prop::collection::vec(made(), 1..20),
            own in 0_usize..20,
            slopes in prop::array::uniform2(-3_i8..3).prop_map(|s| s.map(f64::from)),
        ) {
            let steps = Steps::of(&[50.0; TERMS]);
            let own = own.min(all.len());
            let [on, but] = [&all[..], &all[..own]].map(|some| paired(some, &steps));
            for at in 0..6 {
                let moments = on.moments(&[at]) - but.moments(&[at]);
                let (got, want) = (moments.squares(&slopes, &steps), squares(&all[own..], at, &slopes));
                prop_assert!((got - want).abs() <= 1e-4 * want + 0.02, "{got} is not {want}");
                if own == all.len() {
                    prop_assert_eq!(got, 0.0, "what is taken away leaves nothing");
                }
            }
        }
    }
}
