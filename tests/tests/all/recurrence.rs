//! `recurrence` against a slow version written from its description: strings for hashes, everything
//! looked for again at each step.

#![allow(clippy::expect_used, reason = "in the helpers of tests as in tests")]

use std::collections::HashSet;
use std::sync::LazyLock;

use deadloop_detect::harness::{Detector, EventPlace, Member, Params};
use deadloop_detect::{Channel, Event, Guard, Response, Setting, TextChannel, Value};
use deadloop_tests::generate;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use regex::Regex;

/// What an alarm says: chars read, onset, period, copies, unit, kind.
type Said = (u64, u64, u64, u64, String, &'static str);

/// A symbol: its text, the chars before it, the chars that had been read when it was complete.
struct Symbol {
    text: String,
    start: usize,
    known: usize,
}

/// How each structure begins; it shows with the first char with which this matches the line so far.
static STRUCTURES: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let patterns = [
        ("fence", r"^[ \t]*```"),
        ("table", r"^\s*(\|.*\||[|+-]{3})"),
        ("list", r"^\s*([-*+]|[0-9]+\.)\s"),
        ("heading", r"^#+\s"),
        ("quote", r"^>\s"),
    ];
    let compiled = patterns.map(|(name, p)| (name, Regex::new(p).expect("a pattern")));
    compiled.into()
});

static DIVIDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*([-+_=*\x{2500}-\x{257F}]{3}|[\x{2500}-\x{257F}])[-+_=*\x{2500}-\x{257F}]*$")
        .expect("a pattern")
});

/// The structures that show with the last char of the line so far.
fn shown(line: &str) -> Vec<&'static str> {
    let before = &line[..line.len() - line.chars().last().map_or(0, char::len_utf8)];
    let new = |(_, pattern): &&(&str, Regex)| pattern.is_match(line) && !pattern.is_match(before);
    let mut all: Vec<&str> = STRUCTURES
        .iter()
        .filter(new)
        .map(|(name, _)| *name)
        .collect();
    if DIVIDER.is_match(line) && !line.ends_with(char::is_whitespace) {
        all.push("divider");
    }
    all
}

/// The chars that are read, with their places, cut where the state is cleared.
fn segments(params: &Params, text: &[char]) -> Vec<Vec<(usize, char)>> {
    let resets: Vec<&str> = params
        .items("reset_on")
        .iter()
        .filter_map(Value::as_text)
        .collect();
    if params.text("code") == "ticks" {
        return segments_of_ticks(&resets, params, text);
    }
    let (mut line, mut open, mut fence_line) = (String::new(), false, false);
    let mut segments: Vec<Vec<(usize, char)>> = vec![Vec::new()];
    for (i, c) in text.iter().enumerate() {
        line.push(*c);
        let mut found = shown(&line);
        if found.contains(&"fence") {
            (open, fence_line) = (!open, true);
            // Of an element the first two backticks are nothing either.
            if params.text("code") == "skip" && ["sentences", "lines"].contains(&params.text("by"))
            {
                let begins = i + 1 - line.chars().count();
                let segment = segments.last_mut().expect("one at least");
                segment.retain(|(at, _)| *at < begins);
            }
        }
        if *c == '\n' {
            (line, fence_line) = (String::new(), false);
        }
        let skipped = params.text("code") == "skip" && (open || fence_line);
        found.retain(|name| resets.contains(name) && (!skipped || *name == "fence"));
        if !found.is_empty() {
            segments.push(Vec::new());
        } else if !skipped {
            segments.last_mut().expect("one at least").push((i, *c));
        }
    }
    segments
}

/// The same where any three backticks open or close a fence: the text is cut at those, and each second
/// part is left out.
fn segments_of_ticks(resets: &[&str], params: &Params, text: &[char]) -> Vec<Vec<(usize, char)>> {
    let whole: String = text.iter().collect();
    let elements = ["sentences", "lines"].contains(&params.text("by"));
    let (mut line, mut at) = (String::new(), 0);
    let mut segments: Vec<Vec<(usize, char)>> = vec![Vec::new()];
    let parts: Vec<&str> = whole.split("```").collect();
    for (number, part) in parts.iter().enumerate() {
        let is_last = number + 1 == parts.len();
        let fence = if is_last { "" } else { "```" };
        for (i, c) in part.chars().chain(fence.chars()).enumerate() {
            line.push(c);
            let third = i == part.chars().count() + 2;
            let mut found = shown(&line);
            found.retain(|name| {
                resets.contains(name) && *name != "fence" && number % 2 == 0 && !third
            });
            let resets_here = !found.is_empty() || third && resets.contains(&"fence");
            let read = segments.last_mut().expect("one at least");
            if third && elements {
                // The element that the fence cuts is nothing: what ends it takes the rest.
                let ends = |(_, c): &(usize, char)| match params.text("by") {
                    "lines" => *c == '\n',
                    _ => "。.；;！!？?\n".contains(*c),
                };
                let kept = read.iter().rposition(ends).map_or(0, |last| last + 1);
                read.truncate(kept);
            } else if number % 2 == 0 && !third && !resets_here {
                read.push((at, c));
            }
            if resets_here {
                segments.push(Vec::new());
            }
            if c == '\n' {
                line.clear();
            }
            at += 1;
        }
    }
    segments
}

