//! Compares [`GramWindow`] with the definition, on every n-gram of the window.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

/// Returns the gaps of the last n-gram of a text, newest first, from symbol `first` on: for each, its length, the
/// number of distinct texts up to it, and the start of the occurrence.
fn gaps_by_definition(text: &[u8], first: usize, n: usize) -> Vec<(u64, usize, u64)> {
    let Some(last) = text.len().checked_sub(n).filter(|last| *last >= first) else {
        return Vec::new();
    };
    let same = |at: &usize| text[*at..at + n] == text[last..];
    let places: Vec<usize> = (first..=last).rev().filter(same).collect();
    let mut between = HashSet::new();
    let mut gap = |pair: &[usize]| {
        between.insert(&text[pair[1]..pair[0]]);
        ((pair[0] - pair[1]) as u64, between.len(), pair[1] as u64)
    };
    places.windows(2).map(&mut gap).collect()
}

fn gaps_of_window(grams: &GramWindow) -> Vec<(u64, usize, u64)> {
    let mut between = HashSet::new();
    let each = |gaps: Gaps| (1..=gaps.count).map(move |back| (gaps, back));
    let mut gap = |(gaps, back): (Gaps, u64)| {
        between.insert(gaps.between);
        let start = grams.start(gaps.occurrence(back));
        (gaps.symbols, between.len(), start)
    };
    grams.gaps().flat_map(each).map(&mut gap).collect()
}

proptest! {
    /// Also checks that gaps are unchanged if `continues` returns true.
    #[test]
    fn gaps_are_those_of_the_definition(
        pieces in prop::collection::vec(("[abc]{1,5}", 1_usize..30, 0_u8..9), 1..9),
        (n, window, most) in (1_usize..5, 5_usize..80, 1_u32..12),
    ) {
        let mut grams = GramWindow::new(n, window);
        let (mut text, mut from, mut before) = (Vec::new(), 0, Vec::new());
        for (piece, times, reset) in pieces {
            if reset == 0 {
                grams.reset();
                from = text.len();
            }
            for byte in piece.repeat(times).bytes() {
                let (value, start) = (u64::from(byte), text.len() as u64);
                grams.push(Symbol { value, start });
                text.push(byte);
                let first = from.max(text.len().saturating_sub(window));
                let now = gaps_of_window(&grams);
                prop_assert_eq!(&now, &gaps_by_definition(&text, first, n));
                let shape: Vec<(u64, usize)> = now.iter().map(|gap| (gap.0, gap.1)).collect();
                if grams.continues(most) {
                    let some = shape.len().min(most as usize);
                    prop_assert_eq!(before.get(..some), Some(&shape[..some]));
                }
                before = shape;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Checks that n-grams with anchors, which are entered late, are found.
    #[test]
    fn late_n_grams_are_found(
        pieces in prop::collection::vec(("[a-f]{1,90}", 0_usize..4, 1_usize..4, 0_u8..12), 1..40),
        (n, window) in (40_usize..60, 100_usize..900),
    ) {
        let mut grams = GramWindow::new(n, window);
        let (mut text, mut from, mut known) = (Vec::new(), 0, Vec::<String>::new());
        for (piece, earlier, times, reset) in pieces {
            let piece = known.iter().rev().nth(earlier).cloned().unwrap_or(piece);
            if reset == 0 {
                grams.reset();
                from = text.len();
            }
            for byte in piece.repeat(times).bytes() {
                let (value, start) = (u64::from(byte), text.len() as u64);
                let bound = grams.push(Symbol { value, start });
                text.push(byte);
                let first = from.max(text.len().saturating_sub(window));
                let slow = gaps_by_definition(&text, first, n);
                let now = if bound > 1 { gaps_of_window(&grams) } else { Vec::new() };
                prop_assert_eq!(now, slow);
            }
            known.push(piece);
        }
    }
}

/// Checks the counts of trigrams by the definition.
#[test]
fn counts_are_right_where_chains_grow() {
    let symbols: Vec<u64> = (0..24_000).map(|i| power(i) % 40).collect();
    let mut grams = GramWindow::new(3, 100_000);
    let mut known = std::collections::HashMap::new();
    for (i, value) in symbols.iter().enumerate() {
        let (value, start) = (*value, i as u64);
        let times = grams.push(Symbol { value, start });
        let Some(first) = i.checked_sub(2) else {
            continue;
        };
        let count: &mut u32 = known.entry(&symbols[first..=i]).or_default();
        *count += 1;
        assert_eq!(times, *count, "symbol {i}");
    }
    assert!(grams.chains.len() > FIRST_CHAINS);
}
