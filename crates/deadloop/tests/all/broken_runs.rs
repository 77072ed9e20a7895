//! Runs of agents that are broken, through every command that reads them: a clear word, and nothing lost.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::path::{Path, PathBuf};

use program::{deadloop, stderr, stdout};
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

/// A corpus of one file.
fn corpus(dir: &Path, lines: &[String]) -> PathBuf {
    let path = dir.join("runs.jsonl");
    std::fs::write(&path, lines.join("\n") + "\n").expect("a temporary folder");
    path
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
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = corpus(dir.path(), &broken()).display().to_string();
    let out = |name: &str| dir.path().join(name).display().to_string();
    let commands: [&[&str]; 5] = [
        &["check", &path],
        &[
            "replay",
            &path,
            "--settings",
            "recommended-agents",
            "--unit",
            "calls",
            "--csv",
            "--out",
            &out("replayed"),
        ],
        &["label", &path, "--out", &out("found.csv")],
        &[
            "explain",
            &path,
            "again",
            "--settings",
            "recommended-agents",
        ],
        &["budget", &path, "--out", &out("budgets")],
    ];
    for words in commands {
        let run = deadloop(words);
        let code = run.status.code();
        // 5: too little for a claim.
        assert!(
            matches!(code, Some(0 | 5)),
            "{words:?}: {code:?}\n{}",
            stderr(&run)
        );
    }
    let told = stdout(&deadloop(&["check", &path]));
    for words in ["result without a call", "call without a result"] {
        assert!(told.contains(words), "{words}:\n{told}");
    }
    let rows = std::fs::read_to_string(dir.path().join("replayed/outcomes.csv")).expect("rows");
    for id in ["open", "nobody", "again", "raw", "huge"] {
        assert!(
            rows.lines().any(|row| row.starts_with(&format!("{id},"))),
            "{id} is judged"
        );
    }
    let shown = stdout(&deadloop(&["show", &path, "raw"]));
    assert!(shown.contains("{\"x\": "), "as the model wrote it: {shown}");
}

#[test]
fn arguments_nested_without_end_are_told_with_their_line_and_cost_no_other_run() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let deep = "[".repeat(20_000) + &"]".repeat(20_000);
    let bad = line("deep", vec![call("a", &json!("HERE"))]).replace("\"HERE\"", &deep);
    let path = corpus(dir.path(), &[broken().remove(0), bad])
        .display()
        .to_string();
    let replay = |more: &[&str]| {
        let out = dir.path().join("out").display().to_string();
        let words = [
            "replay",
            &path,
            "--settings",
            "recommended-agents",
            "--unit",
            "calls",
            "--force",
            "--out",
            &out,
        ];
        deadloop(&[&words[..], more].concat())
    };
    let refused = replay(&[]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("runs.jsonl:2: "),
        "{}",
        stderr(&refused)
    );
    let skipped = replay(&["--on-bad", "skip"]);
    assert_eq!(skipped.status.code(), Some(0), "{}", stderr(&skipped));
}

/// A run whose turns say what they read and wrote: a loop costs the turns from its onset to the alarm.
#[test]
fn what_a_loop_of_calls_wastes_is_told_in_tokens_of_turns() {
    let dir = tempfile::tempdir().expect("a temporary folder");
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
    let path = corpus(dir.path(), &[run]).display().to_string();
    let cell = |settings: &str, name: &str| {
        std::fs::write(dir.path().join("s.toml"), settings).expect("a temporary folder");
        let out = dir.path().join(name);
        let (settings, folder) = (
            dir.path().join("s.toml").display().to_string(),
            out.display().to_string(),
        );
        let ran = deadloop(&[
            "replay",
            &path,
            "--settings",
            &settings,
            "--unit",
            "calls",
            "--csv",
            "--out",
            &folder,
        ]);
        assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
        let mut rows = csv::Reader::from_path(out.join("outcomes.csv")).expect("rows");
        let at = rows
            .headers()
            .expect("a head")
            .iter()
            .position(|h| h == "latency_tokens");
        let row = rows.records().next().expect("a row").expect("a row");
        row[at.expect("a column")].to_owned()
    };
    // The third equal call is call 5, of turn 5: turns 4 and 5.
    let at_call = cell(
        "[[guard]]\ndetector = \"duplicate\"\n[guard.params]\nn = 3\n",
        "a",
    );
    assert_eq!(at_call, (507 + 607).to_string());
    // Before turn 7, when turns 4, 5 and 6 have ended.
    let before_turn = cell(
        "[[guard]]\ndetector = \"iterations\"\n[guard.params]\nlimit = 7\n",
        "b",
    );
    assert_eq!(before_turn, (507 + 607 + 707).to_string());
}

#[test]
fn a_limit_above_the_recordings_own_is_told() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut run: Value = serde_json::from_str(&broken().remove(0)).expect("a run");
    run["meta"] = json!({"max_turns": 10});
    let path = corpus(dir.path(), &[run.to_string()]).display().to_string();
    for (limit, said) in [(11, true), (10, false)] {
        let settings = dir.path().join("s.toml");
        let text =
            format!("[[guard]]\ndetector = \"iterations\"\n[guard.params]\nlimit = {limit}\n");
        std::fs::write(&settings, text).expect("a temporary folder");
        let (settings, out) = (
            settings.display().to_string(),
            dir.path().join("out").display().to_string(),
        );
        let words = [
            "replay",
            &path,
            "--settings",
            &settings,
            "--unit",
            "calls",
            "--force",
            "--out",
            &out,
        ];
        let told = stderr(&deadloop(&words));
        let line = "iterations: its limit of 11 turns is above the recording's own (meta.max_turns) in 1 run, ";
        assert_eq!(told.contains(line), said, "{told}");
    }
}
