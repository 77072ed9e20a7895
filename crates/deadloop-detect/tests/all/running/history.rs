//! The history of a run up to an event, read from the whole run each time.

use serde_json::{Map, Value as Json};

type Params<'a> = &'a Map<String, Json>;

/// The history of a run up to an event.
pub(crate) struct Past<'a> {
    pub(crate) params: Params<'a>,
    /// The number of ended turns and of calls in the whole run.
    pub(crate) turns: u64,
    pub(crate) issued: u64,
    /// The events since the last reset, without ignored ones, newest last.
    pub(crate) kept: Vec<&'a Json>,
    pub(crate) calls: Vec<Called>,
    pub(crate) pairs: Vec<(Called, String, bool)>,
}

#[derive(Clone, PartialEq)]
pub(crate) struct Called {
    pub(crate) name: String,
    pub(crate) value: Json,
    pub(crate) text: String,
}

pub(crate) fn text<'a>(event: &'a Json, field: &str) -> &'a str {
    event[field].as_str().unwrap_or("")
}

pub(crate) fn is(event: &Json, kind: &str) -> bool {
    event["type"] == kind
}

pub(crate) fn error(event: &Json) -> bool {
    event["error"] == true
}

impl<'a> Past<'a> {
    /// Returns the history up to an event. `None` if the newest event is ignored.
    pub(crate) fn new(params: Params<'a>, events: &'a [Json]) -> Option<Self> {
        let globs: Vec<&str> = match &params.get("allow") {
            Some(Json::Array(globs)) => globs.iter().filter_map(Json::as_str).collect(),
            _ => Vec::new(),
        };
        let left_out = |call: &Json| {
            globs.iter().any(|glob| match glob.strip_suffix('*') {
                Some(start) => text(call, "name").starts_with(start),
                None => text(call, "name") == *glob,
            })
        };
        let is_of =
            |call: &Json, result: &Json| is(call, "tool_call") && call["id"] == result["id"];
        let call_of = |result: &Json| events.iter().find(|e| is_of(e, result));
        let seen = |event: &&Json| match text(event, "type") {
            "tool_call" => !left_out(event),
            "tool_result" => !call_of(event).is_some_and(left_out),
            _ => true,
        };
        let newest = events.last()?;
        seen(&newest).then_some(())?;
        let begun = events.iter().position(|e| is(e, "turn"));
        let forgets = params.get("reset").is_some_and(|reset| reset == "user");
        let last_user = events.iter().rposition(|e| is(e, "user"));
        let last_user = last_user.filter(|i| forgets && begun.is_some_and(|begun| *i > begun));
        let start = last_user.map_or(0, |i| i + 1);
        let kept: Vec<&Json> = events[start..].iter().filter(seen).collect();
        let calls = kept.iter().filter(|e| is(e, "tool_call"));
        let results = kept.iter().filter(|e| is(e, "tool_result"));
        let pairs = results.filter_map(|result| {
            let call = kept.iter().find(|e| is_of(e, result))?;
            let content = text(result, "content").to_owned();
            Some((called(call), content, error(result)))
        });
        let count = |kind: &str| events.iter().filter(|e| is(e, kind)).count() as u64;
        Some(Self {
            params,
            turns: count("turn") - u64::from(is(newest, "turn")),
            issued: count("tool_call"),
            calls: calls.map(|call| called(call)).collect(),
            pairs: pairs.collect(),
            kept,
        })
    }

    pub(crate) fn newest(&self, kind: &str) -> bool {
        self.kept.last().is_some_and(|event| is(event, kind))
    }

    pub(crate) fn number(&self, name: &str, default: usize) -> usize {
        let number = self.params.get(name).and_then(Json::as_u64);
        number.map_or(default, |n| usize::try_from(n).unwrap_or(usize::MAX))
    }

    pub(crate) fn float(&self, name: &str, default: f64) -> f64 {
        let float = self.params.get(name).and_then(Json::as_f64);
        float.unwrap_or(default)
    }

    pub(crate) fn flag(&self, name: &str, default: bool) -> bool {
        let flag = self.params.get(name).and_then(Json::as_bool);
        flag.unwrap_or(default)
    }

    pub(crate) fn word(&self, name: &str, default: &'a str) -> &'a str {
        let word = self.params.get(name).and_then(Json::as_str);
        word.unwrap_or(default)
    }

    /// Returns the events before the first turn, then those of each begun turn. A turn that begins with the newest
    /// event does not count.
    pub(crate) fn pieces(&self) -> Vec<Vec<&Json>> {
        let mut pieces = vec![Vec::new()];
        for (i, event) in self.kept.iter().enumerate() {
            match pieces.last_mut() {
                Some(piece) if !is(event, "turn") => piece.push(*event),
                _ if i + 1 < self.kept.len() => pieces.push(Vec::new()),
                _ => {}
            }
        }
        pieces
    }
}

pub(crate) fn called(call: &Json) -> Called {
    let (value, text) = match &call["arguments"] {
        Json::String(text) => {
            let parsed = serde_json::from_str(text);
            (parsed.unwrap_or_else(|_| text.trim().into()), text.clone())
        }
        value => (value.clone(), value.to_string()),
    };
    Called {
        name: call["name"].as_str().unwrap_or("").into(),
        value,
        text,
    }
}

/// Returns the tool and the arguments of a call as they are compared.
pub(crate) fn key(call: &Json) -> String {
    let called = called(call);
    format!("{}\0{}", called.name, sorted(&called.value))
}

fn sorted(value: &Json) -> String {
    match value {
        Json::Object(map) => {
            let fields = map.iter().map(|(k, v)| format!("{k:?}:{}", sorted(v)));
            let mut fields: Vec<String> = fields.collect();
            fields.sort();
            fields.join(",")
        }
        Json::Array(items) => items.iter().map(sorted).collect::<Vec<_>>().join(";"),
        other => other.to_string(),
    }
}
