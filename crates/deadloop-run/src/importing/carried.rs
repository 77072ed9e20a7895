//! What comes along with the transcripts of a corpus that is imported: labels, splits and card.

use std::path::PathBuf;
use std::sync::Arc;

use deadloop_corpus::{Corpus, Entry, Ids, Problem};
use deadloop_score::{LabelRow, LabelsFile};

/// The files beside the transcripts, of all corpora that are imported.
#[derive(Default)]
pub struct Carried {
    corpora: Vec<Beside>,
    /// Transcripts and their splits.
    pub splits: Vec<[String; 2]>,
    /// Transcripts with a bad row of labels, which are left out.
    pub left_out: u64,
}

/// The files beside the transcripts of one corpus.
struct Beside {
    folder: PathBuf,
    corpus: Arc<Corpus>,
    labels: Option<LabelsFile>,
    /// Its transcripts, bad rows of labels or not.
    ids: Ids,
}

impl Carried {
    /// Reads the labels; what is wrong with them is given beside.
    pub fn read(import: &deadloop_corpus::Import) -> (Self, Vec<Problem>) {
        let mut carried = Self::default();
        let mut problems = Vec::new();
        for (folder, corpus) in import.corpora() {
            let read = corpus.labels_csv().map(LabelsFile::read);
            let (labels, bad) = read.unzip();
            problems.extend(bad.into_iter().flatten());
            carried.corpora.push(Beside {
                folder: folder.to_path_buf(),
                corpus: Arc::clone(corpus),
                labels,
                ids: Ids::default(),
            });
        }
        (carried, problems)
    }

    /// Notes a transcript; false where its labels are bad.
    pub fn takes(&mut self, entry: &Entry) -> Result<bool, Problem> {
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

    /// The labels beside a transcript, where its corpus has a file of them.
    pub fn labels_beside(&self, entry: &Entry) -> Option<&LabelsFile> {
        let file = entry.place.file.as_path();
        let mut corpora = self.corpora.iter();
        let corpus = corpora.find(|corpus| file.starts_with(&corpus.folder))?;
        corpus.labels.as_ref()
    }

    /// What is wrong with labels and splits once all transcripts are known.
    pub fn problems(&self) -> Vec<Problem> {
        let of = |corpus: &Beside| {
            let labels = corpus.labels.as_ref();
            let mut problems = labels.map_or(Vec::new(), |labels| labels.orphans(&corpus.ids));
            problems.extend(corpus.corpus.bad_splits());
            problems.extend(corpus.corpus.stray_splits(&corpus.ids));
            problems
        };
        self.corpora.iter().flat_map(of).collect()
    }

    /// The card, where all that is imported is one corpus.
    pub fn card(&self, files: &[PathBuf]) -> Option<PathBuf> {
        match (&self.corpora[..], files) {
            ([only], [file]) if only.folder == *file && only.corpus.card().is_some() => {
                Some(file.join("dataset.toml"))
            }
            _ => None,
        }
    }

    /// The labels of the transcripts that were taken, in the order of their files.
    pub fn labels(&self) -> Vec<LabelRow> {
        let rows = self.corpora.iter().flat_map(|corpus| {
            let rows = corpus.labels.iter().flat_map(LabelsFile::rows);
            rows.filter(|row| corpus.ids.contains(&row.transcript))
        });
        rows.cloned().collect()
    }
}
