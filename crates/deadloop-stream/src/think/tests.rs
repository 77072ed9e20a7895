//! Tests of the splitter against a slow, obvious one that matches at every position of the whole text.

use proptest::prelude::*;
use regex::Regex;
use serde_json::{Value, json};

use super::harmony::MAX_HEADER_BYTES;
use super::*;

/// The reasoning and the answer of a text.
type Sides = (String, String);

fn oracle(text: &str, options: &ThinkOptions) -> Sides {
    let pattern =
        r"^(?:<\|start\|>WORDS)?(?:<\|channel\|>WORDS)?(?:<\|constrain\|>WORDS)?<\|message\|>";
    let pattern = Regex::new(&pattern.replace("WORDS", "[A-Za-z0-9_ ./:=-]*")).unwrap();
    let header = |here: &str| {
        let begins = here.starts_with("<|start|>") || here.starts_with("<|channel|>");
        let found = pattern.find(here).map(|found| found.as_str().to_owned());
        found.filter(|found| begins && options.tags.harmony() && found.len() <= MAX_HEADER_BYTES)
    };
    let all = options.tags.pairs();
    // The tags that end the block that the text is in; none outside.
    let mut closing: Option<Vec<&str>> = options
        .opened
        .then(|| all.iter().map(|pair| pair.close.as_str()).collect());
    let mut channel = None; // in the harmony format: the side
    let mut own_tag = false;
    let mut seen_text = false; // anything but blanks, tags too
    let (mut reasoning, mut answer) = (String::new(), String::new());
    let mut at = 0;
    'text: while let Some(c) = text[at..].chars().next() {
        let here = &text[at..];
        let ends = MESSAGE_ENDS.iter().find(|end| here.starts_with(**end));
        let may_open = channel.is_none()
            && (!seen_text || (options.blocks == Blocks::All && closing.is_none()));
        for pair in all.iter().filter(|_| may_open) {
            if here.starts_with(&pair.open) {
                (closing, own_tag, seen_text) = (Some(vec![pair.close.as_str()]), true, true);
                at += pair.open.len();
                continue 'text;
            }
        }
        if let Some(header) = header(here).filter(|_| may_open || channel.is_some()) {
            (channel, seen_text) = (Some(header.contains("<|channel|>analysis")), true);
            at += header.len();
            continue;
        }
        let opened = closing.is_some() && !own_tag && options.tags.harmony();
        if let Some(end) = ends.filter(|_| channel.is_some() || opened) {
            (channel, seen_text) = (Some(false), true);
            at += end.len();
            continue;
        }
        if channel.is_none()
            && let Some(tag) = closing.iter().flatten().find(|tag| here.starts_with(**tag))
        {
            at += tag.len();
            (closing, own_tag, seen_text) = (None, true, true);
            continue;
        }
        seen_text |= !c.is_whitespace();
        let inside = channel.unwrap_or(closing.is_some());
        if inside { &mut reasoning } else { &mut answer }.push(c);
        at += c.len_utf8();
    }
    (reasoning, answer)
}

fn sides(pieces: &[(TagSide, String)]) -> Sides {
    let side = |wanted| {
        let pieces = pieces.iter().filter(|(side, _)| *side == wanted);
        pieces.map(|(_, text)| text.as_str()).collect::<String>()
    };
    (side(TagSide::Reasoning), side(TagSide::Answer))
}

/// Splits a text that comes in chunks, and joins adjacent pieces.
fn split_chunks<'a>(
    chunks: impl IntoIterator<Item = &'a str>,
    options: &ThinkOptions,
) -> Vec<(TagSide, String)> {
    let mut pieces = Vec::new();
    let mut splitter = ThinkSplitter::new(options.clone());
    for chunk in chunks {
        splitter.push(chunk, &mut |side, piece| {
            assert!(!piece.is_empty());
            add_piece(&mut pieces, side, piece);
        });
        assert!(splitter.held_len() <= MAX_HEADER_BYTES);
    }
    splitter.finish(&mut |side, piece| add_piece(&mut pieces, side, piece));
    pieces
}

fn split(text: &str, options: &ThinkOptions) -> Sides {
    sides(&split_think(text, options.clone()))
}

/// Returns the options for all combinations of `first` or `all`, and closed or opened.
fn every_option(tags: &Tags) -> [ThinkOptions; 4] {
    [
        (Blocks::First, false),
        (Blocks::First, true),
        (Blocks::All, false),
        (Blocks::All, true),
    ]
    .map(|(blocks, opened)| ThinkOptions {
        blocks,
        opened,
        tags: tags.clone(),
    })
}

fn check(text: &str, options: &ThinkOptions, reasoning: &str, answer: &str) {
    let expected = (reasoning.to_owned(), answer.to_owned());
    assert_eq!(split(text, options), expected, "{text:?}");
    assert_eq!(oracle(text, options), expected, "{text:?}");
}

