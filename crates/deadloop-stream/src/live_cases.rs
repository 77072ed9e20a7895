//! Tests on small streams from public reports, in `tests/formats/live`.
//!
//! `right.txt` has the expected result of each stream: ends, finish reasons, tags, broken arguments, changing model
//! names and ids, and loops in calls and arguments.

use std::fmt::Write;
use std::path::Path;

use deadloop_detect::harness::ArgumentsOf;
use deadloop_detect::{Guards, OwnedEvent, RECOMMENDED, Settings, TextChannel};

use crate::{StreamReader, ThinkOptions, WatchedResponse};

const EXPECTED_SUMMARIES: &str = include_str!("../../../tests/formats/live/right.txt");

/// Settings of guards besides the recommended one, which watches reasoning and answer.
const EXTRA_GUARDS_TOML: &str = "\n[[guard]]\ndetector = \"periodic\"\nchannel = \"arguments\"\n[[guard]]\ndetector = \"duplicate\"\n";

/// Summarizes the events that a reader finds in a stream: chars, argument lengths of calls, finish reason, errors.
fn summarize_events(bytes: &[u8]) -> String {
    let mut reader = StreamReader::new("x", None, ThinkOptions::default());
    reader.feed(bytes);
    reader.end();
    let (mut texts, mut calls, mut finish) = ([0; 3], Vec::new(), "none".to_owned());
    while let Some(arrival) = reader.next_event() {
        match arrival.event {
            OwnedEvent::Text(channel, text) => texts[channel as usize] += text.chars().count(),
            OwnedEvent::Call {
                name,
                arguments: ArgumentsOf::Raw(text),
                ..
            } => calls.push(format!("{name}({})", text.chars().count())),
            OwnedEvent::Finish(reason) => finish = reason.unwrap_or_default(),
            other => panic!("{other:?}"),
        }
    }
    let [reasoning, answer] =
        [TextChannel::Reasoning, TextChannel::Answer].map(|c| texts[c as usize]);
    let mut summary = format!("reasoning {reasoning}, answer {answer}, end {finish}");
    for (what, list) in [("calls", calls), ("errors", reader.errors().to_vec())] {
        if !list.is_empty() {
            let _ = write!(summary, ", {what} {}", list.join(" "));
        }
    }
    match reader.bad_lines() {
        0 => summary,
        n => format!("{summary}, bad lines {n}"),
    }
}

/// Describes the alarm that a stream raises when it arrives in pieces of 50 bytes. Empty if there is none.
fn describe_alarm(guards: &Guards, bytes: &[u8]) -> String {
    let mut watched = WatchedResponse::new(guards.clone(), |_| ThinkOptions::default());
    for piece in bytes.chunks(50) {
        let _ = watched.feed(piece, 0);
    }
    let _ = watched.end(0);
    watched.alarm().map_or(String::new(), |alarm| {
        format!(", alarm in {} at {}", alarm.channel, alarm.exact)
    })
}

#[test]
fn streams_give_the_expected_summaries_and_alarms() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/formats/live");
    let settings = Settings::parse(&(RECOMMENDED.to_owned() + EXTRA_GUARDS_TOML)).unwrap();
    let guards = Guards::new(&settings).unwrap();
    let files = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "sse"));
    files.sort();
    let rows = files.iter().map(|path| {
        let bytes = std::fs::read(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        format!(
            "{name}: {}{}\n",
            summarize_events(&bytes),
            describe_alarm(&guards, &bytes)
        )
    });
    let found: String = rows.collect();
    assert!(found == EXPECTED_SUMMARIES, "what was found:\n{found}");
}
