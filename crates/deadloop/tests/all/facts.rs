//! `deadloop replay --facts`: a row for each fact, with its measures and what the label says of its place.

use std::collections::HashMap;
use std::path::Path;

use crate::program::deadloop_in;
use serde_json::json;

const UNIT: &str = "Wait, let me check that. ";

/// A loop, and a text that says the same three times and goes on.
fn corpus(folder: &Path) {
    let begin = "A short walk along the river in the evening. ";
    let onset = begin.len() + UNIT.len();
    let looped = json!({
        "id": "looped", "model": "m", "group": "g",
        "events": [{"type": "answer", "text": format!("{begin}{}", UNIT.repeat(30))}],
        "labels": [{"class": "loop", "channel": "answer", "onset": onset, "period": UNIT.len(), "by": "hand"}],
    });
    let thrice = format!("{begin}{}So it is seven, as it was.", UNIT.repeat(3));
    let clean = json!({
        "id": "clean", "model": "m",
        "events": [{"type": "answer", "text": thrice}],
        "labels": [{"class": "clean", "by": "hand"}],
    });
    std::fs::write(folder.join("corpus.jsonl"), format!("{looped}\n{clean}\n")).unwrap();
    let settings = "[[guard]]\ndetector = \"periodic\"\n";
    std::fs::write(folder.join("mine.toml"), settings).unwrap();
}

fn facts(folder: &Path) -> Vec<HashMap<String, String>> {
    let mut file = csv::Reader::from_path(folder.join("facts.csv")).unwrap();
    let rows = file.deserialize().collect::<Result<_, _>>();
    rows.unwrap()
}

#[test]
fn each_fact_has_its_measures_and_what_the_label_says_of_its_place() {
    let dir = tempfile::tempdir().unwrap();
    corpus(dir.path());
    let replay = |out: &str, more: &[&str]| {
        let args = "replay corpus.jsonl --settings mine.toml --facts facts.csv --quiet --out";
        let mut args: Vec<&str> = args.split(' ').chain([out]).collect();
        args.extend(more);
        deadloop_in(dir.path(), &args)
    };
    let run = replay("out", &[]);
    assert!(run.status.success(), "{run:?}");
    let all = facts(dir.path());
    let is = |row: &HashMap<String, String>, name: &str, value: &str| row[name] == value;
    let of = |id: &str| -> Vec<&HashMap<String, String>> {
        all.iter().filter(|row| is(row, "transcript", id)).collect()
    };
    let fired = of("looped")
        .into_iter()
        .find(|row| is(row, "accepted", "1"));
    let fired = fired.expect("30 copies are a fact");
    for (name, value) in [
        ("class", "loop"),
        ("label", "loop"),
        ("group", "g"),
        ("member", "periodic"),
        ("channel", "answer"),
        ("period", "25"),
        ("position", "243"),
        ("periodic.min_chars", "200"),
        ("periodic.min_copies", "8"),
    ] {
        assert_eq!(fired[name], value, "{name}: {fired:?}");
    }
    let quiet = of("clean");
    assert!(quiet.iter().any(|row| is(row, "period", "25")), "{quiet:?}");
    let clean = |row: &&HashMap<String, String>| is(row, "label", "clean");
    assert!(quiet.iter().all(clean), "{quiet:?}");
    assert!(quiet.iter().all(|row| is(row, "accepted", "0")));
    let header = csv::Reader::from_path(dir.path().join("facts.csv"));
    let header = header.unwrap().headers().unwrap().clone();
    assert!(header.len() > 15, "{header:?}");
    // What is there is not written over unasked, and then nothing is replayed.
    let before = std::fs::read(dir.path().join("facts.csv")).unwrap();
    let again = replay("other", &[]);
    assert_eq!(again.status.code(), Some(2), "{again:?}");
    assert!(!dir.path().join("other").exists());
    assert!(replay("out", &["--force"]).status.success());
    assert_eq!(std::fs::read(dir.path().join("facts.csv")).unwrap(), before);
}