#[test]
fn the_cases_of_the_description() {
    for (open, close) in [
        ("<think>", "</think>"),
        ("<thinking>", "</thinking>"),
        ("<reasoning>", "</reasoning>"),
        ("[THINK]", "[/THINK]"),
        ("◁think▷", "◁/think▷"),
    ] {
        let [first, opened, all, _] = every_option(&Tags::default());
        let check = |text: &str, options: &ThinkOptions, reasoning: &str, answer: &str| {
            let tags = |text: &str| text.replace("<t>", open).replace("</t>", close);
            check(&tags(text), options, &tags(reasoning), &tags(answer));
        };
        check("plain", &first, "", "plain");
        check("<t>a b</t>\n42", &first, "a b", "\n42");
        check("<t>round and round", &first, "round and round", "");
        check("a</t>b", &first, "", "a</t>b");
        check("a</t>b", &opened, "a", "b");
        check("</t>b", &opened, "", "b");
        check("never closed", &opened, "never closed", "");
        check("<t>a</t>b", &opened, "a", "b");
        check("<t>a</t>b<t>c</t>d", &first, "a", "b<t>c</t>d");
        check("<t>a</t>b<t>c</t>d", &all, "ac", "bd");
        check("<t>a<t>b</t>c</t>", &first, "a<t>b", "c</t>");
        check("<t>a<t>b</t>c</t>", &all, "a<t>b", "c</t>");
        check(" \n<t>a</t>b", &first, "a", " \nb");
        check("use <t> so", &first, "", "use <t> so");
        check("<<t>a", &all, "a", "<");
        check("<t></t>", &first, "", "");
        check("", &first, "", "");
        // Cut at the end.
        let cut = |tag: &str| tag[..tag.char_indices().next_back().unwrap().0].to_owned();
        check(&cut(open), &first, "", &cut(open));
        let rest = format!("a{}", cut(close));
        check(&format!("<t>{rest}"), &first, &rest, "");
    }
}

#[test]
fn only_its_own_tag_closes_a_block_and_any_one_that_the_prompt_opened() {
    let [first, opened, ..] = every_option(&Tags::default());
    let inside = "a</thinking>b[/THINK]c";
    check(&format!("<think>{inside}</think>d"), &first, inside, "d");
    check("a[/THINK]b</think>", &opened, "a", "b</think>");
    check("[THINK]a</think>b[/THINK]c", &opened, "a</think>b", "c");
}

#[test]
fn only_the_tags_that_are_named_count() {
    let tags = Tags::new(&["<thought>".into(), "<|begin|>...<|end|>".into()]).unwrap();
    let [first, opened, ..] = every_option(&tags);
    check("<think>a</think>b", &first, "", "<think>a</think>b");
    check("<thought>a</thought>b", &first, "a", "b");
    check("<|begin|>a<|end|>b", &first, "a", "b");
    check("a<|end|>b", &opened, "a", "b");
    let [none, opened, ..] = every_option(&Tags::none());
    check("<think>a</think>b", &none, "", "<think>a</think>b");
    check("<think>a</think>b", &opened, "<think>a</think>b", "");
}

#[test]
fn every_message_of_the_harmony_format_goes_by_its_channel() {
    let [first, opened, all, _] = every_option(&Tags::default());
    let (thought, said) = ("six times seven", "It is 42.");
    let whole = "<|channel|>analysis<|message|>six times seven<|end|>\
                 <|start|>assistant<|channel|>final<|message|>It is 42.<|return|>";
    check(whole, &first, thought, said);
    check(&format!("<|start|>assistant{whole}"), &all, thought, said);
    // The template has opened the channel.
    let rest = whole.split_once("<|message|>").unwrap().1;
    check(rest, &opened, thought, said);
    check("a<|end|>b", &first, "", "a<|end|>b");
    let agent = "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary \
                 to=functions.f <|constrain|>json<|message|>{}<|call|><|start|>assistant\
                 <|channel|>analysis<|message|>b<|end|><|start|>assistant<|channel|>final<|message|>c";
    check(agent, &first, "ab", "{}c");
    // What never ends, and what is no header after all.
    let endless = "<|channel|>analysis<|message|>on and on";
    check(endless, &first, "on and on", "");
    check("<|channel|>analysis", &first, "", "<|channel|>analysis");
    let long = format!("<|channel|>{}<|message|>b", "a".repeat(MAX_HEADER_BYTES));
    check(&long, &first, "", &long);
    let talk = "<|channel|>final<|message|>use <think> and <|channel|> so<|return|>";
    check(talk, &all, "", "use <think> and <|channel|> so");
}

