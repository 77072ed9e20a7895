//! `compression` against a slow and obvious version of itself, and its presets against what their
//! projects say of them.

#![allow(clippy::expect_used, reason = "in the helpers of tests as in tests")]

use crate::common;

use common::{PROSE, alarm, facts, fires, member, preset, word};
use deadloop_detect::Value;
use deadloop_detect::harness::{Bound, Member};
use flate2::{Compress, Compression, FlushCompress, Status};
use proptest::prelude::*;

/// All at once: a text that is written in one call and ended in another can come out a byte longer
/// at level 1, where the last block is closed by a block of its own.
fn size(text: &[u8], level: u32, wrapper: bool) -> f64 {
    let mut out = Vec::with_capacity(2 * text.len() + 100);
    let mut state = Compress::new(Compression::new(level), wrapper);
    let end = state.compress_vec(text, &mut out, FlushCompress::Finish);
    assert_eq!(end.expect("in memory"), Status::StreamEnd);
    out.len() as f64
}

fn zlib(text: &str, level: u32) -> f64 {
    size(text.as_bytes(), level, true)
}

fn raw(text: &[u8], level: u32) -> f64 {
    size(text, level, false)
}

fn last(chars: &[char], count: usize) -> String {
    chars[chars.len().saturating_sub(count)..].iter().collect()
}

/// The ratio of a text that ends with a sample.
fn ratio(member: &Member, chars: &[char]) -> f64 {
    let count = |name| usize::try_from(member.params.count(name)).expect("small");
    let level = u32::try_from(count("level")).expect("small");
    let window = last(chars, count("window"));
    if member.params.text("against") == "itself" {
        return window.len() as f64 / zlib(&window, level);
    }
    let before = &chars[..chars.len().saturating_sub(count("window"))];
    let whole = last(before, count("history")) + &window;
    if before.is_empty() {
        return 1.0;
    }
    let known = &whole.as_bytes()[..whole.len() - window.len()];
    let added = raw(whole.as_bytes(), level) - raw(known, level);
    let alone = raw(window.as_bytes(), level);
    alone / added.clamp(1.0, alone)
}

/// Where it fires, sample by sample.
fn slow(member: &Member, text: &str) -> Option<u64> {
    let count = |name| usize::try_from(member.params.count(name)).expect("small");
    let chars: Vec<char> = text.chars().collect();
    let first = match count("min_chars") {
        0 => count("window"),
        n => n,
    };
    let mut row = 0;
    for at in (1..=chars.len()).filter(|at| *at >= first && at.is_multiple_of(count("stride"))) {
        let met = ratio(member, &chars[..at]) >= member.params.float("min_ratio");
        row = if met { row + 1 } else { 0 };
        if row == count("hold") {
            return Some(at as u64);
        }
    }
    None
}

fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "a", "b", "the ", "思考", "😀", "\n", "é", "1. ", "x = y; ",
    ]);
    let unit = prop::collection::vec(word, 1..9).prop_map(|words| words.concat());
    let stretch = (unit, 1..30_usize).prop_map(|(unit, n)| unit.repeat(n));
    prop::collection::vec(stretch, 0..7).prop_map(|parts| parts.concat())
}

fn setting() -> impl Strategy<Value = Member> {
    let against = prop::sample::select(vec!["itself", "history"]);
    let counts = (
        1..120_i64,
        1..300_i64,
        0..60_i64,
        7..60_i64,
        1..10_i64,
        1..5_i64,
    );
    (against, counts, 10..60_i32).prop_filter_map("can fire", |(against, counts, tenths)| {
        let (window, history, min_chars, stride, level, hold) = counts;
        let member = member(
            "compression",
            &[
                ("against", word(against)),
                ("window", Value::Int(window)),
                ("history", Value::Int(history)),
                ("min_chars", Value::Int(min_chars)),
                ("stride", Value::Int(stride)),
                ("level", Value::Int(level)),
                ("min_ratio", Value::Float(f64::from(tenths) / 10.0)),
                ("hold", Value::Int(hold)),
            ],
        );
        member.check().is_ok().then_some(member)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::common::drawn(300), ..ProptestConfig::default() })]

    #[test]
    fn it_is_what_it_says(member in setting(), text in text(), chunk in 1..50_usize) {
        let expected = slow(&member, &text);
        prop_assert_eq!(fires(&member, &text), expected);
        prop_assert_eq!(alarm(&member, &text, chunk).map(|a| a.exact.count()), expected);
    }
}

/// The ratio at the sample after `at` chars.
fn measured(member: &Member, text: &str, at: i64) -> f64 {
    let mut all = member.clone();
    all.params.set("min_chars", Value::Int(at));
    all.params.set("min_ratio", Value::Float(1.0));
    all.params.set("hold", Value::Int(1));
    match facts(&all, text).first().map(|f| f.bounds[0]) {
        Some(Bound::Fixed(millionths)) => millionths as f64 / 1e6,
        _ => f64::NAN,
    }
}

