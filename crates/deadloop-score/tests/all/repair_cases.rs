//! `repair_cases.toml`: what the handlers of the design documents do with each case, and what the best
//! variant does; and the rows about events, which are no text.
#![allow(clippy::unwrap_used)]

use crate::repairing;

use std::collections::BTreeMap;

use deadloop_repair::meaning::{Action, Delivery, Meaning};
use deadloop_repair::registry::Repairer;
use deadloop_replay::detect::harness::Params;
use deadloop_replay::detect::{Fault, Value};
use deadloop_score::repairs::{EventsVerdict, ExpectedText, judge_arguments, judge_events};
use deadloop_synth::damage::damage_events;
use repairing::preset;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    row: String,
    repairer: String,
    #[serde(default)]
    intact: bool,
    damaged: String,
    #[serde(default)]
    reasoning: String,
    text: String,
    #[serde(default)]
    actions: Vec<Wanted>,
    #[serde(default)]
    marks: Vec<String>,
    handler: Variant,
    best: Variant,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    name: String,
    number: Option<u32>,
    #[serde(default)]
    fields: Vec<(String, String)>,
    #[serde(default)]
    content: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Variant {
    preset: String,
    #[serde(default)]
    set: BTreeMap<String, Value>,
    gives: String,
    parses: Option<bool>,
    same_json: Option<bool>,
}

/// What no user may see in these cases.
const MARKS: &str = "<think> </think> <Think> </THINK> create_note> save_material call_orch _note> <confirm </confirm";

fn gold(case: &Case) -> ExpectedText {
    let action = |wanted: &Wanted| Action {
        name: wanted.name.clone(),
        number: wanted.number,
        fields: wanted.fields.clone(),
        content: wanted.content.clone(),
    };
    let marks = MARKS.split(' ').map(str::to_owned);
    ExpectedText {
        meaning: Meaning {
            reasoning: case.reasoning.clone(),
            text: case.text.clone(),
            actions: case.actions.iter().map(action).collect(),
        },
        damaged: !case.intact,
        marks: marks.chain(case.marks.clone()).collect(),
    }
}

#[test]
fn what_the_documents_handlers_do_and_what_the_best_variant_does() {
    let cases: Cases = toml::from_str(include_str!("repair_cases.toml")).unwrap();
    let mut wrong = Vec::new();
    for case in &cases.case {
        for variant in [&case.handler, &case.best] {
            let (repairer, mut params) = preset(&case.repairer, &variant.preset);
            for (name, item) in &variant.set {
                assert!(repairer.param(name).is_some(), "{name}");
                params.set(name, item.clone());
            }
            assert_eq!(repairer.check(&params), Ok(()), "{}", case.row);
            let meaning = repairer.mend(&params, &case.damaged).unwrap();
            let verdict = gold(case).judge(&meaning).name();
            let arguments = judge_arguments(&case.text, &meaning.text);
            let parses = variant
                .parses
                .is_none_or(|parses| parses == arguments.parsed);
            let same = variant.same_json.is_none_or(|same| same == arguments.exact);
            if verdict != variant.gives || !parses || !same {
                let name = format!("{} | {}", case.row, variant.preset);
                wrong.push(format!("{name}: {verdict}, {meaning:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases.case.len() > 30);
}

/// A row of events whose texts repeat, and its end mark.
fn row(ids: bool) -> Vec<Delivery> {
    let event = |i: usize| Delivery {
        id: ids.then(|| format!("e{i}")),
        position: Some(i as u64),
        text: ["好", "的", "好"][i % 3].to_owned(),
        done: false,
    };
    let mark = Delivery {
        done: true,
        ..Delivery::default()
    };
    (0..12).map(event).chain([mark]).collect()
}

fn mended(name: &str, by: &str, events: &[Delivery]) -> EventsVerdict {
    let (repairer, mut params) = preset("replay", name);
    if !by.is_empty() {
        params.set("by", Value::Text(by.into()));
    }
    judged(repairer, &params, events)
}

fn judged(repairer: &Repairer, params: &Params, events: &[Delivery]) -> EventsVerdict {
    let (mut machine, mut given) = (repairer.event_repairer(params).unwrap(), Vec::new());
    for event in events {
        machine.push(event.clone(), &mut given);
    }
    machine.finish(&mut given);
    judge_events(&row(events.iter().any(|event| event.id.is_some())), &given)
}

/// A row that comes whole.
const WHOLE: EventsVerdict = EventsVerdict {
    lost: 0,
    doubled: 0,
    disordered: 0,
    ended: true,
};

/// Seed 002, row 7 and sections 3 and 6: what a reconnect does to a row of events.
#[test]
fn row_7_of_seed_002() {
    for seed in 0..50 {
        let doubled = damage_events(Fault::ReplayDoubled, 3, seed, &row(true)).events;
        assert_eq!(mended("by-id", "", &doubled), WHOLE);
        assert_eq!(mended("in-order", "", &doubled), WHOLE);
        let order = damage_events(Fault::ReplayOrder, 3, seed, &row(true)).events;
        assert_eq!(mended("in-order", "", &order), WHOLE);
        let events = damage_events(Fault::ReplayLost, 2, seed, &row(true)).events;
        let lost = EventsVerdict { lost: 2, ..WHOLE };
        assert_eq!(mended("in-order", "", &events), lost);
        assert_eq!(mended("by-id", "", &events), lost);
    }
    // The document's marks do not put in order; without ids it does nothing; texts are no keys.
    let mut swapped = row(true);
    swapped.swap(3, 4);
    let (mut disordered, mut doubled) = (WHOLE, WHOLE);
    disordered.disordered = 1;
    assert_eq!(mended("by-id", "", &swapped), disordered);
    let mut again = row(false);
    again.insert(4, again[3].clone());
    doubled.doubled = 1;
    assert_eq!(mended("by-id", "", &again), doubled);
    let lost = EventsVerdict { lost: 10, ..WHOLE };
    assert_eq!(mended("by-id", "hash", &row(true)), lost);
}

/// Seed 002, row 6 and section 7: Redis, which keeps the marks of what was sent, is gone, and a client that had seven
/// events is sent everything again. Without marks it sees seven twice. The document then goes on with marks in memory;
/// a repairer has no others, so there is nothing that could be gone.
#[test]
fn row_6_of_seed_002() {
    let again = [&row(true)[..7], &row(true)].concat();
    let unmarked = judge_events(&row(true), &again);
    assert_eq!(unmarked.doubled, 7);
    assert_eq!(mended("by-id", "", &again), WHOLE);
    assert_eq!(mended("in-order", "", &again), WHOLE);
    // More was sent since than the memory holds: what is older comes twice. Places have no such bound.
    let (repairer, mut params) = preset("replay", "by-id");
    params.set("window", Value::Int(5));
    assert_eq!(judged(repairer, &params, &again).doubled, 7);
}

/// Seed 002, section 2: every branch ends with `[DONE]`.
#[test]
fn the_end_mark_is_always_sent_once() {
    let row = row(true);
    let twice = [&row[..], &row].concat();
    for events in [vec![], row[..5].to_vec(), row, twice] {
        for name in ["by-id", "in-order"] {
            assert!(mended(name, "", &events).ended, "{events:?}");
        }
    }
}
