//! The judge of repairs against a slow obvious twin.
#![allow(clippy::unwrap_used)]

use deadloop_replay::detect::repair::{Action, Delivered, Meaning};
use deadloop_score::repairs::{
    MeantText, MendedEvents, RepairVerdict, judge_arguments, judge_events,
};
use proptest::prelude::*;
use serde_json::Value;

/// An action as one line: names sorted, the last of doubled ones, values as sorted JSON.
fn line(action: &Action) -> String {
    let mut names: Vec<&String> = action.fields.iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    let last = |name: &&String| {
        action
            .fields
            .iter()
            .rev()
            .find(|(n, _)| n == *name)
            .unwrap()
            .1
            .clone()
    };
    let fields: Vec<String> = names
        .iter()
        .map(|name| format!("{name}={}", canonical(&last(name))))
        .collect();
    format!(
        "{} {:?} {fields:?} {}",
        action.name,
        action.number,
        canonical(&action.content)
    )
}

fn canonical(text: &str) -> String {
    fn sorted(value: &Value) -> String {
        match value {
            Value::Object(object) => {
                let mut members: Vec<String> = object
                    .iter()
                    .map(|(k, v)| format!("{k:?}:{}", sorted(v)))
                    .collect();
                members.sort();
                format!("{{{}}}", members.join(","))
            }
            Value::Array(items) => format!(
                "[{}]",
                items.iter().map(sorted).collect::<Vec<_>>().join(",")
            ),
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

fn slow(gold: &MeantText, repaired: &Meaning) -> RepairVerdict {
    let lines = |meaning: &Meaning| meaning.actions.iter().map(line).collect::<Vec<_>>();
    let (truth, given) = (lines(&gold.meaning), lines(repaired));
    let same = gold.meaning.text == repaired.text
        && gold.meaning.reasoning == repaired.reasoning
        && truth == given;
    if !gold.damaged {
        return if same {
            RepairVerdict::Intact
        } else {
            RepairVerdict::FalseRepair
        };
    }
    if same {
        return RepairVerdict::Recovered;
    }
    let times = |all: &[String], one: &String| all.iter().filter(|other| *other == one).count();
    if given
        .iter()
        .any(|one| times(&given, one) > times(&truth, one))
    {
        return RepairVerdict::Wrong;
    }
    if gold.marks.iter().any(|mark| {
        !mark.is_empty() && count(&repaired.text, mark) > count(&gold.meaning.text, mark)
    }) {
        return RepairVerdict::Leaked;
    }
    RepairVerdict::Lost
}

fn action() -> impl Strategy<Value = Action> {
    let value = prop::sample::select(vec![
        "1",
        "1.0",
        " 1",
        "{\"a\": 1, \"b\": 2}",
        "{\"b\":2,\"a\":1}",
        "x",
        "x ",
        "",
    ]);
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
        let gold = MeantText { meaning: truth, damaged, marks: vec!["<a>".into(), String::new()] };
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
    let gold = MeantText {
        meaning: Meaning {
            reasoning: "r".into(),
            text: "t".into(),
            actions: vec![Action {
                name: "a".into(),
                content: "1".into(),
                ..Action::default()
            }],
        },
        damaged: true,
        marks: vec!["</a>".into()],
    };
    let with = |text: &str, contents: &[&str]| Meaning {
        text: text.into(),
        reasoning: "r".into(),
        actions: contents
            .iter()
            .map(|&content| Action {
                name: "a".into(),
                content: content.into(),
                ..Action::default()
            })
            .collect(),
    };
    assert_eq!(gold.judge(&with("t", &["1"])), RepairVerdict::Recovered);
    assert_eq!(gold.judge(&with("t", &["2"])), RepairVerdict::Wrong);
    assert_eq!(gold.judge(&with("t", &["1", "1"])), RepairVerdict::Wrong);
    assert_eq!(gold.judge(&with("t</a>", &["1"])), RepairVerdict::Leaked);
    assert_eq!(gold.judge(&with("t", &[])), RepairVerdict::Lost);
    assert_eq!(
        RepairVerdict::NAMES.join(" "),
        "recovered wrong lost leaked false-repair intact"
    );
}

#[test]
fn arguments() {
    let of = |repaired: &str| judge_arguments("{\"city\": \"Bonn\", \"days\": 3}", repaired);
    let is = |repaired: &str| {
        let judged = of(repaired);
        let harm = judged.wrong_but_valid();
        (judged.parsed, judged.valid, judged.exact, harm)
    };
    assert_eq!(
        is("{\"days\":3,\"city\":\"Bonn\"}"),
        (true, true, true, false)
    );
    assert_eq!(is("{\"days\":3}"), (true, true, false, true));
    assert_eq!(
        is("{\"days\":3.0,\"city\":\"Bonn\"}"),
        (true, true, false, true)
    );
    assert_eq!(is("[]"), (true, false, false, false));
    assert_eq!(is("{"), (false, false, false, false));
}

fn events(count: usize) -> Vec<Delivered> {
    let event = |i: usize| Delivered {
        id: Some(i.to_string()),
        position: Some(i as u64),
        text: format!("part {}", i % 3),
        done: false,
    };
    let mut events: Vec<Delivered> = (0..count).map(event).collect();
    events.push(Delivered {
        done: true,
        ..Delivered::default()
    });
    events
}

#[test]
fn rows_of_events() {
    let gold = events(4);
    let of = |order: &[usize]| {
        judge_events(
            &gold,
            &order.iter().map(|i| gold[*i].clone()).collect::<Vec<_>>(),
        )
    };
    let all = |lost, doubled, disordered, ended| MendedEvents {
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
