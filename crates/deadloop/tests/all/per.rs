//! Runs of agents from outside: what is one text in a run.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::collections::BTreeMap;
use std::path::Path;

use program::{Ran, deadloop, file};
use serde_json::{Value, json};

/// A run of so many turns, each a call with a result; from call 4 on the same one.
fn line(id: &str, turns: usize, label: &Value) -> String {
    let step = |n: usize| {
        let what = n.min(4);
        [
            json!({"type": "turn"}),
            json!({"type": "answer", "text": "Let me look at the file again. "}),
            json!({"type": "tool_call", "id": format!("c{n}"), "name": "read", "arguments": {"n": what}}),
            json!({"type": "tool_result", "id": format!("c{n}"), "content": format!("line {what}"), "error": false}),
        ]
    };
    let events: Vec<Value> = (0..turns).flat_map(step).collect();
    json!({"id": id, "model": "m", "events": events, "labels": [label]}).to_string() + "\n"
}

/// Two loops, and a clean run of four turns.
fn corpus(dir: &Path) -> String {
    let looping = json!({"class": "loop", "channel": "tools", "start": 4, "onset": 5});
    let clean = json!({"class": "clean", "channel": "tools"});
    let lines = [
        line("a", 12, &looping),
        line("b", 12, &looping),
        line("clean", 4, &clean),
    ];
    file(dir, "runs.jsonl", &lines.concat())
}

fn rows(out: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(out.join("scores.csv")).expect("scores.csv");
    let rows = reader.deserialize().map(|row| row.expect("a row"));
    rows.collect()
}

#[test]
fn a_turn_is_a_text_of_its_own_unless_the_run_is_asked_for() {
    let dir = tempfile::tempdir().expect("a folder");
    let runs = corpus(dir.path());
    let settings = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_chars = 60\n";
    let settings = file(dir.path(), "s.toml", settings);
    let hits = |per: &[&str], name: &str| {
        let out = dir.path().join(name).display().to_string();
        let asked = [
            "replay",
            &runs,
            "--settings",
            &settings,
            "--csv",
            "--out",
            &out,
        ];
        deadloop(&[&asked[..], per].concat()).ends(0);
        let rows = rows(&dir.path().join(name));
        let alarms = rows
            .iter()
            .filter(|r| r["unit"] == "calls" && r["by"] == "total");
        let alarms = alarms.map(|r| r["miss"].clone()).next();
        alarms.expect("a row")
    };
    assert_eq!(hits(&[], "plain"), "2");
    assert_eq!(hits(&["--per", "turn"], "turn"), "2");
    assert_eq!(hits(&["--per", "run"], "run"), "0");
}
