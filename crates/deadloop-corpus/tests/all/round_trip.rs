//! Reading and writing preserves transcripts, in every format.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::kit;

use std::path::Path;

use deadloop_corpus::{Body, Corpus, CorpusHasher, CorpusWriter, Entry, WriteError, text_hash};
use kit::{file, gzip, one, read, zst};
use serde_json::{Value, json};

/// A line with all known fields, and unknown ones.
fn full() -> Value {
    json!({
        "id": "smollm2/0007", "model": "smollm2-135m", "profile": "greedy", "group": "prompt-7",
        "lang": "en", "meta": {"any": "thing", "deep": {"er": [1, null]}},
        "events": [
            {"type": "reasoning", "text": "First, ", "t_ms": 12.5, "tokens": 2},
            {"type": "answer", "text": "42 环\u{0}🔁", "t_ms": 13, "odd": {"kept": true}},
            {"type": "tool_call", "id": "c1", "name": "search", "arguments": {"q": "x"}},
            {"type": "tool_result", "id": "c1", "content": "…", "error": false},
            {"type": "turn", "text": "kept too"},
            {"type": "finish", "reason": "length"},
        ],
        "labels": [{"class": "loop", "onset": 2310}],
        "unknown": [1, 2.5, "x"], "zero": null,
    })
}

fn minimal() -> Value {
    json!({"id": "min", "model": "unknown", "events": []})
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

/// Creates a corpus with a file of these lines, and this card.
fn folder(lines: &str, card: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("transcripts")).unwrap();
    std::fs::write(dir.path().join("transcripts/x.jsonl"), lines).unwrap();
    std::fs::write(dir.path().join("dataset.toml"), card).unwrap();
    dir
}

fn good(path: &Path) -> Vec<Entry> {
    read(path).into_iter().map(Result::unwrap).collect()
}

fn write(path: &Path, entries: &[Entry]) {
    let mut writer = CorpusWriter::create(path, true).unwrap();
    for entry in entries {
        writer.write(entry).unwrap();
    }
    writer.finish().unwrap();
}

/// Reads `lines`, writes them to `name`, and returns the result as JSON lines.
fn through(name: &str, lines: &str) -> String {
    let (dir, path) = file("in.jsonl", lines.as_bytes());
    let (middle, last) = (dir.path().join(name), dir.path().join("last.jsonl"));
    write(&middle, &good(&path));
    write(&last, &good(&middle));
    std::fs::read_to_string(last).unwrap()
}

#[test]
fn every_field_comes_back_byte_for_byte() {
    let lines = lines(&[full(), minimal()]);
    for name in ["x.jsonl", "x.jsonl.zst", "x.jsonl.gz"] {
        assert_eq!(through(name, &lines), lines, "{name}");
    }
}

