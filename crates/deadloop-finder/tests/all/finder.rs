//! Tests the loop finder on planted loops, whose onset is known to the char.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::path::Path;

use deadloop_corpus::{Class, Corpus};
use deadloop_detect::Kind;
use deadloop_finder::selection::find;
use proptest::prelude::{prop, prop_assert_eq, proptest};

const STARTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/starter");

/// Returns the kind, channel and onset of each planted loop with equal copies, by id. List numbers may differ.
fn planted_exactly() -> BTreeMap<String, (String, String, usize)> {
    let mut rows = csv::Reader::from_path(Path::new(STARTER).join("labels.csv")).unwrap();
    let rows = rows.records().map(Result::unwrap);
    let planted = rows.filter(|row| &row[9] == "planted" && &row[2] != "near-repeat");
    let told = |row: csv::StringRecord| {
        let [id, kind, channel] = [0, 2, 3].map(|at| row[at].to_owned());
        (id, (kind, channel, row[5].parse().unwrap()))
    };
    planted.map(told).collect()
}

#[test]
fn the_onset_of_every_loop_planted_in_the_starter_is_found_to_the_char() {
    let mut planted = planted_exactly();
    assert!(planted.len() >= 100, "{}", planted.len());
    let corpus = Corpus::open(Path::new(STARTER)).unwrap();
    for raw in corpus.raw_records() {
        let entry = corpus.parse(&raw.unwrap()).unwrap();
        let t = &entry.transcript;
        let Some((kind, channel, onset)) = planted.remove(&t.id) else {
            continue;
        };
        let text = match channel.as_str() {
            "reasoning" => t.reasoning(),
            _ => t.answer(),
        };
        let found = find(&text);
        assert_eq!(found.class, Class::Loop, "{}", t.id);
        let span = found.spans.last().unwrap();
        assert_eq!((span.onset, span.end), (onset, None), "{} {kind}", t.id);
    }
    assert!(planted.is_empty(), "{planted:?}");
}

#[test]
fn a_repetition_that_ends_is_transient() {
    let before = "The quick brown fox looks at a lazy dog, and says so at some length. ";
    let unit = "Wait, let me check that again. ";
    let goes_on = format!("{before}{}", unit.repeat(12));
    let ends = format!("{goes_on}Good. It is seven, since nothing else divides it.");
    let found = find(&goes_on);
    assert_eq!((found.class, found.spans[0].end), (Class::Loop, None));
    let found = find(&ends);
    let end = (before.len() + 12 * unit.len(), Class::Transient);
    assert_eq!((found.spans[0].end.unwrap(), found.class), end);
    assert_eq!(found.spans[0].onset, before.len() + unit.len());
    assert_eq!(find(before).class, Class::Clean);
    assert_eq!(find("").class, Class::Clean);
}

/// Returns a paragraph of `chars` chars without repetition. Each word ends with a new number, in letters.
fn paragraph(chars: usize) -> String {
    let letters = |n: usize| [n / 676 % 26, n / 26 % 26, n % 26].map(|i| (b'a' + i as u8) as char);
    let words = (0..).map(|n: usize| format!("{} ", String::from_iter(letters(n * 7919))));
    let text: String = words.take(chars / 4).collect();
    format!("{}. ", &text[..chars - 2])
}

#[test]
fn two_long_copies_are_a_loop_at_the_end_and_ended_by_themselves_before_other_text() {
    let before = "The quick brown fox looks at a lazy dog, and says so at some length. ";
    let after = "Good, so that is settled. It is seven, since nothing else divides the number that was asked for.";
    for period in [500, 520, 900, 3000, 9000] {
        let unit = paragraph(period);
        let twice = format!("{before}{unit}{unit}");
        let found = find(&format!("{twice}{after}"));
        assert_eq!(found.class, Class::Transient, "{period}");
        let span = found.spans[0];
        let end = before.len() + 2 * period;
        assert_eq!((span.onset, span.end), (before.len() + period, Some(end)));
        let cut = find(&format!("{twice}{}", &unit[..period / 3]));
        assert_eq!(cut.class, Class::Loop, "{period}");
    }
    // For comparison: a text that may well occur twice.
    let unit = paragraph(400);
    let found = find(&format!("{before}{unit}{unit}{after}"));
    assert_eq!(found.class, Class::Clean);
}

