//! Finds the stream of a transcript that is repaired, and the truth about it in `meta.gold`.

use deadloop_corpus::{Body, Transcript};
use deadloop_detect::repair::{Action, Delivered, Fault, Meaning};
use serde_json::Value as Json;

/// A stream whose truth is known.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    /// The fault that was made; `None` if the stream is intact.
    pub(crate) fault: Option<Fault>,
    /// The severity of the fault, 1 to 3; 0 without a fault.
    pub(crate) severity: u64,
    /// The kind of stream, as `meta.stream` names it.
    pub(crate) kind: String,
    /// What arrived.
    pub(crate) arrived: Arrived,
    /// What was meant.
    pub(crate) gold: Gold,
}

/// A stream as it arrived.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Arrived {
    /// A text: an answer, arguments, a name.
    Text(String),
    /// Events with ids and places.
    Events(Vec<Delivered>),
}

/// The truth about a stream: what was meant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Gold {
    /// What an answer meant.
    Meaning(Meaning),
    /// The intact arguments or name.
    Text(String),
    /// The intact events.
    Events(Vec<Delivered>),
}

impl Stream {
    /// The stream of a transcript. `None` if the truth is not known or no repairer reads streams of this kind.
    ///
    /// # Errors
    /// Returns which part of `meta` cannot be read, and what was expected.
    pub(crate) fn of(transcript: &Transcript) -> Result<Option<Self>, String> {
        let meta = |name: &str| transcript.meta.get(name);
        let (Some(gold), Some(kind)) = (meta("gold"), meta("stream").and_then(Json::as_str)) else {
            return Ok(None);
        };
        let fault = match meta("fault").and_then(Json::as_str) {
            None => None,
            Some(name) => Some(Fault::find(name).ok_or_else(|| {
                format!(
                    "meta.fault {name:?}; expected one of: {}",
                    Fault::ALL.map(Fault::name).join(", ")
                )
            })?),
        };
        let bad = || {
            format!(
                "meta.gold of a stream of {kind} that cannot be read; expected what deadloop synth writes"
            )
        };
        let (arrived, gold) = match kind {
            "tags" | "think" | "text" => {
                let gold = meaning(gold).ok_or_else(bad)?;
                (Arrived::Text(transcript.answer()), Gold::Meaning(gold))
            }
            "arguments" | "name" => {
                let (name, arguments) = call(transcript).ok_or_else(bad)?;
                let text = if kind == "name" { name } else { arguments };
                let gold = gold.get(kind).and_then(Json::as_str).ok_or_else(bad)?;
                (Arrived::Text(text), Gold::Text(gold.to_owned()))
            }
            "events" => {
                let gold = rows(gold).ok_or_else(bad)?;
                (Arrived::Events(delivered(transcript)), Gold::Events(gold))
            }
            _ => return Ok(None),
        };
        Ok(Some(Self {
            fault,
            severity: meta("severity").and_then(Json::as_u64).unwrap_or(0),
            kind: kind.to_owned(),
            arrived,
            gold,
        }))
    }

    /// Whether a repairer of streams of this kind is run on this one. Every repairer of texts is run on intact texts,
    /// since it may spoil them.
    pub(crate) fn is_for(&self, kind: &str) -> bool {
        const TEXTS: [&str; 3] = ["tags", "think", "text"];
        let texts = TEXTS.contains(&kind) && TEXTS.contains(&self.kind.as_str());
        self.kind == kind || (texts && self.fault.is_none())
    }

    /// The truth for a repairer of streams of this kind. For a text of another kind it is the unchanged text.
    pub(crate) fn gold_for(&self, kind: &str) -> Gold {
        match (&self.gold, &self.arrived) {
            (Gold::Meaning(_), Arrived::Text(text)) if self.kind != kind => {
                Gold::Meaning(Meaning {
                    text: text.clone(),
                    ..Meaning::default()
                })
            }
            (gold, _) => gold.clone(),
        }
    }
}

fn meaning(gold: &Json) -> Option<Meaning> {
    let text = |name: &str| Some(gold.get(name)?.as_str()?.to_owned());
    let action = |action: &Json| {
        let fields = action.get("fields")?.as_array()?.iter().map(|pair| {
            Some((
                pair.get(0)?.as_str()?.to_owned(),
                pair.get(1)?.as_str()?.to_owned(),
            ))
        });
        Some(Action {
            name: action.get("name")?.as_str()?.to_owned(),
            number: match action.get("number") {
                None | Some(Json::Null) => None,
                Some(number) => Some(u32::try_from(number.as_u64()?).ok()?),
            },
            fields: fields.collect::<Option<_>>()?,
            content: action.get("content")?.as_str()?.to_owned(),
        })
    };
    let actions = gold.get("actions")?.as_array()?.iter().map(action);
    Some(Meaning {
        reasoning: text("reasoning")?,
        text: text("text")?,
        actions: actions.collect::<Option<_>>()?,
    })
}

/// The name and arguments of the first call.
fn call(transcript: &Transcript) -> Option<(String, String)> {
    transcript
        .events
        .iter()
        .find_map(|event| match &event.body {
            Body::ToolCall {
                name, arguments, ..
            } => Some((name.clone(), written(arguments))),
            _ => None,
        })
}

/// Arguments as the model wrote them, if that was recorded; else as JSON.
pub(crate) fn written(arguments: &Json) -> String {
    match arguments {
        Json::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn rows(gold: &Json) -> Option<Vec<Delivered>> {
    let row = |row: &Json| {
        Some(Delivered {
            id: row.get(0)?.as_str().map(str::to_owned),
            position: row.get(1)?.as_u64(),
            text: row.get(2)?.as_str()?.to_owned(),
            done: false,
        })
    };
    let rows: Option<Vec<Delivered>> = gold.get("events")?.as_array()?.iter().map(row).collect();
    let mut rows = rows?;
    rows.push(Delivered {
        done: true,
        ..Delivered::default()
    });
    Some(rows)
}

fn delivered(transcript: &Transcript) -> Vec<Delivered> {
    let event = |event: &deadloop_corpus::RecordedEvent| match &event.body {
        Body::Answer(text) => Some(Delivered {
            id: event
                .rest
                .get("event_id")
                .and_then(Json::as_str)
                .map(str::to_owned),
            position: event.rest.get("position").and_then(Json::as_u64),
            text: text.clone(),
            done: false,
        }),
        Body::Finish { .. } => Some(Delivered {
            done: true,
            ..Delivered::default()
        }),
        _ => None,
    };
    transcript.events.iter().filter_map(event).collect()
}
