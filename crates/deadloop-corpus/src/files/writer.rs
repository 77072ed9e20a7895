//! Writing: a file beside its name, renamed when it is whole, and never over what is there unless
//! told to.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::Entry;
use crate::files::formats::{self, Effort, Sink};
use crate::files::{changing, unfinished_file};

/// Why something could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The name is taken.
    #[error("{}: is there already; expected a new name, or leave to overwrite", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The name does not say in which format to write.
    #[error("{}: unknown ending; expected .jsonl, .jsonl.zst, .jsonl.gz or .parquet", path.display())]
    Ending {
        /// The file.
        path: PathBuf,
    },
    /// What is at the name is no file: a folder, a device, a pipe, a link to nothing.
    #[error("{}: is there and is no file; expected a new name, or that of a file", path.display())]
    NoFile {
        /// The name.
        path: PathBuf,
    },
    /// The disk said no.
    #[error("{}: cannot be written: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A file being written under another name in its folder. [`Beside::finish`] gives it its name; if
/// that never happens nothing is left behind.
#[derive(Debug)]
pub struct Beside {
    file: NamedTempFile,
    target: Target,
}

#[derive(Clone, Debug)]
struct Target {
    path: PathBuf,
    /// Where the file is: not the same where the name is that of a link.
    place: PathBuf,
    force: bool,
}

impl Target {
    /// Refuses what is taken. The file behind a link is written, and the link stays one.
    fn of(path: &Path, force: bool) -> Result<Self, WriteError> {
        let mut target = Self {
            path: path.to_path_buf(),
            place: path.to_path_buf(),
            force,
        };
        let Ok(about) = path.symlink_metadata() else {
            return Ok(target);
        };
        if !force {
            return Err(WriteError::Exists { path: target.path });
        }
        if !path.is_file() {
            return Err(WriteError::NoFile { path: target.path });
        }
        if about.is_symlink() {
            target.place = path.canonicalize().map_err(|e| target.io(e))?;
        }
        Ok(target)
    }

    fn io(&self, source: io::Error) -> WriteError {
        WriteError::Io {
            path: self.path.clone(),
            source,
        }
    }

    /// Gives the file its name. Without `force` a file that came up meanwhile is not overwritten.
    fn persist(&self, file: NamedTempFile) -> Result<(), WriteError> {
        file.as_file().sync_all().map_err(|e| self.io(e))?;
        let _files = changing();
        if self.force {
            file.persist(&self.place)
                .map(drop)
                .map_err(|e| self.io(e.error))
        } else {
            file.persist_noclobber(&self.place)
                .map(drop)
                .map_err(|e| self.taken(e.error))
        }
    }

    fn taken(&self, error: io::Error) -> WriteError {
        match error.kind() {
            io::ErrorKind::AlreadyExists => WriteError::Exists {
                path: self.path.clone(),
            },
            _ => self.io(error),
        }
    }
}

impl Beside {
    /// Begins a file; its folder must be there.
    ///
    /// # Errors
    /// Something is there already and `force` is false, or is no file, or the folder cannot be written
    /// to.
    pub fn create(path: &Path, force: bool) -> Result<Self, WriteError> {
        let target = Target::of(path, force)?;
        let folder = target
            .place
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let file = unfinished_file(folder.unwrap_or(Path::new(".")));
        let file = file.map_err(|e| target.io(e))?;
        Ok(Self { file, target })
    }

    /// Another handle to it, for what has to own its file.
    ///
    /// # Errors
    /// The system has no further handle.
    pub fn reopen(&self) -> Result<File, WriteError> {
        let _files = changing();
        self.file.reopen().map_err(|e| self.target.io(e))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// It cannot be written to the end, or its name was taken meanwhile and `force` is false.
    pub fn finish(self) -> Result<(), WriteError> {
        self.target.persist(self.file)
    }
}

impl Write for Beside {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.file.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes transcripts into one file, in the format that its name says: `.jsonl`, `.jsonl.zst`,
/// `.jsonl.gz` or `.parquet`. Nothing has that name before [`CorpusWriter::finish`].
pub struct CorpusWriter {
    sink: Box<dyn Sink>,
    target: Target,
}

impl CorpusWriter {
    /// Begins a file; its folder must be there.
    ///
    /// # Errors
    /// The name's ending is unknown, something is there already and `force` is false, or the folder
    /// cannot be written to.
    pub fn create(path: &Path, force: bool) -> Result<Self, WriteError> {
        Self::create_with(path, force, Effort::Kept)
    }

    /// Begins a file, saying how hard to try to make it small; its folder must be there.
    ///
    /// # Errors
    /// As [`CorpusWriter::create`].
    pub fn create_with(path: &Path, force: bool, effort: Effort) -> Result<Self, WriteError> {
        let Some(format) = formats::named(path) else {
            return Err(WriteError::Ending {
                path: path.to_path_buf(),
            });
        };
        let Beside { file, target } = Beside::create(path, force)?;
        let sink = (format.create)(file, path, effort).map_err(|e| target.io(e))?;
        Ok(Self { sink, target })
    }

    /// The next transcript, its labels and unknown fields with it; not its split.
    ///
    /// # Errors
    /// The disk says no.
    pub fn write(&mut self, entry: &Entry) -> Result<(), WriteError> {
        self.sink.write(entry).map_err(|e| self.target.io(e))
    }

    /// Ends the file and gives it its name.
    ///
    /// # Errors
    /// The disk says no, or the name was taken meanwhile and `force` is false.
    pub fn finish(self) -> Result<(), WriteError> {
        let file = self.sink.finish().map_err(|e| self.target.io(e))?;
        self.target.persist(file)
    }
}
