//! Recordings that are copied unchanged into a synthetic corpus.
//!
//! They keep their times, their labels and their split.

use std::collections::BTreeMap;

use super::Synth;
use super::spec::{SpecItem, SpecResult};
use super::transcript::SynthTranscript;
use deadloop_corpus::{Corpus, Entry, LABEL_COLUMNS, LabelCells, Place, Problem};

/// Rows of `labels.csv`, by transcript.
#[derive(Debug, Default)]
pub struct LabelRows(BTreeMap<String, Vec<LabelCells>>);

impl LabelRows {
    /// Reads the labels of a corpus. Empty if the corpus has no `labels.csv`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read as CSV.
    pub fn read(corpus: &Corpus) -> Result<Self, Problem> {
        let mut rows: BTreeMap<String, Vec<LabelCells>> = BTreeMap::new();
        let Some(path) = corpus.labels_csv() else {
            return Ok(Self(rows));
        };
        let bad = |e: csv::Error| {
            let what = e.to_string();
            Problem::new(Place::whole(path), what, "a table of labels")
        };
        let mut reader = csv::Reader::from_path(path).map_err(bad)?;
        let header = reader.headers().map_err(bad)?.clone();
        let indices = LABEL_COLUMNS.map(|name| header.iter().position(|column| column == name));
        for record in reader.records() {
            let record = record.map_err(bad)?;
            let cell = |nth: Option<usize>| nth.and_then(|nth| record.get(nth)).unwrap_or_default();
            let row = indices.map(|nth| cell(nth).to_owned());
            rows.entry(row[0].clone()).or_default().push(row);
        }
        Ok(Self(rows))
    }

    /// Creates a synthetic transcript from a recording, with its label rows.
    pub fn convert(&self, entry: Entry) -> SynthTranscript {
        let rows = self.0.get(&entry.transcript.id).cloned();
        SynthTranscript {
            entry,
            labels: Vec::new(),
            rows: rows.unwrap_or_default(),
        }
    }
}

impl<'a> Synth<'a> {
    /// Returns the recordings that an item may copy, in the order of its sources.
    pub(super) fn recordings(&self, item: &'a SpecItem) -> Vec<&'a SynthTranscript> {
        let sources = item.sources.iter();
        let recorded = sources.filter_map(|nth| self.stock.recorded.get(*nth));
        recorded.flatten().collect()
    }

    /// Copies a recording. Its split is removed if the spec has no splits.
    pub(super) fn copy_recording(
        &self,
        item: &'a SpecItem,
        nth: usize,
    ) -> SpecResult<SynthTranscript> {
        let none = || self.draw_failure(item, &item.name, "no such recording");
        let mut made = SynthTranscript::clone(self.recordings(item).get(nth).ok_or_else(none)?);
        if self.spec.test_fraction() == 0.0 {
            made.entry.split = None;
        }
        Ok(made)
    }
}
