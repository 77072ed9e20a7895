//! Writes the corpus: transcripts, labels, splits, card.

use std::error::Error;
use std::io::Write;
use std::path::Path;

use deadloop_corpus::synth::COLUMNS;
use deadloop_corpus::{Beside, CorpusWriter};

use crate::item::{Item, Label};

const CARD: &str = include_str!("../../../../datasets/sources/starter.toml");

/// Writes everything, over what an earlier build left there.
pub(crate) fn write(out: &Path, parts: &[(&str, Vec<Item>)]) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(out.join("transcripts"))?;
    for (name, items) in parts {
        let path = out.join(format!("transcripts/{name}.jsonl.zst"));
        let mut writer = CorpusWriter::create(&path, true)?;
        items
            .iter()
            .try_for_each(|item| writer.write(&item.entry))?;
        writer.finish()?;
    }
    let items: Vec<&Item> = parts.iter().flat_map(|(_, items)| items).collect();
    table(
        &out.join("labels.csv"),
        &COLUMNS,
        items.iter().flat_map(|item| label_rows(item)),
    )?;
    table(
        &out.join("splits.csv"),
        &["transcript", "split"],
        items.iter().map(|item| split_row(item)),
    )?;
    let mut card = Beside::create(&out.join("dataset.toml"), true)?;
    card.write_all(CARD.as_bytes())?;
    card.finish()?;
    Ok(())
}

fn table(
    path: &Path,
    header: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) -> Result<(), Box<dyn Error>> {
    let mut writer = csv::Writer::from_writer(Beside::create(path, true)?);
    writer.write_record(header)?;
    for row in rows {
        writer.write_record(row)?;
    }
    writer.into_inner().map_err(|e| e.to_string())?.finish()?;
    Ok(())
}

fn label_rows(item: &Item) -> impl Iterator<Item = Vec<String>> {
    let id = &item.entry.transcript.id;
    item.labels.iter().map(|label| label_row(id, label))
}

fn label_row(id: &str, label: &Label) -> Vec<String> {
    let number = |value: Option<u64>| value.map(|n| n.to_string()).unwrap_or_default();
    vec![
        id.to_owned(),
        label.class.clone(),
        label.kind.clone(),
        label.channel.clone(),
        number(label.start),
        number(label.onset),
        number(label.earliest),
        number(label.end),
        number(label.period),
        label.by.clone(),
        label.note.clone(),
    ]
}

fn split_row(item: &Item) -> Vec<String> {
    let split = item.entry.split.clone().unwrap_or_default();
    vec![item.entry.transcript.id.clone(), split]
}
