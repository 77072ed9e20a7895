//! Recordings that are copied unchanged into a made corpus.
//!
//! Their events keep their times, and they keep their labels and split.

use std::collections::BTreeMap;

use super::Synth;
use super::spec::{SpecError, SpecItem};
use super::transcript::SynthTranscript;
use deadloop_corpus::{Corpus, Entry, LABEL_COLUMNS, LabelCells, Place, Problem};

/// The rows of `labels.csv`, by transcript.
#[derive(Debug, Default)]
pub struct LabelRows(BTreeMap<String, Vec<LabelCells>>);

impl LabelRows {
    /// Reads the labels of a corpus. Empty if it has no `labels.csv`.
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
        let places = LABEL_COLUMNS.map(|name| header.iter().position(|column| column == name));
        for record in reader.records() {
            let record = record.map_err(bad)?;
            let cell = |at: Option<usize>| at.and_then(|at| record.get(at)).unwrap_or_default();
            let row = places.map(|at| cell(at).to_owned());
            rows.entry(row[0].clone()).or_default().push(row);
        }
        Ok(Self(rows))
    }

    /// Returns a recording with its rows.
    pub fn recorded(&self, entry: Entry) -> SynthTranscript {
        let rows = self.0.get(&entry.transcript.id).cloned();
        SynthTranscript {
            entry,
            labels: Vec::new(),
            rows: rows.unwrap_or_default(),
        }
    }
}

impl<'a> Synth<'a> {
    /// Returns the recordings that an item may take, in the order of its sources.
    pub(super) fn recordings(&self, item: &'a SpecItem) -> Vec<&'a SynthTranscript> {
        let sources = item.sources.iter();
        let recorded = sources.filter_map(|at| self.stock.recorded.get(*at));
        recorded.flatten().collect()
    }

    /// Returns the recording at `at`. Its split is removed if the spec has no splits.
    pub(super) fn copy_recording(
        &self,
        item: &'a SpecItem,
        at: usize,
    ) -> Result<SynthTranscript, SpecError> {
        let none = || self.draw_failure(item, &item.name, "no such recording");
        let mut made = SynthTranscript::clone(self.recordings(item).get(at).ok_or_else(none)?);
        if self.spec.test() == 0.0 {
            made.entry.split = None;
        }
        Ok(made)
    }
}
