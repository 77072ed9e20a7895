//! Tests the finder for runs on short runs with known labels.
#![allow(clippy::unwrap_used, reason = "a test")]

use deadloop_corpus::{BenignReason, Body, Class, RecordedEvent, Transcript};
use deadloop_detect::{Channel, Kind};
use deadloop_finder::steps::{RunFindings, find_run};
use proptest::prelude::{any, prop_assert_eq, proptest};
use proptest::sample::select;
use serde_json::{Value, json};

/// Finds the loops of a run of shell calls with results. A result that begins with `!` is an error.
fn run(steps: &[(&str, &str)], reason: &str) -> RunFindings {
    calls("bash", steps, reason)
}

fn calls(tool: &str, steps: &[(&str, &str)], reason: &str) -> RunFindings {
    let mut bodies = vec![Body::User("Do it.".into())];
    for (at, step) in steps.iter().enumerate() {
        bodies.extend(turn(at, tool, *step));
    }
    bodies.push(Body::Finish {
        reason: Some(reason.into()),
    });
    find(bodies)
}

/// Returns a turn of one call and its result.
fn turn(at: usize, tool: &str, (call, result): (&str, &str)) -> [Body; 3] {
    let id = Some(format!("c{at}"));
    let call = Body::ToolCall {
        id: id.clone(),
        name: tool.into(),
        arguments: Value::String(call.into()),
    };
    let result = Body::ToolResult {
        id,
        content: result.trim_start_matches('!').into(),
        error: Some(result.starts_with('!')),
    };
    [Body::Turn, call, result]
}

fn find(bodies: Vec<Body>) -> RunFindings {
    let transcript = Transcript {
        events: bodies.into_iter().map(RecordedEvent::new).collect(),
        ..Transcript::default()
    };
    find_run(&transcript).unwrap()
}

fn times(step: (&'static str, &'static str), n: usize) -> Vec<(&'static str, &'static str)> {
    vec![step; n]
}

#[test]
fn equal_calls_up_to_a_limit_are_a_loop_and_before_others_are_not() {
    let mut steps = vec![("pwd", "/"), ("id", "root")];
    steps.extend(times(("ls", "a b"), 4));
    let found = run(&steps, "limit");
    assert_eq!(found.class, Class::Loop);
    assert_eq!(found.spans.len(), 1, "{found:?}");
    let span = &found.spans[0];
    assert_eq!(span.kind, Kind::SameCallSameResult);
    assert_eq!(span.channel, Channel::Tools);
    assert_eq!((span.start, span.onset, span.end), (2, 3, None));
    assert_eq!(span.period, Some(1));
    // The agent left the loop by itself.
    steps.extend([
        ("cat a", "one"),
        ("cat b", "two"),
        ("wc a", "1"),
        ("wc b", "2"),
    ]);
    let found = run(&steps, "stop");
    assert_eq!(found.class, Class::Transient);
    assert_eq!(found.spans[0].end, Some(6));
}

#[test]
fn a_cycle_has_its_period() {
    let round = [("ls", "a"), ("cat a", "x"), ("wc a", "1")];
    let steps: Vec<_> = round.iter().copied().cycle().take(12).collect();
    let found = run(&steps, "limit");
    assert_eq!(found.class, Class::Loop);
    let span = &found.spans[0];
    assert_eq!((span.kind, span.period), (Kind::Cycle, Some(3)));
    assert_eq!((span.start, span.onset), (0, 3));
}

#[test]
fn times_and_the_order_of_lines_are_no_new_results() {
    let steps = [
        ("date; ls", "2026-01-01 10:00:00\na\nb"),
        ("date; ls", "2026-01-01 10:00:05\nb\na"),
        ("date; ls", "2026-01-01 10:01:00\na\nb"),
        ("date; ls", "2026-01-01 10:02:00\na\nb"),
    ];
    assert_eq!(run(&steps, "limit").class, Class::Loop);
}

