//! [`KnownStream`]: a stream to repair, with its undamaged original from `meta.gold`.

use deadloop_repair::meaning::{Action, Delivery, Meaning};
use deadloop_repair::registry::StreamKind;
use deadloop_replay::InvalidTranscript;
use deadloop_replay::corpus::Transcript;
use deadloop_replay::detect::Fault;
use deadloop_replay::repairers::ArrivedStream;
use serde_json::Value as Json;

/// A stream to repair whose undamaged original is known.
#[derive(Clone, Debug)]
pub struct KnownStream {
    /// The injected fault. `None` if the stream is intact.
    pub fault: Option<Fault>,
    /// The severity of the fault from 1 to 3, or 0 without a fault.
    pub severity: u64,
    /// The kind of stream.
    pub kind: StreamKind,
    /// The stream as it arrived.
    pub arrived: ArrivedStream,
    /// The undamaged original.
    pub gold: Gold,
}

/// The undamaged original of a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Gold {
    /// The text, the thinking and the actions of an answer.
    Meaning(Meaning),
    /// The undamaged arguments or name of a call.
    Text(String),
    /// The undamaged events.
    Events(Vec<Delivery>),
}

impl KnownStream {
    /// Reads the stream of a transcript. `None` if the original is unknown, or no repairer reads streams of this kind.
    ///
    /// # Errors
    /// Returns the part of `meta` that cannot be read, and the expected content.
    pub fn from_transcript(transcript: &Transcript) -> Result<Option<Self>, InvalidTranscript> {
        let meta = |name: &str| transcript.meta.get(name);
        let kind = meta("stream").and_then(Json::as_str);
        let (Some(gold), Some(kind)) = (meta("gold"), kind.and_then(StreamKind::named)) else {
            return Ok(None);
        };
        let fault = match meta("fault").and_then(Json::as_str) {
            None => None,
            Some(name) => Some(Fault::named(name).ok_or_else(|| InvalidTranscript {
                what: format!("meta.fault {name:?}"),
                expected: format!("one of: {}", Fault::NAMES.join(", ")),
            })?),
        };
        let bad = || InvalidTranscript {
            what: format!("meta.gold of a stream of {kind} that cannot be read"),
            expected: "what deadloop synth writes".to_owned(),
        };
        let gold = match kind {
            StreamKind::Tags | StreamKind::Think | StreamKind::Text => {
                read_meaning(gold).map(Gold::Meaning)
            }
            StreamKind::Arguments | StreamKind::Name => {
                let text = gold.get(kind.name()).and_then(Json::as_str);
                text.map(|text| Gold::Text(text.to_owned()))
            }
            StreamKind::Events => read_deliveries(gold).map(Gold::Events),
        };
        let arrived = ArrivedStream::from_transcript(transcript, kind).ok_or_else(bad)?;
        let gold = gold.ok_or_else(bad)?;
        Ok(Some(Self {
            fault,
            severity: meta("severity").and_then(Json::as_u64).unwrap_or(0),
            kind,
            arrived,
            gold,
        }))
    }

    /// Returns whether repairers of this kind of stream are run on the stream.
    ///
    /// Every repairer of answers is run on intact answers, since it may damage them.
    pub fn is_for(&self, kind: StreamKind) -> bool {
        let answers = kind.is_answer() && self.kind.is_answer();
        self.kind == kind || (answers && self.fault.is_none())
    }

    /// Returns the expected output of repairers of this kind of stream. An answer of another kind must stay unchanged.
    pub(crate) fn expected_output(&self, kind: StreamKind) -> Gold {
        match (&self.gold, &self.arrived) {
            (Gold::Meaning(_), ArrivedStream::Text(text)) if self.kind != kind => {
                Gold::Meaning(Meaning {
                    text: text.clone(),
                    ..Meaning::default()
                })
            }
            (gold, _) => gold.clone(),
        }
    }
}

fn read_meaning(gold: &Json) -> Option<Meaning> {
    let text = |name: &str| Some(gold.get(name)?.as_str()?.to_owned());
    let read_action = |action: &Json| {
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
    let actions = gold.get("actions")?.as_array()?.iter().map(read_action);
    Some(Meaning {
        reasoning: text("reasoning")?,
        text: text("text")?,
        actions: actions.collect::<Option<_>>()?,
    })
}

fn read_deliveries(gold: &Json) -> Option<Vec<Delivery>> {
    let row = |row: &Json| {
        Some(Delivery {
            id: row.get(0)?.as_str().map(str::to_owned),
            position: row.get(1)?.as_u64(),
            text: row.get(2)?.as_str()?.to_owned(),
            done: false,
        })
    };
    let rows: Option<Vec<Delivery>> = gold.get("events")?.as_array()?.iter().map(row).collect();
    let mut rows = rows?;
    rows.push(Delivery {
        done: true,
        ..Delivery::default()
    });
    Some(rows)
}
