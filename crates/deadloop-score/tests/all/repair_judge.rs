//! The judge of repairs against a slow obvious twin.
#![allow(clippy::unwrap_used)]

use deadloop_repair::meaning::{Action, Delivery, Meaning};
use deadloop_score::repairs::{
    EventsVerdict, ExpectedText, RepairVerdict, judge_arguments, judge_events,
};
use proptest::prelude::*;
use serde_json::Value;

/// An action as one line: names sorted, the last of doubled ones, values as sorted JSON.
fn line(action: &Action) -> String {
    let mut names: Vec<&String> = action.fields.iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    let field = |name: &String| {
        let mut newest = action.fields.iter().rev();
        let (_, value) = newest.find(|(n, _)| n == name).unwrap();
        format!("{name}={}", canonical(value))
    };
    let fields: Vec<String> = names.into_iter().map(field).collect();
    let content = canonical(&action.content);
    format!("{} {:?} {fields:?} {content}", action.name, action.number)
}

fn canonical(text: &str) -> String {
    fn sorted(value: &Value) -> String {
        match value {
            Value::Object(object) => {
                let members = object.iter().map(|(k, v)| format!("{k:?}:{}", sorted(v)));
                let mut members: Vec<String> = members.collect();
                members.sort();
                format!("{{{}}}", members.join(","))
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(sorted).collect();
                format!("[{}]", items.join(","))
            }
            other => other.to_string(),
        }
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value) => format!("json {}", sorted(&value)),
        Err(_) => format!("text {:?}", text.trim()),
    }
}

/// How often a mark stands in a text, from left to right.
fn count(text: &str, mark: &str) -> usize {
    let (mut rest, mut count) = (text, 0);
    while let Some(at) = rest.find(mark) {
        count += 1;
        rest = &rest[at + mark.len()..];
    }
    count
}

fn slow(gold: &ExpectedText, repaired: &Meaning) -> RepairVerdict {
    let lines = |meaning: &Meaning| meaning.actions.iter().map(line).collect::<Vec<_>>();
    let (truth, given) = (lines(&gold.meaning), lines(repaired));
    let same = gold.meaning.text == repaired.text
        && gold.meaning.reasoning == repaired.reasoning
        && truth == given;
    let times = |all: &[String], one: &String| all.iter().filter(|other| *other == one).count();
    let wrong = |one: &String| times(&given, one) > times(&truth, one);
    let leaks = |mark: &String| {
        !mark.is_empty() && count(&repaired.text, mark) > count(&gold.meaning.text, mark)
    };
    match (gold.damaged, same) {
        (false, true) => RepairVerdict::Intact,
        (false, false) => RepairVerdict::FalseRepair,
        (true, true) => RepairVerdict::Recovered,
        _ if given.iter().any(wrong) => RepairVerdict::Wrong,
        _ if gold.marks.iter().any(leaks) => RepairVerdict::Leaked,
        _ => RepairVerdict::Lost,
    }
}

fn action() -> impl Strategy<Value = Action> {
    let objects = ["{\"a\": 1, \"b\": 2}", "{\"b\":2,\"a\":1}"];
    let others = ["1", "1.0", " 1", "x", "x ", ""];
    let value = prop::sample::select([&objects[..], &others].concat());
    let field = (prop::sample::select(vec!["id", "content"]), value.clone());
    let fields = prop::collection::vec(field, 0..3);
    (
        prop::sample::select(vec!["a", "b"]),
        prop::option::of(1_u32..3),
        fields,
        value,
    )
        .prop_map(|(name, number, fields, content)| Action {
            name: name.into(),
            number,
            fields: fields
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            content: content.into(),
        })
}

