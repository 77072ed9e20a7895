//! Damage reports its onset, and is deterministic.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use deadloop_detect::Fault;
use deadloop_repair::meaning::Delivery;
use deadloop_synth::damage::{damage, damage_events};
use proptest::prelude::*;

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

const INTACT: &[&str] = &[
    "<think>用户要两条笔记。</think>好的。<create_note><id>1</id><content>甲</content></create_note>然后<create_note><id>2</id><content>乙</content></create_note>，请选<confirm1>是</confirm1><confirm2>否</confirm2>。",
    "<think>Two notes.</think><create_note><id>1</id>One</create_note> and <save_material><id>2</id>Two</save_material> Done.",
    "{\"city\": \"Bonn\", \"days\": [1, 2, {\"x\": null}], \"note\": \"a\\\"b\"}",
    "",
    "plain",
];

fn of_events(fault: Fault) -> bool {
    use Fault::{ReplayDoubled, ReplayLost, ReplayOrder};
    matches!(fault, ReplayLost | ReplayDoubled | ReplayOrder)
}

/// Returns whether a fault is of whole streams, which another module makes.
fn of_streams(fault: Fault) -> bool {
    use Fault::{ErrorEvent, NoDone, PartialTools, Stall};
    matches!(fault, NoDone | Stall | ErrorEvent | PartialTools)
}

#[test]
fn damage_is_what_it_says() {
    let mut hit = BTreeMap::new();
    for fault in Fault::ALL {
        assert_eq!(Fault::named(fault.name()), Some(fault));
        for (intact, severity, seed) in INTACT
            .iter()
            .flat_map(|t| (0..5).flat_map(move |s| (0..40).map(move |seed| (t, s, seed))))
        {
            let damaged = damage(fault, severity, seed, intact);
            assert_eq!(damaged, damage(fault, severity, seed, intact));
            let chars = |text: &str| text.chars().map(Some).chain([None]).collect::<Vec<_>>();
            let both = chars(intact).into_iter().zip(chars(&damaged.text));
            let first = both.take_while(|(a, b)| a == b).count() as u64;
            let onset = (damaged.text != **intact).then_some(first);
            assert_eq!(damaged.onset, onset, "{fault} {severity} {seed}");
            if severity == 0 || of_events(fault) {
                assert_eq!(damaged.onset, None);
            }
            *hit.entry(fault).or_insert(0) += u32::from(damaged.onset.is_some());
        }
        let events = events(12);
        for (severity, seed) in (0..5).flat_map(|s| (0..40).map(move |seed| (s, seed))) {
            let damaged = damage_events(fault, severity, seed, &events);
            assert_eq!(damaged.onset.is_some(), damaged.events != events);
            assert!(severity > 0 || damaged.onset.is_none());
            assert!(damaged.events.last().unwrap().done);
            *hit.entry(fault).or_insert(0) += u32::from(damaged.onset.is_some());
        }
    }
    let whole = |(fault, times): (&Fault, &u32)| (*times > 50) != of_streams(*fault);
    assert!(hit.iter().all(whole), "{hit:?}");
}

/// Generates texts of tags, complete and cut, with other text between them.
fn text() -> impl Strategy<Value = String> {
    let marks = [
        "<think>", "</think>", "<thi", "</", "<", ">", "<id>", "</id>", "<b>", "{", "}", "[", "]",
        "\"a\": ", "\"", ",", "\\", "\\u12", "1.5", "true", "null", "I'm done", "word ", " ", "\n",
        "\u{1c}", "é", "分析", "x", "12",
    ];
    let tags = [
        "<create_note>",
        "</create_note>",
        "<save_material id=\"3\">",
        "</save_material>",
        "<confirm1>",
        "</confirm2>",
        "<|im_end|>",
        "好的，",
    ];
    let parts = [&marks[..], &tags].concat();
    let parts = prop::collection::vec(prop::sample::select(parts), 0..20);
    parts.prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_text_can_be_damaged(text in text(), seed: u64, severity in 0_u8..4) {
        for fault in Fault::ALL {
            let damaged = damage(fault, severity, seed, &text);
            prop_assert_eq!(damaged.onset.is_some(), damaged.text != text);
        }
    }
}
