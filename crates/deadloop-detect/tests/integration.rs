//! Tests the code of the example `streaming_client`, as the design document (seed 000, sections 4 and 7.2) demands:
//! abort, log, message, retry, reset.

#![allow(clippy::unwrap_used, reason = "in the helpers of tests as in tests")]

#[path = "../examples/streaming_client/client.rs"]
mod client;
#[path = "../examples/streaming_client/script.rs"]
mod script;

use client::{AttemptsExhausted, Client, ClientLog, Event, STREAMING_FAILED};
use deadloop_detect::{Channel, Chars, Guards, Kind, Settings, Units};
use script::{CHUNK, RequestRecord, SETTINGS, ScriptedProvider, healthy, looping};

const UNIT: &str = "again ";
const ANSWER: &str = "Go round the lake.";

/// A reporter that records its lines.
#[derive(Default)]
struct Notes {
    errors: Vec<String>,
    said: Vec<String>,
}

impl ClientLog for Notes {
    fn error(&mut self, line: &str) {
        self.errors.push(line.into());
    }

    fn show(&mut self, sentence: &str) {
        self.said.push(sentence.into());
    }
}

struct Run {
    end: Result<String, AttemptsExhausted>,
    played: Vec<RequestRecord>,
    notes: Notes,
}

fn run(model: &str, retries: u32, scripts: impl IntoIterator<Item = Vec<Event>>) -> Run {
    let client = Client {
        guards: Guards::new(&Settings::parse(SETTINGS).unwrap()).unwrap(),
        retries,
    };
    let mut provider = ScriptedProvider::new(scripts);
    let mut notes = Notes::default();
    let end = client.request(&mut provider, &mut notes, model, "Plan my trip.");
    Run {
        end,
        played: provider.played(),
        notes,
    }
}

fn whole(script: &[Event]) -> RequestRecord {
    RequestRecord {
        chunks: script.len(),
        aborted: None,
    }
}

#[test]
fn a_loop_is_aborted_at_its_chunk_and_the_retry_answers() {
    let fine = healthy(ANSWER);
    let run = run("any-model", 2, [looping(UNIT, 9000), fine.clone()]);
    assert_eq!(run.end, Ok(ANSWER.into()));
    let aborted = RequestRecord {
        chunks: 2000_usize.div_ceil(CHUNK),
        aborted: Some(STREAMING_FAILED),
    };
    assert_eq!(run.played, [aborted, whole(&fine)]);
}

#[test]
fn the_log_says_what_and_where_and_which_pattern() {
    let run = run("any-model", 1, [looping(UNIT, 9000), healthy(ANSWER)]);
    let [line] = &run.notes.errors[..] else {
        panic!("one alarm, one line: {:?}", run.notes.errors);
    };
    for part in [
        "any-model: dead loop: short-sequence in reasoning",
        // The second copy in the window of 200 chars, and the checkpoint.
        "chars 1806..2000 (known at 2000)",
        "33 copies of 6 chars",
        "checkpoint/short-sequence",
        "min_repeats 4 (measured 33)",
    ] {
        assert!(line.contains(part), "{part:?} is not in {line}");
    }
    // The window may begin inside a copy.
    let mut turned = (0..UNIT.len()).map(|i| format!("{:?}", [&UNIT[i..], &UNIT[..i]].concat()));
    assert!(turned.any(|unit| line.contains(&unit)), "{line}");
    assert!(!line.contains('\n'));
}

#[test]
fn the_user_is_told_in_a_sentence_and_that_it_goes_on() {
    let run = run("any-model", 2, [looping(UNIT, 9000), healthy(ANSWER)]);
    let [stopped, again] = &run.notes.said[..] else {
        panic!("{:?}", run.notes.said);
    };
    assert!(
        stopped.contains("repeating itself in its thinking"),
        "{stopped}"
    );
    assert_eq!(again, "Trying again (2 of 3).");
}

/// With a reused guard, the checkpoints would be over, and the second loop would be missed.
#[test]
fn nothing_of_the_first_request_reaches_the_second() {
    let stuck = looping(UNIT, 9000);
    let run = run("any-model", 2, [stuck.clone(), stuck, healthy(ANSWER)]);
    assert_eq!(run.end, Ok(ANSWER.into()));
    assert_eq!(run.played[0], run.played[1]);
    assert_eq!(run.notes.errors.len(), 2);
    assert_eq!(run.notes.errors[0], run.notes.errors[1]);
}

#[test]
fn it_gives_up_after_the_last_retry_and_says_so() {
    let run = run("any-model", 2, vec![looping(UNIT, 9000); 5]);
    let gave_up = run.end.unwrap_err();
    assert_eq!(gave_up.attempts, 3);
    assert_eq!(run.played.len(), 3, "no fourth request");
    let last = run.notes.said.last().unwrap();
    assert!(last.contains("all 3 attempts"), "{last}");
    let alarm = gave_up.last;
    assert_eq!(
        (alarm.kind, alarm.channel),
        (Kind::ShortSequence, Channel::Reasoning)
    );
    let at = Units::from(Chars(2000));
    assert_eq!((alarm.exact, alarm.delivered), (at, at));
}

#[test]
fn without_retries_there_is_one_attempt() {
    let run = run("any-model", 0, vec![looping(UNIT, 9000); 2]);
    assert_eq!((run.end.unwrap_err().attempts, run.played.len()), (1, 1));
}

#[test]
fn a_model_may_have_a_guard_of_its_own() {
    let run = run("hasty-3b", 1, [looping(UNIT, 9000), healthy(ANSWER)]);
    assert_eq!(run.played[0].chunks, 500_usize.div_ceil(CHUNK));
    // The alarm is exact at char 500, and delivered with the chunk that contains it.
    let line = &run.notes.errors[0];
    assert!(line.contains("..512 (known at 500)"), "{line}");
}

#[test]
fn a_guard_that_is_switched_off_never_aborts() {
    let script = looping(UNIT, 9000);
    let run = run("trusted-70b", 2, [script.clone()]);
    assert_eq!(run.end, Ok(String::new()));
    assert_eq!(run.played, [whole(&script)]);
    assert!(run.notes.errors.is_empty() && run.notes.said.is_empty());
}

#[test]
fn a_healthy_stream_is_left_alone() {
    let script = healthy(ANSWER);
    let run = run("any-model", 2, [script.clone()]);
    assert_eq!(
        (run.end, run.played),
        (Ok(ANSWER.into()), vec![whole(&script)])
    );
    assert!(run.notes.errors.is_empty());
}