fn meaning() -> impl Strategy<Value = Meaning> {
    let text = prop::sample::select(vec!["", "x", "<a>x", "<a><a>", "x "]);
    (text.clone(), text, prop::collection::vec(action(), 0..3)).prop_map(
        |(reasoning, text, actions)| Meaning {
            reasoning: reasoning.into(),
            text: text.into(),
            actions,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn the_judge_is_its_twin(truth in meaning(), given in meaning(), same in 0..4, damaged: bool) {
        let gold = ExpectedText { meaning: truth, damaged, marks: vec!["<a>".into(), String::new()] };
        // Most pairs have much in common.
        let mut repaired = if same == 0 { given.clone() } else { gold.meaning.clone() };
        match same {
            1 => repaired.text = given.text,
            2 => repaired.actions = given.actions,
            _ => {}
        }
        prop_assert_eq!(gold.judge(&repaired), slow(&gold, &repaired));
    }
}

#[test]
fn verdicts() {
    let action = |content: &&str| Action {
        name: "a".into(),
        content: (*content).into(),
        ..Action::default()
    };
    let with = |text: &str, contents: &[&str]| Meaning {
        text: text.into(),
        reasoning: "r".into(),
        actions: contents.iter().map(action).collect(),
    };
    let gold = ExpectedText {
        meaning: with("t", &["1"]),
        damaged: true,
        marks: vec!["</a>".into()],
    };
    assert_eq!(gold.judge(&with("t", &["1"])), RepairVerdict::Recovered);
    assert_eq!(gold.judge(&with("t", &["2"])), RepairVerdict::Wrong);
    assert_eq!(gold.judge(&with("t", &["1", "1"])), RepairVerdict::Wrong);
    assert_eq!(gold.judge(&with("t</a>", &["1"])), RepairVerdict::Leaked);
    assert_eq!(gold.judge(&with("t", &[])), RepairVerdict::Lost);
    let names = "recovered wrong lost leaked false-repair intact";
    assert_eq!(RepairVerdict::NAMES.join(" "), names);
}

#[test]
fn arguments() {
    let of = |repaired: &str| judge_arguments("{\"city\": \"Bonn\", \"days\": 3}", repaired);
    let is = |repaired: &str| {
        let judged = of(repaired);
        let harm = judged.wrong_but_valid();
        (judged.parsed, judged.valid, judged.exact, harm)
    };
    for (repaired, judged) in [
        ("{\"days\":3,\"city\":\"Bonn\"}", (true, true, true, false)),
        ("{\"days\":3}", (true, true, false, true)),
        (
            "{\"days\":3.0,\"city\":\"Bonn\"}",
            (true, true, false, true),
        ),
        ("[]", (true, false, false, false)),
        ("{", (false, false, false, false)),
    ] {
        assert_eq!(is(repaired), judged, "{repaired}");
    }
}

fn events(count: usize) -> Vec<Delivery> {
    let event = |i: usize| Delivery {
        id: Some(i.to_string()),
        position: Some(i as u64),
        text: format!("part {}", i % 3),
        done: false,
    };
    let mut events: Vec<Delivery> = (0..count).map(event).collect();
    events.push(Delivery {
        done: true,
        ..Delivery::default()
    });
    events
}

#[test]
fn rows_of_events() {
    let gold = events(4);
    let of = |order: &[usize]| {
        let given: Vec<_> = order.iter().map(|i| gold[*i].clone()).collect();
        judge_events(&gold, &given)
    };
    let all = |lost, doubled, disordered, ended| EventsVerdict {
        lost,
        doubled,
        disordered,
        ended,
    };
    assert_eq!(of(&[0, 1, 2, 3, 4]), all(0, 0, 0, true));
    assert_eq!(of(&[0, 2, 3, 4]), all(1, 0, 0, true));
    assert_eq!(of(&[0, 1, 1, 2, 3, 4]), all(0, 1, 0, true));
    assert_eq!(of(&[0, 2, 1, 3]), all(0, 0, 1, false));
    assert_eq!(of(&[0, 1, 2, 3, 4, 4]), all(0, 0, 0, false));
}
