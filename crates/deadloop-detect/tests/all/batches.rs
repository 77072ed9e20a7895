//! Tests `incomplete-results`: turns in which some calls fail or lose their results.
#![allow(clippy::unwrap_used)]

use crate::common::TURN;

use deadloop_detect::{Arguments, Event, Guard, Settings};

/// A call of a turn, with its result.
fn call(id: &str) -> Event<'_> {
    Event::Call {
        id: Some(id),
        name: "web_search",
        arguments: Arguments::Raw("{}"),
    }
}

fn result<'e>(id: &'e str, content: &'e str, error: bool) -> Event<'e> {
    Event::Result {
        id: Some(id),
        content,
        error: Some(error),
        cut: None,
    }
}

/// Returns the event of the alarm, and the call that it reports.
fn alarm(params: &str, run: &[Event<'_>]) -> Option<(u64, u64)> {
    let text = format!("[[guard]]\ndetector = \"incomplete-results\"\n[guard.params]\n{params}");
    let mut guard = Guard::new(Settings::parse(&text).unwrap().guard()).unwrap();
    let alarm = run.iter().find_map(|event| guard.push(event).into_alarm());
    alarm.map(|alarm| (alarm.event, alarm.onset.count()))
}

/// Seed 002, row 5 and section 5.3: one call of a turn fails. With `min_ok` 1, as in the document, there is no alarm. A
/// stricter detector reports the call.
#[test]
fn row_5_of_seed_002() {
    let calls = [TURN, call("a"), call("b"), call("c")];
    let results = [
        result("a", "{\"link\": \"x\"}", false),
        result("b", "timeout", true),
        result("c", "{\"link\": \"y\"}", false),
    ];
    let run = [&calls[..], &results].concat();
    let told = |min_ok| alarm(&format!("min_ok = {min_ok}\nneed = [\"link\"]"), &run);
    assert_eq!(told(1), None);
    assert_eq!(told(3).map(|(_, onset)| onset), Some(1));
}

/// A single failing call is no batch, unless `min_calls` is 1.
#[test]
fn one_call_that_fails_is_no_parallel_call() {
    let run = [
        TURN,
        call("a"),
        result("a", "not found", true),
        Event::Closed,
    ];
    assert_eq!(alarm("", &run), None);
    assert!(alarm("min_calls = 1", &run).is_some());
}

/// If all results of a batch are missing, the alarm comes before the next turn, and the next batch is counted
/// separately.
#[test]
fn a_batch_whose_results_are_all_lost_is_told_and_not_carried_on() {
    let (a, b) = (call("a"), call("b"));
    assert_eq!(alarm("", &[TURN, a, b, TURN]), Some((3, 0)));
    // The end of a response comes before the results, and is no reason for an alarm.
    let ends = Event::Finish(Some("tool_calls"));
    assert_eq!(alarm("", &[TURN, a, b, ends, Event::Closed]), None);
    assert_eq!(alarm("", &[TURN, a, b, ends, TURN]), Some((4, 0)));
    // A single call without a result is no batch, and does not belong to the next one.
    let next = [TURN, a, TURN, b, result("b", "{}", true), TURN];
    assert_eq!(alarm("", &next), None);
}