fn is_cjk(c: char) -> bool {
    static CJK: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}\u30fc\uff70]")
            .expect("a pattern")
    });
    CJK.is_match(&c.to_string())
}

fn symbols(params: &Params, segment: &[(usize, char)]) -> Vec<Symbol> {
    let by = params.text("by");
    let mut all = Vec::new();
    let mut held: Vec<(usize, char)> = Vec::new();
    for (i, c) in segment {
        let cjk = by == "words" && is_cjk(*c);
        let ends = match by {
            "chars" => true,
            "words" => !c.is_alphanumeric() || cjk,
            "lines" => *c == '\n',
            _ => "。.；;！!？?\n".contains(*c),
        };
        if !ends || by == "chars" {
            held.push((*i, *c));
        }
        if ends {
            all.extend(symbol(by, std::mem::take(&mut held), i + 1));
        }
        if cjk {
            all.extend(symbol(by, vec![(*i, *c)], i + 1));
        }
    }
    all
}

fn symbol(by: &str, held: Vec<(usize, char)>, known: usize) -> Option<Symbol> {
    let text: String = held.iter().map(|(_, c)| *c).collect();
    let start = held
        .iter()
        .find(|(_, c)| by == "chars" || !c.is_whitespace())?
        .0;
    let text = match by {
        "chars" => text,
        "words" => text.chars().flat_map(char::to_lowercase).collect(),
        _ => text.split_whitespace().collect::<Vec<_>>().join(" "),
    };
    Some(Symbol { text, start, known })
}

/// The first alarm.
fn oracle(params: &Params, text: &str) -> Option<Said> {
    let text: Vec<char> = text.chars().collect();
    let n = params.count("n") as usize;
    for segment in segments(params, &text) {
        let symbols = symbols(params, &segment);
        let said = (n..=symbols.len()).find_map(|end| alarm(params, &text, &symbols[..end]));
        // Later segments were read later.
        if said.is_some() {
            return said;
        }
    }
    None
}

/// Whether the last n-gram of `symbols` alarms.
fn alarm(params: &Params, text: &[char], symbols: &[Symbol]) -> Option<Said> {
    let number = |name| params.count(name) as usize;
    let (n, window, count) = (number("n"), number("window"), number("min_count"));
    let texts: Vec<&str> = symbols.iter().map(|s| s.text.as_str()).collect();
    let (here, now) = (symbols.len() - n, symbols[symbols.len() - 1].known);
    let inside = |i: &usize| *i + window >= symbols.len();
    let same = |i: &usize| texts[*i..*i + n] == texts[here..];
    let all: Vec<usize> = (0..=here).filter(inside).filter(same).collect();
    let last = &all[all.len().checked_sub(count)?..];
    let between: HashSet<&[&str]> = last.windows(2).map(|w| &texts[w[0]..w[1]]).collect();
    let fits = |bound: usize, measured: usize| bound == 0 || measured <= bound;
    if !fits(number("max_gap") * (count - 1), here - last[0])
        || !fits(number("max_distinct"), between.len())
    {
        return None;
    }
    let start = |i: usize| symbols[last[i]].start;
    let period = (start(count - 1) - start(0)).div_ceil(count - 1);
    let unit: String = text[start(count - 2)..start(count - 1)].iter().collect();
    let listed = Regex::new(r"(?m)^\s*\**[(（]?\d+[.)）、]").expect("a pattern");
    let whole: String = text[start(count - 2)..now].iter().collect();
    let kind = match period {
        _ if listed.is_match(&whole) => "ordered-list",
        0..40 => "short-sequence",
        _ => "paragraph",
    };
    let unit = unit.chars().take(80).collect();
    Some((
        now as u64,
        start(1) as u64,
        period as u64,
        count as u64,
        unit,
        kind,
    ))
}

/// What the guard says, in chunks of `size` chars.
fn guard(params: &Params, text: &str, size: usize) -> Option<Said> {
    let member = Member {
        response: Response::Stop,
        ..Member::new(
            Detector::find("recurrence").expect("registered"),
            params.clone(),
        )
    };
    let mut guard = Guard::new(&Setting {
        members: vec![member],
    })
    .expect("it reads text");
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(size).find_map(|chunk| {
        let a = guard
            .push_text(TextChannel::Answer, &chunk.iter().collect::<String>())
            .into_alarm()?;
        let kind = a.kind.name();
        Some((
            a.exact.count(),
            a.onset.count(),
            a.period.count(),
            a.copies,
            a.unit,
            kind,
        ))
    })
}

