//! Reading and writing: nothing that a transcript says is lost on the way, in any format.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::kit;

use std::path::Path;

use deadloop_corpus::{Body, Corpus, CorpusHasher, CorpusWriter, Entry, WriteError, text_hash};
use kit::{file, gzip, one, read, zst};
use serde_json::{Value, json};

/// A line with everything in it, known and unknown.
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

fn good(path: &Path) -> Vec<Entry> {
    read(path).into_iter().map(Result::unwrap).collect()
}

fn write(path: &Path, entries: &[Entry]) {
    let mut writer = CorpusWriter::create(path, false).unwrap();
    entries
        .iter()
        .for_each(|entry| writer.write(entry).unwrap());
    writer.finish().unwrap();
}

/// Reads `lines`, writes them to `name`, and gives what then stands there as JSON lines.
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
fn parquet_keeps_every_field_too() {
    let mut values = vec![full(), minimal()];
    for n in 0..5000 {
        let mut value = full();
        value["id"] = json!(format!("row {n}"));
        values.push(value);
    }
    let lines = lines(&values);
    let back = through("x.parquet", &lines);
    assert!(back == lines, "{}", &back[..2000]);
}

#[test]
fn short_forms_become_events() {
    let bodies = |line: &str| -> Vec<Body> {
        let events = one(line).transcript.events;
        events.into_iter().map(|event| event.body).collect()
    };
    let (think, say) = (
        |t: &str| Body::Reasoning(t.into()),
        |t: &str| Body::Answer(t.into()),
    );
    assert_eq!(
        bodies(r#"{"id":"x","answer":"a","reasoning":"r"}"#),
        [think("r"), say("a")]
    );
    assert_eq!(bodies(r#"{"id":"x","reasoning":"r"}"#), [think("r")]);
    assert_eq!(
        bodies(r#"{"id":"x","text":"<think>r</think>a"}"#),
        [think("r"), say("a")]
    );
    assert_eq!(
        bodies(r#"{"id":"x","text":"r</think>a"}"#),
        [say("r</think>a")]
    );
    assert_eq!(bodies(r#"{"id":"x","text":""}"#), []);
    assert_eq!(one(r#"{"id":"x","text":""}"#).transcript.model, "unknown");
}

#[test]
fn the_card_says_how_text_is_split() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("transcripts")).unwrap();
    let line = r#"{"id":"x","model":"qwq-32b","text":"r</think>a"}"#;
    std::fs::write(dir.path().join("transcripts/a.jsonl"), line).unwrap();
    std::fs::write(
        dir.path().join("dataset.toml"),
        "[think]\nopened_in_prompt = ['qwq*']\n",
    )
    .unwrap();
    let corpus = Corpus::open(dir.path()).unwrap();
    let entry = corpus.entries().next().unwrap().unwrap();
    assert_eq!(entry.transcript.reasoning(), "r");
    assert_eq!(entry.transcript.answer(), "a");
}

#[test]
fn nothing_is_overwritten_unless_forced_and_nothing_half_is_left() {
    let (dir, path) = file("x.jsonl", b"precious");
    let entry = one(&minimal().to_string());
    assert!(matches!(
        CorpusWriter::create(&path, false),
        Err(WriteError::Exists { .. })
    ));
    assert!(matches!(
        CorpusWriter::create(&dir.path().join("x.txt"), false),
        Err(WriteError::Ending { .. })
    ));
    let mut writer = CorpusWriter::create(&path, true).unwrap();
    writer.write(&entry).unwrap();
    assert_eq!(
        std::fs::read(&path).unwrap(),
        b"precious",
        "not before the end"
    );
    drop(writer);
    assert_eq!(
        std::fs::read_dir(dir.path()).unwrap().count(),
        1,
        "nothing left behind"
    );
    let fresh = dir.path().join("y.jsonl");
    let writer = CorpusWriter::create(&fresh, false).unwrap();
    std::fs::write(&fresh, "came up meanwhile").unwrap();
    assert!(matches!(writer.finish(), Err(WriteError::Exists { .. })));
    assert_eq!(std::fs::read(&fresh).unwrap(), b"came up meanwhile");
    let mut writer = CorpusWriter::create(&path, true).unwrap();
    writer.write(&entry).unwrap();
    writer.finish().unwrap();
    assert_eq!(good(&path).len(), 1);
}

#[test]
fn the_hash_does_not_see_packing_but_content() {
    let hash = |name: &str, bytes: &[u8]| {
        let (_dir, path) = file(name, bytes);
        let mut hasher = CorpusHasher::default();
        let raws = Corpus::open(&path).unwrap().raws();
        raws.for_each(|raw| hasher.push(raw.unwrap().digest()));
        hasher.finish().full()
    };
    let lines = lines(&[full(), minimal()]);
    let plain = hash("x.jsonl", lines.as_bytes());
    assert_eq!(plain, hash("x.jsonl", &gzip(lines.as_bytes())));
    assert_eq!(plain, hash("x.jsonl", &zst(lines.as_bytes())));
    assert_eq!(
        plain,
        hash("x.jsonl", lines.replace('\n', "\r\n\r\n").as_bytes())
    );
    assert_ne!(
        plain,
        hash("x.jsonl", lines.replace("First", "first").as_bytes())
    );
    let packed = one(&full().to_string());
    assert_eq!(text_hash(&packed.transcript).len(), 16);
}

#[test]
fn progress_counts_the_bytes_on_disk() {
    let lines = lines(&[full(), minimal()]);
    let packed = zst(lines.as_bytes());
    let (_dir, path) = file("x.jsonl.zst", &packed);
    let mut raws = Corpus::open(&path).unwrap().raws();
    assert_eq!(
        (raws.bytes_read(), raws.total_bytes()),
        (0, packed.len() as u64)
    );
    assert_eq!(raws.by_ref().count(), 2);
    assert_eq!(raws.bytes_read(), packed.len() as u64);
}

#[test]
fn records_may_be_decoded_on_any_thread() {
    let (_dir, path) = file("x.jsonl", lines(&[full()]).as_bytes());
    let corpus = Corpus::open(&path).unwrap();
    let raw = corpus.raws().next().unwrap().unwrap();
    let there = std::thread::scope(|scope| scope.spawn(|| corpus.parse(&raw)).join().unwrap());
    let here = corpus.entries().next().unwrap();
    assert_eq!(there.unwrap().transcript, here.unwrap().transcript);
}

#[test]
fn a_line_from_elsewhere_is_what_it_is_in_a_file() {
    let tagged = json!({"id": "t", "model": "deepseek-r1:8b", "text": "a thought</think>42"});
    let card = "[think]\nopened_in_prompt = ['deepseek-r1*']\n";
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("transcripts")).unwrap();
    let path = dir.path().join("transcripts/x.jsonl");
    std::fs::write(&path, format!("  {}\r\n{}", full(), lines(&[tagged]))).unwrap();
    std::fs::write(dir.path().join("dataset.toml"), card).unwrap();
    let corpus = Corpus::open(dir.path()).unwrap();
    for raw in corpus.raws() {
        let raw = raw.unwrap();
        let place = raw.place().clone();
        let text = std::fs::read_to_string(&path).unwrap();
        let nth = usize::try_from(place.line).unwrap() - 1;
        let line = text.lines().nth(nth).unwrap().as_bytes();
        let (entry, digest) = Entry::of_line(line, place, corpus.card()).unwrap();
        let want = corpus.parse(&raw).unwrap();
        assert_eq!(
            (&entry.transcript, digest),
            (&want.transcript, raw.digest())
        );
        assert_eq!((entry.labels, entry.rest), (want.labels, want.rest));
    }
    let place = deadloop_corpus::Place::whole("elsewhere");
    let bad = Entry::of_line(b"{\"id\": \"\"}", place, None).unwrap_err();
    assert!(
        bad.to_string().starts_with("elsewhere: `id` is empty"),
        "{bad}"
    );
}
