//! Shared helpers of tests of run detectors: the vectors, their events and settings.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "in the helpers of tests as in tests"
)]
#![allow(dead_code, reason = "no test uses all of them")]

pub(crate) mod history;
pub(crate) mod openhands_twin;
pub(crate) mod twin;

use crate::common::allowed;

use deadloop_detect::harness::{Detector, Params};
use deadloop_detect::{Alarm, Arguments, CutText, Event, Guard, Setting, TextChannel, Value};
use serde::Deserialize;
use serde_json::Value as Json;

#[derive(Deserialize)]
pub(crate) struct Vector {
    pub(crate) guard: String,
    pub(crate) params: serde_json::Map<String, Json>,
    pub(crate) events: Vec<Json>,
    pub(crate) expect: Option<Expect>,
}

#[derive(Debug, Deserialize, PartialEq)]
pub(crate) struct Expect {
    pub(crate) event: u64,
    pub(crate) calls: u64,
    pub(crate) turns: u64,
    pub(crate) kind: String,
}

impl From<Alarm> for Expect {
    fn from(alarm: Alarm) -> Self {
        Self {
            event: alarm.event,
            calls: alarm.calls.0,
            turns: alarm.turns.0,
            kind: alarm.kind.name().into(),
        }
    }
}

/// Converts a recorded event.
pub(crate) fn event(json: &Json) -> Event<'_> {
    let text = |name: &str| json[name].as_str();
    match text("type").unwrap() {
        "turn" => Event::Turn {
            agent: text("agent"),
        },
        "tool_call" => Event::Call {
            id: text("id"),
            name: text("name").unwrap(),
            arguments: Arguments::Json(&json["arguments"]),
        },
        "tool_result" => Event::Result {
            id: text("id"),
            content: text("content").unwrap_or(""),
            error: json["error"].as_bool(),
            cut: text("sha256").map(|sha256| CutText {
                length: json["length"].as_u64(),
                sha256,
            }),
        },
        "user" => Event::User(text("text").unwrap()),
        "answer" => Event::Text(TextChannel::Answer, text("text").unwrap()),
        "reasoning" => Event::Text(TextChannel::Reasoning, text("text").unwrap()),
        "finish" => Event::Finish(text("reason")),
        other => panic!("no event is {other}"),
    }
}

pub(crate) fn value(json: &Json) -> Value {
    match json {
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(n) => match n.as_i64() {
            Some(n) => Value::Int(n),
            None => Value::Float(n.as_f64().unwrap()),
        },
        Json::String(s) => Value::Text(s.clone()),
        Json::Array(items) => Value::List(items.iter().map(value).collect()),
        other => panic!("no parameter is {other}"),
    }
}

pub(crate) fn setting(detector: &str, params: &serde_json::Map<String, Json>) -> Setting {
    // The vectors use the former name: now `novelty` is a text detector.
    let name = match detector {
        "novelty" => "call-novelty",
        name => name,
    };
    let detector = Detector::find(name).unwrap();
    let mut all = Params::defaults(detector.params);
    for (name, json) in params {
        let known = detector.param(name).is_some() || detector.gone.contains(&name.as_str());
        assert!(known, "{}: {name}", detector.name);
        all.set(name, value(json));
    }
    let members = vec![allowed(name, &all)];
    Setting { members }
}

pub(crate) fn alarm<'e>(
    setting: &Setting,
    events: impl IntoIterator<Item = Event<'e>>,
) -> Option<Alarm> {
    let mut guard = Guard::new(setting).unwrap();
    let mut events = events.into_iter();
    events.find_map(|event| guard.push(&event).into_alarm())
}

fn vectors_of(text: &str) -> Vec<Vector> {
    let vectors = text.lines().map(|line| serde_json::from_str(line).unwrap());
    vectors.collect()
}

pub(crate) fn vectors() -> Vec<Vector> {
    vectors_of(include_str!("../../../../../tests/vectors/agents.jsonl"))
}
