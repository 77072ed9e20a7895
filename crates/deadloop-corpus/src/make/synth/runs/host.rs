//! Hosts: runs as turns, each with its calls and what came of them, ready to be cut and repeated.

use serde_json::{Map, Value as Json};

use super::{Failed, script};
use crate::find::{Benign, Reason};
use crate::make::synth::spec::Form;
use crate::make::synth::spec::REASONS;
use crate::stream;
use crate::{Body, Entry, RecordedEvent};

/// A real run that something can be planted into.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The transcript's id.
    pub id: String,
    /// The model that ran.
    pub model: String,
    /// What it must not be torn apart from.
    pub group: String,
    /// Its language; empty where the recording does not say.
    pub lang: String,
    /// All its events.
    pub events: Vec<RecordedEvent>,
    /// Its repetition that does no harm (`meta.benign`).
    pub benign: Vec<Benign>,
}

impl Run {
    /// None: it calls nothing.
    pub fn of(entry: &Entry) -> Option<Self> {
        let transcript = &entry.transcript;
        let calls = |event: &RecordedEvent| matches!(event.body, Body::ToolCall { .. });
        transcript.events.iter().any(calls).then(|| Self {
            id: transcript.id.clone(),
            model: transcript.model.clone(),
            group: transcript
                .group
                .clone()
                .unwrap_or_else(|| transcript.id.clone()),
            lang: transcript.lang.clone().unwrap_or_default(),
            events: transcript.events.clone(),
            benign: benign(&transcript.meta),
        })
    }
}

/// What `meta.benign` says; what it says wrongly is left out.
fn benign(meta: &Map<String, Json>) -> Vec<Benign> {
    let spans = meta.get("benign").and_then(Json::as_array);
    let one = |span: &Json| {
        let named = |reason: &Reason| span.get("reason") == Some(&reason.to_string().into());
        Some(Benign {
            reason: REASONS.into_iter().find(named)?,
            start: span.get("start")?.as_u64()?,
            end: span.get("end")?.as_u64()?,
        })
    };
    spans.into_iter().flatten().filter_map(one).collect()
}

/// A turn: its first event says that it begins; what a user says after it is its last.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Turn {
    pub(super) events: Vec<RecordedEvent>,
    /// It belongs to a repetition that does no harm.
    pub(super) benign: Option<Reason>,
    /// It is the first of that.
    pub(super) begins: bool,
}

/// A call and what came of it.
pub(super) type Pair<'a> = (&'a str, &'a Json, &'a str, Option<bool>);

impl Turn {
    pub(super) fn new() -> Self {
        Self {
            events: vec![RecordedEvent::of(Body::Turn)],
            ..Self::default()
        }
    }

    /// How many calls it makes.
    pub(super) fn calls(&self) -> usize {
        let is_call = |event: &&RecordedEvent| matches!(event.body, Body::ToolCall { .. });
        self.events.iter().filter(is_call).count()
    }

    /// Its call and result, where it makes one call, hears of it, and nobody speaks in between.
    pub(super) fn pair(&self) -> Option<Pair<'_>> {
        let (mut call, mut heard) = (None, None);
        for event in &self.events {
            match &event.body {
                Body::ToolCall {
                    name, arguments, ..
                } if call.is_none() => {
                    call = Some((name.as_str(), arguments));
                }
                Body::ToolResult { content, error, .. } if heard.is_none() && call.is_some() => {
                    // Of what the recording cut nobody knows whether it is the same.
                    let whole = !event.rest.contains_key("sha256");
                    heard = whole.then_some((content.as_str(), *error));
                    heard?;
                }
                Body::Turn | Body::Reasoning(_) | Body::Answer(_) => {}
                _ => return None,
            }
        }
        let ((name, arguments), (content, error)) = (call?, heard?);
        Some((name, arguments, content, error))
    }

    /// The same turn with another answer to its call.
    pub(super) fn answered(&self, text: &str, failed: Option<bool>) -> Self {
        let mut turn = self.clone();
        for event in &mut turn.events {
            if let Body::ToolResult { content, error, .. } = &mut event.body {
                (*content, *error) = (text.to_owned(), failed);
            }
        }
        turn
    }

    /// The same turn with other arguments.
    pub(super) fn asking(&self, other: &Json) -> Self {
        let mut turn = self.clone();
        for event in &mut turn.events {
            if let Body::ToolCall { arguments, .. } = &mut event.body {
                *arguments = other.clone();
            }
        }
        turn
    }

    /// The same turn without a word.
    pub(super) fn silent(mut self) -> Self {
        let says =
            |event: &RecordedEvent| matches!(event.body, Body::Reasoning(_) | Body::Answer(_));
        self.events.retain(|event| !says(event));
        self
    }

    /// The same turn with this alone to say, before its calls.
    pub(super) fn saying(self, text: &str) -> Self {
        let mut turn = self.silent();
        let at = turn.events.len().min(1);
        let said = RecordedEvent::of(Body::Answer(text.to_owned()));
        turn.events.insert(at, said);
        turn
    }

    pub(super) fn marked(mut self, reason: Reason, begins: bool) -> Self {
        (self.benign, self.begins) = (Some(reason), begins);
        self
    }
}

