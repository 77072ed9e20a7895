//! Is a difference more than chance? Exact McNemar, Student's t, Holm's correction.

use statrs::function::beta::checked_beta_reg;

/// Below this many discordant pairs no exact test can say anything at 5 %: 5 of 5 has p = 0.0625.
pub(crate) const FEWEST: usize = 6;

/// The exact McNemar test (McNemar 1947; the binomial distribution of `b` among `b + c` discordant
/// pairs): the two-sided p. 1 for no discordant pair.
///
/// 1 against 7: 0.0703125. 0 against 6: 0.03125.
pub fn mcnemar(b: u64, c: u64) -> f64 {
    let (few, n) = (b.min(c), b + c);
    if 2 * few == n {
        return 1.0;
    }
    // P(X <= k) of Binomial(n, 1/2) is the regularised incomplete beta function at 1/2.
    let tail = checked_beta_reg((n - few) as f64, few as f64 + 1.0, 0.5);
    (2.0 * tail.unwrap_or(0.5)).min(1.0)
}

/// The exact two-sided p of the sum of `nets` when every one of them could as well have had the other sign (the
/// permutation test of paired differences; Fisher 1935, Pitman 1937). The distribution is built up one net after
/// the other, so the cost is their number times the sum of their sizes. Nets of one flip each give
/// [`mcnemar`](mcnemar()).
///
/// 3, 2, 2, 1, 1, 1: 2 / 64 = 0.03125.
pub fn sign_flips(nets: &[i64]) -> f64 {
    let sizes: Vec<usize> = nets.iter().map(|net| net.unsigned_abs() as usize).collect();
    let total: usize = sizes.iter().sum();
    // P(sum of those with a plus = i).
    let mut chance = vec![0.0; total + 1];
    chance[0] = 1.0;
    let mut reached = 0;
    for size in sizes {
        reached += size;
        for i in (0..=reached).rev() {
            let with = i.checked_sub(size).map_or(0.0, |j| chance[j]);
            chance[i] = 0.5 * (chance[i] + with);
        }
    }
    let observed = nets.iter().sum::<i64>().unsigned_abs() as usize;
    let as_far = |i: &usize| (2 * i).abs_diff(total) >= observed;
    let p: f64 = (0..=total).filter(as_far).map(|i| chance[i]).sum();
    p.min(1.0)
}

/// The two-sided p of Student's t with `freedom` degrees of freedom. 1 for no difference, whatever
/// its error.
pub fn student(difference: f64, error: f64, freedom: usize) -> f64 {
    if difference == 0.0 || error.is_nan() || freedom == 0 {
        return 1.0;
    }
    if error <= 0.0 {
        return 0.0;
    }
    let (t, v) = (difference / error, freedom as f64);
    checked_beta_reg(v / 2.0, 0.5, v / (v + t * t)).unwrap_or(1.0)
}

/// Holm's correction (Holm 1979): each p so adjusted that, compared with alpha, at most a share alpha
/// of all families has a wrong rejection.
///
/// 0.01, 0.04, 0.03: 0.03, 0.06, 0.06.
pub fn holm(ps: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..ps.len()).collect();
    order.sort_by(|a, b| ps[*a].total_cmp(&ps[*b]));
    let mut adjusted = vec![1.0; ps.len()];
    let mut largest = 0.0_f64;
    for (rank, i) in order.into_iter().enumerate() {
        largest = largest.max(ps[i] * (ps.len() - rank) as f64);
        adjusted[i] = largest.min(1.0);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64) {
        assert!(
            (got - want).abs() <= 1e-12 * want.max(1e-300),
            "{got} is not {want}"
        );
    }

    /// All the tails of a binomial, summed term by term.
    fn slow(b: u64, c: u64) -> f64 {
        let n = b + c;
        let mut term = 0.5_f64.powi(n as i32);
        let mut sum = 0.0;
        for k in 0..=b.min(c) {
            sum += term;
            term *= (n - k) as f64 / (k + 1) as f64;
        }
        (2.0 * sum).min(1.0)
    }

    #[test]
    fn mcnemar_is_the_sum_of_its_tails() {
        for b in 0..60 {
            for c in 0..60 {
                let (got, want) = (mcnemar(b, c), slow(b, c));
                assert!((got - want).abs() <= 1e-11 * want, "{b} {c}: {got} {want}");
            }
        }
        close(mcnemar(1, 7), 0.0703125);
        close(mcnemar(0, 6), 0.03125);
    }

    /// From scipy 1.17 (`binomtest`): a tail that no double could hold as a sum from the other end.
    #[test]
    fn tails_stay_exact_far_out() {
        close_enough(mcnemar(3, 400), 1.056134041536089e-114);
        close_enough(mcnemar(1200, 1400), 9.44223476534101e-05);
    }

    /// Every combination of signs, one by one.
    fn every_sign(nets: &[i64]) -> f64 {
        let observed = nets.iter().sum::<i64>().abs();
        let sum = |signs: u32| {
            let each = nets.iter().enumerate();
            each.map(|(i, net)| if signs >> i & 1 == 1 { -net } else { *net })
                .sum::<i64>()
        };
        let all = 1_u32 << nets.len();
        let as_far = (0..all).filter(|signs| sum(*signs).abs() >= observed);
        as_far.count() as f64 / f64::from(all)
    }

    #[test]
    fn sign_flips_are_the_share_of_all_signs_that_are_as_far() {
        for nets in [
            &[3, 2, 2, 1, 1, 1][..],
            &[12],
            &[1, -1, 2, 0, 5, -3, 1],
            &[],
            &[0, 0],
            &[-4, 1, 1, 1, 1, 1, 1, 1],
        ] {
            let (got, want) = (sign_flips(nets), every_sign(nets));
            assert!((got - want).abs() < 1e-12, "{nets:?}: {got} {want}");
        }
        assert_eq!(sign_flips(&[3, 2, 2, 1, 1, 1]), 0.03125);
        for (b, c) in [(1, 7), (0, 6), (5, 5), (30, 12)] {
            let nets = [vec![-1; b], vec![1; c]].concat();
            let (got, want) = (sign_flips(&nets), mcnemar(b as u64, c as u64));
            assert!((got - want).abs() < 1e-12, "{b} {c}: {got} {want}");
        }
    }

    fn close_enough(got: f64, want: f64) {
        assert!((got - want).abs() <= 1e-9 * want, "{got} is not {want}");
    }

    /// From scipy 1.17 (`2 * t.sf(|t|, v)`).
    #[test]
    fn student_agrees_with_scipy() {
        close_enough(student(2.0, 1.0, 5), 0.10193947882985835);
        close_enough(student(-12.0, 2.0, 30), 1.3942768767204764e-06);
        assert_eq!((student(0.0, 0.0, 9), student(1.0, 0.0, 9)), (1.0, 0.0));
    }

    /// From statsmodels 0.14 (`multipletests`, `holm`).
    #[test]
    fn holm_agrees_with_statsmodels() {
        let got = holm(&[0.01, 0.04, 0.03]);
        [0.03, 0.06, 0.06]
            .into_iter()
            .zip(got)
            .for_each(|(want, got)| close(got, want));
        let got = holm(&[0.5, 0.001, 0.9, 0.02]);
        let want = [1.0, 0.004, 1.0, 0.06];
        want.into_iter()
            .zip(got)
            .for_each(|(want, got)| close(got, want));
        assert_eq!(holm(&[]), Vec::<f64>::new());
    }
}
