//! Counts repairs of recorded arguments that are not JSON.
//!
//! The intended arguments are unknown, so a repair passes if it is an object with the fields and types of other calls
//! of the same tool.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_repair::registry::StreamKind;
use deadloop_replay::MenderAnswer;
use deadloop_replay::repairers::{ArrivedStream, OutputContent, Variant, VariantOutput, args_text};
use deadloop_score::FileError;
use deadloop_score::repairs::{ArgumentRow, write_arguments};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// The calls of a transcript, split by whether their arguments are JSON.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct BrokenCalls {
    /// The value of `meta.source`, or else the model.
    source: String,
    /// The tool and the arguments of each call whose arguments are not JSON.
    texts: Vec<(String, String)>,
    /// The tool of each call whose arguments are a JSON object, with the names and types of the fields.
    fields: Vec<(String, Vec<(String, FieldType)>)>,
}

impl BrokenCalls {
    /// Returns whether all arguments are JSON.
    pub(super) fn is_whole(&self) -> bool {
        self.texts.is_empty()
    }
}

/// Collects the calls of a transcript. Empty if the arguments are not meant to be JSON, or if the transcript has its
/// truth in `meta.gold`.
pub(super) fn find_broken_calls(transcript: &Transcript) -> BrokenCalls {
    let meta = |name: &str| transcript.meta.get(name).and_then(Json::as_str);
    let mut found = BrokenCalls {
        source: meta("source").unwrap_or(&transcript.model).to_owned(),
        ..BrokenCalls::default()
    };
    if meta("args") == Some("text") || transcript.meta.contains_key("gold") {
        return found;
    }
    for event in &transcript.events {
        let Body::ToolCall {
            name, arguments, ..
        } = &event.body
        else {
            continue;
        };
        let text = args_text(arguments);
        match serde_json::from_str::<Json>(&text) {
            Ok(Json::Object(fields)) => {
                let typed = fields
                    .iter()
                    .map(|(name, value)| (name.clone(), FieldType::from_value(value)));
                found.fields.push((name.clone(), typed.collect()));
            }
            Ok(_) => {}
            Err(_) => found.texts.push((name.clone(), text)),
        }
    }
    found
}

deadloop_detect::words! {
    /// The JSON type of a field.
    enum FieldType {
        Null = "null",
        Boolean = "boolean",
        Number = "number",
        String = "string",
        Array = "array",
        Object = "object",
    }
}

impl FieldType {
    fn from_value(value: &Json) -> Self {
        match value {
            Json::Null => Self::Null,
            Json::Bool(_) => Self::Boolean,
            Json::Number(_) => Self::Number,
            Json::String(_) => Self::String,
            Json::Array(_) => Self::Array,
            Json::Object(_) => Self::Object,
        }
    }
}

/// The fields of the valid calls of a tool.
#[derive(Default)]
struct CallShape {
    /// The types that each field has.
    types: BTreeMap<String, BTreeSet<FieldType>>,
    /// The fields that every call has. `None` before the first call.
    needed: Option<BTreeSet<String>>,
}

impl CallShape {
    fn add_call(&mut self, fields: &[(String, FieldType)]) {
        for (name, kind) in fields {
            self.types.entry(name.clone()).or_default().insert(*kind);
        }
        let there: BTreeSet<String> = fields.iter().map(|(name, _)| name.clone()).collect();
        self.needed = Some(match self.needed.take() {
            None => there,
            Some(needed) => needed.intersection(&there).cloned().collect(),
        });
    }

    fn matches(&self, value: &Json) -> bool {
        let Some(fields) = value.as_object() else {
            return false;
        };
        let known = |(name, value): (&String, &Json)| {
            self.types
                .get(name)
                .is_some_and(|types| types.contains(&FieldType::from_value(value)))
        };
        let needed = self.needed.iter().flatten();
        fields.iter().all(known) && needed.into_iter().all(|name| fields.contains_key(name))
    }
}

/// The counts of the results of a variant on the broken arguments of one source.
#[derive(Clone, Copy, Default)]
struct ArgumentCounts {
    broken: u64,
    parsed: u64,
    objects: u64,
    valid: u64,
    errors: u64,
}

/// Writes `arguments.csv`, with the results of each variant on the broken arguments of each source. `ask` runs the
/// program of the variant at an index. Returns the total number of broken arguments.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub(super) fn write_broken(
    dir: &Path,
    found: &[BrokenCalls],
    variants: &[Variant],
    ask: impl Fn(usize, &Transcript) -> Result<MenderAnswer, String>,
) -> Result<u64, FileError> {
    let mut shapes: BTreeMap<&str, CallShape> = BTreeMap::new();
    for (tool, fields) in found.iter().flat_map(|broken| &broken.fields) {
        shapes.entry(tool).or_default().add_call(fields);
    }
    let mut counts: BTreeMap<(String, usize), ArgumentCounts> = BTreeMap::new();
    let reads = |variant: &Variant| variant.stream() == StreamKind::Arguments;
    let mut all = 0;
    for broken in found {
        for (tool, text) in &broken.texts {
            all += 1;
            let shape = shapes.get(tool.as_str());
            for (at, variant) in variants
                .iter()
                .enumerate()
                .filter(|(_, v)| v.shown && reads(v))
            {
                let counts = counts.entry((broken.source.clone(), at)).or_default();
                counts.broken += 1;
                match repair_arguments(variant, tool, text, |asked| ask(at, asked)) {
                    Err(_) => counts.errors += 1,
                    Ok(given) => {
                        let value = serde_json::from_str::<Json>(&given).ok();
                        counts.parsed += u64::from(value.is_some());
                        counts.objects += u64::from(value.as_ref().is_some_and(Json::is_object));
                        let valid = value.is_some_and(|v| shape.is_some_and(|s| s.matches(&v)));
                        counts.valid += u64::from(valid);
                    }
                }
            }
        }
    }
    if all == 0 {
        return Ok(0);
    }
    let row = |((source, at), c): ((String, usize), ArgumentCounts)| ArgumentRow {
        source: Some(source.replace([',', '"', '\n'], " ").into()),
        variant: Some(variants[at].name.as_str().into()),
        broken: Some(c.broken),
        parsed: Some(c.parsed),
        objects: Some(c.objects),
        schema_valid: Some(c.valid),
        errors: Some(c.errors),
    };
    let rows: Vec<ArgumentRow> = counts.into_iter().map(row).collect();
    write_arguments(dir, &rows)?;
    Ok(all)
}

/// Returns the arguments after repair by a variant. `ask` runs its program, if it is one.
fn repair_arguments(
    variant: &Variant,
    tool: &str,
    text: &str,
    ask: impl FnOnce(&Transcript) -> Result<MenderAnswer, String>,
) -> Result<String, String> {
    let call = || Body::ToolCall {
        id: None,
        name: tool.to_owned(),
        arguments: Json::String(text.to_owned()),
    };
    let asked = || Transcript {
        id: "broken".to_owned(),
        model: "unknown".to_owned(),
        events: vec![RecordedEvent::new(call())],
        ..Transcript::default()
    };
    let made = variant.mend(&ArrivedStream::Text(text.to_owned()), || ask(&asked()));
    match made.transpose()? {
        Some(VariantOutput {
            out: OutputContent::Meaning(meaning),
            ..
        }) => Ok(meaning.text),
        _ => Ok(String::new()),
    }
}
