//! Aligns the starts of two texts that differ in a few symbols.
//!
//! Symbols may be left out, inserted or changed. This is the greedy alignment of Z. Zhang and others, "A greedy
//! algorithm for aligning DNA sequences" (2000). It ends once there are too many differences close together.

/// The penalty for a difference. Each aligned symbol on either side scores 1. So two matching symbols score 2, two that
/// differ score -2, and an inserted or missing symbol scores -3.
const DIFFERENCE: i64 = 4;

/// The limits of an alignment.
#[derive(Clone, Copy, Debug)]
pub(super) struct AlignmentLimits {
    /// The maximum drop of the score below the best one. A larger drop ends the alignment.
    pub(super) drop: i64,
    /// The maximum number of symbols by which one side may be ahead of the other.
    pub(super) band: usize,
    /// The minimum number of matching symbols before the end of the alignment. Fewer may match by chance.
    pub(super) anchor: usize,
}

/// The lengths of an alignment on both sides, and its differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AlignmentExtent {
    /// The number of aligned symbols of the first text.
    pub(super) a: usize,
    /// The number of aligned symbols of the second text.
    pub(super) b: usize,
    /// The number of symbols that differ: changed, left out or inserted.
    pub(super) differences: usize,
    /// Whether the second text ended before the alignment did.
    pub(super) second_ended: bool,
}

impl AlignmentExtent {
    fn score(&self) -> i64 {
        (self.a + self.b) as i64 - DIFFERENCE * self.differences as i64
    }
}

/// Aligns the starts of `a` and `b`. Returns the alignment with the highest score.
pub(super) fn align(a: &[u32], b: &[u32], limits: AlignmentLimits) -> AlignmentExtent {
    let mut best = AlignmentExtent::default();
    let mut front = Frontier {
        // The diagonal on which neither side is ahead.
        low: limits.band,
        furthest: vec![1],
        before: Vec::new(),
    };
    for differences in 0.. {
        front.extend_matches(a, b, limits, differences, &mut best);
        if front.furthest.is_empty() {
            break;
        }
        front.advance(limits.band, (a.len(), b.len()));
    }
    best
}

/// The furthest position on each diagonal, for one number of differences.
///
/// The index of a diagonal is the number of symbols by which the first text is ahead, plus `limits.band`, so that it is
/// never negative. `furthest[i]` is one more than the position in the first text on diagonal `low + i`. It is 0 if the
/// diagonal was dropped.
struct Frontier {
    low: usize,
    furthest: Vec<usize>,
    /// The positions with one difference less. The buffer is reused.
    before: Vec<usize>,
}

impl Frontier {
    /// Extends each diagonal over matching symbols. Drops the diagonals whose score fell too far.
    fn extend_matches(
        &mut self,
        a: &[u32],
        b: &[u32],
        limits: AlignmentLimits,
        differences: usize,
        best: &mut AlignmentExtent,
    ) {
        for (at, furthest) in self.furthest.iter_mut().enumerate() {
            let Some(first) = furthest.checked_sub(1) else {
                continue;
            };
            let second = first + limits.band - (self.low + at);
            let both = a[first..].iter().zip(&b[second..]);
            let matched = both.take_while(|(x, y)| x == y).count();
            let here = AlignmentExtent {
                a: first + matched,
                b: second + matched,
                differences,
                second_ended: best.second_ended,
            };
            if matched >= limits.anchor && here.score() > best.score() {
                *best = here;
            }
            let continues = here.score() + limits.drop >= best.score();
            best.second_ended |= continues && here.b == b.len();
            *furthest = if continues { here.a + 1 } else { 0 };
        }
        let alive = |furthest: &usize| *furthest > 0;
        let end = self
            .furthest
            .iter()
            .rposition(alive)
            .map_or(0, |last| last + 1);
        let start = self.furthest.iter().position(alive).unwrap_or(0);
        self.furthest.truncate(end);
        self.furthest.drain(..start);
        self.low += start;
    }

