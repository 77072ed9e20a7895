//! Tests that a replay and a live stream select the same guard by `task` in a `[[model]]` table.

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_detect::{Guards, ModelTask, Settings, TextChannel};
use deadloop_replay::{Plan, decide};
use serde_json::{Value, json};

/// Returns settings whose guards require different numbers of copies of a sentence, by model and task.
fn settings() -> Settings {
    let guard = |table: &str, copies: u64| {
        let params =
            format!("[{table}.params]\nmin_copies = {copies}\nmin_chars = 40\nmin_single = 40\n");
        format!("[[{table}]]\ndetector = \"periodic\"\n{params}")
    };
    let model = |keys: &str, copies| format!("[[model]]\n{keys}\n{}", guard("model.guard", copies));
    let text = [
        guard("guard", 4),
        model("match = \"small*\"\ntask = \"puzzle-*\"", 9),
        model("task = \"{puzzle-*,chat}\"", 6),
        model("match = \"small*\"", 5),
    ];
    Settings::parse(&text.concat()).unwrap()
}

const UNIT: &str = "The same again, word for word. ";

/// Returns each model, the task in `meta`, and the number of copies that its guard requires.
fn expected() -> Vec<(&'static str, Value, u64)> {
    vec![
        ("large", Value::Null, 4),
        ("large", json!("cooking"), 4),
        ("large", json!("puzzle"), 4),
        ("large", json!("puzzle-9"), 6),
        ("large", json!("chat"), 6),
        ("small-1", json!("puzzle-9"), 9),
        ("small-1", json!("chat"), 6),
        ("small-1", json!("cooking"), 5),
        ("small-1", Value::Null, 5),
        // What is no text is no name.
        ("small-1", json!(7), 5),
        ("small-1", json!(["chat"]), 5),
        ("small-1", json!(""), 5),
    ]
}

#[test]
fn each_task_has_its_guard_in_a_replay_and_live() {
    let settings = settings();
    let guards = Guards::new(&settings).unwrap();
    let mut plan = Plan::default();
    plan.add_settings(&settings);
    for (model, task, copies) in expected() {
        let mut transcript = Transcript {
            id: "t".into(),
            model: model.into(),
            events: vec![RecordedEvent::new(Body::Answer(UNIT.repeat(20)))],
            ..Transcript::default()
        };
        transcript.meta.insert("task".into(), task.clone());
        let record = decide(&plan, &transcript, None);
        let stops = record.blocks[0].stops.iter();
        let stops = stops.map(|stop| stop.exact.seen.units(stop.channel).count());
        let stops: Vec<u64> = stops.collect();
        let mut guard = guards.guard(transcript.work());
        let alarm = guard.push_text(TextChannel::Answer, &UNIT.repeat(20));
        let live = alarm.into_alarm().unwrap().exact.count();
        let unit = UNIT.chars().count() as u64;
        assert_eq!(live.div_ceil(unit), copies, "{model} {task}");
        assert_eq!(stops, [live], "{model} {task}");
        let named = ModelTask {
            model,
            task: task.as_str().unwrap_or(""),
        };
        assert_eq!(transcript.work(), named);
    }
}
