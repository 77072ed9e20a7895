//! Runs of agents as they come in broken: calls without results, results without calls, ids that come
//! again, arguments that are no JSON, huge results, very many calls. All of it is kept, in bounded time.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::kit;

use deadloop_corpus::{Body, Entry, Import, ImportOptions, Problem};

fn import(name: &str, text: &str) -> (Vec<Entry>, Vec<Problem>) {
    let (_dir, path) = kit::file(name, text.as_bytes());
    let import = Import::new(&[path], ImportOptions::default()).unwrap();
    let (good, bad): (Vec<_>, Vec<_>) = import.partition(Result::is_ok);
    let bad = bad.into_iter().map(Result::unwrap_err).collect();
    (good.into_iter().map(Result::unwrap).collect(), bad)
}

const HEAD: &str = "{\"type\":\"session_meta\",\"payload\":{\"id\":\"s\",\"cwd\":\"/w\"}}\n";

fn call(id: &str, arguments: &str) -> String {
    let arguments = serde_json::Value::from(arguments);
    format!(
        "{{\"type\":\"response_item\",\"payload\":{{\"type\":\"function_call\",\"name\":\"f\",\"call_id\":\"{id}\",\"arguments\":{arguments}}}}}\n"
    )
}

fn result(id: &str, output: &str) -> String {
    let output = serde_json::Value::from(output);
    format!(
        "{{\"type\":\"response_item\",\"payload\":{{\"type\":\"function_call_output\",\"call_id\":\"{id}\",\"output\":{output}}}}}\n"
    )
}

fn count(entry: &Entry, is: fn(&Body) -> bool) -> usize {
    let events = entry.transcript.events.iter();
    events.filter(|event| is(&event.body)).count()
}

fn is_call(body: &Body) -> bool {
    matches!(body, Body::ToolCall { .. })
}

fn is_result(body: &Body) -> bool {
    matches!(body, Body::ToolResult { .. })
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
    assert_eq!((count(entry, is_call), count(entry, is_result)), (3, 4));
    let broken = entry
        .transcript
        .events
        .iter()
        .find_map(|event| match &event.body {
            Body::ToolCall { arguments, .. } => arguments.as_str(),
            _ => None,
        });
    assert_eq!(broken, Some("{\"x\": "), "as the model wrote it");
}

#[test]
fn a_line_that_cannot_be_used_costs_no_other() {
    let wrong =
        "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"name\":7}}\n";
    let lines = [
        HEAD,
        &call("a", "{}"),
        wrong,
        "{\"type\":\n",
        &result("a", "one"),
    ];
    let (entries, problems) = import("codex.jsonl", &lines.concat());
    let told: Vec<String> = problems
        .iter()
        .map(|p| format!("{}: {}; expected {}", p.place.line, p.what, p.expected))
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0], "3: `name` is a number; expected a string");
    assert!(told[1].starts_with("4: not JSON: "), "{told:?}");
    assert_eq!(
        (count(&entries[0], is_call), count(&entries[0], is_result)),
        (1, 1)
    );
}

/// Each call is joined to what it belongs to by name, not by looking through all of them: twice as many
/// take twice as long. A test does not time it, and would not end if it were otherwise.
#[test]
fn very_many_calls_are_read() {
    const CALLS: usize = 100_000;
    let calls = (0..CALLS).map(|n| call(&format!("c{n}"), "{}"));
    let results = (0..CALLS).rev().map(|n| result(&format!("c{n}"), "x"));
    let text: String = std::iter::once(HEAD.to_owned())
        .chain(calls)
        .chain(results)
        .collect();
    let (entries, problems) = import("codex.jsonl", &text);
    assert_eq!(problems, []);
    assert_eq!(
        (count(&entries[0], is_call), count(&entries[0], is_result)),
        (CALLS, CALLS)
    );
    let found = deadloop_corpus::find::find_run(&entries[0].transcript).unwrap();
    assert_eq!(
        found.class,
        deadloop_corpus::Class::Loop,
        "the same call, the same result"
    );
}

#[test]
fn a_huge_result_is_kept_whole() {
    let huge = "x".repeat(10 << 20);
    let lines = [HEAD.to_owned(), call("a", "{}"), result("a", &huge)];
    let (entries, problems) = import("codex.jsonl", &lines.concat());
    assert_eq!(problems, []);
    let whole =
        |body: &Body| matches!(body, Body::ToolResult { content, .. } if content.len() == 10 << 20);
    assert!(
        entries[0]
            .transcript
            .events
            .iter()
            .any(|event| whole(&event.body))
    );
}
