//! Partial pooling over models: how much of what the other models' transcripts say holds for one
//! model, by the moments of how models differ over the whole grid.
//!
//! A share (hits of loops) differs between models as in a beta-binomial: V(k/n) = p(1-p)(rho +
//! (1-rho)/n). A rate (wrong alarms of healthy chars) differs as in a gamma-Poisson: V(k/E) = r/E +
//! phi r². Both are found by equating the spread between models, summed over all cells of the grid,
//! to its expectation; a single cell says next to nothing, and its own variance is never used. The
//! other models then count with the weight that their mean deserves as a guess for this model: 1
//! where models do not differ (one pooled setting), towards 0 where they have nothing in common.

/// Sizes of groups: how many there are, their sum, the sum of their squares.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GroupSizes {
    count: f64,
    sum: f64,
    squares: f64,
}

impl GroupSizes {
    /// Of groups with these sizes; those of size 0 do not count.
    pub fn of(sizes: impl IntoIterator<Item = u64>) -> Self {
        let add = |all: Self, n: f64| Self {
            count: all.count + 1.0,
            sum: all.sum + n,
            squares: all.squares + n * n,
        };
        let sizes = sizes.into_iter().filter(|n| *n > 0).map(|n| n as f64);
        sizes.fold(Self::default(), add)
    }

    /// All but one group of this size.
    #[must_use]
    pub fn without(self, size: u64) -> Self {
        let n = size as f64;
        Self {
            count: self.count - f64::from(u8::from(size > 0)),
            sum: self.sum - n,
            squares: self.squares - n * n,
        }
    }

    /// N - sum n²/N: what a variance between groups is multiplied with in the spread.
    fn between(&self) -> f64 {
        self.sum - self.squares / self.sum.max(1.0)
    }
}

/// The moments of shares over groups, summed over many cells (Kleinman 1973, pooled).
///
/// In one cell S = sum n(p - p̄)² is expected to be p(1-p)[rho·B + (1-rho)(M-1)] with B = N - sum
/// n²/N; sums over cells of S and of p̄(1-p̄) are equated to that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetaBinomial {
    sizes: GroupSizes,
    spread: f64,
    noise: f64,
}

impl BetaBinomial {
    /// For groups of these sizes.
    pub fn new(sizes: GroupSizes) -> Self {
        Self {
            sizes,
            spread: 0.0,
            noise: 0.0,
        }
    }

    /// One more cell: the sum of k²/n over the groups, and the sum of k.
    pub fn add(&mut self, squares: f64, sum: f64) {
        let n = self.sizes.sum.max(1.0);
        let p = sum / n;
        self.spread += squares - sum * p;
        self.noise += p * (1.0 - p);
    }

    /// The correlation within a group, from 0 (groups do not differ) to 1. 1 where nothing can be
    /// told: fewer than two groups, or no cell between 0 and 1.
    pub fn rho(&self) -> f64 {
        let free = self.sizes.count - 1.0;
        let more = self.sizes.between() - free;
        if free < 1.0 || self.noise <= 0.0 || more <= 0.0 {
            return 1.0;
        }
        ((self.spread / self.noise - free) / more).clamp(0.0, 1.0)
    }
}

/// The moments of rates over groups, summed over many cells.
///
/// In one cell S = sum E(r - r̄)² is expected to be (M-1)·r + phi·r²·B with B = T - sum E²/T. Cells
/// are weighted by 1/r̄, so that those that alarm all the time do not decide alone; cells without
/// an event say nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammaPoisson {
    sizes: GroupSizes,
    excess: f64,
    rates: f64,
}

impl GammaPoisson {
    /// For groups of these exposures.
    pub fn new(sizes: GroupSizes) -> Self {
        Self {
            sizes,
            excess: 0.0,
            rates: 0.0,
        }
    }

    /// One more cell: the sum of k²/E over the groups, and the sum of k.
    pub fn add(&mut self, squares: f64, sum: f64) {
        let rate = sum / self.sizes.sum.max(1.0);
        if rate > 0.0 {
            self.excess += (squares - sum * rate) / rate - (self.sizes.count - 1.0);
            self.rates += rate;
        }
    }

    /// The squared coefficient of variation of the rate between groups; 0: groups do not differ.
    /// Infinite where nothing can be told: fewer than two groups, or no event anywhere.
    pub fn phi(&self) -> f64 {
        let scale = self.sizes.between() * self.rates;
        if self.sizes.count < 2.0 || scale <= 0.0 {
            return f64::INFINITY;
        }
        (self.excess / scale).max(0.0)
    }
}

/// How much the other models count for one model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Borrowing {
    /// See [`BetaBinomial::rho`].
    pub rho: f64,
    /// See [`GammaPoisson::phi`].
    pub phi: f64,
    /// Loops of the other models.
    pub loops: GroupSizes,
    /// Healthy chars of the other models.
    pub chars: GroupSizes,
    /// Healthy chars of all models.
    pub all_chars: f64,
}

impl Borrowing {
    /// What one loop of another model counts, beside one of this model's own: 1/(1 + others' loops
    /// per loop of the prior's strength). The prior's strength is (1-rho)/V loops, where V =
    /// rho(1 + sum n²/N²) + (1-rho)/N is the variance of this model's share about the others' mean.
    pub fn loop_weight(&self) -> f64 {
        let GroupSizes { sum, squares, .. } = self.loops;
        if sum <= 0.0 || self.rho >= 1.0 {
            return 0.0;
        }
        let variance = self.rho * (1.0 + squares / (sum * sum)) + (1.0 - self.rho) / sum;
        (1.0 - self.rho) / variance / sum
    }

    /// The weight of one healthy char of another model, for a setting with `wrong` wrong alarms on
    /// all models. The prior's strength is r/V chars, where V = phi·r²(1 + sum E²/T²) + r/T. Half an
    /// event is added to the rate, so that a rate of 0 is not taken for certain.
    pub fn char_weight(&self, wrong: u64) -> f64 {
        let GroupSizes { sum, squares, .. } = self.chars;
        if sum <= 0.0 || self.phi.is_infinite() {
            return 0.0;
        }
        let rate = (wrong as f64 + 0.5) / self.all_chars.max(1.0);
        1.0 / (1.0 + sum * self.phi * rate * (1.0 + squares / (sum * sum)))
    }

    /// The strength of the prior: in loops, and in healthy chars for a setting without a wrong
    /// alarm.
    pub fn strength(&self) -> (f64, f64) {
        (
            self.loop_weight() * self.loops.sum,
            self.char_weight(0) * self.chars.sum,
        )
    }
}
