//! Runs of agents that are broken, through every command that reads them: a clear word, and nothing lost.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Place, Ran, stderr};
use serde_json::{Value, json};

fn call(id: &str, arguments: &Value) -> Value {
    json!({"type": "tool_call", "id": id, "name": "read", "arguments": arguments})
}

fn result(id: &str, content: &str) -> Value {
    json!({"type": "tool_result", "id": id, "content": content})
}

fn line(id: &str, mut events: Vec<Value>) -> String {
    events.insert(0, json!({"type": "user", "text": "do it"}));
    let labels = json!([{"class": "clean", "channel": "tools"}]);
    json!({"id": id, "events": events, "labels": labels}).to_string()
}

/// Calls without results, results without calls, ids that come again, arguments that are no JSON, a result of 10 MB.
fn broken() -> Vec<String> {
    let x = json!({"x": 1});
    let huge = "a line of a log that nobody reads\n".repeat(300_000);
    vec![
        line("open", vec![call("a", &x), call("b", &x)]),
        line(
            "nobody",
            vec![result("z", "asked"), call("a", &x), result("a", "so")],
        ),
        line(
            "again",
            vec![
                call("a", &x),
                result("a", "1"),
                result("a", "2"),
                call("a", &x),
                result("a", "3"),
            ],
        ),
        line(
            "raw",
            vec![call("a", &json!("{\"x\": ")), result("a", "bad arguments")],
        ),
        line(
            "huge",
            vec![
                call("a", &x),
                result("a", &huge),
                call("b", &x),
                result("b", &huge),
            ],
        ),
        line("empty", vec![]),
    ]
}

#[test]
fn whatever_a_run_lacks_it_is_read_replayed_labelled_and_told() {
    let place = Place::new();
    place.file("runs.jsonl", broken().join("\n"));
    for line in [
        "check runs.jsonl",
        "replay runs.jsonl --settings recommended-agents --unit calls --csv --out replayed",
        "label runs.jsonl --out found.csv",
        "explain runs.jsonl again --settings recommended-agents",
        "budget runs.jsonl --out budgets",
    ] {
        let run = place.run(line);
        let code = run.status.code();
        // 5: too little for a claim.
        assert!(matches!(code, Some(0 | 5)), "{line}: {}", stderr(&run));
    }
    let run = place.run("check runs.jsonl");
    run.shows("result without a call")
        .shows("call without a result");
    let rows = place.rows("replayed/outcomes.csv");
    for id in ["open", "nobody", "again", "raw", "huge"] {
        assert!(
            rows.iter().any(|row| row["transcript"] == id),
            "{id} is judged"
        );
    }
    // As the model wrote it.
    place.run("show runs.jsonl raw").shows("{\"x\": ");
}

#[test]
fn arguments_nested_without_end_are_told_with_their_line_and_cost_no_other_run() {
    let place = Place::new();
    let deep = "[".repeat(20_000) + &"]".repeat(20_000);
    let bad = line("deep", vec![call("a", &json!("HERE"))]).replace("\"HERE\"", &deep);
    place.file("runs.jsonl", [broken().remove(0), bad].join("\n"));
    let replay = "replay runs.jsonl --settings recommended-agents --unit calls --force --out out";
    place.run(replay).ends(2).says("runs.jsonl:2: ");
    place.run(format!("{replay} --on-bad skip")).ends(0);
}

/// A run whose turns say what they read and wrote: a loop costs the turns from its onset to the alarm.
#[test]
fn what_a_loop_of_calls_wastes_is_told_in_tokens_of_turns() {
    let place = Place::new();
    let mut events = Vec::new();
    for n in 0..8 {
        // From call 3 on the same call brings the same.
        let at = if n < 3 { n } else { 3 };
        events.push(json!({"type": "turn", "tokens_in": 100 * (n + 1), "tokens_out": 7}));
        events.push(call(&format!("c{n}"), &json!({"at": at})));
        events.push(result(&format!("c{n}"), &format!("at {at}")));
    }
    let label = json!([{"class": "loop", "kind": "same-call-same-result", "channel": "tools", "start": 3, "onset": 4}]);
    let run = json!({"id": "r", "events": events, "labels": label}).to_string();
    place.file("runs.jsonl", run);
    let cell = |settings: &str| {
        place.file("s.toml", settings);
        let replay = "replay runs.jsonl --settings s.toml --unit calls --csv --force --out out";
        place.run(replay).ends(0);
        place.rows("out/outcomes.csv")[0]["latency_tokens"].clone()
    };
    // The third equal call is call 5, of turn 5: turns 4 and 5.
    let at_call = cell("[[guard]]\ndetector = \"duplicate\"\n[guard.params]\nn = 3\n");
    assert_eq!(at_call, (507 + 607).to_string());
    // Before turn 7, when turns 4, 5 and 6 have ended.
    let before_turn = cell("[[guard]]\ndetector = \"iterations\"\n[guard.params]\nlimit = 7\n");
    assert_eq!(before_turn, (507 + 607 + 707).to_string());
}

#[test]
fn a_limit_above_the_recordings_own_is_told() {
    let place = Place::new();
    let mut run: Value = serde_json::from_str(&broken().remove(0)).expect("a run");
    run["meta"] = json!({"max_turns": 10});
    place.file("runs.jsonl", run.to_string());
    for (limit, said) in [(11, true), (10, false)] {
        let text =
            format!("[[guard]]\ndetector = \"iterations\"\n[guard.params]\nlimit = {limit}\n");
        place.file("s.toml", text);
        let replay = "replay runs.jsonl --settings s.toml --unit calls --force --out out";
        let told = stderr(&place.run(replay));
        let line = "iterations: its limit of 11 turns is above the recording's own (meta.max_turns) in 1 run, ";
        assert_eq!(told.contains(line), said, "{told}");
    }
}
