//! Compares [`Tails`] with the definition, at every lag and symbol.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

/// Returns the tails of the first `end` symbols that are long enough and have no shorter period, by the definition.
fn tails(
    text: &[u32],
    end: usize,
    max_lag: u32,
    need: &impl Fn(u32) -> u32,
) -> BTreeSet<(u32, u64)> {
    let matches = |lag: usize| {
        let pairs = (lag..end).rev().take_while(|i| text[*i] == text[*i - lag]);
        pairs.count()
    };
    let is_tail = |lag: &usize| {
        let long = matches(*lag) + lag;
        let shorter = |q: usize| matches(q) + q >= long;
        long >= (2 * lag).max(need(*lag as u32) as usize) && !(1..*lag).any(shorter)
    };
    let lags = (1..=(max_lag as usize).min(end)).filter(is_tail);
    lags.map(|lag| (lag as u32, (end - lag - matches(lag)) as u64))
        .collect()
}

/// Returns each tail that becomes long enough, with its maximum length.
fn slow(text: &[u32], max_lag: u32, need: impl Fn(u32) -> u32) -> BTreeMap<(u32, u64), u64> {
    let at = |end| {
        let tails = tails(text, end, max_lag, &need).into_iter();
        tails.map(move |(lag, start)| ((lag, start), end as u64 - start))
    };
    (1..=text.len()).flat_map(at).collect()
}

/// Returns the tails found after each piece, and those by the definition.
fn known(text: &[u32], max_lag: u32, need: impl Fn(u32) -> u32) -> Vec<[BTreeSet<(u32, u64)>; 2]> {
    let want = TailSearch::new(max_lag, &need);
    let mut runs = Tails::new(&want);
    let mut all = Vec::new();
    for piece in text.chunks(5) {
        if runs.room(&want) < 5 {
            runs.forget(&want);
        }
        piece.iter().for_each(|symbol| runs.add(*symbol));
        while runs.read(&want) {
            runs.take_ended();
        }
        // Symbols that wait in `Tails` also count.
        let seen = runs.known();
        let long = |run: &Tail| seen - run.start >= u64::from(need(run.lag));
        let known = runs.current().filter(long).map(|run| (run.lag, run.start));
        let there = tails(text, seen as usize, max_lag, &need);
        all.push([known.collect(), there]);
    }
    all
}

fn fast(text: &[u32], max_lag: u32, need: impl Fn(u32) -> u32) -> BTreeMap<(u32, u64), u64> {
    let want = TailSearch::new(max_lag, &need);
    let mut runs = Tails::new(&want);
    let mut tails = BTreeMap::new();
    let mut add = |run: Tail, end: u64| {
        let long = end - run.start;
        if long >= u64::from(need(run.lag)) {
            tails.insert((run.lag, run.start), long);
        }
    };
    for piece in text.chunks(7) {
        if runs.room(&want) < 7 {
            runs.forget(&want);
        }
        piece.iter().for_each(|symbol| runs.add(*symbol));
        while runs.read(&want) {
            let end = runs.seen() - 1;
            runs.take_ended().into_iter().for_each(|run| add(run, end));
        }
    }
    let end = runs.seen();
    runs.current().for_each(|run| add(run, end));
    tails
}

/// Generates repeated units of few letters, some of them nested, with noise between.
fn text() -> impl Strategy<Value = Vec<u32>> {
    let unit = |longest| prop::collection::vec(0..3_u32, 1..longest);
    let stretch = prop_oneof![
        3 => (unit(40), 1..12_usize, 0..40_usize),
        1 => (unit(4), 50..400_usize, 0..4_usize),
    ];
    let stretch = stretch.prop_map(|(unit, n, cut)| {
        let mut all = unit.repeat(n);
        all.extend(unit.iter().take(cut));
        all
    });
    let inner = prop::collection::vec(stretch, 1..5).prop_map(|parts| parts.concat());
    let nested = (inner.clone(), 1..4_usize).prop_map(|(unit, n)| unit.repeat(n));
    prop::collection::vec(prop_oneof![inner, nested], 1..3).prop_map(|parts| {
        let mut all = parts.concat();
        all.truncate(1200);
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_long_tail_and_no_other(
        text in text(),
        max_lag in 1..120_u32,
        copies in 2..6_u32,
        chars in prop::sample::select(vec![1_u32, 5, 20, 60, 100, 200, 300]),
    ) {
        let need = |lag: u32| (copies * lag).max(chars);
        prop_assert_eq!(fast(&text, max_lag, need), slow(&text, max_lag, need));
    }

    #[test]
    fn a_tail_is_known_as_soon_as_it_is_long_enough(
        text in text(),
        max_lag in prop_oneof![1..9_u32, 1..120_u32],
        copies in 2..6_u32,
        chars in prop::sample::select(vec![1_u32, 5, 20, 60, 100, 200, 300]),
    ) {
        let need = |lag: u32| (copies * lag).max(chars);
        for [known, there] in known(&text, max_lag, need) {
            prop_assert_eq!(known, there);
        }
    }
}
