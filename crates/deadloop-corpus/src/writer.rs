//! Writing: a file beside its name, renamed when it is whole, and never over what is there unless
//! told to.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tempfile::{NamedTempFile, TempDir};

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
    /// What stands at the name is no file: a folder, a device, a pipe, a link to nothing.
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

/// What the names of unfinished files and folders begin with; then comes the process that writes them.
const PREFIX: &str = ".deadloop-";

fn prefix() -> String {
    format!("{PREFIX}{}-", std::process::id())
}

/// Read by whoever makes an unfinished file, or opens or names one; written by who wants it to stay as
/// it is.
static FILES: RwLock<()> = RwLock::new(());

fn changing() -> RwLockReadGuard<'static, ()> {
    FILES.read().unwrap_or_else(PoisonError::into_inner)
}

/// While this is held no other thread makes an unfinished file or folder, nor gives one its name: they
/// wait. For a last sweep before the program ends, after which nothing may come up.
#[derive(Debug)]
pub struct Standstill {
    _files: RwLockWriteGuard<'static, ()>,
}

/// Waits until no unfinished file is being made, and holds it so.
pub fn standstill() -> Standstill {
    Standstill {
        _files: FILES.write().unwrap_or_else(PoisonError::into_inner),
    }
}

/// A new folder in `parent` to make something in, removed with all that is in it when it is dropped.
///
/// # Errors
/// The folder cannot be written to.
pub fn unfinished_folder(parent: &Path) -> io::Result<TempDir> {
    unfinished(0o777, |builder| builder.tempdir_in(parent))
}

/// Makes a file in a folder and removes it: whether files can be made there.
///
/// # Errors
/// The folder cannot be written to.
pub fn prove_writable(folder: &Path) -> io::Result<()> {
    unfinished_file(folder).map(drop)
}

fn unfinished_file(folder: &Path) -> io::Result<NamedTempFile> {
    unfinished(0o666, |builder| builder.tempfile_in(folder))
}

/// Makes something under a name that says it is unfinished, and whose. `mode`: as any program would create
/// it, not for its owner alone as temporary files are; the umask still applies.
#[cfg_attr(not(unix), allow(unused_variables))]
fn unfinished<T>(
    mode: u32,
    make: impl FnOnce(&tempfile::Builder<'_, '_>) -> io::Result<T>,
) -> io::Result<T> {
    let prefix = prefix();
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    let _files = changing();
    make(&builder)
}

/// Removes what processes that are gone have left unfinished in a folder, and with `own` what this one
/// has; what cannot be removed stays. Which processes are there is known on Linux alone.
pub fn sweep(folder: &Path, own: bool) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(writer) = writer_of(&name) else {
            continue;
        };
        if gone(writer) || (own && writer == std::process::id()) {
            let path = entry.path();
            let _ = match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => std::fs::remove_dir_all(path),
                false => std::fs::remove_file(path),
            };
        }
    }
}

/// The process that writes a file of this name; none where the file is not ours.
fn writer_of(name: &str) -> Option<u32> {
    let (process, _) = name.strip_prefix(PREFIX)?.split_once('-')?;
    process.parse().ok()
}

fn gone(process: u32) -> bool {
    let processes = Path::new("/proc");
    processes.join("self").exists() && !processes.join(process.to_string()).exists()
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn what_processes_that_are_gone_have_left_is_removed_and_nothing_else() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let left = format!(".deadloop-{}-", child.id());
        std::fs::create_dir(dir.path().join(left.clone() + "folder")).unwrap();
        let own = prefix() + "x";
        let others = [
            ".deadloop-1-x",
            ".deadloop-AbCdEf",
            ".deadloop-notes-x",
            "x",
        ];
        for name in others.iter().copied().chain([&*own, &*left]) {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let names = || {
            let entries = std::fs::read_dir(dir.path()).unwrap();
            let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
            names.collect::<std::collections::BTreeSet<String>>()
        };
        sweep(dir.path(), false);
        let stays: Vec<String> = names().into_iter().filter(|name| *name != own).collect();
        assert_eq!(stays, others);
        assert!(names().contains(&own));
        sweep(dir.path(), true);
        assert!(names().into_iter().eq(others.map(String::from)));
    }
    /// Threads that write files without end, as a report does, and a sweep in the middle of it: as long
    /// as it is held nothing unfinished comes up, and after it all goes on.
    #[test]
    fn in_a_standstill_nothing_unfinished_comes_up() {
        let dir = tempfile::tempdir().unwrap();
        let unfinished = || {
            let entries = std::fs::read_dir(dir.path()).unwrap();
            let mut names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
            names.any(|name| name.starts_with(PREFIX))
        };
        let (ended, named) = (AtomicBool::new(false), AtomicUsize::new(0));
        let write = |name: &str| {
            while !ended.load(Ordering::SeqCst) {
                prove_writable(dir.path()).unwrap();
                drop(unfinished_folder(dir.path()).unwrap());
                let mut file = Beside::create(&dir.path().join(name), true).unwrap();
                file.write_all(b"whole").unwrap();
                // What a sweep took away cannot get its name; a program that sweeps has ended by then.
                let whole = file.finish().is_ok();
                named.fetch_add(usize::from(whole), Ordering::SeqCst);
            }
        };
        let quiet = std::thread::scope(|scope| {
            let writers = [scope.spawn(|| write("a")), scope.spawn(|| write("b"))];
            let mut quiet = true;
            for _ in 0..200 {
                let before = named.load(Ordering::SeqCst);
                while named.load(Ordering::SeqCst) == before && !writers[0].is_finished() {
                    std::thread::yield_now();
                }
                let still = standstill();
                sweep(dir.path(), true);
                for _ in 0..50 {
                    quiet &= !unfinished();
                    std::thread::yield_now();
                }
                drop(still);
            }
            ended.store(true, Ordering::SeqCst);
            quiet
        });
        assert!(quiet);
    }
}
