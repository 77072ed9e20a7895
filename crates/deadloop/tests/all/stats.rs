//! `deadloop stats`: what it counts, and what it says where lines were left out.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::path::Path;
use std::process::Output;

use program::{deadloop, file, stderr, stdout};
use serde_json::{Value, json};

const LINES: &str = r#"{"id":"a","model":"m","lang":"en","events":[{"type":"answer","text":"aaaaaaaaaa"},{"type":"finish","reason":"length"}],"labels":[{"class":"loop","kind":"short-sequence","onset":1,"period":1}]}
{"id":"b","model":"m","lang":"zh","answer":"0123456789","labels":[{"class":"clean"}]}
{"id":"c","model":"n","answer":"01234","labels":[{"class":"transient"}]}
{"id":"d","model":"n","answer":"0123"}
"#;

fn stats(dir: &Path, lines: &str, options: &[&str]) -> Output {
    let path = file(dir, "x.jsonl", lines);
    deadloop(&[&["stats", &path], options].concat())
}

#[test]
fn everything_is_counted_by_model() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let output = stats(dir.path(), LINES, &["--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON on stdout");
    let m = &report["by"]["model"]["m"];
    let counts = [
        "transcripts",
        "chars",
        "loops",
        "clean",
        "clean_chars",
        "transient",
    ];
    assert_eq!(
        counts.map(|name| m[name].as_u64()),
        [2, 20, 1, 1, 10, 0].map(Some)
    );
    assert_eq!(m["kinds"], json!({"short-sequence": 1}));
    assert_eq!(m["languages"], json!({"en": 1, "zh": 1}));
    assert_eq!(m["finishes"], json!({"-": 1, "length": 1}));
    assert_eq!(m["onsets"][0], json!([0, 500, 1]));
    assert_eq!(m["lengths"][0], json!([0, 500, 2]));
    // 1 of 1 found: 0.05; none in 10 clean chars: 2.9957 / 10 of a million.
    let about = |value: &Value, wanted: f64| {
        (value.as_f64().expect("a number") - wanted).abs() < 1e-4 * wanted
    };
    assert!(about(&m["provable_recall"], 0.05));
    assert!(about(&m["provable_fa_per_mchar"], 299_573.2));
    let n = &report["by"]["model"]["n"];
    assert_eq!((&n["transient"], &n["unlabelled"]), (&json!(1), &json!(1)));
    assert_eq!(
        (&n["provable_recall"], &n["provable_fa_per_mchar"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(report["all"]["transcripts"], 4);
    let one = stats(dir.path(), LINES, &["--json", "--model", "n"]);
    let one: Value = serde_json::from_slice(&one.stdout).expect("JSON on stdout");
    assert_eq!(one["all"]["transcripts"], 2);
}

#[test]
fn people_see_tables_and_bars() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let output = stats(dir.path(), LINES, &[]);
    let text = stdout(&output);
    for words in [
        "4 transcripts, 29 chars, 1 loops, 1 clean",
        "loops by kind  short-sequence",
        "- 1, length 1",
        "all together",
        "299573.23",
        "onset of the first loop",
        "below 500         4 ████████",
    ] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
}

/// There is no result folder, so no file is promised in it.
#[test]
fn what_was_left_out_is_said() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let lines = format!("{LINES}nonsense\n");
    let refused = stats(dir.path(), &lines, &[]);
    assert_eq!(refused.status.code(), Some(2));
    let output = stats(dir.path(), &lines, &["--on-bad", "skip"]);
    assert_eq!(output.status.code(), Some(0));
    let told = stderr(&output);
    assert!(told.contains("1 problem skipped"), "{told}");
    assert!(told.contains("x.jsonl:5: not JSON"), "{told}");
    assert!(!told.contains("rejected.jsonl"), "{told}");
    let files = std::fs::read_dir(dir.path()).expect("it is there").count();
    assert_eq!(files, 1, "nothing is written");
}

/// No column of zeros, no bucket beyond the last that holds anything, no table of dashes.
#[test]
fn what_is_empty_is_hidden() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let text = stdout(&stats(
        dir.path(),
        "{\"id\":\"a\",\"answer\":\"0123456789\"}\n",
        &[],
    ));
    for words in [
        "loops by kind",
        "languages",
        "ended with",
        "onset",
        "period of the first loop",
        "what labels can prove",
        "transient",
        "500 to 1 000",
    ] {
        let table = text.lines().skip(1).any(|line| line.contains(words));
        assert!(!table, "{words:?} is in {text}");
    }
    assert!(
        text.contains("unlabelled") && text.contains("below 500"),
        "{text}"
    );
}