#[test]
fn known_phrases_before_a_loop_give_its_earliest_onset() {
    let start = "A painter bought the lighthouse, and nobody knows why he never went up. ";
    let three = [
        "But the answer has to be four, as the clue says. ",
        "However, we do not know the length of the first rope. ",
        "Perhaps the angle helps us here a little, or perhaps not. ",
    ];
    let order = [
        0, 1, 2, 1, 0, 2, 2, 0, 1, 0, 2, 1, 1, 2, 0, 2, 1, 0, 0, 2, 1,
    ];
    let drawn: String = order.iter().map(|i| three[*i]).collect();
    let last = "So the answer is four. ";
    let found = find(&format!("{start}{drawn}{}", last.repeat(20)));
    let span = found.spans.last().unwrap();
    // Each pair of sentences is new once, at their border.
    let said_once = start.len() + three.concat().len();
    assert_eq!(span.onset, start.len() + drawn.len() + last.len());
    let earliest = span.earliest.unwrap();
    let half = start.len() + drawn.len() / 2;
    assert!((said_once..half).contains(&earliest), "{earliest}");
}

#[test]
fn end_marks_without_end_are_a_loop_and_a_few_are_none() {
    let text = "The answer is seven, since nothing else divides it. ";
    assert_eq!(find(&format!("{text}</s></s>")).class, Class::Clean);
    let marks = format!("{text}{}", "</s>".repeat(80));
    let found = find(&marks);
    assert_eq!(found.class, Class::Loop);
    assert_eq!(found.spans[0].onset, text.len() + 4);
}

#[test]
fn an_endless_list_is_a_loop_and_rows_of_data_are_not() {
    let item = |n: u32| format!("{n}. Consider the next case.\n");
    let list: String = (7..40).map(item).collect();
    let found = find(&format!("First some words.\n{list}"));
    assert_eq!(found.class, Class::Loop);
    let span = &found.spans[0];
    assert_eq!((span.start, span.onset), (18, 45));
    assert_eq!(span.kind, Kind::OrderedList);
    let row = |n: u32| {
        let [a, b, c] = [n * 37 % 101, n * n % 89, n * 53 % 97];
        format!("row {a} has {b} and {c}\n")
    };
    let data: String = (0..20).map(row).collect();
    let after = find(&format!("{data}That is all of it, more or less."));
    assert_eq!(after.class, Class::Clean);
}

#[test]
fn a_flood_of_one_char_is_found_in_a_long_text_without_much_time_or_memory() {
    let text = format!("So.{}", "\u{4e00}".repeat(1_000_000));
    let found = find(&text);
    assert_eq!(found.class, Class::Loop);
    assert_eq!((found.spans[0].start, found.spans[0].period), (3, 1));
}

proptest! {
    #[test]
    fn planted_loops_are_found_to_the_char(
        which in 0usize..2,
        unit in "[a-z]{3,9} [a-z]{2,8} [a-z]{3,12}[.,] ",
        before in 6u32..20,
        tail in 300usize..900,
        mark in prop::sample::select(vec![". ", ") ", "、"]),
    ) {
        let letters = |n: u32| n.to_string().chars().map(|c| char::from(b'a' + c as u8 - b'0')).collect::<String>();
        let sentence = |n: u32| format!("Sentence {} of these says {}.\n", letters(n * 7919), letters(n * n + 17));
        let clean: String = (0..before).map(sentence).collect();
        let copy = |n: usize| match which {
            0 => unit.clone(),
            _ => format!("{}{mark}{unit}\n", n + 1),
        };
        let copies: String = (0..tail).map(copy).collect();
        let (start, period) = (clean.chars().count(), copy(0).chars().count());
        let text: String = clean.chars().chain(copies.chars().take(period + tail)).collect();
        let span = find(&text).spans.last().map(|s| (s.start, s.onset));
        prop_assert_eq!(span, Some((start, start + period)));
    }

    #[test]
    fn any_text_is_accepted(text in "\\PC{0,300}") {
        let found = find(&text);
        let length = text.chars().count();
        for span in &found.spans {
            prop_assert_eq!(span.onset, span.start + span.period);
            let end = span.end.unwrap_or(length);
            prop_assert_eq!(span.onset < end && end <= length, true);
            prop_assert_eq!(span.earliest.is_none_or(|at| at < span.onset), true);
        }
    }
}
