//! Bad input is reported as `file:line: what, and what was expected`, reading continues, and no input causes a panic.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::kit;

use std::io::Write;

use deadloop_corpus::{Corpus, Ids, MAX_LINE};
use kit::{file, gzip, read, tell, told, told_of, zst};
use proptest::prelude::*;

const A: &str = r#"{"id":"a","text":"one"}"#;
const B: &str = r#"{"id":"b","text":"two"}"#;

/// Reads `line` between two valid lines, and returns its problem.
fn between(line: &str) -> String {
    let mut told = told(format!("{A}\n{line}\n{B}\n").as_bytes());
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!((told[0].as_str(), told[2].as_str()), ("a", "b"));
    told.swap_remove(1)
}

#[track_caller]
fn says(line: &str, words: &str) {
    let told = between(line);
    assert!(told.starts_with("2: "), "{told}");
    assert!(told.contains(words), "{told:?} does not say {words:?}");
}

/// Checks rows of an invalid line and the expected problem.
#[track_caller]
fn each_says(rows: &str) {
    for row in rows.trim().lines() {
        let (line, words) = row.trim().split_once(" => ").unwrap();
        says(line, words);
    }
}

#[test]
fn a_line_that_is_not_json() {
    each_says(
        r#"
        nonsense => not JSON: expected ident (column 2); expected one JSON object
        {"id":"x" => not JSON: EOF while parsing an object
        {"id":"x","text":""} more => not JSON: trailing characters
        [1] => invalid type: sequence (column 0); expected a transcript (a JSON object)
        "x" => expected a transcript (a JSON object)"#,
    );
}

#[test]
fn a_transcript_with_no_id() {
    each_says(
        r#"
        {"text":"x"} => no `id`; expected `id`, a string
        {"id":null,"text":"x"} => no `id`
        {"id":7,"text":"x"} => `id` is a number; expected a string
        {"id":"","text":"x"} => `id` is empty
        {"id":"x","id":"y","text":"x"} => twice"#,
    );
}

#[test]
fn a_repeated_id_names_both_places() {
    let told = between(A);
    assert!(
        told.starts_with("2: the id \"a\" was used before, at "),
        "{told}"
    );
    assert!(told.contains("x.jsonl:1; expected"), "{told}");
}

#[test]
fn a_transcript_without_text_or_with_two() {
    each_says(
        r#"
        {"id":"x"} => no events and no text; expected `events`
        {"id":"x","text":"a","answer":"b"} => two ways
        {"id":"x","events":[],"answer":"b"} => two ways"#,
    );
}

#[test]
fn fields_of_a_wrong_type() {
    each_says(
        r#"
        {"id":"x","text":3} => `text` is a number; expected a string
        {"id":"x","text":"","meta":[]} => `meta` is a list; expected an object
        {"id":"x","text":"","lang":{}} => `lang` is an object; expected a string
        {"id":"x","events":{}} => expected a list of events
        {"id":"x","events":[1]} => expected an event (a JSON object)"#,
    );
}

#[test]
fn events_that_say_nothing_or_something_wrong() {
    let rows = r#"
        {"type":"anwser","text":""} => events[1]: unknown event type "anwser"; expected reasoning, answer
        {"text":""} => events[1]: no `type`
        {"type":"answer"} => events[1]: no `text`
        {"type":"answer","text":"","t_ms":"1"} => `t_ms` is a string; expected milliseconds
        {"type":"answer","text":"","tokens":1.5} => `tokens` is 1.5; expected a whole number
        {"type":"answer","text":"","tokens":1000000000001} => `tokens` is 1000000000001; expected a whole number up to 1e12
        {"type":"answer","text":"","t_ms":-1e14} => `t_ms` is -100000000000000.0; expected milliseconds, a number up to 1e13
        {"type":"tool_call"} => no `name`
        {"type":"tool_result","error":"no"} => `error` is a string; expected true or false"#;
    for row in rows.trim().lines() {
        let (event, words) = row.trim().split_once(" => ").unwrap();
        let line = format!(r#"{{"id":"x","events":[{{"type":"turn"}},{event}]}}"#);
        says(&line, words);
    }
}

#[test]
fn lone_surrogates_and_nul_bytes() {
    each_says(
        r#"
        {"id":"x","text":"\\ud800 \ud83d\ude00 \ud800"} => lone surrogate \ud800; expected Unicode text
        {"id":"x","text":"\udc00"} => lone surrogate \udc00;
        {"id":"x","text":"\ud83d\u0041"} => lone surrogate \ud83d;
        {"id":"x","text":"\u12"} => not JSON"#,
    );
    let nul = "{\"id\":\"x\",\"text\":\"a\0b\"}";
    says(nul, "not JSON: control character");
    says("\0", "not JSON");
}

#[test]
fn bytes_that_are_not_utf8() {
    let told = told(b"{\"id\":\"x\",\"text\":\"\xff\"}\n{\"id\":\"b\",\"text\":\"\"}");
    assert_eq!(told, ["1: not UTF-8 at byte 19; expected UTF-8 text", "b"]);
}

#[test]
fn a_line_that_is_too_long_is_skipped() {
    let (_dir, path) = file("x.jsonl", format!("{A}\n").as_bytes());
    let mut bytes = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..(MAX_LINE >> 20) + 3 {
        bytes.write_all(&piece).unwrap();
    }
    write!(bytes, "\n{B}").unwrap();
    let told: Vec<_> = read(&path).into_iter().map(tell).collect();
    let expected =
        format!("2: a line that is too long; expected at most {MAX_LINE} bytes a line; ");
    assert_eq!([&told[0], &told[2]], ["a", "b"]);
    assert!(told[1].starts_with(&expected), "{}", told[1]);
}

#[test]
fn blank_lines_byte_order_marks_and_windows_line_ends_are_fine() {
    let told = told(format!("\u{feff}{A}\r\n\r\n  \n{B}\r\n").as_bytes());
    assert_eq!(told, ["a", "b"]);
}

#[test]
fn packed_files_are_told_by_their_bytes() {
    let lines = format!("{A}\n{B}\n");
    for name in ["x.jsonl", "x.jsonl.zst", "x.jsonl.gz", "x"] {
        assert_eq!(told_of(name, &gzip(lines.as_bytes())), ["a", "b"]);
        assert_eq!(told_of(name, &zst(lines.as_bytes())), ["a", "b"]);
    }
    let (a, b) = (format!("{A}\n"), format!("{B}\n"));
    let two = |pack: fn(&[u8]) -> Vec<u8>| [pack(a.as_bytes()), pack(b.as_bytes())].concat();
    assert_eq!(told(&two(gzip)), ["a", "b"], "several members");
    assert_eq!(told(&two(zst)), ["a", "b"], "several frames");
}

#[test]
fn a_truncated_file_gives_its_whole_lines_and_says_where_it_broke() {
    let noise = |n: u64| {
        (0..40).fold(n, |x, _| {
            x.wrapping_mul(6364136223846793005).wrapping_add(n | 1)
        })
    };
    let line = |n: u64| format!("{{\"id\":\"{n}\",\"text\":\"{:x}\"}}\n", noise(n));
    let lines: String = (0..50_000).map(line).collect();
    for pack in [gzip, zst] {
        let packed = pack(lines.as_bytes());
        let mut told = told(&packed[..packed.len() / 2]);
        let last = told.pop().unwrap();
        assert!(told.len() > 1000, "{}", told.len());
        let place = format!("{}: ", told.len() + 1);
        assert!(last.starts_with(&place), "{last}");
        assert!(
            last.contains("ends too early; expected a whole file"),
            "{last}"
        );
    }
}

#[test]
fn a_file_that_vanishes_is_told_and_the_next_one_read() {
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("transcripts");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(inner.join("1.jsonl"), A).unwrap();
    std::fs::write(inner.join("2.jsonl"), B).unwrap();
    let corpus = Corpus::open(dir.path()).unwrap();
    let mut raw_records = corpus.raw_records();
    std::fs::remove_file(inner.join("1.jsonl")).unwrap();
    let problem = raw_records.next().unwrap().unwrap_err().to_string();
    assert!(problem.contains("1.jsonl: cannot be read: "), "{problem}");
    assert!(raw_records.next().unwrap().is_ok());
    assert!(raw_records.next().is_none());
}

#[test]
fn what_stops_before_the_first_transcript() {
    let dir = tempfile::tempdir().unwrap();
    let error = |path: &std::path::Path| Corpus::open(path).unwrap_err().to_string();
    assert!(error(&dir.path().join("none")).contains("no such file or folder"));
    assert!(error(dir.path()).contains("no transcripts; expected transcripts/*.jsonl"));
    std::fs::create_dir(dir.path().join("transcripts")).unwrap();
    std::fs::write(dir.path().join("transcripts/notes.txt"), "x").unwrap();
    assert!(error(dir.path()).contains("no transcripts"));
    std::fs::write(dir.path().join("transcripts/a.jsonl"), A).unwrap();
    std::fs::write(dir.path().join("dataset.toml"), "name = 'x'\nversion = 1").unwrap();
    assert!(error(dir.path()).contains("dataset.toml:2: "));
    std::fs::write(dir.path().join("dataset.toml"), "").unwrap();
    std::fs::write(dir.path().join("splits.csv"), "id\na\n").unwrap();
    assert!(error(dir.path()).contains("splits.csv:1: "));
}

/// Creates a corpus of one transcript, with these additional files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("transcripts")).unwrap();
    for (name, text) in files.iter().chain(&[("transcripts/a.jsonl", A)]) {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

#[test]
fn a_look_puts_broken_files_aside() {
    let empty = tempfile::tempdir().unwrap();
    assert!(
        Corpus::open_damaged(empty.path()).is_err(),
        "nothing to be read"
    );
    let dir = folder(&[("dataset.toml", "name = 1"), ("splits.csv", "id\na\n")]);
    let (corpus, faults) = Corpus::open_damaged(dir.path()).unwrap();
    let told = faults.into_iter().map(|f| f.problem().to_string());
    let told: Vec<String> = told.collect();
    assert!(told[0].contains("dataset.toml:1: "), "{told:?}");
    assert!(told[1].contains("splits.csv:1: "), "{told:?}");
    assert_eq!(told.len(), 2);
    assert_eq!(corpus.entries().filter(Result::is_ok).count(), 1);
    for name in ["dataset.toml", "splits.csv", "labels.csv"] {
        drop(std::fs::remove_file(dir.path().join(name)));
        std::fs::create_dir(dir.path().join(name)).unwrap();
    }
    let (corpus, faults) = Corpus::open_damaged(dir.path()).unwrap();
    assert_eq!(faults.len(), 3, "{faults:?}");
    assert!(corpus.labels_csv().is_none() && corpus.splits_csv().is_none());
}

#[test]
fn a_split_for_no_transcript() {
    let dir = folder(&[("splits.csv", "transcript,split\na,dev\nz,test\n")]);
    let corpus = Corpus::open(dir.path()).unwrap();
    let mut entries = corpus.entries();
    let split = entries.next().unwrap().unwrap().split;
    assert_eq!(split.as_deref(), Some("dev"));
    let problems = corpus.stray_splits(entries.ids());
    assert_eq!(problems.len(), 1);
    let told = problems[0].to_string();
    assert!(
        told.contains("splits.csv:3: a split for no transcript: \"z\""),
        "{told}"
    );
    assert_eq!(corpus.stray_splits(&Ids::default()).len(), 2);
}

/// Reads the bytes to the end as every kind of file.
fn survives(bytes: &[u8]) {
    for name in ["x.jsonl", "x.parquet"] {
        let (_dir, path) = file(name, bytes);
        let corpus = Corpus::open(&path).unwrap();
        let read = corpus.entries().take(10_000).count();
        assert!(read < 10_000, "no end");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn nothing_panics_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        survives(&bytes);
        survives(&gzip(&bytes));
        survives(&zst(&bytes));
        survives(&[b"PAR1", &bytes[..], b"PAR1"].concat());
    }

    #[test]
    fn nothing_panics_on_spoilt_files(at in any::<prop::sample::Index>(), byte in any::<u8>(), packed in 0..3) {
        let lines = format!("{A}\n{B}\n").repeat(20);
        let mut bytes = match packed {
            0 => lines.into_bytes(),
            1 => gzip(lines.as_bytes()),
            _ => zst(lines.as_bytes()),
        };
        let at = at.index(bytes.len());
        bytes[at] = byte;
        survives(&bytes);
        survives(&bytes[..at]);
    }
}