/// Strategy for texts made of tags, pieces of tags, blanks and letters of one to four bytes.
fn text() -> impl Strategy<Value = String> {
    let marks = [
        "<think>", "</think>", "[THINK]", "[/THINK]", "analysis", "<|end|>", "<|call|>", "<|", "<",
        "<th", "think>", "</", "/think>", "[", "◁", " ", "\n", "\u{3000}", "a", "é", "环", "🔁",
    ];
    let tags = [
        "<thinking>",
        "</thinking>",
        "◁think▷",
        "◁/think▷",
        "<|channel|>",
        "<|message|>",
        "<|start|>assistant",
        "<|constrain|>json",
    ];
    let word = prop::sample::select([&marks[..], &tags].concat());
    let long = "x".repeat(MAX_HEADER_BYTES - 20);
    prop::collection::vec(word, 0..16)
        .prop_map(move |words| words.concat().replacen("🔁", &long, 1))
}

/// Cuts a text before each char whose bit is set in `at`. The bits repeat every 64 chars.
fn cut(text: &str, at: u64) -> Vec<&str> {
    let mut chunks = Vec::new();
    let mut from = 0;
    for (n, (to, _)) in text.char_indices().enumerate().skip(1) {
        if at >> (n % 64) & 1 == 1 {
            chunks.push(&text[from..to]);
            from = to;
        }
    }
    chunks.push(&text[from..]);
    chunks
}

/// Strategy for thinking and JSON, as a model would write them.
fn answer() -> impl Strategy<Value = (String, Value)> {
    let text = "[a-z环🔁<\\\\\"\n {}/]{0,12}";
    (text, prop::collection::vec(text, 0..4)).prop_map(|(thought, texts)| {
        let value = json!({"sql": texts.first(), "explanation": texts, "export_format": null});
        (thought.replace("</think>", ""), value)
    })
}

proptest! {
    #[test]
    fn it_agrees_with_the_oracle(text in text()) {
        for options in every_option(&Tags::default()) {
            prop_assert_eq!(split(&text, &options), oracle(&text, &options), "{:?}", options);
        }
    }

    #[test]
    fn chunks_make_no_difference(text in text(), cuts in any::<u64>(), more in any::<u64>()) {
        for options in every_option(&Tags::default()) {
            let whole = split_think(&text, options.clone());
            prop_assert_eq!(&split_owned(text.clone(), options.clone()), &whole);
            for cuts in [u64::MAX, cuts, cuts & more] {
                prop_assert_eq!(&split_chunks(cut(&text, cuts), &options), &whole);
            }
        }
    }

    /// Checks tags that are made of each other's pieces.
    #[test]
    fn no_chunking_of_all_makes_a_difference(text in "(<<a>|<a>>|</<a>|</a>>|[< a>/]){0,3}[<>a]{0,3}") {
        let tags = Tags::new(&["<<a>".into(), "<a>>".into()]).unwrap();
        let chars = text.chars().count().min(11) as u32;
        for options in every_option(&tags) {
            let whole = split_think(&text, options.clone());
            prop_assert_eq!(sides(&whole), oracle(&text, &options), "{:?}", options);
            prop_assert_eq!(&split_owned(text.clone(), options.clone()), &whole);
            for cuts in 0..1 << chars {
                prop_assert_eq!(&split_chunks(cut(&text, cuts), &options), &whole);
            }
        }
    }

    /// Checks that JSON after the thinking still parses, bare and in a fence.
    #[test]
    fn json_stays_the_json_it_was((thought, value) in answer(), blanks in "[ \n]{0,3}", cuts in any::<u64>()) {
        let bare = format!("<think>{thought}</think>{blanks}{value}");
        let fenced = format!("<think>{thought}</think>{blanks}```json\n{value:#}\n```");
        let json = |text: &str| {
            let text = text.trim();
            let inner = text.strip_prefix("```json").and_then(|text| text.strip_suffix("```"));
            serde_json::from_str::<Value>(inner.unwrap_or(text)).unwrap()
        };
        for text in [bare, fenced] {
            let (reasoning, answer) = sides(&split_chunks(cut(&text, cuts), &ThinkOptions::default()));
            prop_assert_eq!(reasoning, thought.clone());
            prop_assert_eq!(json(&answer), value.clone());
        }
    }
}

/// Checks that a closing tag between back-ticks, or in an answer, is text, for any cuts.
#[test]
fn a_tag_that_is_spoken_of_closes_nothing() {
    let emits = "It emits `</think>` and then the answer.";
    let quoted = "Use `<think>x</think>` here.";
    let cases = [
        (&format!("<think>{emits}</think>Done.")[..], emits, "Done."),
        ("<think>Call `f`</think>Done.", "Call `f`", "Done."),
        ("<|channel>thought\nTwo.<channel|>Done.", "\nTwo.", "Done."),
        (quoted, "", quoted),
    ];
    for (text, reasoning, answer) in cases {
        let chars: Vec<char> = text.chars().collect();
        for size in 1..=chars.len() {
            let pieces: Vec<String> = chars.chunks(size).map(String::from_iter).collect();
            let pieces = pieces.iter().map(String::as_str);
            let (thought, said) = sides(&split_chunks(pieces, &ThinkOptions::default()));
            assert_eq!((&*thought, &*said), (reasoning, answer), "{size}");
        }
    }
}
