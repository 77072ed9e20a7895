//! Every vector of `tests/vectors/agents.jsonl` three ways: live, replayed, as a cell of a sweep; read from a corpus
//! file, as recordings are.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "in the helpers of tests as in tests"
)]

use deadloop_corpus::{Corpus, Transcript};
use deadloop_detect::harness::{Detector, Domain, Member, Param, ParamRole, Params};
use deadloop_detect::{Alarm, Guard, Setting, Value};
use deadloop_replay::{Grid, GridMember, Plan, Stop, decide};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

#[derive(Deserialize)]
struct Vector {
    guard: String,
    params: Map<String, Json>,
    events: Json,
    expect: Option<Expect>,
}

/// What an alarm says, however it was reached.
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Expect {
    calls: u64,
    turns: u64,
    kind: String,
    event: u64,
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

impl From<&Stop> for Expect {
    fn from(stop: &Stop) -> Self {
        Self {
            event: stop.exact.place.event,
            calls: stop.exact.seen.tools.0,
            turns: stop.exact.seen.turns.0,
            kind: stop.kind.name().into(),
        }
    }
}

/// The vectors, each with its run as a corpus has it.
fn vectors() -> Vec<(Vector, Transcript)> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/agents.jsonl");
    let text = std::fs::read_to_string(file).expect("the vectors are committed");
    let vectors = text.lines().map(serde_json::from_str);
    let vectors: Vec<Vector> = vectors.collect::<Result<_, _>>().expect("a vector a line");
    let line = |(i, vector): (usize, &Vector)| {
        json!({"id": format!("v{i}"), "model": "m", "events": vector.events}).to_string() + "\n"
    };
    let lines: String = vectors.iter().enumerate().map(line).collect();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("vectors.jsonl");
    std::fs::write(&file, lines).expect("a file");
    let corpus = Corpus::open(&file).expect("a corpus");
    let runs = corpus
        .entries()
        .map(|entry| entry.expect("a run").transcript);
    let runs: Vec<Transcript> = runs.collect();
    assert_eq!((runs.len(), vectors.len()), (209, 209));
    vectors.into_iter().zip(runs).collect()
}

fn value(json: &Json) -> Value {
    match json {
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(n) => match n.as_i64() {
            Some(n) => Value::Int(n),
            None => Value::Float(n.as_f64().expect("a number")),
        },
        Json::String(s) => Value::Text(s.clone()),
        Json::Array(items) => Value::List(items.iter().map(value).collect()),
        other => panic!("no parameter is {other}"),
    }
}

fn setting(vector: &Vector) -> Setting {
    // The vectors have an older name of it: `novelty` is a detector of text.
    let name = match vector.guard.as_str() {
        "novelty" => "call-novelty",
        name => name,
    };
    let detector = Detector::find(name).expect("a registered detector");
    let mut params = Params::defaults(detector.params);
    for (name, json) in &vector.params {
        params.set(name, value(json));
    }
    let members = vec![Member::new(detector, params)];
    Setting { members }
}

fn live(setting: &Setting, run: &Transcript) -> Option<Expect> {
    let mut guard = Guard::new(setting).expect("no program");
    let mut events = run.stream();
    events.find_map(|(_, event)| guard.push(&event).into_alarm().map(Expect::from))
}

#[test]
fn live_and_replayed() {
    for (i, (vector, run)) in vectors().into_iter().enumerate() {
        let setting = setting(&vector);
        assert_eq!(live(&setting, &run), vector.expect, "{i} live");
        let mut plan = Plan::default();
        let cell = plan.add_setting(&setting);
        let cell = plan.cell(cell);
        let record = decide(&plan, &run, None);
        let stop = record.blocks[cell.block].stop(&cell.at);
        assert_eq!(stop.map(Expect::from), vector.expect, "{i} replayed");
    }
}

#[test]
fn as_a_cell_of_a_sweep() {
    let mut found = 0;
    for (i, (vector, run)) in vectors().into_iter().enumerate() {
        let own = setting(&vector);
        let mut plan = Plan::default();
        plan.add_grid(&around(&own))
            .expect("its own cell is possible");
        let record = decide(&plan, &run, None);
        for cell in 0..plan.cells() {
            let setting = plan.setting(cell);
            let at = plan.cell(cell);
            let stop = record.blocks[at.block].stop(&at.at).map(Expect::from);
            if setting == own {
                found += 1;
                assert_eq!(stop, vector.expect, "{i} {}", vector.guard);
            }
            if cell % 5 == i % 5 {
                assert_eq!(stop, live(&setting, &run), "{i} {} {cell}", vector.guard);
            }
        }
    }
    assert_eq!(found, 209);
}

/// A grid with the vector's setting in it: two to three values for each threshold.
fn around(setting: &Setting) -> Grid {
    let base = setting.members[0].clone();
    let values = base.detector.params.iter().filter_map(|param| {
        let ParamRole::Threshold(threshold) = param.mark else {
            return None;
        };
        let own = base.params.get(param.name)?.clone();
        let mut values = near(param, &own);
        values.sort_by_key(|value| threshold.number(value));
        Some((param, values))
    });
    let values = values.collect();
    Grid {
        members: vec![GridMember { base, values }],
    }
}

fn near(param: &Param, own: &Value) -> Vec<Value> {
    let others = match (param.domain, own) {
        (Domain::Float { .. }, _) => vec![Value::Float(0.25), Value::Float(0.75)],
        (_, Value::Int(n)) => vec![Value::Int(n - 1), Value::Int(n + 2)],
        _ => Vec::new(),
    };
    let allowed = |value: &Value| param.domain.check(value).is_ok() && value != own;
    let others = others.into_iter().filter(allowed);
    others.chain([own.clone()]).collect()
}
