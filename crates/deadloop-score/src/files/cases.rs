//! cases.jsonl: what the outcomes beside it are about, so that two results can be held against each
//! other. First how alarms were judged and the settings, then one line a transcript with its label.
//! Like every file but the manifest it knows no time and no place: the same run, the same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufWriter, Write};
use std::path::Path;

use deadloop_replay::Plan;
use deadloop_replay::corpus::{if_named, read_text};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::settings::setting_toml;
use super::store::{FileError, beside};
use crate::judge::JudgeOptions;
use crate::truth::{Cases, Span, Truth, copies};

/// The name of the file.
const NAME: &str = "cases.jsonl";

/// The first line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// How alarms were judged.
    pub judge: JudgeOptions,
    /// Chars of the chunks that recordings were cut into; `None`: as they were recorded.
    pub chunks: Option<u64>,
    /// The settings that have outcomes, by id.
    pub settings: BTreeMap<String, Described>,
}

/// A setting, as it can be run again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Described {
    /// What it is called: `document`, `current`, `chosen`, …
    pub names: Vec<String>,
    /// The text of its settings file.
    pub toml: String,
}

impl About {
    /// What there is to say about `cells` of a plan; `names` are the manifest's.
    pub fn of(
        plan: &Plan,
        cells: &[usize],
        cases: &(impl Cases + ?Sized),
        names: &BTreeMap<String, Vec<String>>,
    ) -> Self {
        let mut models: BTreeSet<String> = BTreeSet::new();
        cases.each(|_, case| {
            if !models.contains(&*case.model) {
                models.insert(case.model.to_string());
            }
        });
        let models: BTreeSet<&str> = models.iter().map(String::as_str).collect();
        let describe = |cell: &usize| {
            let id = plan.id(*cell);
            let described = Described {
                names: names.get(&id).cloned().unwrap_or_default(),
                toml: setting_toml(plan, *cell, &models),
            };
            (id, described)
        };
        Self {
            settings: cells.iter().map(describe).collect(),
            ..Self::default()
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Line {
    transcript: String,
    label: Value,
    /// The transcript that it is a copy of, where it is one: both are one piece of evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    copy_of: Option<String>,
}

/// Writes `cases.jsonl`.
pub fn write_cases(
    dir: &Path,
    about: &About,
    cases: &(impl Cases + ?Sized),
) -> Result<(), FileError> {
    let path = dir.join(NAME);
    let failed = |e: &dyn std::fmt::Display| FileError::at(&path, e);
    let mut file = BufWriter::new(beside(&path)?);
    let mut put = |line: serde_json::Result<String>| {
        let line = line.map_err(|e| failed(&e))?;
        writeln!(file, "{line}").map_err(|e| failed(&e))
    };
    put(serde_json::to_string(about))?;
    let copies = copies(cases, about.judge.unit);
    (0..cases.number()).try_for_each(|index| {
        put(cases.on(index, |case| {
            serde_json::to_string(&Line {
                transcript: case.id.to_string(),
                label: label(case.truth.as_ref()),
                copy_of: copies.get(&*case.id).cloned(),
            })
        }))
    })?;
    let file = file.into_inner().map_err(|e| failed(&e.error()))?;
    Ok(file.finish()?)
}

/// What the file says of the transcripts, by their ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct DescribedCases {
    /// The label of each.
    pub(crate) labels: BTreeMap<String, Value>,
    /// Of those that are copies, which transcript they are a copy of.
    pub(crate) copies: BTreeMap<String, String>,
}

/// Reads it: the first line, and what is said of each transcript. `None` where there is no such file.
pub(crate) fn read_cases(dir: &Path) -> Result<Option<(About, DescribedCases)>, FileError> {
    let path = dir.join(NAME);
    let read = if_named(read_text(&path)).map_err(|e| FileError::at(&path, e))?;
    let Some(text) = read else {
        return Ok(None);
    };
    let failed = |n: usize, e| FileError::at(&path, format!("line {n}: {e}"));
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let about = serde_json::from_str(first).map_err(|e| failed(1, e))?;
    let mut cases = DescribedCases::default();
    for (i, line) in lines.enumerate() {
        let line: Line = serde_json::from_str(line).map_err(|e| failed(i + 2, e))?;
        if let Some(original) = line.copy_of {
            cases.copies.insert(line.transcript.clone(), original);
        }
        cases.labels.insert(line.transcript, line.label);
    }
    Ok(Some((about, cases)))
}

/// A label as it is compared: all that a verdict can depend on.
pub(crate) fn label(truth: Option<&Truth>) -> Value {
    let Some(truth) = truth else {
        return Value::Null;
    };
    let span = |s: &Span| {
        json!({
            "class": s.class, "kind": s.kind, "channel": s.channel, "start": s.start,
            "onset": s.onset, "earliest": s.earliest, "end": s.end, "open": s.open,
            "period": s.period,
        })
    };
    let spans: Vec<Value> = truth.spans.iter().map(span).collect();
    json!({"class": truth.class, "spans": spans})
}
