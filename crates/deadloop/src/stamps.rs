//! [`Stamps`]: whether the files of a corpus are still those that were looked through. A replay reads
//! them a second time, and what it says must be of what was surveyed.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use deadloop_corpus::Corpus;

/// Size and time of the last change, of each file.
pub(crate) struct Stamps(Vec<(PathBuf, Option<Stamp>)>);

type Stamp = (u64, Option<SystemTime>);

impl Stamps {
    /// Those of now: taken before the first pass.
    pub(crate) fn of(corpus: &Corpus) -> Self {
        let files = corpus.files().iter();
        Self(files.map(|file| (file.clone(), stamp(file))).collect())
    }

    /// The first file that is another one now.
    pub(crate) fn changed(&self) -> Option<&Path> {
        let mut files = self.0.iter();
        let changed = files.find(|(file, before)| stamp(file) != *before);
        changed.map(|(file, _)| file.as_path())
    }
}

fn stamp(file: &Path) -> Option<Stamp> {
    let of = |data: Metadata| (data.len(), data.modified().ok());
    file.metadata().ok().map(of)
}
