//! Compares `periodic` and `min_recycled` on chars with a slow reference.

use crate::common;

use common::{alarm, fires, member};
use deadloop_detect::{Kind, Value};
use proptest::prelude::*;

/// Returns a setting in which only `min_recycled` can fire.
fn setting(least: i64) -> deadloop_detect::harness::Member {
    let never = Value::Int(1_000_000);
    let params = [
        ("min_recycled", Value::Int(least)),
        ("min_chars", never.clone()),
        ("max_period", Value::Int(10)),
    ];
    member("periodic", &params)
}

fn class(c: char) -> usize {
    match c {
        '0'..='9' => 1,
        '☀'..='➿' | '🀀'..='🫿' | '\u{200D}' | '\u{FE0F}' => 2,
        _ => 0,
    }
}

/// Returns the position of the alarm, from all stretches that begin at each char.
fn slow(least: usize, text: &str) -> Option<u64> {
    let all: Vec<char> = text.chars().collect();
    let mut start = 0;
    for end in 1..=all.len() {
        let (c, own) = (all[end - 1], &all[start..end - 1]);
        if c == '\n' {
            start = end;
            continue;
        }
        let sign = class(c) == 0 && !c.is_alphabetic();
        let most = if class(c) == 2 { 24 } else { 14 };
        let mut kinds: Vec<char> = own.iter().copied().chain([c]).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let other = own.last().is_some_and(|last| class(*last) != class(c));
        let twice = sign && own.last() == Some(&c);
        if other || twice || kinds.len() > most {
            start = end - 1;
        }
        let named = |c: &char| c.is_alphabetic() || class(*c) > 0;
        if end - start >= least && all[start..end].iter().any(named) {
            return Some(end as u64);
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig { cases: common::drawn(1500), ..ProptestConfig::default() })]

    #[test]
    fn it_is_what_it_says(
        parts in prop::collection::vec(
            "[ab ,<>]{0,40}|[0-9]{0,40}|[a-o ]{0,60}|[a-zé思考]{0,30}|[😀-😏🤓→■]{0,60}|\n|  |[ -~]{0,9}",
            0..9,
        ),
        least in 1..60_i64,
        chunk in 1..30_usize,
    ) {
        let (text, member) = (parts.concat(), setting(least));
        let expected = slow(least as usize, &text);
        prop_assert_eq!(fires(&member, &text), expected);
        prop_assert_eq!(alarm(&member, &text, chunk).map(|a| a.exact.count()), expected);
        let shown = |size| alarm(&member, &text, size).map(|a| (a.exact, a.onset, a.period, a.unit));
        prop_assert_eq!(shown(chunk), shown(1000));
    }
}

/// Joins random pieces, without a period.
fn soup(pieces: &[&str], count: usize) -> String {
    let mut dice = common::Dice(7);
    (0..count).map(|_| dice.pick(pieces).to_owned()).collect()
}

#[test]
fn soups_are_found_and_tables_are_not() {
    let member = setting(1000);
    let digits = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    for pieces in [
        &["exactly ", "Exactly ", "exactly, "][..],
        &["<eos>", "<pad>", "<unk>", "<bos>", "<mask>"],
        &["ru", "tur", "qu"],
        &["😀", "🤓", "🎉", "🔥", "🌈"],
        &digits,
    ] {
        let text = format!("{}\n{}", common::PROSE, soup(pieces, 1500));
        let alarm = alarm(&member, &text, 50).expect("it fires");
        assert_eq!(alarm.kind, Kind::NearRepeat);
    }
    let listed = digits.map(|digit| format!("{digit}7, "));
    let listed: Vec<&str> = listed.iter().map(String::as_str).collect();
    assert_eq!(fires(&member, &soup(&listed, 1500)), None);
    assert_eq!(fires(&member, &soup(&["🟩", "🟥", "🟩🟥\n"], 1500)), None);
    assert_eq!(
        fires(&member, &soup(&["|  ", "--", "\t\t", "x  "], 1500)),
        None
    );
}
