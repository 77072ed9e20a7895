//! Run of a [`Variant`] on one stream, with a measurement of the delay.
//!
//! The stream's intended meaning is not known here.

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_repair::meaning::{Action, Delivery, Meaning};
use deadloop_repair::registry::StreamKind;
use serde_json::Value as Json;

use super::delay::{Delay, mend_with_delay};
use super::{RepairMethod, Variant};
use crate::program::MenderAnswer;

/// A stream in the order of arrival.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrivedStream {
    /// The text of an answer, of arguments or of a name.
    Text(String),
    /// Events with ids and positions.
    Events(Vec<Delivery>),
}

impl ArrivedStream {
    /// Returns the stream of this kind in a transcript. `None` if there is none.
    ///
    /// This is the answer, the arguments or the name of the first call, or the events.
    pub fn from_transcript(transcript: &Transcript, kind: StreamKind) -> Option<Self> {
        match kind {
            StreamKind::Tags | StreamKind::Think | StreamKind::Text => {
                Some(Self::Text(transcript.answer()))
            }
            StreamKind::Arguments => first_call(transcript).map(|(_, written)| Self::Text(written)),
            StreamKind::Name => first_call(transcript).map(|(name, _)| Self::Text(name)),
            StreamKind::Events => Some(Self::Events(read_deliveries(transcript))),
        }
    }
}

/// The content of a variant's output.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputContent {
    /// The meaning of a text, arguments and names included.
    Meaning(Meaning),
    /// Events with ids and positions.
    Events(Vec<Delivery>),
}

/// The output of a variant for a stream, and its delay.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantOutput {
    /// The repaired stream.
    pub out: OutputContent,
    /// The delay of text. `None` for events, for programs, and without repair.
    pub delay: Option<Delay>,
}

impl Variant {
    /// Runs the variant on a stream. `ask` runs the program, if the variant is one. Returns `None` if the variant does
    /// not read this kind of stream.
    ///
    /// # Errors
    /// Returns the error of the program.
    pub fn mend(
        &self,
        arrived: &ArrivedStream,
        ask: impl FnOnce() -> Result<MenderAnswer, String>,
    ) -> Option<Result<VariantOutput, String>> {
        let mut delay = None;
        let out = match (&self.method, arrived) {
            (RepairMethod::Nothing(_), ArrivedStream::Text(text)) => {
                OutputContent::Meaning(meaning_of_text(text.clone()))
            }
            (RepairMethod::Nothing(_), ArrivedStream::Events(events)) => {
                OutputContent::Events(events.clone())
            }
            (RepairMethod::Builtin(repairer, params), ArrivedStream::Text(text)) => {
                let (meaning, measured) = mend_with_delay(repairer, params, text)?;
                delay = Some(measured);
                OutputContent::Meaning(meaning)
            }
            (RepairMethod::Builtin(repairer, params), ArrivedStream::Events(events)) => {
                let mut machine = repairer.event_repairer(params)?;
                let mut out = Vec::new();
                events
                    .iter()
                    .for_each(|event| machine.push(event.clone(), &mut out));
                machine.finish(&mut out);
                OutputContent::Events(out)
            }
            (RepairMethod::Program(..), _) => {
                match ask().and_then(|answer| read_answer(&answer, self.stream())) {
                    Ok(out) => out,
                    Err(what) => return Some(Err(what)),
                }
            }
        };
        Some(Ok(VariantOutput { out, delay }))
    }
}

/// Creates the meaning of a stream that is only text.
fn meaning_of_text(text: String) -> Meaning {
    Meaning {
        text,
        ..Meaning::default()
    }
}

/// Converts the answer of a program to output of this kind of stream.
fn read_answer(answer: &MenderAnswer, kind: StreamKind) -> Result<OutputContent, String> {
    let text = |name: &str| answer.fields.get(name).and_then(Json::as_str).unwrap_or("");
    if kind == StreamKind::Events {
        return Err("programs that mend events are not asked".into());
    }
    if !kind.is_answer() {
        let text = match answer.fields.get(kind.name()) {
            Some(Json::String(text)) => text.clone(),
            None | Some(Json::Null) => String::new(),
            Some(value) => value.to_string(),
        };
        return Ok(OutputContent::Meaning(meaning_of_text(text)));
    }
    let read = |action: &Json| {
        let of = |name: &str| {
            action
                .get(name)
                .and_then(Json::as_str)
                .unwrap_or("")
                .to_owned()
        };
        let fields = action.get("fields").and_then(Json::as_object);
        let fields = fields.into_iter().flatten().map(|(name, value)| {
            (
                name.clone(),
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned),
            )
        });
        Action {
            name: of("name"),
            number: action
                .get("number")
                .and_then(Json::as_u64)
                .and_then(|n| u32::try_from(n).ok()),
            fields: fields.collect(),
            content: of("content"),
        }
    };
    let actions = answer.fields.get("actions").and_then(Json::as_array);
    Ok(OutputContent::Meaning(Meaning {
        reasoning: text("reasoning").to_owned(),
        text: text("text").to_owned(),
        actions: actions.into_iter().flatten().map(read).collect(),
    }))
}

/// Returns the name and the arguments of the first call.
fn first_call(transcript: &Transcript) -> Option<(String, String)> {
    transcript
        .events
        .iter()
        .find_map(|event| match &event.body {
            Body::ToolCall {
                name, arguments, ..
            } => Some((name.clone(), args_text(arguments))),
            _ => None,
        })
}

/// Returns the text of a call's arguments. Arguments that were not recorded as text are formatted as JSON.
pub fn args_text(arguments: &Json) -> String {
    match arguments {
        Json::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn read_deliveries(transcript: &Transcript) -> Vec<Delivery> {
    let event = |event: &RecordedEvent| match &event.body {
        Body::Answer(text) => Some(Delivery {
            id: event
                .rest
                .get("event_id")
                .and_then(Json::as_str)
                .map(str::to_owned),
            position: event.rest.get("position").and_then(Json::as_u64),
            text: text.clone(),
            done: false,
        }),
        Body::Finish { .. } => Some(Delivery {
            done: true,
            ..Delivery::default()
        }),
        _ => None,
    };
    transcript.events.iter().filter_map(event).collect()
}

/// Copies a transcript without `meta`, so that a program that gets the copy cannot read the label.
pub fn without_metadata(transcript: &Transcript) -> Transcript {
    Transcript {
        meta: serde_json::Map::new(),
        ..transcript.clone()
    }
}
