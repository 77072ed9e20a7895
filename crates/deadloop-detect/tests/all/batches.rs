//! `incomplete-results`: calls of one turn of which some fail, or whose results are lost.
#![allow(clippy::unwrap_used)]

use crate::common::TURN;

use deadloop_detect::{Arguments, Event, Guard, Settings};

/// A call of a turn, and its result.
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

/// The event at which the run is told, and the call that it is about.
fn alarm(params: &str, run: &[Event<'_>]) -> Option<(u64, u64)> {
    let text = format!("[[guard]]\ndetector = \"incomplete-results\"\n[guard.params]\n{params}");
    let mut guard = Guard::new(Settings::parse(&text).unwrap().guard()).unwrap();
    let alarm = run.iter().find_map(|event| guard.push(event).into_alarm());
    alarm.map(|alarm| (alarm.event, alarm.onset.count()))
}

/// Seed 002, row 5 and section 5.3: one of a turn's tools fails. The document goes on with what is left
/// (`min_ok` 1); a detector that wants all of them says which call it was.
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

/// A call alone that fails is no batch that came back in part, unless `min_calls` says so.
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

/// Where all results of a batch are lost, that is told before the next turn, and the next batch starts anew.
#[test]
fn a_batch_whose_results_are_all_lost_is_told_and_not_carried_on() {
    let (a, b) = (call("a"), call("b"));
    assert_eq!(alarm("", &[TURN, a, b, TURN]), Some((3, 0)));
    // The end of a response comes before its results, and says nothing.
    let ends = Event::Finish(Some("tool_calls"));
    assert_eq!(alarm("", &[TURN, a, b, ends, Event::Closed]), None);
    assert_eq!(alarm("", &[TURN, a, b, ends, TURN]), Some((4, 0)));
    // One call whose result is lost is no batch, and is not one of the next.
    let next = [TURN, a, TURN, b, result("b", "{}", true), TURN];
    assert_eq!(alarm("", &next), None);
}
