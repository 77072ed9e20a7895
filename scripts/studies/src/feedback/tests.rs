//! The rules on runs that are written out, and against the reference program.

#![allow(clippy::unwrap_used)]

use deadloop_corpus::{Corpus, Transcript};
use serde_json::{Value, json};

use crate::guide::{guided, turns};
use crate::run::judge_run;
use crate::words::{Flags, Reading, WEIGHTS, analyse};

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
    assert_eq!(judged.errors, 1);
    assert_eq!(judged.error_flag[0].counts(), [1, 0, 0, 2]);
    assert_eq!(judged.completion_flag[0].counts(), [1, 0, 0, 2]);
}

#[test]
fn the_reference_says_the_same_of_every_result() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/vectors/budget.jsonl"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let vectors = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let vectors: Vec<Value> = vectors.collect();
    let mut asked = 0;
    for vector in vectors.iter().filter(|v| v.get("flags").is_some()) {
        let flag = |name: &str| vector["flags"][name].as_bool().unwrap();
        let reading = Reading {
            whole: vector["mode"] == "word",
            head: usize::try_from(vector["head"].as_u64().unwrap()).unwrap(),
        };
        let flags = analyse(vector["text"].as_str().unwrap(), reading);
        let wanted = Flags {
            data: flag("data"),
            errors: flag("errors"),
            completion: flag("completion"),
            analysis: flag("analysis"),
        };
        assert_eq!(flags, wanted, "{vector}");
        assert!(
            (flags.score(WEIGHTS[0]) - vector["flags"]["score"].as_f64().unwrap()).abs() < 1e-9
        );
        asked += 1;
    }
    assert_eq!(asked, 44);
}
