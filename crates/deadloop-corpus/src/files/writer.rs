//! Writes files under a temporary name and renames them when complete.
//!
//! An existing file is only replaced if the caller allows it.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::Entry;
use crate::files::jsonl::{self, Effort, LineSink};
use crate::files::{create_unfinished_file, lock_changes};

/// The reason why a file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The path exists already.
    #[error("{}: is there already; expected a new name, or leave to overwrite", path.display())]
    Exists {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file name has an unknown extension.
    #[error("{}: unknown ending; expected .jsonl, .jsonl.zst or .jsonl.gz", path.display())]
    Ending {
        /// The path of the file.
        path: PathBuf,
    },
    /// The path exists but is not a file, for example a folder, a device, a pipe, or a broken link.
    #[error("{}: is there and is no file; expected a new name, or that of a file", path.display())]
    NoFile {
        /// The path that exists already.
        path: PathBuf,
    },
    /// The file system reported an error.
    #[error("{}: cannot be written: {source}", path.display())]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
}

/// A file with a temporary name in its folder.
///
/// [`UnfinishedFile::finish`] renames the file. Dropping it without `finish` removes the file.
#[derive(Debug)]
pub struct UnfinishedFile {
    file: NamedTempFile,
    target: FileTarget,
}

/// The path to which a file is renamed.
#[derive(Clone, Debug)]
struct FileTarget {
    path: PathBuf,
    /// Path of the file itself. Differs from `path` if `path` is a link.
    real_path: PathBuf,
    force: bool,
}

impl FileTarget {
    /// Rejects an existing path unless `force` is set. Links are resolved.
    fn new(path: &Path, force: bool) -> Result<Self, WriteError> {
        let mut target = Self {
            path: path.to_path_buf(),
            real_path: path.to_path_buf(),
            force,
        };
        let Ok(metadata) = path.symlink_metadata() else {
            return Ok(target);
        };
        if !force {
            return Err(WriteError::Exists { path: target.path });
        }
        if !path.is_file() {
            return Err(WriteError::NoFile { path: target.path });
        }
        if metadata.is_symlink() {
            target.real_path = path.canonicalize().map_err(|e| target.io_error(e))?;
        }
        Ok(target)
    }

    fn io_error(&self, source: io::Error) -> WriteError {
        WriteError::Io {
            path: self.path.clone(),
            source,
        }
    }

    /// Renames the file to its path. Without `force`, an existing file is not overwritten.
    fn persist(&self, file: NamedTempFile) -> Result<(), WriteError> {
        file.as_file().sync_all().map_err(|e| self.io_error(e))?;
        let _changes = lock_changes();
        if self.force {
            file.persist(&self.real_path)
                .map(drop)
                .map_err(|e| self.io_error(e.error))
        } else {
            file.persist_noclobber(&self.real_path)
                .map(drop)
                .map_err(|e| self.rename_error(e.error))
        }
    }

    fn rename_error(&self, error: io::Error) -> WriteError {
        match error.kind() {
            io::ErrorKind::AlreadyExists => WriteError::Exists {
                path: self.path.clone(),
            },
            _ => self.io_error(error),
        }
    }
}

impl UnfinishedFile {
    /// Creates a file. Its folder must exist.
    ///
    /// # Errors
    /// Returns an error if the path exists and `force` is false, if it is not a file, or if the folder cannot be
    /// written to.
    pub fn create(path: &Path, force: bool) -> Result<Self, WriteError> {
        let target = FileTarget::new(path, force)?;
        let folder = target
            .real_path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let file = create_unfinished_file(folder.unwrap_or(Path::new(".")));
        let file = file.map_err(|e| target.io_error(e))?;
        Ok(Self { file, target })
    }

    /// Opens another handle to the file, for writers that own their file.
    ///
    /// # Errors
    /// Returns an error if the system has no more handles.
    pub fn reopen(&self) -> Result<File, WriteError> {
        let _changes = lock_changes();
        self.file.reopen().map_err(|e| self.target.io_error(e))
    }

    /// Renames the file to its path.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written completely, or if the path was taken in the meantime and
    /// `force` is false.
    pub fn finish(self) -> Result<(), WriteError> {
        self.target.persist(self.file)
    }
}

impl Write for UnfinishedFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.file.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A writer of transcripts to one file, with the compression of its extension: `.jsonl`, `.jsonl.zst` or `.jsonl.gz`.
///
/// The file has a temporary name until [`CorpusWriter::finish`].
pub struct CorpusWriter {
    sink: LineSink,
    target: FileTarget,
}

impl CorpusWriter {
    /// Creates a file. Its folder must exist.
    ///
    /// # Errors
    /// Returns an error if the ending is unknown, if the path exists and `force` is false, or if the folder cannot be
    /// written to.
    pub fn create(path: &Path, force: bool) -> Result<Self, WriteError> {
        Self::create_with(path, force, Effort::Kept)
    }

    /// Creates a file with a given compression effort. Its folder must exist.
    ///
    /// # Errors
    /// Returns the errors of [`CorpusWriter::create`].
    pub fn create_with(path: &Path, force: bool, effort: Effort) -> Result<Self, WriteError> {
        if !jsonl::is_transcript_file(path) {
            return Err(WriteError::Ending {
                path: path.to_path_buf(),
            });
        }
        let UnfinishedFile { file, target } = UnfinishedFile::create(path, force)?;
        let sink = jsonl::create(file, path, effort).map_err(|e| target.io_error(e))?;
        Ok(Self { sink, target })
    }

    /// Writes the next transcript, with its labels and unknown fields but without its split.
    ///
    /// # Errors
    /// Returns an error of the file system.
    pub fn write(&mut self, entry: &Entry) -> Result<(), WriteError> {
        self.sink.write(entry).map_err(|e| self.target.io_error(e))
    }

    /// Completes the file and renames it to its path.
    ///
    /// # Errors
    /// Returns an error of the file system, or an error if the path was taken in the meantime and `force` is false.
    pub fn finish(self) -> Result<(), WriteError> {
        let file = self.sink.finish().map_err(|e| self.target.io_error(e))?;
        self.target.persist(file)
    }
}