#[test]
fn checks_after_each_change_are_no_loop() {
    let test = ("make test", "!1 failed");
    let steps = [
        test,
        ("sed -i s/a/b/ x", ""),
        test,
        ("sed -i s/b/c/ x", "ok"),
        test,
        ("sed -i s/c/d/ x", "done"),
        test,
    ];
    let found = calls("shell_tool", &steps[..0], "stop");
    assert_eq!(found.class, Class::Clean, "nothing is clean");
    let found = run(&steps, "stop");
    assert_eq!(found.class, Class::Clean, "{found:?}");
}

/// A command may be in a field of an object. A text to decode distinguishes commands, even if it looks random.
#[test]
fn commands_in_fields_write_and_texts_to_decode_distinguish_calls() {
    let test = (r#"{"command": "make test"}"#, "!1 failed");
    let edits = [
        test,
        (r#"{"command": "sed -i s/a/b/ x"}"#, ""),
        test,
        (r#"{"command": "sed -i s/b/c/ x"}"#, ""),
        test,
        (r#"{"command": "sed -i s/c/d/ x"}"#, ""),
        test,
    ];
    assert_eq!(run(&edits, "stop").class, Class::Clean);
    let decoded = [
        ("VjFSQ2EyTXlSblJ", "V1RCa2MyRnRTWGRVYkZa"),
        ("V1RCa2MyRnRTWGR", "WTBkc2FtSXdUbFZT"),
        ("WTBkc2FtSXdUbFZ", "Y0dsamIwTlVSbnR"),
        ("Y0dsamIwTlVSbnR", "cGljb0NURntiYXN"),
    ];
    let steps = decoded.map(|(text, input)| {
        let call = format!("echo {text} | base64 -d");
        (call, format!("!base64: invalid input {input}"))
    });
    let steps: Vec<_> = steps
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let found = run(&steps, "stop");
    let mut kinds = found.spans.iter().map(|span| span.kind);
    assert!(kinds.all(|kind| kind == Kind::ErrorRetry), "{found:?}");
}

#[test]
fn batches_and_polls_that_end_are_harmless() {
    let batch = [("1", "a"), ("2", "b"), ("3", "a"), ("4", "c"), ("5", "d")];
    let found = calls("get_order", &batch, "stop");
    assert_eq!(found.class, Class::Clean);
    assert_eq!(found.benign[0].reason, BenignReason::Batch);
    assert_eq!((found.benign[0].start, found.benign[0].end), (0, 5));
    let mut poll = times(("1", "queued"), 3);
    poll.push(("1", "done"));
    let found = calls("job_status", &poll, "stop");
    assert_eq!(found.class, Class::Clean, "{found:?}");
    let mut reasons = found.benign.iter().map(|benign| benign.reason);
    assert!(reasons.any(|reason| reason == BenignReason::Poll));
    let retry = [("push", "!busy"), ("push", "ok")];
    let found = calls("git", &retry, "stop");
    assert_eq!(found.benign[0].reason, BenignReason::Retry);
}

#[test]
fn turns_with_equal_text_are_a_monologue() {
    let mut bodies = vec![Body::User("Go.".into())];
    for _ in 0..6 {
        bodies.push(Body::Turn);
        bodies.push(Body::Answer("I am waiting for you to begin.".into()));
    }
    let found = find(bodies);
    assert_eq!((found.class, found.channel), (Class::Loop, Channel::Turns));
    assert_eq!(found.spans[0].kind, Kind::Monologue);
    assert_eq!((found.spans[0].start, found.spans[0].onset), (0, 1));
}

/// Finds the loops of a run with a user message before each call.
fn chat(says: impl Fn(usize) -> String) -> RunFindings {
    let mut bodies = Vec::new();
    for at in 0..8 {
        bodies.push(Body::User(says(at)));
        bodies.extend(turn(at, "bash", ("ls", "a")));
    }
    find(bodies)
}

#[test]
fn repeated_user_messages_are_no_loop_and_repeated_timers_are() {
    assert_eq!(
        chat(|at| format!("Again, the {at}th time.")).class,
        Class::Clean
    );
    assert_eq!(chat(|_| "[timer] Continue.".into()).class, Class::Loop);
}

/// A hook that repeats its message, and an agent that repeats its answer. A short answer to a heartbeat is no loop.
#[test]
fn equal_answers_to_a_repeated_hook_are_a_monologue() {
    let hooked = |answer: &str| {
        let mut bodies = vec![Body::User("Go.".into()), Body::Turn];
        for _ in 0..12 {
            bodies.push(Body::Answer(answer.into()));
            bodies.push(Body::User("The goal is not met.".into()));
            bodies.push(Body::Turn);
        }
        find(bodies).class
    };
    assert_eq!(hooked("All is done, nothing is left."), Class::Loop);
    assert_eq!(hooked("全部完成，没有其他问题。"), Class::Loop);
    assert_eq!(hooked("HEARTBEAT_OK"), Class::Clean);
}

#[test]
fn a_reworded_refusal_is_no_new_result() {
    let refused: Vec<_> = (0..12)
        .map(|n| {
            (
                format!("{{\"url\": \"/v{n}\"}}"),
                format!("{{\"status\": 404, \"at\": {n}}}"),
            )
        })
        .collect();
    let class = |result: &dyn Fn(&str) -> String| {
        let steps: Vec<_> = refused
            .iter()
            .map(|(call, text)| (call.clone(), result(text)))
            .collect();
        let steps: Vec<_> = steps
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        calls("http", &steps, "limit").class
    };
    assert_eq!(class(&str::to_owned), Class::Loop);
    // Other pages are new results.
    assert_eq!(class(&|text| text.replace("404", "200")), Class::Clean);
}

#[test]
fn a_poll_that_ends_is_harmless_and_one_without_end_is_a_loop() {
    let poll = ("sleep 30; gh run view", "in_progress");
    let mut steps = times(poll, 40);
    assert_eq!(run(&steps, "limit").class, Class::Loop);
    assert_eq!(run(&steps[..20], "limit").class, Class::Clean);
    steps.push((poll.0, "success"));
    let found = run(&steps, "stop");
    assert_eq!(found.class, Class::Clean, "{found:?}");
    assert_eq!(found.benign[0].reason, BenignReason::Poll);
}

#[test]
fn a_call_counter_is_no_new_result() {
    let counted = |text: &str, by: usize| {
        let answers: Vec<_> = (1..12)
            .map(|n| text.replace('N', &(n * by).to_string()))
            .collect();
        let steps: Vec<_> = answers
            .iter()
            .map(|text| ("{\"id\": 7}", text.as_str()))
            .collect();
        calls("page", &steps, "stop").class
    };
    assert_eq!(counted("Step N of 20: the form is open", 1), Class::Loop);
    assert_eq!(counted("N rows are shown", 20), Class::Clean);
}

/// The second edit undoes the first. Each result has a new number.
#[test]
fn edits_that_undo_each_other_are_a_loop_and_other_edits_are_not() {
    let edits = |text: &dyn Fn(usize) -> String| {
        let steps: Vec<_> = (0..16)
            .map(|n| (text(n), format!("Applied. Checkpoint #{n}.")))
            .collect();
        let steps: Vec<_> = steps
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        calls("edit_file", &steps, "aborted").class
    };
    let undone = |n: usize| {
        let (old, new) = if n.is_multiple_of(2) {
            ("a", "b")
        } else {
            ("b", "a")
        };
        format!("{{\"old\": \"{old}\", \"new\": \"{new}\"}}")
    };
    assert_eq!(edits(&undone), Class::Loop);
    assert_eq!(
        edits(&|n| format!("{{\"old\": \"a{n}\", \"new\": \"b{n}\"}}")),
        Class::Clean
    );
}

/// The argument of an edit: all contents of a file, the changed line, or this line with its context.
#[derive(Clone, Copy, Debug)]
enum Writes {
    Whole,
    Line,
    Around,
}

/// Finds the loops of a run that edits a file several times, with a check after each edit if `checks` is set.
/// `contents` are the numbers in the second line of the file. Each result has a new id.
fn edits(contents: &[usize], writes: Writes, checks: bool) -> RunFindings {
    let line = |n: &usize| format!("limit = {n}");
    let mut steps = Vec::new();
    for (at, two) in contents.windows(2).enumerate() {
        let (old, new) = (line(&two[0]), line(&two[1]));
        let (before, after) = match (writes, at % 3) {
            (Writes::Around, 1) => ("# limits\n", ""),
            (Writes::Around, 2) => ("", "\nopen = true"),
            _ => ("", ""),
        };
        let (tool, arguments) = match writes {
            Writes::Whole => ("write_file", json!({"path": "a.toml", "content": new})),
            Writes::Line | Writes::Around => {
                let all = |line: &str| format!("{before}{line}{after}");
                (
                    "edit_file",
                    json!({"path": "a.toml", "old": all(&old), "new": all(&new)}),
                )
            }
        };
        let id = 0x9e37_79b1_u64.wrapping_mul(at as u64 + 1) & 0xffff_ffff;
        steps.push((tool, arguments, format!("edited a.toml (sha {id:08x}ab)")));
        if checks {
            let failed = format!("!limit {} is wrong, 1 failed in {at}.31s", two[1]);
            steps.push(("bash", json!({"command": "make test"}), failed));
        }
    }
    let mut bodies = vec![Body::User("Make the test pass.".into())];
    for (at, (tool, arguments, result)) in steps.iter().enumerate() {
        bodies.extend(turn(at, tool, (&arguments.to_string(), result)));
    }
    find(bodies)
}

/// An agent that sends every field of its tool, and leaves unused ones empty.
#[test]
fn creating_many_files_is_no_loop() {
    let created: Vec<_> = (0..12)
        .map(|n| {
            let fields = json!({"path": "a.py", "file_text": format!("x = {n}"), "old_str": "", "new_str": ""});
            (fields.to_string(), "File created successfully")
        })
        .collect();
    let steps: Vec<_> = created.iter().map(|(a, b)| (a.as_str(), *b)).collect();
    assert_eq!(calls("edit_tool", &steps, "limit").class, Class::Clean);
}

proptest! {
    /// For any kind of edit: contents restored eight times are a loop, contents restored once are none, and new
    /// contents are none, with or without checks.
    #[test]
    fn restored_contents_are_a_loop_and_new_ones_are_not(
        writes in select(vec![Writes::Whole, Writes::Line, Writes::Around]),
        checks in any::<bool>(),
        ring in 2..4_usize,
        start in 0..90_usize,
        before in 0..4_usize,
        times in 8..16_usize,
    ) {
        let work = 100..100 + before;
        let circle = (0..ring).cycle().take(ring + times).map(|n| start + n);
        let circles = edits(&work.clone().chain(circle).collect::<Vec<_>>(), writes, checks);
        prop_assert_eq!(circles.class, Class::Loop, "{:?}", circles);
        let undone = [start, start + 1, start];
        let undone = edits(&work.chain(undone).chain(200..203).collect::<Vec<_>>(), writes, checks);
        prop_assert_eq!(undone.class, Class::Clean, "{:?}", undone);
        let driven = edits(&(start..start + ring + times).collect::<Vec<_>>(), writes, checks);
        prop_assert_eq!(driven.class, Class::Clean, "{:?}", driven);
    }
}

/// Half of the calls return new results, and the others known ones. This is one loop, not many transient ones.
#[test]
fn calls_that_recur_over_a_long_stretch_are_one_loop() {
    let asked: Vec<_> = (0..60)
        .map(|n| match n % 5 {
            0 | 1 => (
                format!("{{\"page\": {n}}}"),
                format!("Page {n} has {} words.", 7 * n * n),
            ),
            k => (
                format!("{{\"state\": {k}}}"),
                format!("The state {k} is as it was before."),
            ),
        })
        .collect();
    let steps: Vec<_> = asked
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let found = calls("get", &steps, "stop");
    assert_eq!(
        (found.class, found.spans.len()),
        (Class::Loop, 1),
        "{found:?}"
    );
    assert_eq!(calls("get", &steps[..15], "stop").class, Class::Transient);
}

#[test]
fn a_text_alone_is_no_run() {
    let transcript = Transcript {
        events: vec![RecordedEvent::new(Body::Answer("hello".into()))],
        ..Transcript::default()
    };
    assert_eq!(find_run(&transcript), None);
}
