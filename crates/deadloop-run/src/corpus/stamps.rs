//! [`Stamps`]: sizes and times of corpus files, to detect changes.
//!
//! A replay reads the files after the survey, and fails if they changed in between.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use deadloop_corpus::Corpus;

use crate::failure::{Code, RunResult};

/// The stamp of each corpus file. `None` if its metadata cannot be read.
pub(crate) struct Stamps(Vec<(PathBuf, Option<DiskStamp>)>);

/// Size in bytes, modification time, and the [inode state](inode_state) of a file.
type DiskStamp = (u64, Option<SystemTime>, Option<(u64, i64, i64)>);

impl Stamps {
    /// Returns the current stamps of the corpus files.
    pub(crate) fn from_corpus(corpus: &Corpus) -> Self {
        let files = corpus.files().iter();
        Self(files.map(|file| (file.clone(), file_stamp(file))).collect())
    }

    /// Returns an error if a file changed since the stamps were taken.
    pub(crate) fn check(&self) -> RunResult {
        let mut files = self.0.iter();
        match files.find(|(file, before)| file_stamp(file) != *before) {
            None => Ok(()),
            Some((file, _)) => Err(Code::Usage.error(format!(
                "the corpus changed while it was read: {} was written to",
                file.display()
            ))),
        }
    }
}

fn file_stamp(file: &Path) -> Option<DiskStamp> {
    let stamp_of = |data: Metadata| (data.len(), data.modified().ok(), inode_state(&data));
    file.metadata().ok().map(stamp_of)
}

/// Returns the inode, and the time when it last changed in seconds and nanoseconds. A program that resets a file's
/// modification time changes this time too.
#[cfg(unix)]
fn inode_state(data: &Metadata) -> Option<(u64, i64, i64)> {
    use std::os::unix::fs::MetadataExt;
    Some((data.ino(), data.ctime(), data.ctime_nsec()))
}

/// Returns `None`, since the system has no inodes.
#[cfg(not(unix))]
fn inode_state(_: &Metadata) -> Option<(u64, i64, i64)> {
    None
}
