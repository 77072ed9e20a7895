//! The stream reader yields the expected content of every sample in `tests/formats`, however its bytes are cut, and
//! never panics.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use std::path::Path;

use deadloop_corpus::StreamFormat::{self, Jsonl, Sse, Text};
use deadloop_corpus::{Arrival, StreamReader, ThinkOptions};
use deadloop_detect::{OwnedEvent, TextChannel};
use proptest::prelude::*;

/// Content of a stream.
#[derive(Debug, PartialEq)]
struct Said {
    arrivals: Vec<Arrival>,
    format: Option<StreamFormat>,
    bad: u64,
    problems: Vec<String>,
}

/// Reads a stream in pieces that end at `cuts`.
fn read(bytes: &[u8], cuts: &[usize], format: Option<StreamFormat>) -> Said {
    let mut reader = StreamReader::new("stream", format, ThinkOptions::default());
    let mut arrivals = Vec::new();
    let mut from = 0;
    for to in cuts.iter().copied().chain([bytes.len()]) {
        reader.feed(&bytes[from..to]);
        arrivals.extend(std::iter::from_fn(|| reader.next_event()));
        from = to;
    }
    reader.end();
    arrivals.extend(std::iter::from_fn(|| reader.next_event()));
    if reader.format() == Some(Text) {
        arrivals = joined(arrivals);
    }
    Said {
        arrivals,
        format: reader.format(),
        bad: reader.bad_lines(),
        problems: reader.problems().iter().map(ToString::to_string).collect(),
    }
}

/// Joins adjacent texts that a cut has separated.
fn joined(arrivals: Vec<Arrival>) -> Vec<Arrival> {
    let mut all: Vec<Arrival> = Vec::new();
    for next in arrivals {
        if let Some(last) = all.last_mut()
            && let (OwnedEvent::Text(one, text), OwnedEvent::Text(other, more)) =
                (&mut last.event, &next.event)
            && one == other
        {
            text.push_str(more);
            last.end = next.end;
            continue;
        }
        all.push(next);
    }
    all
}

fn sample(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/formats");
    std::fs::read(folder.join(name)).expect("the sample is there")
}

/// File, format, reasoning, answer and finish reason.
type Sample<'a> = (&'a str, StreamFormat, &'a str, &'a str, &'a str);

const SAMPLES: &[Sample<'_>] = &[
    ("agent.sse", Sse, "先分析。", "好的。", "error"),
    (
        "anthropic.sse",
        Sse,
        "Let me see.\n",
        "It is 42.",
        "tool_use",
    ),
    ("chat-tags.sse", Sse, "我想 a\nb", "\n42", "length"),
    ("chat.jsonl", Jsonl, "Hm. ", "42", "error"),
    ("chat.sse", Sse, "先想，then 🔁.", "Use <think> 42", "stop"),
    (
        "events.jsonl",
        Jsonl,
        "First, then.",
        "<think> is a tag",
        "length",
    ),
    (
        "json-answer.txt",
        Text,
        "",
        "{\"answer\": 42, \"why\": \"six times seven\"}\n",
        "",
    ),
    ("ollama-chat.jsonl", Jsonl, "Hm, 六七。", "42", "stop"),
    ("ollama-generate.jsonl", Jsonl, "Hm.", "42 <", "length"),
    (
        "responses.sse",
        Sse,
        "**Plan** six times seven",
        "It is 42.",
        "max_output_tokens",
    ),
    (
        "tags.txt",
        Text,
        "先想 about it,\n环 🔁.",
        "\n{\"answer\": 42}\n",
        "",
    ),
];

impl Said {
    /// Returns the text of a channel.
    fn text(&self, of: TextChannel) -> String {
        let events = self.arrivals.iter().map(|arrival| &arrival.event);
        let texts = events.filter_map(|event| match event {
            OwnedEvent::Text(channel, text) if *channel == of => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    fn answer(&self) -> String {
        self.text(TextChannel::Answer)
    }
}

#[test]
fn every_sample_says_what_it_should() {
    for (name, format, reasoning, answer, finish) in SAMPLES {
        let said = read(&sample(name), &[], None);
        assert_eq!(said.format, Some(*format), "{name}");
        assert_eq!(said.problems, [""; 0], "{name}");
        assert_eq!(&said.text(TextChannel::Reasoning), reasoning, "{name}");
        assert_eq!(&said.answer(), answer, "{name}");
        let reasons = said.arrivals.iter().filter_map(|a| match &a.event {
            OwnedEvent::Finish(reason) => reason.as_deref(),
            _ => None,
        });
        assert_eq!(&reasons.collect::<String>(), finish, "{name}");
    }
}

#[test]
fn every_sample_is_listed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/formats");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read"))
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name != "README.md")
        .collect();
    files.sort();
    assert_eq!(
        files,
        SAMPLES.iter().map(|sample| sample.0).collect::<Vec<_>>()
    );
}