#[test]
fn short_forms_become_events() {
    let think = || Body::Reasoning("r".into());
    let say = |t: &str| Body::Answer(t.into());
    for (fields, bodies) in [
        (r#""answer":"a","reasoning":"r""#, vec![think(), say("a")]),
        (r#""reasoning":"r""#, vec![think()]),
        (r#""text":"<think>r</think>a""#, vec![think(), say("a")]),
        (r#""text":"r</think>a""#, vec![say("r</think>a")]),
        (r#""text":"""#, vec![]),
    ] {
        let events = one(&format!(r#"{{"id":"x",{fields}}}"#)).transcript.events;
        let there = events.into_iter().map(|event| event.body);
        assert_eq!(there.collect::<Vec<_>>(), bodies, "{fields}");
    }
    assert_eq!(one(r#"{"id":"x","text":""}"#).transcript.model, "unknown");
}

#[test]
fn the_card_says_how_text_is_split() {
    let line = r#"{"id":"x","model":"qwq-32b","text":"r</think>a"}"#;
    let dir = folder(line, "[think]\nopened_in_prompt = ['qwq*']\n");
    let corpus = Corpus::open(dir.path()).unwrap();
    let entry = corpus.entries().next().unwrap().unwrap();
    assert_eq!(entry.transcript.reasoning(), "r");
    assert_eq!(entry.transcript.answer(), "a");
}

#[test]
fn nothing_is_overwritten_unless_forced_and_nothing_half_is_left() {
    let (dir, path) = file("x.jsonl", b"precious");
    let entry = one(&minimal().to_string());
    let there = CorpusWriter::create(&path, false);
    assert!(matches!(there, Err(WriteError::Exists { .. })));
    let other = CorpusWriter::create(&dir.path().join("x.txt"), false);
    assert!(matches!(other, Err(WriteError::Ending { .. })));
    let mut writer = CorpusWriter::create(&path, true).unwrap();
    writer.write(&entry).unwrap();
    let before = std::fs::read(&path).unwrap();
    assert_eq!(before, b"precious", "not before the end");
    drop(writer);
    let left = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(left, 1, "nothing left behind");
    let fresh = dir.path().join("y.jsonl");
    let writer = CorpusWriter::create(&fresh, false).unwrap();
    std::fs::write(&fresh, "came up meanwhile").unwrap();
    assert!(matches!(writer.finish(), Err(WriteError::Exists { .. })));
    assert_eq!(std::fs::read(&fresh).unwrap(), b"came up meanwhile");
    write(&path, &[entry]);
    assert_eq!(good(&path).len(), 1);
}

#[test]
fn the_hash_does_not_see_packing_but_content() {
    let hash = |bytes: &[u8]| {
        let (_dir, path) = file("x.jsonl", bytes);
        let mut hasher = CorpusHasher::default();
        let raw_records = Corpus::open(&path).unwrap().raw_records();
        raw_records.for_each(|raw| hasher.push(raw.unwrap().digest()));
        hasher.finish().full()
    };
    let lines = lines(&[full(), minimal()]);
    let plain = hash(lines.as_bytes());
    assert_eq!(plain, hash(&gzip(lines.as_bytes())));
    assert_eq!(plain, hash(&zst(lines.as_bytes())));
    assert_eq!(plain, hash(lines.replace('\n', "\r\n\r\n").as_bytes()));
    assert_ne!(plain, hash(lines.replace("First", "first").as_bytes()));
    let packed = one(&full().to_string());
    assert_eq!(text_hash(&packed.transcript).len(), 16);
}

#[test]
fn progress_counts_the_bytes_on_disk() {
    let lines = lines(&[full(), minimal()]);
    let packed = zst(lines.as_bytes());
    let (_dir, path) = file("x.jsonl.zst", &packed);
    let mut raw_records = Corpus::open(&path).unwrap().raw_records();
    assert_eq!(
        (raw_records.bytes_read(), raw_records.total_bytes()),
        (0, packed.len() as u64)
    );
    assert_eq!(raw_records.by_ref().count(), 2);
    assert_eq!(raw_records.bytes_read(), packed.len() as u64);
}

#[test]
fn records_may_be_decoded_on_any_thread() {
    let (_dir, path) = file("x.jsonl", lines(&[full()]).as_bytes());
    let corpus = Corpus::open(&path).unwrap();
    let raw = corpus.raw_records().next().unwrap().unwrap();
    let there = std::thread::scope(|scope| scope.spawn(|| corpus.parse(&raw)).join().unwrap());
    let here = corpus.entries().next().unwrap();
    assert_eq!(there.unwrap().transcript, here.unwrap().transcript);
}

#[test]
fn a_line_from_elsewhere_is_what_it_is_in_a_file() {
    let tagged = json!({"id": "t", "model": "deepseek-r1:8b", "text": "a thought</think>42"});
    let card = "[think]\nopened_in_prompt = ['deepseek-r1*']\n";
    let text = format!("  {}\r\n{}", full(), lines(&[tagged]));
    let dir = folder(&text, card);
    let corpus = Corpus::open(dir.path()).unwrap();
    for raw in corpus.raw_records() {
        let raw = raw.unwrap();
        let place = raw.place().clone();
        let nth = usize::try_from(place.line).unwrap() - 1;
        let line = text.lines().nth(nth).unwrap().as_bytes();
        let (entry, digest) = Entry::from_line(line, place, corpus.card()).unwrap();
        let want = corpus.parse(&raw).unwrap();
        assert_eq!(entry.transcript, want.transcript);
        assert_eq!(digest, raw.digest());
        assert_eq!((entry.labels, entry.rest), (want.labels, want.rest));
    }
    let place = deadloop_corpus::Place::whole("elsewhere");
    let bad = Entry::from_line(b"{\"id\": \"\"}", place, None).unwrap_err();
    let bad = bad.to_string();
    assert!(bad.starts_with("elsewhere: `id` is empty"), "{bad}");
}