/// A run before anything is planted.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub(super) from: String,
    pub(super) group: String,
    /// None: no model wrote it.
    pub(super) model: Option<String>,
    pub(super) lang: String,
    /// What is before the first turn.
    pub(super) head: Vec<RecordedEvent>,
    pub(super) turns: Vec<Turn>,
}

impl Host {
    /// A form of class run, rendered.
    pub(super) fn of_script(form: &Form, text: &str) -> Result<Self, Failed> {
        let (head, turns) = script::read(text)?;
        Ok(Self {
            from: format!("form/{}", form.name),
            group: format!("form/{}", form.name),
            model: None,
            lang: form.lang().to_owned(),
            head,
            turns,
        })
    }

    /// A real run. Times, tokens and places of its turns are left out: after what is planted they are wrong.
    pub(super) fn of_run(run: &Run) -> Self {
        let begins: Vec<u64> = stream(&run.events)
            .filter(|(_, event)| matches!(event, deadloop_detect::Event::Turn { .. }))
            .map(|(number, _)| number)
            .collect();
        let mut host = Self {
            from: run.id.clone(),
            group: run.group.clone(),
            model: Some(run.model.clone()),
            lang: run.lang.clone(),
            head: Vec::new(),
            turns: Vec::new(),
        };
        for (number, event) in (0_u64..).zip(&run.events) {
            if begins.binary_search(&number).is_ok() {
                host.turns.push(Turn::new());
            }
            let event = timeless(event);
            match (&event.body, host.turns.last_mut()) {
                (Body::Finish { .. }, _) => {}
                (Body::Turn, Some(turn)) => turn.events = vec![event],
                (_, Some(turn)) => turn.events.push(event),
                (_, None) => host.head.push(event),
            }
        }
        host.mark(&run.benign);
        host
    }

    /// Marks the turns all of whose calls are of a repetition that does no harm.
    fn mark(&mut self, all: &[Benign]) {
        let places = self.places();
        for (turn, place) in self.turns.iter_mut().zip(places.windows(2)) {
            let (start, end) = (place[0] as u64, place[1] as u64);
            let of = all
                .iter()
                .find(|span| span.start <= start && end <= span.end && start < end);
            if let Some(span) = of {
                (turn.benign, turn.begins) = (Some(span.reason), span.start == start);
            }
        }
    }

    /// Calls before each turn, and after the last.
    pub(super) fn places(&self) -> Vec<usize> {
        let mut places = vec![0];
        for turn in &self.turns {
            places.push(places.last().unwrap_or(&0) + turn.calls());
        }
        places
    }

    /// The turns in which `pair` is asked and answered.
    pub(super) fn heard(&self, pair: Pair<'_>) -> usize {
        let same = |turn: &&Turn| turn.pair() == Some(pair);
        self.turns.iter().filter(same).count()
    }
}

/// A turn that makes one call and hears of it.
pub(super) fn called(name: &str, arguments: Json, result: &str, failed: bool) -> Turn {
    let mut turn = Turn::new();
    turn.events.push(RecordedEvent::of(Body::ToolCall {
        id: None,
        name: name.to_owned(),
        arguments,
    }));
    turn.events.push(RecordedEvent::of(Body::ToolResult {
        id: None,
        content: result.to_owned(),
        error: Some(failed),
    }));
    turn
}

fn timeless(event: &RecordedEvent) -> RecordedEvent {
    let mut event = event.clone();
    (event.t_ms, event.tokens) = (None, None);
    if matches!(event.body, Body::Turn) {
        event.rest.retain(|name, _| name == "agent");
    }
    event
}