    /// Advances the frontier by one difference.
    fn advance(&mut self, band: usize, (a, b): (usize, usize)) {
        std::mem::swap(&mut self.furthest, &mut self.before);
        let low = self.low.saturating_sub(1);
        let high = (self.low + self.before.len()).min(2 * band);
        let on = |diagonal: usize| {
            let at = diagonal.wrapping_sub(self.low);
            self.before.get(at).copied().unwrap_or(0)
        };
        self.furthest.clear();
        for diagonal in low..=high {
            // The furthest position within both texts, their ends included.
            let most = (b + diagonal).checked_sub(band);
            let most = most.map_or(0, |most| most.min(a) + 1);
            let to = |furthest: usize, more: usize| match furthest {
                1.. if furthest + more <= most => furthest + more,
                _ => 0,
            };
            let (left_out, put_in) = (on(diagonal.wrapping_sub(1)), on(diagonal + 1));
            let ways = to(left_out, 1).max(to(on(diagonal), 1));
            self.furthest.push(ways.max(to(put_in, 0)));
        }
        self.low = low;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop, prop_assert, prop_assert_eq, proptest};

    const FREE: AlignmentLimits = AlignmentLimits {
        drop: 1 << 40,
        band: 1 << 20,
        anchor: 0,
    };

    /// Returns the highest score of any two prefixes, computed from their edit distance.
    fn best_score(a: &[u32], b: &[u32]) -> i64 {
        let mut best = 0;
        let mut above: Vec<usize> = (0..=b.len()).collect();
        for i in 0..=a.len() {
            let mut row = vec![i];
            for j in 0..=b.len() {
                if j > 0 && i > 0 {
                    let changed = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    row.push(changed.min(above[j] + 1).min(row[j - 1] + 1));
                } else if j > 0 {
                    row.push(j);
                }
                let score = (i + j) as i64 - DIFFERENCE * row[j] as i64;
                best = best.max(score);
            }
            above = row;
        }
        best
    }

    fn align_texts(a: &str, b: &str, limits: AlignmentLimits) -> AlignmentExtent {
        let symbols = |text: &str| text.chars().map(u32::from).collect::<Vec<_>>();
        align(&symbols(a), &symbols(b), limits)
    }

    #[test]
    fn a_changed_a_missing_and_an_added_word_are_gone_over() {
        let a = "Suppose Mira took the key; then the note was written by him.";
        let b = "Suppose the gardener took the key; then note was written by him.";
        let found = align_texts(a, b, FREE);
        assert_eq!((found.a, found.b), (a.len(), b.len()));
        assert_eq!(align_texts("abc", "abc", FREE).differences, 0);
        let found = align_texts("", "abc", FREE);
        assert_eq!((found.a, found.b, found.differences), (0, 0, 0));
    }

    #[test]
    fn it_ends_where_the_texts_part_and_not_at_a_chance_match() {
        let limits = AlignmentLimits {
            drop: 20,
            band: 10,
            anchor: 4,
        };
        let found = align_texts("The same words. Xqe?", "The same words. Zqe!", limits);
        assert_eq!((found.a, found.b), (16, 16));
        let far = "1234567890123456789012";
        let found = align_texts(&format!("same{far}same"), "samesame", limits);
        assert_eq!((found.a, found.b), (4, 4));
    }

    proptest! {
        #[test]
        fn none_is_worth_more(
            a in prop::collection::vec(0u32..4, 0..40), b in prop::collection::vec(0u32..4, 0..40),
        ) {
            let found = align(&a, &b, FREE);
            prop_assert_eq!(found.score(), best_score(&a, &b));
            prop_assert!(found.a <= a.len() && found.b <= b.len());
        }

        #[test]
        fn bounds_only_take_away(
            a in prop::collection::vec(0u32..3, 0..40), b in prop::collection::vec(0u32..3, 0..40),
            drop in 0i64..40, band in 0usize..10, anchor in 0usize..5,
        ) {
            let found = align(&a, &b, AlignmentLimits { drop, band, anchor });
            prop_assert!(found.score() <= best_score(&a, &b) && found.score() >= 0);
            prop_assert!(found.a.abs_diff(found.b) <= band);
        }
    }
}
