//! Closed intervals for counts: Wilson, exact Poisson, and one-sided bounds of proportions.
//!
//! The quantiles of the beta and gamma distributions are found by bisection on `statrs`'s distribution functions. This
//! is slower than Newton's method, but it ends at the last bit on any input.

use std::collections::HashMap;

use statrs::function::beta::checked_beta_reg;
use statrs::function::gamma::checked_gamma_lr;

/// The 97.5 % quantile of the normal distribution, for two-sided 95 % intervals.
const Z95: f64 = 1.959_963_984_540_054;

/// An interval between a lower and an upper bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower bound.
    pub lo: f64,
    /// The upper bound.
    pub hi: f64,
}

impl Interval {
    /// Applies an increasing function to both bounds.
    pub(crate) fn map(self, convert: impl Fn(f64) -> f64) -> Self {
        Self {
            lo: convert(self.lo),
            hi: convert(self.hi),
        }
    }
}

/// Returns the 95 % Wilson score interval of the proportion `k` of `n` (Wilson 1927). `None` if `n` is 0.
///
/// The interval of 5 of 10 is 0.2366 to 0.7634, and that of 0 of 10 is 0 to 0.2775.
pub fn wilson(k: u64, n: u64) -> Option<Interval> {
    wilson_fractional(k as f64, n as f64)
}

/// Returns the 95 % Wilson score interval of fractional counts. `None` if `n` is 0.
pub(crate) fn wilson_fractional(k: f64, n: f64) -> Option<Interval> {
    if n <= 0.0 {
        return None;
    }
    let p = k / n;
    let z2 = Z95 * Z95;
    let centre = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z95 / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    // At k = 0 and k = n the bound is 0 and 1 exactly; rounding would leave 1e-17 there.
    let lo = if k == 0.0 {
        0.0
    } else {
        (centre - half).max(0.0)
    };
    let hi = if k == n {
        1.0
    } else {
        (centre + half).min(1.0)
    };
    Some(Interval { lo, hi })
}

/// Returns the lower bound of the proportion `k` of `n` with error probability `alpha` (Clopper and Pearson 1934).
///
/// This is the `alpha` quantile of Beta(k, n - k + 1). `None` if `n` is 0.
///
/// The bound of 10 of 10 at 0.05 is 0.7411, since 0.7411^10 = 0.05.
pub fn proportion_lower(k: u64, n: u64, alpha: f64) -> Option<f64> {
    let rest = n.checked_sub(k)?;
    (n > 0).then(|| match k {
        0 => 0.0,
        _ => beta_quantile(k as f64, rest as f64 + 1.0, alpha),
    })
}

/// Returns the upper bound of a Poisson mean after `k` events, with error probability `alpha`.
///
/// This is the `1 - alpha` quantile of Gamma(k + 1).
///
/// The bound without an event at 0.05 is 2.9957. So a claim of at most 1 per million needs 3.0 million without an
/// event.
pub fn poisson_upper(k: u64, alpha: f64) -> f64 {
    gamma_quantile(k as f64 + 1.0, 1.0 - alpha)
}

/// Returns the lower bound of a Poisson mean: the `alpha` quantile of Gamma(k), or 0 if `k` is 0.
pub fn poisson_lower(k: u64, alpha: f64) -> f64 {
    if k == 0 {
        0.0
    } else {
        gamma_quantile(k as f64, alpha)
    }
}

/// Returns the probability that a Poisson variable with this mean is at least `k`.
pub(crate) fn poisson_at_least(k: u64, mean: f64) -> f64 {
    match k {
        0 => 1.0,
        _ if mean <= 0.0 => 0.0,
        k => checked_gamma_lr(k as f64, mean).unwrap_or(0.0),
    }
}

/// Returns the probability that a binomial variable of `n` trials is at least `k`.
pub(crate) fn binomial_at_least(k: u64, n: u64, share: f64) -> f64 {
    match k {
        0 => 1.0,
        k if k > n || share <= 0.0 => 0.0,
        _ if share >= 1.0 => 1.0,
        k => checked_beta_reg(k as f64, (n - k) as f64 + 1.0, share).unwrap_or(0.0),
    }
}

/// Returns the exact 95 % interval of a Poisson mean after `k` events (Garwood 1936).
///
/// The interval after 0 events is 0 to 3.6889, and after 10 events 4.7954 to 18.3904.
pub fn poisson(k: u64) -> Interval {
    Interval {
        lo: poisson_lower(k, 0.025),
        hi: poisson_upper(k, 0.025),
    }
}

/// A cache of Poisson intervals by their number of events.
///
/// A grid of a million cells has few different counts, and one interval costs as much as a thousand other cells.
#[derive(Debug, Default)]
pub struct PoissonCache(HashMap<u64, Interval>);

impl PoissonCache {
    /// Returns the [`poisson`] interval of a count, computed once.
    pub fn get(&mut self, k: u64) -> Interval {
        *self.0.entry(k).or_insert_with(|| poisson(k))
    }
}