/// The chars read when the rule of `params` accepts a fact of the loosest meter that measures what
/// they measure: what a sweep does.
fn swept(params: &Params, text: &str) -> Option<u64> {
    let detector = Detector::find("recurrence").expect("registered");
    let mut loosest = params.clone();
    let all = [("min_count", 2), ("max_gap", 0), ("max_distinct", 0)];
    all.into_iter()
        .for_each(|(name, value)| loosest.set(name, Value::Int(value)));
    let mut facts = Vec::new();
    let loosest = Member {
        response: Response::Stop,
        ..Member::new(detector, loosest)
    };
    let recipe = loosest.recipe().expect("it reads text");
    let event = Event::Text(TextChannel::Answer, text);
    let mut meter = recipe.meter(Channel::Answer);
    meter.push(&event, EventPlace::default(), &mut facts);
    let params = params.clone();
    let member = Member {
        response: Response::Stop,
        ..Member::new(detector, params)
    };
    let rule = member.rule();
    facts.iter().find_map(|fact| rule.alarm(fact))
}

/// Parameters that short texts can meet.
fn params() -> impl Strategy<Value = Params> {
    let detector = Detector::find("recurrence").expect("registered");
    let numbers = (
        1..6_i64,
        2..7_i64,
        1..120_i64,
        0..40_i64,
        0..6_i64,
        any::<[bool; 3]>(),
    );
    (generate::member(detector), numbers).prop_filter_map("can fire", |(member, numbers)| {
        let mut member = member;
        let (n, count, window, gap, distinct, small) = numbers;
        let all = [
            (small[0], "n", n),
            (small[0], "min_count", count),
            (small[1], "window", window),
            (small[2], "max_gap", gap),
            (small[2], "max_distinct", distinct),
        ];
        for (_, name, value) in all.into_iter().filter(|(chosen, ..)| *chosen) {
            member.params.set(name, Value::Int(value));
        }
        // The oracle reads every line.
        member.params.set("ignore", Value::List(Vec::new()));
        member.check().is_ok().then_some(member.params)
    })
}

/// Generated text with what the structures are made of.
fn text() -> impl Strategy<Value = String> {
    let mark = prop::sample::select(vec![
        "",
        "\n- a",
        "\n> ",
        "\n# ",
        "\n|a|",
        "\n|-",
        "---",
        "\n***",
        "\n─",
        "\n1. x",
        "\n```\n",
        "Ab, ab ab. ",
        "カ",
        "한국 ",
        "Éé é. ",
        "\n+\n",
    ]);
    let part = (mark, generate::text()).prop_map(|(mark, text)| mark.to_owned() + &text);
    let parts = prop::collection::vec(part, 1..4)
        .prop_map(|parts| parts.concat().chars().take(700).collect());
    prop_oneof![3 => parts, 1 => "[ab]{0,300}", 1 => "([ab] ){0,200}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn it_is_the_slow_version(params in params(), text in text(), size in 1..50_usize) {
        let expected = oracle(&params, &text);
        prop_assert_eq!(&guard(&params, &text, 1), &expected);
        prop_assert_eq!(&guard(&params, &text, size), &expected);
        prop_assert_eq!(&guard(&params, &text, usize::MAX), &expected);
        prop_assert_eq!(swept(&params, &text), expected.map(|said| said.0));
    }
}

/// The comparison would say nothing of texts that never alarm.
#[test]
fn generated_texts_often_alarm() {
    let mut runner = TestRunner::deterministic();
    let mut fires = || {
        let params = params().new_tree(&mut runner).expect("params").current();
        let text = text().new_tree(&mut runner).expect("a text").current();
        oracle(&params, &text).is_some()
    };
    let count = (0..300).filter(|_| fires()).count();
    assert!(count > 75, "{count} of 300");
}

/// 思考 in words of its own, `Ab` and `ab` one word, a number of digits one word.
#[test]
fn words() {
    let mut params = Params::defaults(Detector::find("recurrence").expect("registered").params);
    let set = [("n", 2), ("min_count", 2), ("window", 100)];
    set.into_iter()
        .for_each(|(name, value)| params.set(name, Value::Int(value)));
    params.set("by", Value::Text("words".into()));
    for (text, at) in [
        ("Go on, GO on!", Some(13)),
        ("思考思考", Some(4)),
        ("a 12 a 13 ", None),
    ] {
        assert_eq!(oracle(&params, text).map(|said| said.0), at, "{text}");
        assert_eq!(guard(&params, text, 1).map(|said| said.0), at, "{text}");
    }
}
