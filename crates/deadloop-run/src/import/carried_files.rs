//! [`CarriedFiles`]: labels, splits and cards of imported corpora.

use std::path::PathBuf;
use std::sync::Arc;

use deadloop_corpus::{Corpus, Entry, Ids, Problem};
use deadloop_score::{LabelRow, LabelsFile};

/// The labels, splits and cards of all imported corpora.
#[derive(Default)]
pub(super) struct CarriedFiles {
    corpora: Vec<CorpusSideFiles>,
    /// The ids of the transcripts with a split, each with its split.
    pub(super) splits: Vec<[String; 2]>,
    /// The number of transcripts left out because of an invalid row of labels.
    pub(super) left_out: u64,
}

/// The labels, splits and card of one imported corpus.
struct CorpusSideFiles {
    folder: PathBuf,
    corpus: Arc<Corpus>,
    labels: Option<LabelsFile>,
    /// The ids of all its transcripts, including those with invalid rows of labels.
    ids: Ids,
}

impl CarriedFiles {
    /// Reads the labels of all imported corpora. Also returns their problems.
    pub(super) fn read(import: &deadloop_import::Import) -> (Self, Vec<Problem>) {
        let mut carried = Self::default();
        let mut problems = Vec::new();
        for (folder, corpus) in import.corpora() {
            let read = corpus.labels_csv().map(LabelsFile::read);
            let (labels, bad) = read.unzip();
            problems.extend(bad.into_iter().flatten());
            carried.corpora.push(CorpusSideFiles {
                folder: folder.to_path_buf(),
                corpus: Arc::clone(corpus),
                labels,
                ids: Ids::default(),
            });
        }
        (carried, problems)
    }

    /// Adds a transcript with its split. Returns `false` if the transcript must be left out, since its labels are
    /// invalid.
    pub(super) fn add(&mut self, entry: &Entry) -> Result<bool, Problem> {
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

    /// Returns the labels.csv of the corpus that holds a transcript, if there is one.
    pub(super) fn corpus_labels(&self, entry: &Entry) -> Option<&LabelsFile> {
        let file = entry.place.file.as_path();
        let mut corpora = self.corpora.iter();
        let corpus = corpora.find(|corpus| file.starts_with(&corpus.folder))?;
        corpus.labels.as_ref()
    }

    /// Returns the problems of labels and splits that can be found only when all transcripts are known.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let of = |corpus: &CorpusSideFiles| {
            let labels = corpus.labels.as_ref();
            let mut problems = labels.map_or(Vec::new(), |labels| labels.orphans(&corpus.ids));
            problems.extend(corpus.corpus.bad_splits());
            problems.extend(corpus.corpus.stray_splits(&corpus.ids));
            problems
        };
        self.corpora.iter().flat_map(of).collect()
    }

    /// Returns the path of the card, if the only input is one corpus.
    pub(super) fn card_of_only_corpus(&self, files: &[PathBuf]) -> Option<PathBuf> {
        match (&self.corpora[..], files) {
            ([only], [file]) if only.folder == *file && only.corpus.card().is_some() => {
                Some(file.join("dataset.toml"))
            }
            _ => None,
        }
    }

    /// Returns the label rows of the added transcripts, in the order of their files.
    pub(super) fn label_rows(&self) -> Vec<LabelRow> {
        let rows = self.corpora.iter().flat_map(|corpus| {
            let rows = corpus.labels.iter().flat_map(LabelsFile::rows);
            rows.filter(|row| corpus.ids.contains(&row.transcript))
        });
        rows.cloned().collect()
    }
}
