//! The exact permutation test of signs.

/// The minimum number of groups that differ for a test at 5 %. With 5 of 5 groups, p is still 0.0625.
pub(crate) const MIN_GROUPS: usize = 6;

/// Returns the exact two-sided p value of the sum of `nets` if every sign is equally likely.
///
/// It is the permutation test of paired differences (Fisher 1935, Pitman 1937). The distribution is built net by net,
/// so the cost is the number of nets times the sum of their sizes. Nets of 1 and -1 give the exact test of McNemar.
///
/// The p value of 3, 2, 2, 1, 1, 1 is 2 / 64 = 0.03125.
pub fn sign_flips(nets: &[i64]) -> f64 {
    let sizes: Vec<usize> = nets.iter().map(|net| net.unsigned_abs() as usize).collect();
    let total: usize = sizes.iter().sum();
    // P(sum of the sizes with a plus = i).
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

#[cfg(test)]
mod tests {
    use super::*;

    /// All the tails of a binomial, summed term by term.
    fn binomial(b: u64, c: u64) -> f64 {
        let n = b + c;
        let mut term = 0.5_f64.powi(n as i32);
        let mut sum = 0.0;
        for k in 0..=b.min(c) {
            sum += term;
            term *= (n - k) as f64 / (k + 1) as f64;
        }
        (2.0 * sum).min(1.0)
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
    }

    /// Groups of one: the exact test of McNemar. 1 against 7: 0.0703125. 0 against 6: 0.03125. The last two are from
    /// scipy 1.17 (`binomtest`), the first of them a tail that no double could hold as a sum from the other end.
    #[test]
    fn groups_of_one_give_the_binomial_test() {
        let flips = |b: usize, c: usize| sign_flips(&[vec![-1; b], vec![1; c]].concat());
        for b in 0..40 {
            for c in 0..40 {
                let (got, want) = (flips(b, c), binomial(b as u64, c as u64));
                assert!((got - want).abs() <= 1e-11 * want, "{b} {c}: {got} {want}");
            }
        }
        assert_eq!((flips(1, 7), flips(0, 6)), (0.0703125, 0.03125));
        for (b, c, want) in [
            (3, 400, 1.056134041536089e-114),
            (1200, 1400, 9.44223476534101e-05),
        ] {
            let got = flips(b, c);
            assert!((got - want).abs() <= 1e-9 * want, "{got} is not {want}");
        }
    }
}
