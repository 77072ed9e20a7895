//! [`Corpus`]: a folder with transcripts, card and splits, or one file.

use std::io;
use std::path::{Path, PathBuf};

use crate::files::{
    Card, Entries, RawRecord, RawRecords, Splits, is_named, jsonl, open_file, strays, think_options,
};
use crate::option::OUT;
use crate::think::ThinkOptions;
use crate::{Entry, Ids, Place, Problem, Shard, is_of_machine};

/// An error that occurs before the first transcript of a corpus is read.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// The path does not exist.
    #[error("{}: no such file or folder; expected a corpus", path.display())]
    Missing {
        /// The missing path.
        path: PathBuf,
    },
    /// The folder contains no transcript files.
    #[error("{}: no transcripts; expected transcripts/*.jsonl, *.jsonl.zst or *.jsonl.gz in it; to make a corpus of logs: deadloop import {} {out} corpus", path.display(), path.display(), out = OUT)]
    NoTranscripts {
        /// The folder without transcripts.
        path: PathBuf,
    },
    /// A file or folder exists but cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// The unreadable file or folder.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// The card or the splits file is invalid as a whole.
    #[error(transparent)]
    Problem(#[from] Problem),
}

impl CorpusError {
    /// Returns whether this machine ran out of memory or file handles. Such an error carries no information about the
    /// corpus.
    pub fn is_of_machine(&self) -> bool {
        matches!(self, Self::Unreadable { source, .. } if is_of_machine(source))
    }

    /// Converts the error to a problem, for a list with other problems.
    pub fn problem(self) -> Problem {
        let whole = |path: PathBuf, what: String, expected| {
            Problem::new(Place::whole(path), what, expected)
        };
        match self {
            Self::Missing { path } => whole(path, "not there".into(), "a file or folder"),
            Self::NoTranscripts { path } => whole(path, "no transcripts".into(), "some"),
            Self::Unreadable { path, source } => {
                whole(path, format!("cannot be read: {source}"), "a readable file")
            }
            Self::Problem(problem) => problem,
        }
    }

    /// Creates the error for a path that does not exist or cannot be read.
    pub fn unreadable(path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            _ => Self::Unreadable { path, source },
        }
    }
}

/// A corpus: the paths of its files, its card and its splits.
///
/// Threads may share a corpus. Each pass reads the transcripts again. The default corpus has no files.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    files: Vec<PathBuf>,
    card: Option<Card>,
    labels: Option<PathBuf>,
    splits: Splits,
    splits_file: Option<PathBuf>,
}

impl Corpus {
    /// Opens a corpus folder, or a single file of transcripts.
    ///
    /// A folder has `transcripts/`, and optionally `dataset.toml`, `labels.csv` and `splits.csv`.
    ///
    /// # Errors
    /// Returns the first error that occurs before the first transcript is read. See [`CorpusError`].
    pub fn open(path: &Path) -> Result<Self, CorpusError> {
        let (corpus, faults) = Self::open_damaged(path)?;
        match faults.into_iter().next() {
            Some(fault) => Err(fault),
            None => Ok(corpus),
        }
    }

    /// Opens a corpus that may be damaged. An invalid card or splits file, or an unreadable labels file, is ignored and
    /// returned as an error with the corpus.
    ///
    /// # Errors
    /// Returns an error if no transcripts can be read.
    pub fn open_damaged(path: &Path) -> Result<(Self, Vec<CorpusError>), CorpusError> {
        let data = path
            .metadata()
            .map_err(|e| CorpusError::unreadable(path, e))?;
        if data.is_dir() {
            return Self::open_folder(path);
        }
        let file = Self {
            files: vec![path.to_path_buf()],
            ..Self::default()
        };
        Ok((file, Vec::new()))
    }

    fn open_folder(path: &Path) -> Result<(Self, Vec<CorpusError>), CorpusError> {
        let files = list_transcripts(path)?;
        let part = |name: &str| Some(path.join(name)).filter(|file| is_named(file));
        let card = part("dataset.toml").map(|file| Card::read(&file));
        let splits = part("splits.csv").map(|file| Splits::read(&file));
        // The labels file is read elsewhere. Here it is only checked that the file can be opened.
        let readable = |file: PathBuf| match open_file(&file) {
            Ok(_) => Ok(file),
            Err(e) => Err(CorpusError::unreadable(&file, e)),
        };
        let labels = part("labels.csv").map(readable);
        let mut faults = Vec::new();
        let corpus = Self {
            files,
            card: take_ok(card, &mut faults),
            labels: take_ok(labels, &mut faults),
            splits: take_ok(splits, &mut faults).unwrap_or_default(),
            splits_file: part("splits.csv").filter(|file| open_file(file).is_ok()),
        };
        Ok((corpus, faults))
    }