#[test]
fn cuts_make_no_difference() {
    for (name, format, ..) in SAMPLES {
        let bytes = sample(name);
        for format in [None, Some(*format)] {
            let whole = read(&bytes, &[], format);
            for cut in 0..=bytes.len() {
                assert_eq!(read(&bytes, &[cut], format), whole, "{name} cut at {cut}");
            }
            let everywhere: Vec<usize> = (1..bytes.len()).collect();
            assert_eq!(
                read(&bytes, &everywhere, format),
                whole,
                "{name} byte by byte"
            );
        }
    }
}

/// An event ends with its line, or in plain text with its last char.
#[test]
fn ends_are_where_the_bytes_are() {
    let bytes = sample("chat.sse");
    for arrival in read(&bytes, &[], None).arrivals {
        let end = usize::try_from(arrival.end).expect("a small file");
        assert!(
            bytes[..end].ends_with(b"}\n") && bytes[end..].starts_with(b"\n"),
            "{end}"
        );
    }
    let text = sample("tags.txt");
    let ends: Vec<u64> = read(&text, &[], None)
        .arrivals
        .iter()
        .map(|a| a.end)
        .collect();
    let close = text
        .windows(8)
        .position(|w| w == b"</think>")
        .expect("there is a tag");
    assert_eq!(ends, [close as u64, text.len() as u64]);
}

#[test]
fn an_event_is_there_when_its_line_is() {
    let mut reader = StreamReader::new("stream", None, ThinkOptions::default());
    reader.feed(b": hello\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}");
    assert_eq!(reader.next_event(), None);
    reader.feed(b"\n");
    let event = OwnedEvent::Text(TextChannel::Answer, "a".into());
    assert_eq!(reader.next_event().map(|a| a.event), Some(event.clone()));
    let mut text = StreamReader::new("stream", None, ThinkOptions::default());
    text.feed(b"a");
    assert_eq!(
        text.next_event().map(|a| a.event),
        Some(event),
        "text waits for nothing"
    );
}

#[test]
fn bad_lines_are_counted_and_named_and_the_rest_is_read() {
    let stream = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\nnonsense\ndata: {\"choices\"\n\n\
        data: \xff\ndata: 7\ndata: {\"unheard\":\"of\"}\ndata: {\"type\":\"answer\"}\n\
        data: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n";
    let said = read(stream, &[], None);
    assert_eq!(said.answer(), "ab");
    assert_eq!(said.bad, 6);
    for (problem, words) in said.problems.iter().zip([
        "stream:3: not JSON",
        "stream:5: not JSON",
        "stream:6: not UTF-8 at byte 7",
        "stream:7: a number alone",
        "stream:8: an object of no known stream; expected one of: events, chat",
        "stream:9: no `text`",
    ]) {
        assert!(problem.starts_with(words), "{problem}");
    }
    let many = read(&b"x\n".repeat(100), &[], Some(Jsonl));
    assert_eq!((many.bad, many.problems.len()), (100, 20));
}

#[test]
fn what_is_forced_is_read_so() {
    let events = sample("events.jsonl");
    let said = read(&events, &[], Some(Text));
    let text = String::from_utf8(events).expect("it is text");
    assert_eq!(said.answer(), text);
    let said = read(&sample("chat.sse"), &[], Some(Jsonl));
    assert!(said.arrivals.is_empty() && said.bad > 5, "{said:?}");
    let said = read(b"\xef\xbb\xbf{\"type\":\"turn\"}", &[], Some(Jsonl));
    assert_eq!(said.arrivals.len(), 1, "{said:?}");
}

#[test]
fn bytes_that_are_no_text_are_marked() {
    let said = read(b"a\xff\xe7\x8e\xe7\x8e\xaf\n\xf0\x9f", &[], None);
    assert_eq!(said.answer(), "a\u{fffd}\u{fffd}环\n\u{fffd}");
    let told = "stream:2: bytes that are not UTF-8; expected UTF-8 text";
    assert_eq!(said.problems[2], told);
    assert_eq!(read(b"", &[], None).format, None);
}

/// Generates bytes that look like streams, and others.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let marks = [
        "data: ", "data:", "event: x", "\n", "\r\n", "\n\n", ":", "[DONE]", "{", "}", "\"",
        "<think>", "</think>", "<thi", "[]}", "🔁", "text ", "\u{feff}",
    ];
    let events = [
        "{\"type\":\"answer\",\"text\":\"x\"}",
        "{\"type\":\"reasoning\",\"text\":\"环\"}",
        "{\"choices\":[{\"delta\":{\"content\":\"</think\"}}]}",
        "{\"choices\":[{\"delta\":{\"content\":\"<think>\"}}]}",
        "{\"response\":\">\",\"done\":false}",
        "{\"choices\":",
    ];
    let piece = prop_oneof![
        prop::sample::select([&marks[..], &events].concat())
            .prop_map(|word| word.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic_and_no_cut_a_difference(
        bytes in stream(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        for format in [None, Some(Text), Some(Jsonl), Some(Sse)] {
            let whole = read(&bytes, &[], format);
            prop_assert!(whole.arrivals.iter().all(|a| a.end <= bytes.len() as u64));
            prop_assert_eq!(read(&bytes, &cuts, format), whole);
        }
    }
}
