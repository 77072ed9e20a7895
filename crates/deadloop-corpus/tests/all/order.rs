//! The order of messages, in handwritten runs.

#![allow(clippy::unwrap_used)]

use deadloop_corpus::{Corpus, DisorderKind, Transcript, find_disorders};
use serde_json::{Value, json};

fn run(events: Value) -> Transcript {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.jsonl");
    std::fs::write(&path, json!({"id": "r", "events": events}).to_string()).unwrap();
    let corpus = Corpus::open(&path).unwrap();
    corpus.entries().next().unwrap().unwrap().transcript
}

/// Returns the disorders of a run of steps. `.` is a turn, `u` a user message, any other letter a call, and its capital
/// the result.
fn kinds(steps: &str) -> Vec<(DisorderKind, u64)> {
    let step = |step: char| {
        let id = step.to_lowercase().to_string();
        match step {
            '.' => json!({"type": "turn"}),
            'u' => json!({"type": "user", "text": "x"}),
            'A'..='Z' => json!({"type": "tool_result", "id": id, "content": "", "error": false}),
            _ => json!({"type": "tool_call", "id": id, "name": "ls", "arguments": id}),
        }
    };
    let found = find_disorders(&run(steps.chars().map(step).collect()));
    found.into_iter().map(|one| (one.kind, one.event)).collect()
}

#[test]
fn each_disorder_has_its_event() {
    use DisorderKind::{Between, EmptyTurn, OtherOrder, SecondResult, StrayResult, Unanswered};
    assert_eq!(kinds("u.abAB.c"), []);
    // Ids may come again after their result.
    assert_eq!(kinds(".aA.aA"), []);
    for (steps, kind, event) in [
        (".a.b", Unanswered, 2),
        (".auA", Between, 2),
        (".aZA", StrayResult, 2),
        (".aAA", SecondResult, 3),
        ("..a", EmptyTurn, 0),
        (".abBA", OtherOrder, 3),
    ] {
        assert_eq!(kinds(steps), [(kind, event)], "{steps}");
    }
}
