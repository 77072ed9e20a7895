//! [`Stamps`]: whether the files of a corpus are still those that were looked through. A replay reads
//! them a second time, and what it says must be of what was surveyed.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use deadloop_corpus::Corpus;

/// Size and times of the last change, of each file.
pub(crate) struct Stamps(Vec<(PathBuf, Option<Stamp>)>);

/// Size, time of the last change, and what nobody can set back: see [`inner`].
type Stamp = (u64, Option<SystemTime>, Option<(u64, i64, i64)>);

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
    let of = |data: Metadata| (data.len(), data.modified().ok(), inner(&data));
    file.metadata().ok().map(of)
}

/// Which file it is, and when anything about it changed last: whoever writes to a file and sets its time back changes
/// that time too.
#[cfg(unix)]
fn inner(data: &Metadata) -> Option<(u64, i64, i64)> {
    use std::os::unix::fs::MetadataExt;
    Some((data.ino(), data.ctime(), data.ctime_nsec()))
}

/// Not known here.
#[cfg(not(unix))]
fn inner(_: &Metadata) -> Option<(u64, i64, i64)> {
    None
}
