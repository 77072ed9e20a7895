//! The vectors of `tests/vectors/`: text, parameters, expected alarm, made by slow reference
//! programs that share no code with deadloop.

use std::path::PathBuf;

use deadloop_detect::harness::{Detector, Member, Params};
use deadloop_detect::{Response, Setting, Value};
use serde::Deserialize;

/// One vector.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    params: serde_json::Map<String, serde_json::Value>,
    /// What is read.
    pub text: String,
    /// Where it must alarm; `None`: nowhere.
    pub expect: Option<Expect>,
}

/// An expected alarm.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Exact position, chars.
    pub at: u64,
    /// Kind of loop, where the vectors say it.
    pub kind: Option<String>,
    /// Where the second copy begins, where the vectors say it.
    pub onset: Option<u64>,
    /// Length of one copy, where the vectors say it.
    pub period: Option<u64>,
}

impl Vector {
    /// The vector's parameters as a guard of one detector.
    pub fn setting(&self, detector: &str) -> Setting {
        let detector = Detector::find(detector).expect("a registered detector");
        let mut params = Params::defaults(detector.params);
        for (name, value) in &self.params {
            params.set(name, value_of(value));
        }
        Setting {
            members: vec![Member {
                response: Response::Stop,
                ..Member::new(detector, params)
            }],
        }
    }

    /// The vector's own parameters.
    pub fn params(&self) -> impl Iterator<Item = (&str, Value)> {
        self.params
            .iter()
            .map(|(name, value)| (name.as_str(), value_of(value)))
    }
}

fn value_of(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Number(n) => Value::Int(n.as_i64().expect("a whole number")),
        serde_json::Value::String(s) => Value::Text(s.clone()),
        serde_json::Value::Array(items) => Value::List(items.iter().map(value_of).collect()),
        other => panic!("no parameter is {other}"),
    }
}

/// All vectors of a file in `tests/vectors/`.
pub fn read(name: &str) -> Vec<Vector> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("vectors")
        .join(name);
    let text = std::fs::read_to_string(&path).expect("the vectors are committed");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a vector a line"))
        .collect()
}
