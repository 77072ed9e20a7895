//! Compares `circling` with a slow reference, which reads all tokens again at each token.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::common;

use common::{alarm, allowed, params_of, twins, word};
use deadloop_detect::harness::Params;
use deadloop_detect::{Settings, Value};
use proptest::prelude::*;

/// A token: its text, the number of chars up to its end, and the number of chars read when it was complete.
struct Token {
    text: String,
    end: usize,
    known: usize,
}

fn wide(c: char) -> bool {
    ('\u{3040}'..='\u{30FF}').contains(&c) || ('\u{4E00}'..='\u{9FFF}').contains(&c)
}

/// Returns the tokens of a text. With `skip`, code fences are left out.
fn tokens(text: &str, skip: bool) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut open = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let fence = line.trim_start_matches([' ', '\t']).starts_with("```");
        let fenced = skip && (fence || open);
        open ^= fence;
        for c in line.chars() {
            at += 1;
            let word = (c.is_alphanumeric() || c == '_') && !fenced;
            let last = tokens.last_mut().filter(|token| token.known == 0);
            match last {
                Some(token) if word && !wide(c) => {
                    token.text.extend(c.to_lowercase());
                    token.end = at;
                    let cut = token.text.chars().count() == 64;
                    token.known = if cut { at } else { 0 };
                    continue;
                }
                Some(token) => token.known = at,
                None => {}
            }
            if word {
                tokens.push(Token {
                    text: c.to_lowercase().collect(),
                    end: at,
                    known: if wide(c) { at } else { 0 },
                });
            }
        }
    }
    tokens.retain(|token| token.known > 0);
    tokens
}

/// Returns the position of the alarm, and the onset.
fn slow(params: &Params, text: &str) -> Option<(u64, u64)> {
    let count = |name| params.count(name) as usize;
    let (window, history) = (count("window"), count("history"));
    let all = tokens(text, params.text("code") == "skip");
    let phrases: Vec<Vec<String>> = phrases(params);
    let pair = |i: usize| (i > 0).then(|| (&all[i - 1].text, &all[i].text));
    let is_new = |i: usize| {
        let near = |j: &usize| all[i].end - all[*j].end <= history;
        pair(i).is_some() && !(0..i).filter(near).any(|j| pair(j) == pair(i))
    };
    let marks = |i: usize| {
        let ends = |phrase: &Vec<String>| {
            let from = (i + 1).checked_sub(phrase.len());
            from.is_some_and(|from| all[from..=i].iter().map(|t| &t.text).eq(phrase.iter()))
        };
        phrases.iter().any(ends)
    };
    (0..all.len()).find_map(|i| {
        let e = all[i].end;
        let inside = || (0..=i).filter(|j| all[*j].end + window > e);
        let pairs = inside().filter(|j| pair(*j).is_some()).count();
        let new = inside().filter(|j| is_new(*j)).count();
        let markers = inside().filter(|j| marks(*j)).count();
        let fires = e >= window.max(count("start_after"))
            && 40 * pairs >= window
            && 1000 * new <= count("max_new") * pairs
            && (phrases.is_empty() || 1000 * markers >= count("min_markers") * window);
        fires.then(|| (all[i].known as u64, (e - window + 1) as u64))
    })
}

fn phrases(params: &Params) -> Vec<Vec<String>> {
    let lists: toml::Table =
        toml::from_str(include_str!("../../src/detectors/circling/markers.toml")).unwrap();
    let mut phrases = Vec::new();
    for name in params.items("markers").iter().filter_map(Value::as_text) {
        match lists.get(name) {
            Some(list) => {
                let all = list["phrases"].as_array().unwrap().iter();
                phrases.extend(all.map(|phrase| phrase.as_str().unwrap().to_owned()));
            }
            None => phrases.push(name.to_owned()),
        }
    }
    let words = |phrase: &String| {
        let all = tokens(&format!("{phrase} "), false).into_iter();
        all.map(|token| token.text).collect()
    };
    phrases.iter().map(words).collect()
}

fn fast(params: &Params, text: &str, size: usize) -> Option<(u64, u64)> {
    let told = alarm(&allowed("circling", params), text, size);
    told.map(|alarm| (alarm.exact.count(), alarm.onset.count()))
}

/// Parameters that short texts can meet.
fn params() -> impl Strategy<Value = Params> {
    let lists = prop::sample::select(vec![vec!["en", "zh"], vec!["b c"], vec![], vec!["zh", "b"]]);
    let code = prop::sample::select(vec!["check", "skip"]);
    let numbers = (1..150_i64, 0..200_i64, 50..900_i64, 0..80_i64, 0..200_i64);
    (numbers, lists, code).prop_map(|((window, more, new, markers, after), lists, code)| {
        let lists = lists.into_iter().map(word);
        let params = [
            ("window", Value::Int(window)),
            ("history", Value::Int(window + more)),
            ("max_new", Value::Int(new)),
            ("min_markers", Value::Int(markers)),
            ("start_after", Value::Int(after)),
            ("markers", Value::List(lists.collect())),
            ("code", word(code)),
        ];
        params_of("circling", &params)
    })
}

/// Generates texts of few words, in which pairs recur.
fn text() -> impl Strategy<Value = String> {
    let words = [
        "wait ", "Maybe, ", "let me ", "a ", "b ", "c ", "B c ", "x_1 ", "等等", "我", "\n```\n",
        "\n", "é", " ",
    ];
    let long = ["doesn't fit. ", "long_word"];
    let word = prop::sample::select([&words[..], &long].concat());
    prop::collection::vec(word, 0..150).prop_map(|words| words.concat())
}

twins!(params(), text(), fast, slow);

#[test]
fn what_can_never_fire_is_refused() {
    let refused = |line: &str| {
        let text = format!("[[guard]]\ndetector = 'circling'\n[guard.params]\n{line}\n");
        Settings::parse(&text).unwrap_err().to_string()
    };
    assert!(refused("history = 3999").contains("below window"));
    assert!(refused("max_new = 0").contains("1..1000"));
    assert!(refused("max_new = 1001").contains("1..1000"));
    assert!(refused("markers = ['one two three four five']").contains("has 5 words"));
    assert!(refused("markers = ['...']").contains("has 0 words"));
}
