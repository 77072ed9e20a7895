//! Rules of feedback on runs that are written out.

#![allow(clippy::unwrap_used)]

use deadloop_corpus::{Corpus, Transcript};
use deadloop_replay::corpus as deadloop_corpus;
use deadloop_replay::feedback::{DisorderKind, disorders, guided, judge_run, turns};
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

#[test]
fn what_would_have_been_right_is_what_followed() {
    let run = run(json!([
        {"type": "user", "text": "four"},
        turn(), call("a"), result("a", "an error", true),
        turn(), call("b"), result("b", "fine", false),
        turn(), call("c"), result("c", "all done", false),
        {"type": "finish", "reason": "stop"},
    ]));
    let turns = turns(&run);
    assert_eq!(turns.len(), 3);
    let said = guided(&turns, (6, 1), 4, false);
    // Said retry, continue, finish; right were retry (the same tool, no error), retry, finish.
    assert_eq!(said.matrix, [[0, 0, 0], [1, 1, 0], [0, 0, 1]]);
    assert_eq!(said.strict, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]);
    assert_eq!(
        (said.finish, said.premature, said.hints, said.doubled),
        (1, 0, 2, 0)
    );
    let shallow = guided(&turns, (1, 9), 4, false);
    assert_eq!((shallow.finish, shallow.doubled), (3, 2));
    let judged = judge_run(&run);
    assert_eq!((judged.results, judged.errors), (3, 1));
    assert_eq!(judged.error_flag[0].counts(), [1, 0, 0, 2]);
    assert_eq!(judged.completion_flag[0].counts(), [1, 0, 0, 2]);
}