    /// Returns the content of `dataset.toml`. `None` if the corpus has no card.
    pub fn card(&self) -> Option<&Card> {
        self.card.as_ref()
    }

    /// Returns the transcript files in corpus order, which is sorted by name.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Returns the path of `labels.csv`, if it exists.
    pub fn labels_csv(&self) -> Option<&Path> {
        self.labels.as_deref()
    }

    /// Returns the path of `splits.csv`, if it is readable.
    pub fn splits_csv(&self) -> Option<&Path> {
        self.splits_file.as_deref()
    }

    /// Returns the split of a transcript.
    pub fn split(&self, id: &str) -> Option<&str> {
        self.splits.get(id)
    }

    /// Returns a problem for each invalid row of `splits.csv`: a row without an id or a split, or a repeated row.
    pub fn bad_splits(&self) -> Vec<Problem> {
        self.splits.problems()
    }

    /// Returns a problem for each row of `splits.csv` whose transcript is not in `ids`. `ids` must contain all
    /// transcripts of the corpus.
    pub fn stray_splits(&self, ids: &Ids) -> Vec<Problem> {
        strays(self.splits.transcripts(), ids)
    }

    /// Iterates over the transcript ids in `splits.csv`, each with the file and line of its row, in no particular
    /// order.
    pub fn split_places(&self) -> impl Iterator<Item = (&str, &Place)> {
        self.splits.transcripts()
    }

    /// Returns the corpus with only the files of a shard. Card, labels and splits are kept.
    #[must_use]
    pub fn shard(&self, shard: Shard) -> Self {
        let files = self.files.iter().enumerate();
        let own = files.filter(|(nth, _)| shard.has(*nth));
        Self {
            files: own.map(|(_, file)| file.clone()).collect(),
            ..self.clone()
        }
    }

    /// Iterates over the undecoded records of the corpus, in order and in bounded memory.
    pub fn raw_records(&self) -> RawRecords {
        RawRecords::new(&self.files)
    }

    /// Decodes a record and looks up its split. Decoding is the expensive part of reading, and can run on any thread.
    ///
    /// # Errors
    /// Returns the problem of the record, with its file and line.
    pub fn parse(&self, raw: &RawRecord) -> Result<Entry, Problem> {
        let mut entry = raw.decode_entry(self.card())?;
        entry.split = self.split(&entry.transcript.id).map(str::to_owned);
        Ok(entry)
    }

    /// Returns the options for splitting the `text` of a model, by the rules of the card.
    pub fn think(&self, model: &str) -> ThinkOptions {
        think_options(self.card(), model)
    }

    /// Iterates over the decoded transcripts, in order. Repeated ids are problems.
    pub fn entries(&self) -> Entries<'_> {
        Entries {
            corpus: self,
            raw_records: self.raw_records(),
            ids: Ids::default(),
        }
    }
}

/// Returns the value of a result. An error is added to `faults`, and `None` is returned.
fn take_ok<T>(read: Option<Result<T, CorpusError>>, faults: &mut Vec<CorpusError>) -> Option<T> {
    read?.map_err(|fault| faults.push(fault)).ok()
}

/// Lists the transcript files of a corpus folder, sorted by name.
fn list_transcripts(folder: &Path) -> Result<Vec<PathBuf>, CorpusError> {
    let none = || CorpusError::NoTranscripts {
        path: folder.to_path_buf(),
    };
    let inner = folder.join("transcripts");
    match inner.metadata() {
        Ok(data) if data.is_dir() => {}
        Err(e) if is_named(&inner) => return Err(CorpusError::unreadable(&inner, e)),
        _ => return Err(none()),
    }
    let listed =
        std::fs::read_dir(&inner).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let entries = listed.map_err(|e| CorpusError::unreadable(&inner, e))?;
    let mut files: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
    // Unreadable files are included, and reported when they are opened.
    files.retain(|file| jsonl::is_transcript_file(file));
    files.sort();
    if files.is_empty() {
        Err(none())
    } else {
        Ok(files)
    }
}
