//! The order of messages, on runs that are written out.

#![allow(clippy::unwrap_used)]

use deadloop_corpus::{Corpus, DisorderKind, Transcript, disorders};
use serde_json::{Value, json};

fn run(events: Value) -> Transcript {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.jsonl");
    std::fs::write(&path, json!({"id": "r", "events": events}).to_string()).unwrap();
    let corpus = Corpus::open(&path).unwrap();
    corpus.entries().next().unwrap().unwrap().transcript
}

fn call(id: &str) -> Value {
    json!({"type": "tool_call", "id": id, "name": "ls", "arguments": id})
}

fn result(id: &str, content: &str, error: bool) -> Value {
    json!({"type": "tool_result", "id": id, "content": content, "error": error})
}

fn turn() -> Value {
    json!({"type": "turn"})
}

fn kinds(events: Value) -> Vec<(DisorderKind, u64)> {
    let found = disorders(&run(events));
    found.into_iter().map(|one| (one.kind, one.event)).collect()
}

#[test]
fn each_disorder_has_its_event() {
    use DisorderKind::{Between, EmptyTurn, OtherOrder, SecondResult, StrayResult, Unanswered};
    let user = || json!({"type": "user", "text": "x"});
    let fine = json!([
        user(),
        turn(),
        call("a"),
        call("b"),
        result("a", "", false),
        result("b", "", false),
        turn(),
        call("c")
    ]);
    assert_eq!(kinds(fine), []);
    assert_eq!(
        kinds(json!([turn(), call("a"), turn(), call("b")])),
        [(Unanswered, 2)]
    );
    assert_eq!(
        kinds(json!([turn(), call("a"), user(), result("a", "", false)])),
        [(Between, 2)]
    );
    assert_eq!(
        kinds(json!([
            turn(),
            call("a"),
            result("z", "", false),
            result("a", "", false)
        ])),
        [(StrayResult, 2)]
    );
    assert_eq!(
        kinds(json!([
            turn(),
            call("a"),
            result("a", "", false),
            result("a", "", false)
        ])),
        [(SecondResult, 3)]
    );
    assert_eq!(kinds(json!([turn(), turn(), call("a")])), [(EmptyTurn, 0)]);
    assert_eq!(
        kinds(json!([
            turn(),
            call("a"),
            call("b"),
            result("b", "", false),
            result("a", "", false)
        ])),
        [(OtherOrder, 3)]
    );
    // Ids may come again after their result.
    let again = json!([
        turn(),
        call("a"),
        result("a", "", false),
        turn(),
        call("a"),
        result("a", "", false)
    ]);
    assert_eq!(kinds(again), []);
}
