//! [`Stamps`]: the state of corpus files, to notice changes.
//!
//! A replay reads the files a second time, and they must still be those of the survey.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use deadloop_corpus::Corpus;

use crate::failure::{Code, RunResult};

/// The size and the times of the last change of each file.
pub(crate) struct Stamps(Vec<(PathBuf, Option<Stamp>)>);

/// The size, the time of the last change, and the state that programs cannot reset: see [`inner`].
type Stamp = (u64, Option<SystemTime>, Option<(u64, i64, i64)>);

impl Stamps {
    /// Returns the current stamps. They are taken before the first pass.
    pub(crate) fn from_corpus(corpus: &Corpus) -> Self {
        let files = corpus.files().iter();
        Self(files.map(|file| (file.clone(), stamp(file))).collect())
    }

    /// Refuses a corpus that has changed since.
    pub(crate) fn check(&self) -> RunResult {
        let mut files = self.0.iter();
        match files.find(|(file, before)| stamp(file) != *before) {
            None => Ok(()),
            Some((file, _)) => Err(Code::Usage.error(format!(
                "the corpus changed while it was read: {} was written to",
                file.display()
            ))),
        }
    }
}

fn stamp(file: &Path) -> Option<Stamp> {
    let of = |data: Metadata| (data.len(), data.modified().ok(), inner(&data));
    file.metadata().ok().map(of)
}

/// Returns the inode and the time of the last change of the file's metadata. A program that resets a file's time
/// changes this time too.
#[cfg(unix)]
fn inner(data: &Metadata) -> Option<(u64, i64, i64)> {
    use std::os::unix::fs::MetadataExt;
    Some((data.ino(), data.ctime(), data.ctime_nsec()))
}

/// Returns `None`, since other systems have no such state.
#[cfg(not(unix))]
fn inner(_: &Metadata) -> Option<(u64, i64, i64)> {
    None
}