/// Returns the `p` quantile of Beta(a, b).
///
/// The distribution function is defined for all arguments that come from counts.
fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    bisect(0.0, 1.0, |x| {
        checked_beta_reg(a, b, x).is_ok_and(|cdf| cdf >= p)
    })
}

/// Returns the `p` quantile of Gamma(shape, 1).
fn gamma_quantile(shape: f64, p: f64) -> f64 {
    // More than ten standard deviations above the mean, which is above the quantile of every `p` that is requested.
    let top = shape + 10.0 * shape.sqrt() + 40.0;
    bisect(0.0, top, |x| {
        x > 0.0 && checked_gamma_lr(shape, x).is_ok_and(|cdf| cdf >= p)
    })
}

/// Returns the least number from `lo` to `hi` for which `is_high` is true, to the last bit.
fn bisect(mut lo: f64, mut hi: f64, is_high: impl Fn(f64) -> bool) -> f64 {
    loop {
        let mid = lo + (hi - lo) / 2.0;
        if mid <= lo || mid >= hi {
            return hi;
        }
        if is_high(mid) {
            hi = mid;
        } else {
            lo = mid;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64) {
        assert!(
            (got - want).abs() <= 1e-9 * want.abs().max(1.0),
            "{got} is not {want}"
        );
    }

    fn holds(got: Interval, want: (f64, f64)) {
        close(got.lo, want.0);
        close(got.hi, want.1);
    }

    /// The numbers of a table, row by row.
    fn rows<const N: usize>(table: &str) -> impl Iterator<Item = [f64; N]> {
        table.trim().lines().map(|row| {
            let numbers = row.split_whitespace().map(|number| number.parse().unwrap());
            numbers.collect::<Vec<f64>>().try_into().unwrap()
        })
    }

    /// Of n tries k: the ends by `wilson` and those by `beta`, from statsmodels 0.14 (`proportion_confint`).
    const PROPORTIONS: &str = "
        0 10 0.0 0.27753279986288926 0.0 0.30849710781876083
        5 10 0.23659309051256394 0.7634069094874361 0.18708602844739855 0.8129139715526015
        10 10 0.7224672001371106 1.0 0.6915028921812392 1.0
        1 1 0.2065493143772374 1.0 0.025 1.0
        3 977 0.0010448269956606403 0.008988862681901438 0.0006336847648905017 0.008947215543578205
        497 600 0.7960952941653718 0.8563938555022981 0.795730239354632 0.8576625024581079
        1234 50000 0.02335617062466895 0.02607686065266425 0.02333774182140481 0.026077820294987595";

    #[test]
    fn proportions_agree_with_statsmodels() {
        for [k, n, score_lo, score_hi, exact_lo, exact_hi] in rows(PROPORTIONS) {
            let (k, n) = (k as u64, n as u64);
            holds(wilson(k, n).unwrap(), (score_lo, score_hi));
            let [lo, failing] = [k, n - k].map(|k| proportion_lower(k, n, 0.025).unwrap());
            let hi = 1.0 - failing;
            holds(Interval { lo, hi }, (exact_lo, exact_hi));
        }
        let lower = |k, n| proportion_lower(k, n, 0.05).unwrap();
        close(lower(10, 10), 0.7411344491069477);
        close(lower(497, 600), 0.8009880712960661);
        close(1.0 - lower(103, 600), 0.853247857677231);
    }

    /// Of k events: both ends, and the upper one alone at 0.05, from scipy 1.x (`gamma.ppf`).
    const COUNTS: &str = "
        0 0.0 3.6888794541139354 2.9957322735539895
        1 0.025317807984289876 5.571643390938898 4.743864518390577
        2 0.24220927854396496 7.22468766772396 6.295793621871988
        10 4.7953886961324335 18.39035604201778 16.962219235721903
        100 81.36399125092314 121.62679379242638 118.07927278209706
        5000 4862.359188694899 5140.5489485350045 5117.886079407686";

    #[test]
    fn poisson_agrees_with_scipy() {
        let mut cache = PoissonCache::default();
        for [k, lo, hi, upper] in rows(COUNTS) {
            let k = k as u64;
            holds(poisson(k), (lo, hi));
            assert_eq!(cache.get(k), poisson(k));
            close(poisson_upper(k, 0.05), upper);
        }
    }

    /// Reference values from scipy 1.14: `1 - poisson.cdf(k - 1, mean)`, `1 - binom.cdf(k - 1, n, share)`.
    #[test]
    fn tails_agree_with_scipy() {
        close(poisson_at_least(0, 1.0), 1.0);
        close(poisson_at_least(1, 1.0), 0.632_120_558_828_557_7);
        close(poisson_at_least(5, 2.5), 0.108_821_981_085_849_24);
        close(poisson_at_least(3, 0.0), 0.0);
        close(binomial_at_least(2, 10, 0.1), 0.263_901_070_9);
        close(binomial_at_least(11, 10, 0.9), 0.0);
        close(binomial_at_least(10, 10, 1.0), 1.0);
    }

    #[test]
    fn nothing_of_nothing_has_no_interval() {
        assert_eq!(wilson(0, 0), None);
        assert_eq!(proportion_lower(0, 0, 0.05), None);
    }
}
