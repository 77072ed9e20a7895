//! Runs of agents from outside: what a loop costs in tokens, time and money, and what is one text in a run.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::collections::BTreeMap;
use std::path::Path;

use program::{code, deadloop, file, stderr, stdout};
use serde_json::{Value, json};

/// A turn that begins every two seconds, reads 1,000 tokens, 400 of them cached, and writes 50.
fn turn(n: usize) -> Value {
    json!({"type": "turn", "index": n, "tokens_in": 1000, "tokens_out": 50, "cached": 400, "t_ms": 2000 * n})
}

/// A run of so many turns, each a call with a result; from call 4 on the same one. `told`: whether it says what it took.
fn line(id: &str, turns: usize, told: bool, label: &Value) -> String {
    let step = |n: usize| {
        let what = n.min(4);
        let turn = if told {
            turn(n)
        } else {
            json!({"type": "turn"})
        };
        [
            turn,
            json!({"type": "answer", "text": "Let me look at the file again. "}),
            json!({"type": "tool_call", "id": format!("c{n}"), "name": "read", "arguments": {"n": what}}),
            json!({"type": "tool_result", "id": format!("c{n}"), "content": format!("line {what}"), "error": false}),
        ]
    };
    let mut events: Vec<Value> = (0..turns).flat_map(step).collect();
    if told {
        events.push(json!({"type": "finish", "reason": "stop", "t_ms": 2000 * turns}));
    }
    json!({"id": id, "model": "m", "events": events, "labels": [label]}).to_string() + "\n"
}

/// One loop that says what it took, one that does not, a clean run of four turns.
fn corpus(dir: &Path) -> String {
    let looping = json!({"class": "loop", "channel": "tools", "start": 4, "onset": 5});
    let clean = json!({"class": "clean", "channel": "tools"});
    let lines = [
        line("told", 12, true, &looping),
        line("untold", 12, false, &looping),
        line("clean", 4, true, &clean),
    ];
    file(dir, "runs.jsonl", &lines.concat())
}

fn rows(out: &Path) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(out.join("scores.csv")).expect("scores.csv");
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let head: Vec<String> = lines.next().expect("a head").collect();
    lines
        .map(|line| head.iter().cloned().zip(line).collect())
        .collect()
}

#[test]
fn a_loop_costs_the_turns_from_its_onset_to_the_alarm() {
    let dir = tempfile::tempdir().expect("a folder");
    let runs = corpus(dir.path());
    let settings = "[[guard]]\ndetector = \"same-pair\"\n[guard.params]\nn = 3\n";
    let settings = file(dir.path(), "s.toml", settings);
    let out = dir.path().join("out").display().to_string();
    let prices = [
        "--price-in",
        "2",
        "--price-out",
        "10",
        "--price-cached",
        "0.5",
    ];
    let asked = [
        "replay",
        &runs,
        "--settings",
        &settings,
        "--csv",
        "--out",
        &out,
    ];
    let ran = deadloop(&[&asked[..], &prices[..]].concat());
    assert_eq!(code(&ran), Some(0), "{}", stderr(&ran));
    let rows = rows(&dir.path().join("out"));
    let of = |unit: &str| {
        let mut found = rows
            .iter()
            .filter(|r| r["unit"] == unit && r["model"] == "*");
        let row = found.next().expect("a row of the setting");
        let names = [
            "loops",
            "unlabelled",
            "hit",
            "exposure",
            "delay",
            "loop_chars",
        ];
        names.map(|name| row[name].parse::<f64>().expect("a number"))
    };
    // The third equal result comes with call 6, in turn 6; the onset is call 5, in turn 5: two turns, of seven.
    assert_eq!(of("calls"), [2.0, 0.0, 2.0, 14.0, 2.0, 14.0]);
    assert_eq!(of("tokens"), [1.0, 1.0, 1.0, 9450.0, 2100.0, 7350.0]);
    assert_eq!(of("ms"), [1.0, 1.0, 1.0, 18000.0, 4000.0, 14000.0]);
    // A turn costs 600 x 2 + 400 x 0.5 + 50 x 10 millionths.
    assert_eq!(of("money"), [1.0, 1.0, 1.0, 17100.0, 3800.0, 13300.0]);
}

#[test]
fn a_choice_in_tokens_wants_a_limit() {
    let dir = tempfile::tempdir().expect("a folder");
    let runs = corpus(dir.path());
    let out = dir.path().join("out").display().to_string();
    let ran = deadloop(&["tune", &runs, "--unit", "tokens", "--out", &out]);
    assert_eq!(code(&ran), Some(2));
    assert!(
        stderr(&ran).contains("fa_per_mtoken<=0.5"),
        "{}",
        stderr(&ran)
    );
    let limit = ["--constraint", "fa_per_mtoken<=5", "--dry-run"];
    let asked = ["tune", &runs, "--unit", "tokens", "--out", &out];
    let ran = deadloop(&[&asked[..], &limit[..]].concat());
    assert_eq!(code(&ran), Some(0), "{}", stderr(&ran));
    // What is searched are guards on runs, as the labels ask.
    assert!(
        stdout(&ran).contains("fa_per_mtoken<=5"),
        "{}",
        stdout(&ran)
    );
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
        let ran = deadloop(&[&asked[..], per].concat());
        assert_eq!(code(&ran), Some(0), "{}", stderr(&ran));
        let rows = rows(&dir.path().join(name));
        let alarms = rows
            .iter()
            .filter(|r| r["unit"] == "calls" && r["model"] == "*");
        let alarms = alarms.map(|r| r["miss"].clone()).next();
        alarms.expect("a row")
    };
    assert_eq!(hits(&[], "plain"), "2");
    assert_eq!(hits(&["--per", "turn"], "turn"), "2");
    assert_eq!(hits(&["--per", "run"], "run"), "0");
}
