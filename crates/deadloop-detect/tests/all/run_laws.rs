//! Tests the laws of run detectors on the vectors.
//!
//! Names, pieces and the order of keys do not matter. `tests/tests` of the workspace compares live guards, replays and
//! sweeps.

#![allow(clippy::unwrap_used, reason = "in the helpers of tests as in tests")]

use crate::running;

use deadloop_detect::{Alarm, Event, Guard, Setting, TextChannel};
use running::{Vector, alarm, event, setting, vectors};
use serde_json::{Value as Json, json};

/// The parts of an alarm that do not depend on names, ids and pieces.
fn told(alarm: Option<Alarm>) -> Option<(String, u64, u64, u64, u64)> {
    alarm.map(|a| {
        let (at, onset) = (a.exact.count(), a.onset.count());
        (a.kind.name().to_owned(), a.calls.0, a.turns.0, at, onset)
    })
}

fn asked(vector: &Vector, events: &[Json]) -> Option<(String, u64, u64, u64, u64)> {
    let setting = setting(&vector.guard, &vector.params);
    told(alarm(&setting, events.iter().map(event)))
}

/// Checks that a change of the runs does not change the alarms. Returns the number of alarms.
fn unchanged(applies: impl Fn(&Vector) -> bool, change: impl Fn(&mut Json)) -> usize {
    let mut alarms = 0;
    for vector in vectors().into_iter().filter(applies) {
        let mut changed = vector.events.clone();
        changed.iter_mut().for_each(&change);
        let plain = asked(&vector, &vector.events);
        alarms += usize::from(plain.is_some());
        let found = asked(&vector, &changed);
        assert_eq!(found, plain, "{} {:?}", vector.guard, vector.params);
    }
    alarms
}

/// Tools that OpenHands treats as shells keep their names, and so do all tools if the setting has globs.
#[test]
fn tools_renamed_one_to_one_change_nothing() {
    let no_globs = |vector: &Vector| !vector.params.contains_key("allow");
    let alarms = unchanged(no_globs, |event| {
        let name = event["name"].as_str().map(str::to_owned);
        if let Some(name) = name
            && !["bash", "sql", "ctf"].contains(&name.as_str())
        {
            event["name"] = format!("tool of {name}").into();
        }
    });
    assert!(alarms > 80, "{alarms}");
}

#[test]
fn ids_renamed_one_to_one_change_nothing() {
    let renamed = |event: &mut Json| {
        if let Some(id) = event["id"].as_str() {
            let back: String = id.chars().rev().collect();
            event["id"] = format!("{back}-x").into();
        }
    };
    let alarms = unchanged(|_| true, renamed);
    assert!(alarms > 100, "{alarms}");
}

/// Arguments as text or as an object, with keys in any order, are equal, unless their text is compared.
#[test]
fn the_order_of_keys_changes_nothing_unless_the_text_counts() {
    let compared = |vector: &Vector| match vector.params.get("key") {
        Some(key) => key != "raw",
        None => vector.guard != "cycle",
    };
    let alarms = unchanged(compared, |event| {
        let parsed = serde_json::from_str(event["arguments"].as_str().unwrap_or(""));
        let value = parsed.unwrap_or_else(|_| event["arguments"].clone());
        if let Json::Object(map) = value {
            event["arguments"] = Json::Object(map.into_iter().rev().collect());
        }
    });
    assert!(alarms > 80, "{alarms}");
}

/// Law 1: the pieces of a text do not matter.
#[test]
fn pieces_of_text_change_nothing() {
    for vector in vectors() {
        let setting = setting(&vector.guard, &vector.params);
        let whole = told(alarm(&setting, vector.events.iter().map(event)));
        let mut guard = Guard::new(&setting).unwrap();
        let mut found = None;
        for event in vector.events.iter().map(event) {
            let Event::Text(channel, text) = event else {
                found = found.or_else(|| guard.push(&event).into_alarm());
                continue;
            };
            for c in text.chars().map(String::from) {
                found = found.or_else(|| guard.push_text(channel, &c).into_alarm());
            }
        }
        assert_eq!(told(found), whole, "{}", vector.guard);
    }
}

/// Arguments that arrive as text before the call do not change detectors of calls.
#[test]
fn arguments_that_are_streamed_change_nothing() {
    for vector in vectors() {
        let setting = setting(&vector.guard, &vector.params);
        let whole = told(alarm(&setting, vector.events.iter().map(event)));
        let mut guard = Guard::new(&setting).unwrap();
        let found = vector.events.iter().map(event).find_map(|event| {
            if let Event::Call { arguments, .. } = &event {
                let text = arguments.text();
                let early = guard.push_text(TextChannel::Arguments, &text).into_alarm();
                assert_eq!(early, None, "guards on calls");
            }
            guard.push(&event).into_alarm()
        });
        assert_eq!(told(found), whole, "{}", vector.guard);
    }
}

/// Law 5: a fresh guard does not depend on the history of the original.
#[test]
fn a_fresh_guard_remembers_nothing() {
    let all = vectors();
    for (before, vector) in all.iter().zip(all.iter().skip(1)) {
        let setting = setting(&vector.guard, &vector.params);
        let mut used = Guard::new(&setting).unwrap();
        for event in before.events.iter().map(event) {
            drop(used.push(&event));
        }
        let mut fresh = used.fresh();
        let mut events = vector.events.iter().map(event);
        let found = events.find_map(|event| fresh.push(&event).into_alarm());
        assert_eq!(found, alarm(&setting, vector.events.iter().map(event)));
    }
}

/// Law 4: results without a call, second results, repeated ids, calls without a result and broken arguments do not
/// panic. A result without a call changes nothing.
#[test]
fn results_of_no_call_change_nothing() {
    let stray = json!({"type": "tool_result", "id": "nobody's", "content": "x", "error": true});
    for vector in vectors() {
        let setting: Setting = setting(&vector.guard, &vector.params);
        let with: Vec<&Json> = vector.events.iter().flat_map(|e| [&stray, e]).collect();
        let found = told(alarm(&setting, with.into_iter().map(event)));
        let plain = told(alarm(&setting, vector.events.iter().map(event)));
        assert_eq!(found, plain, "{}", vector.guard);
        let twice: Vec<&Json> = vector.events.iter().flat_map(|e| [e, e]).collect();
        alarm(&setting, twice.into_iter().map(event));
    }
}
