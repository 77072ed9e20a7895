//! Tokens, milliseconds and money of runs, against a slow twin that adds up turns.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use deadloop_score::replay::corpus::{Body, Entry, Place, RecordedEvent, Transcript};
use deadloop_score::replay::detect::{Calls, Channel, Kind, Turns, Unit};
use deadloop_score::replay::{Moment, Seen, Stop};
use deadloop_score::{
    Case, JudgeOptions, Outcome, PackedCases, Prices, ReadChannels, Verdict, judge,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A turn: the calls that it makes, what it reads, writes and has cached, how long it takes.
#[derive(Clone, Debug)]
struct Made {
    calls: u64,
    read: u64,
    written: u64,
    cached: u64,
    ms: u64,
}

fn made() -> impl Strategy<Value = Vec<Made>> {
    let turn = (0..3_u64, 0..5000_u64, 0..900_u64, 0..6000_u64, 1..9000_u64);
    let turn = turn.prop_map(|(calls, read, written, cached, ms)| Made {
        calls,
        read,
        written,
        cached,
        ms,
    });
    proptest::collection::vec(turn, 2..12)
}

/// The run, which begins five seconds after its clock, with its label.
fn run(turns: &[Made], label: Value) -> Case {
    let mut events = Vec::new();
    let mut now = 5000.0;
    for turn in turns {
        let mut event = RecordedEvent::of(Body::Turn);
        event.t_ms = Some(now);
        for (name, n) in [
            ("tokens_in", turn.read),
            ("tokens_out", turn.written),
            ("cached", turn.cached),
        ] {
            event.rest.insert(name.into(), n.into());
        }
        events.push(event);
        for _ in 0..turn.calls {
            events.push(RecordedEvent::of(Body::ToolCall {
                id: None,
                name: "ls".into(),
                arguments: json!({}),
            }));
        }
        now += turn.ms as f64;
    }
    let mut end = RecordedEvent::of(Body::Finish { reason: None });
    end.t_ms = Some(now);
    events.push(end);
    let entry = Entry {
        transcript: Transcript {
            id: "run".into(),
            events,
            ..Transcript::default()
        },
        labels: Some(json!([label])),
        rest: Default::default(),
        split: None,
        place: Place {
            file: std::sync::Arc::new("t.jsonl".into()),
            line: 1,
        },
    };
    let (case, problems) = Case::of(&entry, None, &[]);
    assert_eq!(problems, []);
    case
}

const PRICES: Prices = Prices {
    read: 3.0,
    written: 15.0,
    cached: 0.25,
};

/// What the first so many turns took.
fn first(turns: &[Made], n: usize, unit: Unit) -> u64 {
    let money = |t: &Made| {
        let cached = t.cached.min(t.read);
        // In whole millionths: a quarter of one is not rounded away turn by turn.
        12 * (t.read - t.cached.min(t.read)) + 60 * t.written + cached
    };
    let of = |t: &Made| match unit {
        Unit::Tokens => t.read + t.written,
        Unit::Ms => t.ms,
        _ => money(t),
    };
    let sum: u64 = turns[..n].iter().map(of).sum();
    match unit {
        Unit::Money => (sum as f64 / 4.0).round() as u64,
        _ => sum,
    }
}

/// The turn in which call `nth` (from 0) stands.
fn turn_of(turns: &[Made], nth: u64) -> usize {
    let mut calls = 0;
    let holds = |turn: &Made| {
        calls += turn.calls;
        nth < calls
    };
    turns.iter().position(holds).unwrap()
}

/// An alarm at a call, in its turn; `None` of the calls: before the turn.
fn stop(turns: &[Made], calls: u64) -> Stop {
    let seen = Seen {
        tools: Calls(calls),
        turns: Turns(turn_of(turns, calls - 1) as u64 + 1),
        ..Seen::default()
    };
    let moment = Moment {
        seen,
        ..Moment::default()
    };
    Stop {
        channel: Channel::Tools,
        kind: Kind::Other,
        member: 0,
        exact: moment,
        delivered: moment,
    }
}

fn judged(case: &Case, stop: Option<&Stop>, unit: Unit) -> Outcome {
    let options = JudgeOptions {
        unit,
        ..JudgeOptions::default()
    };
    judge(case, ReadChannels::TEXT, stop, &options)
}

proptest! {
    #[test]
    fn a_loop_costs_its_turns(turns in made(), picks in any::<[prop::sample::Index; 3]>()) {
        let calls: u64 = turns.iter().map(|t| t.calls).sum();
        prop_assume!(calls > 1);
        let onset = picks[0].index(calls as usize) as u64;
        let end = onset + 1 + picks[1].index((calls - onset) as usize) as u64;
        let alarm = 1 + picks[2].index(calls as usize) as u64;
        let label = json!({"class": "loop", "channel": "tools", "onset": onset, "end": end});
        let mut case = run(&turns, label);
        case.price(&PRICES);
        let mut packed = PackedCases::default();
        packed.push(&case);
        prop_assert_eq!(packed.unpacked(), [case.clone()]);
        let by_calls = judged(&case, Some(&stop(&turns, alarm)), Unit::Calls);
        for unit in [Unit::Tokens, Unit::Ms, Unit::Money] {
            let found = judged(&case, Some(&stop(&turns, alarm)), unit);
            let of = |n| first(&turns, n, unit);
            let (from, to) = (of(turn_of(&turns, onset)), of(turn_of(&turns, end - 1) + 1));
            let at = of(turn_of(&turns, alarm - 1) + 1);
            prop_assert_eq!(found.verdict, by_calls.verdict);
            prop_assert_eq!(found.loop_chars, to - from);
            prop_assert_eq!(found.exposure, from.min(at));
            if found.verdict == Verdict::Hit {
                prop_assert_eq!(found.latency, Some(at - from));
                prop_assert_eq!((found.delay, found.saved), (at.min(to) - from, to - at.min(to)));
            } else {
                prop_assert_eq!((found.delay, found.saved), (to - from, 0));
            }
        }
    }

    #[test]
    fn a_false_alarm_throws_the_later_turns_away(turns in made(), pick in any::<prop::sample::Index>()) {
        let calls: u64 = turns.iter().map(|t| t.calls).sum();
        prop_assume!(calls > 0);
        let alarm = 1 + pick.index(calls as usize) as u64;
        let mut case = run(&turns, json!({"class": "clean", "channel": "tools"}));
        case.price(&PRICES);
        for unit in [Unit::Tokens, Unit::Ms, Unit::Money] {
            let found = judged(&case, Some(&stop(&turns, alarm)), unit);
            let (at, all) = (turn_of(&turns, alarm - 1) + 1, turns.len());
            let of = |n| first(&turns, n, unit);
            prop_assert_eq!(found.verdict, Verdict::FalseAlarm);
            prop_assert_eq!((found.exposure, found.lost), (of(at), of(all) - of(at)));
        }
    }
}

/// The turns of a run, one of which does not say what it took.
#[test]
fn what_was_not_recorded_is_not_scored() {
    let turn = Made {
        calls: 1,
        read: 10,
        written: 5,
        cached: 0,
        ms: 100,
    };
    let turns = vec![turn; 4];
    let label = json!({"class": "loop", "channel": "tools", "onset": 1});
    let told = run(&turns, label);
    let verdicts = [Unit::Tokens, Unit::Ms, Unit::Money]
        .map(|unit| judged(&told, Some(&stop(&turns, 3)), unit).verdict);
    // Nobody said what they cost.
    assert_eq!(verdicts, [Verdict::Hit, Verdict::Hit, Verdict::Unlabelled]);
    let mut untold = told;
    untold.gauges = None;
    assert_eq!(
        judged(&untold, None, Unit::Tokens).verdict,
        Verdict::Unlabelled
    );
    assert_eq!(judged(&untold, None, Unit::Calls).verdict, Verdict::Miss);
}

/// Chunks that say how many tokens they have and when they came.
#[test]
fn one_generation_is_measured_by_its_events() {
    let chunk = |n: u64| {
        let mut event = RecordedEvent::of(Body::Answer("ab".into()));
        (event.tokens, event.t_ms) = (Some(3), Some(100.0 * (n + 1) as f64));
        event
    };
    let transcript = Transcript {
        id: "t".into(),
        events: (0..10).map(chunk).collect(),
        ..Transcript::default()
    };
    let entry = Entry {
        transcript,
        labels: Some(json!([{"class": "loop", "channel": "answer", "onset": 8, "end": 16}])),
        rest: Default::default(),
        split: None,
        place: Place {
            file: std::sync::Arc::new("t.jsonl".into()),
            line: 1,
        },
    };
    let (case, problems) = Case::of(&entry, None, &[]);
    assert_eq!(problems, []);
    let mut stop = stop(
        &[Made {
            calls: 9,
            read: 0,
            written: 0,
            cached: 0,
            ms: 0,
        }],
        1,
    );
    stop.channel = Channel::Answer;
    let seen = Seen::default().plus(Channel::Answer, 12);
    stop.exact = Moment {
        seen,
        t_ms: Some(600.0),
        tokens: Some(18),
        ..Moment::default()
    };
    stop.delivered = stop.exact;
    let told = [Unit::Tokens, Unit::Ms].map(|unit| {
        let found = judged(&case, Some(&stop), unit);
        (
            found.verdict,
            found.latency,
            found.loop_chars,
            found.exposure,
        )
    });
    // Before char 8 four chunks had come; the fifth, which holds it, at 500 ms.
    let hit = Verdict::Hit;
    assert_eq!(told, [(hit, Some(6), 12, 12), (hit, Some(100), 400, 500)]);
}
