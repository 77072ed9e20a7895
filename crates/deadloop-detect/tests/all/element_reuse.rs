//! Compares `min_recycled` of `periodic` with a slow reference.

#![allow(clippy::expect_used, reason = "in the helpers of tests as in tests")]

use crate::common;

use common::{alarm, fires, how_often, member, word};
use deadloop_detect::harness::Member;
use deadloop_detect::{Kind, Value};
use proptest::prelude::*;
use regex::Regex;

/// Returns the elements of a text as they are compared, each with the number of chars up to its end.
fn elements(text: &str, on: &str, fold: &str) -> Vec<(String, usize)> {
    let ends = |c: char| {
        let sentence = on != "lines" && "。.；;！!？?".contains(c);
        c == '\n' || sentence || on == "clauses" && "，、､".contains(c)
    };
    let number = Regex::new(r"\p{N}+").expect("a pattern");
    let mut all = Vec::new();
    let mut element = String::new();
    for (i, c) in text.chars().enumerate() {
        if !ends(c) {
            element.push(c);
            continue;
        }
        let plain = element.split_whitespace().collect::<Vec<_>>().join(" ");
        element.clear();
        let plain = match fold {
            "digits" => number.replace_all(&plain, "0").into_owned(),
            _ => plain,
        };
        if !plain.is_empty() {
            all.push((plain, i + 1));
        }
    }
    all
}

/// Returns the position at which the first stretch of recurring elements is long enough.
fn slow(member: &Member, text: &str) -> Option<u64> {
    let text_of = |name| member.params.text(name).to_owned();
    let elements = elements(text, &text_of("on"), &text_of("fold"));
    let count = |name| usize::try_from(member.params.int(name)).expect("a count");
    let (period, least) = (count("max_period"), count("min_recycled"));
    let wide = Regex::new(r"[\p{Han}\p{Hiragana}\p{Katakana}]").expect("a pattern");
    let begins_one = |element: &str| match text_of("on").as_str() {
        "clauses" => wide.is_match(element),
        _ => element.contains(char::is_alphanumeric),
    };
    let mut start = None;
    for (i, (element, end)) in elements.iter().enumerate() {
        let recent = &elements[i.saturating_sub(period)..i];
        let before = recent.iter().filter(|(other, _)| other == element).count();
        let begins = i.checked_sub(1).map_or(0, |last| elements[last].1);
        if before < 2 {
            start = None;
        } else if begins_one(element) {
            start = start.or(Some(begins));
        }
        if start.is_some_and(|start| *end >= start + least) {
            return Some(*end as u64);
        }
    }
    None
}

/// Generates few sentences and lines in random order, some with numbers or without words.
fn text() -> impl Strategy<Value = String> {
    let short = ["a. ", "---\n", "}\n", "\n", "new ", "é; ", "... "];
    let long = [
        "Let me see! ",
        "Let  me see !\n",
        "so it is 4\n",
        "so it is 17\n",
        "思考一下。",
        "思考 再三？",
        "等等，",
        "思考一下，b、",
    ];
    let said = prop::sample::select([&short[..], &long].concat());
    let stretch = prop_oneof![
        4 => prop::collection::vec(said.clone(), 1..40).prop_map(|all| all.concat()),
        1 => (said, 1..30_usize).prop_map(|(one, n)| one.repeat(n)),
        1 => "[a-z ]{0,9}".prop_map(|word| word + "? "),
    ];
    prop::collection::vec(stretch, 0..7).prop_map(|parts| parts.concat())
}

fn setting() -> impl Strategy<Value = Member> {
    let on = prop::sample::select(vec!["sentences", "clauses", "lines"]);
    let fold = prop::sample::select(vec!["none", "digits"]);
    let counts = (1..40_i64, 1..150_i64);
    (on, fold, counts).prop_map(|(on, fold, (period, recycled))| {
        let params = [
            ("on", word(on)),
            ("fold", word(fold)),
            ("max_period", Value::Int(period)),
            ("min_recycled", Value::Int(recycled)),
            // The tested check is not about consecutive copies, so the window for them is short.
            ("min_copies", Value::Int(2)),
            ("min_chars", Value::Int(1_000_000)),
        ];
        member("periodic", &params)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::common::drawn(1500), ..ProptestConfig::default() })]

    #[test]
    fn it_is_what_it_says(member in setting(), text in text(), chunk in 1..50_usize) {
        let expected = slow(&member, &text);
        prop_assert_eq!(fires(&member, &text), expected);
        let whole = alarm(&member, &text, usize::MAX);
        prop_assert_eq!(whole.as_ref().map(|a| (a.exact.count(), a.kind)), expected.map(|at| (at, Kind::NearRepeat)));
        let told = alarm(&member, &text, chunk);
        let unit = |alarm: &deadloop_detect::Alarm| (alarm.exact, alarm.onset, alarm.period, alarm.unit.clone());
        prop_assert_eq!(told.as_ref().map(unit), whole.as_ref().map(unit));
    }
}

#[test]
fn generated_texts_often_alarm() {
    let alarms = how_often((setting(), text()), |member, text| {
        slow(member, text).is_some()
    });
    assert!((40..260).contains(&alarms), "{alarms} of 300");
}

/// Drawings have no words, so they do not continue a stretch of known ones.
#[test]
fn lines_without_a_word_are_new_like_others() {
    let mut dice = common::Dice(3);
    let signs = ["#", "/", "\\", "|", "_", "~", "^", "⣿", "⠛", "═"];
    let mut line = || {
        let signs: String = (0..40).map(|_| dice.pick(&signs)).collect();
        signs + "\n"
    };
    let drawing: String = (0..300).map(|_| line()).collect();
    let text = format!("Yes.\nLook at it.\nYes.\nNow I draw.\nYes.\n{drawing}");
    for on in ["sentences", "lines"] {
        let params = [("on", word(on)), ("min_recycled", Value::Int(1000))];
        assert_eq!(fires(&member("periodic", &params), &text), None, "{on}");
    }
}

/// If numbers are compared, sentences with different numbers differ.
#[test]
fn sentences_with_new_numbers_are_new() {
    let mut dice = common::Dice(7);
    let says = ["We try", "So it fails at", "Then we look at", "It works"];
    let mut text = |most: u64| -> String {
        let line = |_| format!("{} {} once more.\n", dice.pick(&says), dice.below(most));
        (0..200).map(line).collect()
    };
    let params = [
        ("fold", word("counters")),
        ("on", word("sentences")),
        ("min_recycled", Value::Int(1000)),
        ("min_counters", Value::Int(1_000_000)),
        ("min_chars", Value::Int(1_000_000)),
    ];
    let member = member("periodic", &params);
    assert_eq!(fires(&member, &text(1_000_000)), None);
    assert!(fires(&member, &text(4)).is_some());
}
