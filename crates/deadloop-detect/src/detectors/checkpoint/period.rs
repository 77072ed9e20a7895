//! Finds the periods at the end of a list of elements: blocks or lines.
//!
//! For each period, it finds the tail whose elements equal those one period earlier.

/// A period and its matches: the last elements that equal the element one period earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    /// The period in elements.
    pub(super) period: usize,
    /// The number of matches, 1 or more.
    pub(super) matches: usize,
    /// The number of elements of the tail, including the first copy.
    pub(super) tail: usize,
    /// The number of copies in the tail, including the first.
    pub(super) cycles: usize,
}

/// Returns the periods, shortest first. A period with no more matches than a shorter one is left out, since every
/// setting accepts the shorter one first.
///
/// The longest period is half of the elements. The time is O(n) for n elements.
pub(super) fn find_matches(elements: &[u32]) -> Vec<Match> {
    let counts = tail_matches(elements);
    let of = |p: usize| Match {
        period: p,
        matches: counts[p],
        tail: counts[p] + p,
        cycles: counts[p] / p + 1,
    };
    let mut best = 0;
    let better = |m: &Match| {
        let more = m.matches > best;
        best = best.max(m.matches);
        more
    };
    (1..=elements.len() / 2).map(of).filter(better).collect()
}

/// Returns for each p the number of last elements that equal the element p earlier. This is the Z function of the
/// reversed elements (Gusfield, Algorithms on Strings, Trees, and Sequences, 1.3).
fn tail_matches(elements: &[u32]) -> Vec<usize> {
    let n = elements.len();
    let back = |i: usize| elements[n - 1 - i];
    let mut z = vec![0; n];
    let (mut left, mut right) = (0, 0);
    for i in 1..n {
        let known = if i < right {
            z[i - left].min(right - i)
        } else {
            0
        };
        let more = (known..n - i)
            .take_while(|k| back(*k) == back(i + k))
            .count();
        z[i] = known + more;
        if i + z[i] > right {
            (left, right) = (i, i + z[i]);
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the matches by the definition.
    fn count_matches(e: &[u32], p: usize) -> usize {
        let mut m = 0;
        while e.len() > m + p && e[e.len() - 1 - m] == e[e.len() - 1 - m - p] {
            m += 1;
        }
        m
    }

    #[test]
    fn counts_agree_with_the_definition_on_all_short_lists() {
        for n in 1..=9_u32 {
            for code in 0..3_u32.pow(n) {
                let e: Vec<u32> = (0..n).map(|i| code / 3_u32.pow(i) % 3).collect();
                let fast = tail_matches(&e);
                for (p, count) in fast.iter().enumerate().skip(1) {
                    assert_eq!(*count, count_matches(&e, p), "{e:?} period {p}");
                }
            }
        }
    }

    #[test]
    fn keeps_a_longer_period_only_for_more_matches() {
        // A B A B A B: four matches at period 2; period 1 has none, period 3 none.
        let found = find_matches(&[0, 1, 0, 1, 0, 1]);
        assert_eq!(
            found,
            [Match {
                period: 2,
                matches: 4,
                tail: 6,
                cycles: 3
            }]
        );
    }

    #[test]
    fn nothing_to_compare() {
        assert_eq!(find_matches(&[]), []);
        assert_eq!(find_matches(&[7]), []);
    }
}
