//! The real recordings: kept event by event, their labels moved out of them and corrected.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use deadloop_corpus::Corpus;
use deadloop_corpus::plant::Rng;
use serde_json::Value;

use crate::item::{Item, Label, Splits};
use crate::sources::{self, Correction, Corrections, LeftOut};

/// Reads all of them.
pub(crate) fn read(path: &Path, rng: &mut Rng) -> Result<Vec<Item>, Box<dyn Error>> {
    let mut items = Vec::new();
    for entry in Corpus::open(path)?.entries() {
        let mut entry = entry?;
        let labels = labels(entry.labels.take())?;
        let meta = &mut entry.transcript.meta;
        meta.insert("source".to_owned(), Value::from("local-lm"));
        items.push(Item { entry, labels });
    }
    let Corrections {
        correction,
        left_out,
        ..
    } = sources::corrections()?;
    correct(&mut items, correction)?;
    // Dealt before any is left out: no other one moves.
    split(&mut items, rng);
    leave_out(&mut items, &left_out)?;
    Ok(items)
}

/// Puts in the labels that came into doubt after loops had been planted into these texts.
pub(crate) fn doubt(items: &mut [Item]) -> Result<(), Box<dyn Error>> {
    correct(items, sources::corrections()?.doubted)
}

fn labels(value: Option<Value>) -> Result<Vec<Label>, Box<dyn Error>> {
    let Some(Value::Array(labels)) = value else {
        return Err("a recording without labels".into());
    };
    Ok(labels.iter().map(label).collect())
}

fn label(value: &Value) -> Label {
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let (onset, period) = (value["onset"].as_u64(), value["period"].as_u64());
    let before = onset
        .zip(period)
        .map(|(onset, period)| onset.saturating_sub(period));
    Label {
        class: text("class"),
        kind: text("kind"),
        channel: text("channel"),
        start: value["start"].as_u64().or(before),
        onset,
        earliest: value["earliest"].as_u64(),
        end: value["end"].as_u64(),
        period,
        by: text("by"),
        note: String::new(),
    }
}

/// Takes out what says the same as another recording.
fn leave_out(items: &mut Vec<Item>, left_out: &[LeftOut]) -> Result<(), Box<dyn Error>> {
    for out in left_out {
        let is_other = |item: &Item| item.entry.transcript.id != out.transcript;
        let before = items.len();
        items.retain(is_other);
        if items.len() == before {
            return Err(format!("{}: left out, but no recording", out.transcript).into());
        }
    }
    Ok(())
}

fn correct(items: &mut [Item], corrections: Vec<Correction>) -> Result<(), Box<dyn Error>> {
    let corrections = corrections.into_iter();
    let mut corrections: BTreeMap<_, _> = corrections.map(|c| (c.transcript.clone(), c)).collect();
    for item in items {
        let id = &item.entry.transcript.id;
        if let Some(correction) = corrections.remove(id) {
            if item.labels.len() != 1 {
                return Err(format!("{id}: a correction, but not exactly one label").into());
            }
            item.labels = vec![corrected(correction)];
        }
    }
    match corrections.into_keys().next() {
        Some(id) => Err(format!("{id}: a correction for no recording").into()),
        None => Ok(()),
    }
}

fn corrected(correction: Correction) -> Label {
    Label {
        class: correction.class,
        kind: correction.kind,
        channel: correction.channel,
        start: correction.start,
        onset: correction.onset,
        earliest: correction.earliest,
        end: None,
        period: correction.period,
        by: "review".to_owned(),
        note: correction.note,
    }
}

fn split(items: &mut [Item], rng: &mut Rng) {
    let group = |item: &Item| item.entry.transcript.group.clone().unwrap_or_default();
    let splits = Splits::deal(items.iter().map(group), rng);
    for item in items {
        item.entry.split = Some(splits.of(&group(item)).to_owned());
    }
}
