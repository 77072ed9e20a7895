//! `incomplete-results`: calls of one turn of which some fail, or whose results are lost.
#![allow(clippy::unwrap_used)]

use deadloop_detect::{Arguments, Event, Guard, Settings};

/// Seed 002, row 5 and section 5.3: one of a turn's tools fails. The document goes on with what is left
/// (`min_ok` 1); a detector that wants all of them says which call it was.
#[test]
fn row_5_of_seed_002() {
    let alarm = |min_ok: usize| {
        let text = format!(
            "[[guard]]\ndetector = \"incomplete-results\"\n[guard.params]\nmin_ok = {min_ok}\nneed = [\"link\"]"
        );
        let mut guard = Guard::new(Settings::parse(&text).unwrap().guard()).unwrap();
        let calls = ["a", "b", "c"].map(|id| Event::Call {
            id: Some(id),
            name: "web_search",
            arguments: Arguments::Raw("{}"),
        });
        let results = [
            ("a", "{\"link\": \"x\"}", false),
            ("b", "timeout", true),
            ("c", "{\"link\": \"y\"}", false),
        ];
        let results = results.map(|(id, content, error)| Event::Result {
            id: Some(id),
            content,
            error: Some(error),
            cut: None,
        });
        let run = [Event::Turn { agent: None }]
            .into_iter()
            .chain(calls)
            .chain(results);
        run.into_iter()
            .find_map(|event| guard.push(&event).into_alarm())
    };
    assert_eq!(alarm(1).map(|alarm| alarm.onset.count()), None);
    assert_eq!(alarm(3).map(|alarm| alarm.onset.count()), Some(1));
}

/// A call alone that fails is no batch that came back in part, unless `min_calls` says so.
#[test]
fn one_call_that_fails_is_no_parallel_call() {
    let alarms = |params: &str| {
        let text = format!("[[guard]]\ndetector = \"incomplete-results\"\n{params}");
        let mut guard = Guard::new(Settings::parse(&text).unwrap().guard()).unwrap();
        let call = Event::Call {
            id: Some("a"),
            name: "bash",
            arguments: Arguments::Raw("{}"),
        };
        let result = Event::Result {
            id: Some("a"),
            content: "not found",
            error: Some(true),
            cut: None,
        };
        let run = [Event::Turn { agent: None }, call, result, Event::Closed];
        run.iter()
            .any(|event| guard.push(event).into_alarm().is_some())
    };
    assert!(!alarms(""));
    assert!(alarms("[guard.params]\nmin_calls = 1\n"));
}

/// Where all results of a batch are lost, that is told before the next turn, and the next batch starts anew.
#[test]
fn a_batch_whose_results_are_all_lost_is_told_and_not_carried_on() {
    let call = |id| Event::Call {
        id: Some(id),
        name: "web_search",
        arguments: Arguments::Raw("{}"),
    };
    let result = |id, error| Event::Result {
        id: Some(id),
        content: "{}",
        error: Some(error),
        cut: None,
    };
    let turn = Event::Turn { agent: None };
    let alarm = |run: &[Event<'_>]| {
        let text = "[[guard]]\ndetector = \"incomplete-results\"\n";
        let mut guard = Guard::new(Settings::parse(text).unwrap().guard()).unwrap();
        let mut alarm = run.iter().find_map(|event| guard.push(event).into_alarm());
        alarm.take().map(|alarm| (alarm.event, alarm.onset.count()))
    };
    assert_eq!(alarm(&[turn, call("a"), call("b"), turn]), Some((3, 0)));
    // The end of a response comes before its results, and says nothing.
    let ends = Event::Finish(Some("tool_calls"));
    assert_eq!(
        alarm(&[turn, call("a"), call("b"), ends, Event::Closed]),
        None
    );
    assert_eq!(
        alarm(&[turn, call("a"), call("b"), ends, turn]),
        Some((4, 0))
    );
    // One call whose result is lost is no batch, and is not one of the next.
    let next = [turn, call("a"), turn, call("b"), result("b", true), turn];
    assert_eq!(alarm(&next), None);
}