/// What it is in Python, `len(b) / len(zlib.compress(b))`: 1.923 for 900 chars of a speech that is
/// fond of its words; far above 2.4 for the hallucination that every transcript knows.
#[test]
fn whisper() {
    let preset = preset("compression", "whisper");
    let speech = "And so, my fellow Americans: ask not what your country can do for you; ask what \
        you can do for your country. My fellow citizens of the world, ask not what America will do \
        for you, but what together we can do for the freedom of man. Finally, whether you are \
        citizens of America or citizens of the world, ask of us here the same high standards of \
        strength and sacrifice which we ask of you. With a good conscience our only sure reward, \
        with history the final judge of our deeds, let us go forth to lead the land we love, asking \
        His blessing and His help, but knowing that here on earth God's work must truly be our own. \
        We observe today not a victory of party, but a celebration of freedom, symbolizing an end, \
        as well as a beginning, signifying renewal, as well as change. For I have sworn before you \
        and Almighty God the same solemn oath our forebears prescribed nearly a century and three \
        quarters ago, and more follows.";
    let ratio = measured(&preset, speech, 900);
    assert!((ratio / 1.923 - 1.0).abs() < 0.03, "{ratio}");
    assert_eq!(fires(&preset, speech), None);
    assert_eq!(fires(&preset, PROSE), None);
    let looped = "Thank you for watching. ".repeat(60);
    assert_eq!(fires(&preset, &looped), Some(900));
    assert_eq!(
        fires(&preset, &(PROSE.to_owned() + &looped)).map(|at| at % 900),
        Some(0)
    );
}

/// Measured there: repeated nearly word for word about 0.2, paraphrased re-checks about 0.65, and
/// what is new near 1.
#[test]
fn overthink() {
    let preset = preset("compression", "overthink");
    let chars: Vec<char> = PROSE.chars().collect();
    let (context, rest) = chars.split_at(2400);
    let context: String = context.iter().collect();
    let mut said: String = context[..800].into();
    for (a, b) in [
        ("the ", "that "),
        ("bridge", "crossing"),
        ("carries", "takes"),
        (" is ", " was "),
    ] {
        said = said.replace(a, b);
    }
    let new: String = rest[..800].iter().collect();
    for (segment, least, most) in [(&said, 0.1, 0.35), (&new, 0.75, 1.0)] {
        let segment: String = segment.chars().take(800).collect();
        let novelty = 1.0 / measured(&preset, &(context.clone() + &segment), 3200);
        assert!((least..=most).contains(&novelty), "{novelty}");
    }
    assert_eq!(fires(&preset, PROSE), None);
    let looped = PROSE.to_owned() + &context.repeat(2);
    let at = fires(&preset, &looped).expect("three segments");
    // The first of them may hold some prose still.
    assert!(at > 4262 + 2 * 800 && at.is_multiple_of(800), "{at}");
}

#[test]
fn the_default_leaves_prose_alone() {
    let default = member("compression", &[]);
    assert_eq!(fires(&default, PROSE), None);
    let line = "Wait, let me check the value again, and then once more, to be sure of it.\n";
    let at = fires(&default, &(PROSE.to_owned() + &line.repeat(60))).expect("it fires");
    let alarm = alarm(&default, &line.repeat(60), 3).expect("it fires");
    assert_eq!(
        (alarm.exact.count(), alarm.unit.as_str()),
        (2000, line.trim())
    );
    assert!((4200..7000).contains(&at), "{at}");
}

/// Sizes are those of the library: where a new version finds others, alarms may move, and the
/// detector's version is raised.
#[test]
fn a_new_deflate_shows_up_here() {
    let sizes = [1, 6, 9].map(|level| zlib(PROSE, level));
    assert_eq!(sizes, [3066.0, 2089.0, 2109.0]);
}

#[test]
fn what_can_never_fire_is_refused() {
    let refused =
        |params: &[(&str, Value)]| member("compression", params).check().err().map(|r| r.param);
    let (int, float) = (Value::Int, Value::Float);
    let small = ("window", int(16));
    assert_eq!(refused(std::slice::from_ref(&small)), None);
    assert_eq!(
        refused(&[small.clone(), ("min_ratio", float(8.1))]),
        Some("min_ratio")
    );
    let history = ("against", word("history"));
    assert_eq!(
        refused(&[small, history, ("min_ratio", float(81.1))]),
        Some("min_ratio")
    );
    let long = ("window", int(32_768));
    assert_eq!(
        refused(&[long, ("against", word("history"))]),
        Some("min_ratio")
    );
    assert_eq!(refused(&[("min_ratio", float(0.5))]), Some("min_ratio"));
    assert_eq!(refused(&[("level", int(0))]), Some("level"));
}
