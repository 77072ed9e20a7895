//! Import of broken runs: calls without results, results without calls, repeated ids, arguments that are not JSON, huge
//! results, and very many calls. All of them are kept, in bounded time.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::kit;

use deadloop_corpus::{Body, Class, Entry, Problem};
use deadloop_import::Import;
use deadloop_import::options::ImportOptions;
use serde_json::{Value, json};

fn import(name: &str, text: &str) -> (Vec<Entry>, Vec<Problem>) {
    let (_dir, path) = kit::file(name, text.as_bytes());
    let import = Import::new(&[path], ImportOptions::default()).unwrap();
    let (good, bad): (Vec<_>, Vec<_>) = import.partition(Result::is_ok);
    let bad = bad.into_iter().map(Result::unwrap_err).collect();
    (good.into_iter().map(Result::unwrap).collect(), bad)
}

const HEAD: &str = "{\"type\":\"session_meta\",\"payload\":{\"id\":\"s\",\"cwd\":\"/w\"}}\n";

fn item(payload: Value) -> String {
    json!({"type": "response_item", "payload": payload}).to_string() + "\n"
}

fn call(id: &str, arguments: &str) -> String {
    item(json!({"type": "function_call", "name": "f", "call_id": id, "arguments": arguments}))
}

fn result(id: &str, output: &str) -> String {
    item(json!({"type": "function_call_output", "call_id": id, "output": output}))
}

/// Returns the numbers of calls and of results.
fn counts(entry: &Entry) -> (usize, usize) {
    let events = &entry.transcript.events;
    let count = |is: fn(&Body) -> bool| events.iter().filter(|event| is(&event.body)).count();
    let calls = count(|body| matches!(body, Body::ToolCall { .. }));
    (calls, count(|body| matches!(body, Body::ToolResult { .. })))
}

#[test]
fn calls_and_results_that_do_not_fit_are_all_kept() {
    let lines = [
        HEAD.to_owned(),
        result("nobody", "asked"),
        call("a", "{\"x\": "),
        call("a", "{}"),
        result("a", "one"),
        result("a", "two"),
        result("a", "three"),
        call("open", ""),
    ];
    let (entries, problems) = import("codex.jsonl", &lines.concat());
    assert_eq!(problems, []);
    let [entry] = &entries[..] else {
        panic!("one run");
    };
    assert_eq!(counts(entry), (3, 4));
    let mut events = entry.transcript.events.iter();
    let broken = events.find_map(|event| match &event.body {
        Body::ToolCall { arguments, .. } => arguments.as_str(),
        _ => None,
    });
    assert_eq!(broken, Some("{\"x\": "), "as the model wrote it");
}

#[test]
fn a_line_that_cannot_be_used_costs_no_other() {
    let wrong = item(json!({"type": "function_call", "name": 7}));
    let lines = [
        HEAD,
        &call("a", "{}"),
        &wrong,
        "{\"type\":\n",
        &result("a", "one"),
    ];
    let (entries, problems) = import("codex.jsonl", &lines.concat());
    let told: Vec<String> = problems.into_iter().map(|p| kit::tell(Err(p))).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0], "3: `name` is a number; expected a string");
    assert!(told[1].starts_with("4: not JSON: "), "{told:?}");
    assert_eq!(counts(&entries[0]), (1, 1));
}

/// Results are matched to calls by id, in linear time. The test does not measure the time, but would not end in
/// quadratic time.
#[test]
fn very_many_calls_are_read() {
    const CALLS: usize = 100_000;
    let calls = (0..CALLS).map(|n| call(&format!("c{n}"), "{}"));
    let results = (0..CALLS).rev().map(|n| result(&format!("c{n}"), "x"));
    let text: String = calls.chain(results).collect();
    let (entries, problems) = import("codex.jsonl", &format!("{HEAD}{text}"));
    assert_eq!(problems, []);
    assert_eq!(counts(&entries[0]), (CALLS, CALLS));
    let found = deadloop_finder::steps::find_run(&entries[0].transcript).unwrap();
    assert_eq!(found.class, Class::Loop, "the same call, the same result");
}

#[test]
fn a_huge_result_is_kept_whole() {
    let huge = "x".repeat(10 << 20);
    let lines = [HEAD.to_owned(), call("a", "{}"), result("a", &huge)];
    let (entries, problems) = import("codex.jsonl", &lines.concat());
    assert_eq!(problems, []);
    let mut events = entries[0].transcript.events.iter();
    assert!(events.any(|event| match &event.body {
        Body::ToolResult { content, .. } => *content == huge,
        _ => false,
    }));
}
