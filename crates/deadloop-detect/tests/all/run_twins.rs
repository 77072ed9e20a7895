//! Compares every run detector with its slow reference, on the vectors and on random runs.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "in the helpers of tests as in tests"
)]

use crate::running;

use proptest::prelude::*;
use proptest::sample::select;
use running::twin::slow;
use running::{Expect, alarm, event, setting, vectors};
use serde_json::{Map, Value as Json, json};

/// Returns whether the reference supports a setting: it does not normalise results.
#[test]
fn the_twins_alarm_where_the_reference_does() {
    let mut held = 0;
    for vector in vectors() {
        let plain = !vector.params.contains_key("normalise");
        let results = ["iterations", "duplicate", "cycle"];
        if plain || results.contains(&vector.guard.as_str()) {
            let found = slow(&vector.guard, &vector.params, &vector.events);
            assert_eq!(found, vector.expect, "{} {:?}", vector.guard, vector.params);
            held += 1;
        }
    }
    assert!(held > 150, "{held}");
}

const GUARDS: [&str; 11] = [
    "iterations",
    "duplicate",
    "same-pair",
    "cycle",
    "interleaved",
    "novelty",
    "stagnation",
    "error-run",
    "narration",
    "loom",
    "openhands",
];

/// Returns the parameters of each detector, with values that short runs can meet.
fn values(guard: &str) -> Vec<(&'static str, Vec<Json>)> {
    let of = |values: &[i64]| values.iter().map(|n| json!(n)).collect::<Vec<_>>();
    let words = |words: &[&str]| words.iter().map(|w| json!(w)).collect::<Vec<_>>();
    let flags = || vec![json!(true), json!(false)];
    let rates = || vec![json!(0.3), json!(0.5), json!(0.9)];
    let compared = || {
        vec![
            ("volatile", words(&["off", "row"])),
            ("stateless_n", of(&[0, 0, 2, 3])),
            ("stateless_chars", of(&[1, 12])),
        ]
    };
    let keys = || ("key", words(&["name", "call", "raw"]));
    let parts = || [("with_result", flags()), ("arguments", flags())];
    let with = |base: Vec<_>, own: &[(&'static str, Vec<Json>)]| [&base[..], own].concat();
    match guard {
        "iterations" => vec![
            ("limit", of(&[1, 3, 5, 9])),
            ("unit", words(&["turns", "calls", "supersteps"])),
        ],
        "duplicate" => vec![("n", of(&[2, 3, 4])), keys()],
        "same-pair" => with(compared(), &[("n", of(&[2, 3])), ("failure_only", flags())]),
        "cycle" => vec![
            ("repeats", of(&[2, 3])),
            ("max_period", of(&[2, 3, 5])),
            ("min_period", of(&[1, 2])),
            keys(),
        ],
        "interleaved" => {
            let own = [("n", of(&[2, 3, 4])), ("window", of(&[4, 6, 10]))];
            with(with(compared(), &own), &parts())
        }
        "novelty" => {
            let own = [
                ("max_distinct", of(&[1, 2, 3])),
                ("window", of(&[4, 5])),
                ("returns", flags()),
                ("before", of(&[0, 1, 3, 8])),
            ];
            with(with(compared(), &own), &parts())
        }
        "stagnation" => with(compared(), &[("n", of(&[2, 3, 4]))]),
        "error-run" => vec![
            ("n", of(&[2, 3])),
            ("same", words(&["any", "tool", "prefix"])),
            ("prefix", of(&[1, 3, 100])),
            ("volatile", words(&["off", "row"])),
        ],
        "narration" => vec![
            ("n", of(&[2, 3])),
            ("window", of(&[3, 5, 12])),
            ("min_chars", of(&[1, 5, 12])),
            ("like", words(&["exact", "trigrams"])),
            ("min_share", vec![json!(0.2), json!(0.5), json!(1.0)]),
            ("with_calls", flags()),
            ("without_calls", flags()),
            ("reasoning", flags()),
        ],
        "loom" => vec![
            ("max_iterations", of(&[6, 50])),
            ("duplicate_threshold", of(&[2, 3, 5])),
            ("loop_detection_window", of(&[1, 2, 3])),
            ("error_threshold", rates()),
            ("keep_calls", of(&[3, 20])),
            ("keep_outputs", of(&[4, 10])),
        ],
        _ => vec![
            ("scan", of(&[6, 9, 20])),
            ("action_observation", of(&[2, 3])),
            ("action_error", of(&[2, 3])),
            ("monologue", of(&[2, 3])),
            ("alternating", of(&[3, 4, 6])),
        ],
    }
}

fn params(guard: &'static str) -> impl Strategy<Value = Map<String, Json>> {
    let one = |(name, values): (&'static str, Vec<Json>)| (Just(name), select(values));
    let own: Vec<_> = values(guard).into_iter().map(one).collect();
    // Three of five settings ignore no tool.
    let none = || json!([]);
    let allow = select(vec![
        none(),
        none(),
        none(),
        json!(["wait"]),
        json!(["re*"]),
    ]);
    let reset = select(vec![json!("run"), json!("run"), json!("user")]);
    (own, allow, reset).prop_map(|(own, allow, reset)| {
        let common = [("allow", allow), ("reset", reset)];
        let all = own.into_iter().chain(common);
        all.map(|(name, value)| (name.to_owned(), value)).collect()
    })
}

const JOBS: [&str; 8] = [
    "job req-1a18bd at 04:33:17",
    "job req-2b29ce at 04:33:18",
    "job req-3c3adf at 04:33:19",
    "2026-06-30 job req-3c3adf req-4d4be0",
    "2026-07-01 job req-5e5cf1 req-6f6d02",
    "2026-07-02 job req-3c3adf req-7a7e13",
    "job step-12",
    "job step-13",
];

/// Generates turns with few tools, arguments, results, texts and agents.
fn run() -> impl Strategy<Value = Vec<Json>> {
    let call = (
        select(vec!["read", "bash", "wait"]),
        select(vec![
            json!(r#"{"a":1,"b":2}"#),
            json!(r#"{"b": 2, "a": 1}"#),
            json!("ls "),
            json!({"a": 1.0}),
        ]),
        select([&["ok", "no file", "no fish", "", "<o>0</o>"][..], &JOBS].concat()),
        any::<bool>(),
        0..9_u8,
    );
    let said = select(vec![
        ("answer", "done"),
        ("answer", " done "),
        ("reasoning", "hm"),
        ("answer", ""),
        ("answer", "I read file 1 and then  file 2 again. "),
        ("answer", "i read file 12 and then file 2 again"),
        ("reasoning", "I read file 3 and write it"),
        ("answer", "我读文件一"),
        ("answer", "我读文件二 at 04:33:17"),
    ]);
    let turn = (
        select(vec![Json::Null, json!("x"), json!("y"), json!("z")]),
        prop::collection::vec(said, 0..3),
        prop_oneof![3 => prop::collection::vec(call, 1..2), 1 => Just(Vec::new()).boxed()],
        0..12_u8,
    );
    prop::collection::vec(turn, 1..18).prop_map(|turns| {
        let (mut events, mut n) = (vec![json!({"type": "user", "text": "go"})], 0);
        for (agent, said, calls, user) in turns {
            events.push(json!({"type": "turn", "agent": agent}));
            events.extend(said.into_iter().map(|(kind, text)| json!({"type": kind, "text": text})));
            for (name, arguments, content, error, open) in calls {
                n += 1;
                events.push(json!({"type": "tool_call", "id": format!("c{n}"), "name": name, "arguments": arguments}));
                if open > 0 {
                    events.push(json!({"type": "tool_result", "id": format!("c{n}"), "content": content, "error": error}));
                }
            }
            if user == 0 {
                events.push(json!({"type": "user", "text": "and?"}));
            }
        }
        events
    })
}

fn drawn() -> impl Strategy<Value = (&'static str, Map<String, Json>, Vec<Json>)> {
    let of = |guard| (Just(guard), params(guard), run());
    select(GUARDS.to_vec()).prop_flat_map(of)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::common::drawn(3000), ..ProptestConfig::default() })]

    #[test]
    fn every_guard_alarms_where_its_twin_does((guard, params, events) in drawn()) {
        let found = alarm(&setting(guard, &params), events.iter().map(event)).map(Expect::from);
        prop_assert_eq!(found, slow(guard, &params, &events), "{} {:?}", guard, params);
    }
}
