//! Labels, splits and cards of imported corpora.

use std::path::PathBuf;
use std::sync::Arc;

use deadloop_corpus::{Corpus, Entry, Ids, Problem};
use deadloop_score::{LabelRow, LabelsFile};

/// The files beside the transcripts of all imported corpora.
#[derive(Default)]
pub(super) struct CarriedFiles {
    corpora: Vec<SideFiles>,
    /// The transcripts that have a split, with that split.
    pub(super) splits: Vec<[String; 2]>,
    /// The number of transcripts left out because of a bad row of labels.
    pub(super) left_out: u64,
}

/// The files beside the transcripts of one corpus.
struct SideFiles {
    folder: PathBuf,
    corpus: Arc<Corpus>,
    labels: Option<LabelsFile>,
    /// The ids of its transcripts, with or without bad rows of labels.
    ids: Ids,
}

impl CarriedFiles {
    /// Reads the labels. Also returns their problems.
    pub(super) fn read(import: &deadloop_import::Import) -> (Self, Vec<Problem>) {
        let mut carried = Self::default();
        let mut problems = Vec::new();
        for (folder, corpus) in import.corpora() {
            let read = corpus.labels_csv().map(LabelsFile::read);
            let (labels, bad) = read.unzip();
            problems.extend(bad.into_iter().flatten());
            carried.corpora.push(SideFiles {
                folder: folder.to_path_buf(),
                corpus: Arc::clone(corpus),
                labels,
                ids: Ids::default(),
            });
        }
        (carried, problems)
    }

    /// Adds a transcript. Returns false if its labels are bad.
    pub(super) fn takes(&mut self, entry: &Entry) -> Result<bool, Problem> {
        let id = &entry.transcript.id;
        let file = entry.place.file.as_path();
        let mut corpora = self.corpora.iter_mut();
        if let Some(corpus) = corpora.find(|corpus| file.starts_with(&corpus.folder)) {
            corpus.ids.insert(id, &entry.place)?;
            if corpus
                .labels
                .as_ref()
                .is_some_and(|labels| labels.is_bad(id))
            {
                self.left_out += 1;
                return Ok(false);
            }
        }
        let split = entry.split.iter();
        self.splits
            .extend(split.map(|split| [id.clone(), split.clone()]));
        Ok(true)
    }

    /// Returns the labels file beside a transcript, if its corpus has one.
    pub(super) fn labels_beside(&self, entry: &Entry) -> Option<&LabelsFile> {
        let file = entry.place.file.as_path();
        let mut corpora = self.corpora.iter();
        let corpus = corpora.find(|corpus| file.starts_with(&corpus.folder))?;
        corpus.labels.as_ref()
    }

    /// Returns the problems of labels and splits, once all transcripts are known.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let of = |corpus: &SideFiles| {
            let labels = corpus.labels.as_ref();
            let mut problems = labels.map_or(Vec::new(), |labels| labels.orphans(&corpus.ids));
            problems.extend(corpus.corpus.bad_splits());
            problems.extend(corpus.corpus.stray_splits(&corpus.ids));
            problems
        };
        self.corpora.iter().flat_map(of).collect()
    }

    /// Returns the card, if the import is of exactly one corpus.
    pub(super) fn card(&self, files: &[PathBuf]) -> Option<PathBuf> {
        match (&self.corpora[..], files) {
            ([only], [file]) if only.folder == *file && only.corpus.card().is_some() => {
                Some(file.join("dataset.toml"))
            }
            _ => None,
        }
    }

    /// Returns the labels of the added transcripts, in the order of their files.
    pub(super) fn labels(&self) -> Vec<LabelRow> {
        let rows = self.corpora.iter().flat_map(|corpus| {
            let rows = corpus.labels.iter().flat_map(LabelsFile::rows);
            rows.filter(|row| corpus.ids.contains(&row.transcript))
        });
        rows.cloned().collect()
    }
}
