//! Runs of agents from outside: what is one text in a run.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Place, Ran};
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

#[test]
fn a_turn_is_a_text_of_its_own_unless_the_run_is_asked_for() {
    let place = Place::new();
    let looping = json!({"class": "loop", "channel": "tools", "start": 4, "onset": 5});
    let clean = json!({"class": "clean", "channel": "tools"});
    let lines = [
        line("a", 12, &looping),
        line("b", 12, &looping),
        line("clean", 4, &clean),
    ];
    place.file("runs.jsonl", lines.concat());
    let guard = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_chars = 60\n";
    place.file("s.toml", guard);
    for (per, missed) in [("", "2"), ("--per turn", "2"), ("--per run", "0")] {
        let replay = format!("replay runs.jsonl --settings s.toml --csv --out out --force {per}");
        place.run(replay).ends(0);
        let rows = place.rows("out/scores.csv");
        let all = rows
            .iter()
            .find(|r| r["unit"] == "calls" && r["by"] == "total");
        assert_eq!(all.expect("a row")["miss"], missed, "{per}");
    }
}
