//! Samples of lm-evaluation-harness (`--log_samples`, `samples_<task>_<time>.jsonl`).
//!
//! A line is a document of a task, with its requests (`arguments`) and answers (`resps`: for each request the answers
//! of its repeats).
//!
//! A document occurs once for each filter, with the same answers. These are taken only once. A request for likelihoods
//! has no text.

use std::collections::HashSet;

use serde_json::Value;

use crate::reader::{Intake, RecordReader, entry, keep, known_entry};
use crate::sessions::conversation::group_of;
use crate::source::records::SourceRecord;
use deadloop_corpus::RecordedEvent;
use deadloop_stream::fields::{self, Object};
use deadloop_stream::wire::WireFault;

known_entry! { LmEval = is_lm_eval, "lm-eval", "samples of lm-evaluation-harness: doc_id, arguments, resps"; }

fn is_lm_eval(object: &Object) -> bool {
    object.contains_key("doc_id") && object.contains_key("resps")
}

#[derive(Default)]
struct LmEval {
    /// The ids of the documents already taken from the file.
    taken: HashSet<String>,
}

impl RecordReader for LmEval {
    fn take(&mut self, record: SourceRecord, out: &mut Intake) -> Result<(), WireFault> {
        let (place, mut object) = record.into_place_and_object()?;
        let id = fields::any(&mut object, "doc_id");
        let id = match id.ok_or_else(|| fields::missing("doc_id", "a number"))? {
            Value::String(id) => id,
            Value::Number(id) => id.to_string(),
            other => return Err(fields::wrong("doc_id", &other, "a number")),
        };
        let resps = fields::list(&mut object, "resps")?;
        let resps =
            resps.ok_or_else(|| fields::missing("resps", "a list of answers for each request"))?;
        let prompts = prompts(fields::any(&mut object, "arguments"));
        if !self.taken.insert(id.clone()) {
            out.losses.add("(the same document with another filter)");
            return Ok(());
        }
        let texts = texts(resps);
        if texts.is_empty() {
            out.losses.add("resps (likelihoods)");
        }
        let several = texts.len() > 1;
        let scores = scores(&mut object)?;
        for (number, (request, text)) in texts.into_iter().enumerate() {
            let events = out.split_thinking(text).map(RecordedEvent::new);
            let mut entry = entry(place.clone(), events.collect());
            let transcript = &mut entry.transcript;
            transcript.id = format!("{}/{id}", out.stem());
            if several {
                transcript.id += &format!("/{number}");
            }
            transcript.group = prompts.get(request).map(|prompt| group_of(prompt));
            for (name, value) in &scores {
                keep(&mut transcript.meta, name, Some(value.clone()));
            }
            out.emit(entry);
        }
        for text in ["doc", "target", "filtered_resps"] {
            if fields::any(&mut object, text).is_some() {
                out.losses.add(text);
            }
        }
        out.losses.rest("", &object);
        Ok(())
    }
}

/// Returns the texts of the answers, each with the number of its request.
fn texts(resps: Vec<Value>) -> Vec<(usize, String)> {
    let mut texts = Vec::new();
    for (request, answers) in resps.into_iter().enumerate() {
        let answers = match answers {
            Value::Array(answers) => answers,
            one => vec![one],
        };
        texts.extend(answers.into_iter().filter_map(|answer| match answer {
            Value::String(text) => Some((request, text)),
            _ => None,
        }));
    }
    texts
}

/// Returns the prompt of each request: `{"gen_args_0": {"arg_0": …}}`, and in older files `[[…, {…}]]`.
fn prompts(arguments: Option<Value>) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match arguments {
        Some(Value::Object(requests)) => {
            let first = requests.values().filter_map(|request| request.get("arg_0"));
            first.map(text).collect()
        }
        Some(Value::Array(requests)) => {
            let first = requests.iter().filter_map(|request| request.get(0));
            first.map(text).collect()
        }
        _ => Vec::new(),
    }
}

/// Takes the scores of the answer, and the hashes of document and prompt.
fn scores(object: &mut Object) -> Result<Vec<(String, Value)>, WireFault> {
    let metrics = fields::list(object, "metrics")?.unwrap_or_default();
    let metrics = metrics.iter().filter_map(Value::as_str).map(str::to_owned);
    let others = ["filter", "doc_hash", "prompt_hash", "target_hash"].map(str::to_owned);
    let names: Vec<String> = metrics.chain(others).collect();
    let numbers = names.into_iter().filter_map(|name| {
        let value = object.remove(&name)?;
        Some((name, value))
    });
    Ok(numbers.collect())
}
