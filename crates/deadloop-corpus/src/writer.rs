//! Writing: a file beside its name, renamed when it is whole, and never over what is there unless
//! told to.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::Entry;
use crate::formats::{self, Effort, Sink};

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
    force: bool,
}

impl Target {
    fn io(&self, source: io::Error) -> WriteError {
        WriteError::Io {
            path: self.path.clone(),
            source,
        }
    }

    /// Gives the file its name. Without `force` a file that came up meanwhile is not overwritten.
    fn persist(&self, file: NamedTempFile) -> Result<(), WriteError> {
        file.as_file().sync_all().map_err(|e| self.io(e))?;
        if self.force {
            file.persist(&self.path)
                .map(drop)
                .map_err(|e| self.io(e.error))
        } else {
            file.persist_noclobber(&self.path)
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
    /// Something is there already and `force` is false, or the folder cannot be written to.
    pub fn create(path: &Path, force: bool) -> Result<Self, WriteError> {
        let target = Target {
            path: path.to_path_buf(),
            force,
        };
        if !force && path.exists() {
            return Err(WriteError::Exists { path: target.path });
        }
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".deadloop-");
        #[cfg(unix)]
        builder.permissions(permissions());
        let file = builder.tempfile_in(folder.unwrap_or(Path::new(".")));
        let file = file.map_err(|e| target.io(e))?;
        Ok(Self { file, target })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// It cannot be written to the end, or its name was taken meanwhile and `force` is false.
    pub fn finish(self) -> Result<(), WriteError> {
        self.target.persist(self.file)
    }
}

/// As any program would create the file, not for its owner alone as temporary files are; the umask
/// still applies.
#[cfg(unix)]
fn permissions() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
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
/// `.jsonl.gz` or `.parquet`. Nothing stands at that name before [`CorpusWriter::finish`].
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
