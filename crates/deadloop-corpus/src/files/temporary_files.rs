//! Unfinished files and folders: their names, locks and removal.

use std::fs::{File, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tempfile::{NamedTempFile, TempDir};

use crate::files::open_file;

/// Prefix of the names of unfinished files and folders. A process id and a random number follow.
const NAME_PREFIX: &str = ".deadloop-";

/// Prefix of the names that this process uses.
///
/// The random number is needed because containers that share a folder may have the same process ids.
static OWN_PREFIX: LazyLock<String> = LazyLock::new(|| {
    let random = RandomState::new().hash_one(std::process::id());
    format!("{NAME_PREFIX}{}-{random:016x}-", std::process::id())
});

/// The lock on changes of unfinished files. Creating, opening or renaming a file holds a read lock. A write lock blocks
/// such changes.
static CHANGES_LOCK: RwLock<()> = RwLock::new(());

pub(crate) fn lock_changes() -> RwLockReadGuard<'static, ()> {
    CHANGES_LOCK.read().unwrap_or_else(PoisonError::into_inner)
}

/// A lock that stops all other threads from creating or renaming unfinished files and folders.
///
/// The program takes the lock for its last [`sweep`] before it ends.
#[derive(Debug)]
pub struct UnfinishedLock {
    _changes: RwLockWriteGuard<'static, ()>,
}

/// Waits until no unfinished file is being created or renamed, and blocks further changes.
pub fn block_file_changes() -> UnfinishedLock {
    UnfinishedLock {
        _changes: CHANGES_LOCK.write().unwrap_or_else(PoisonError::into_inner),
    }
}

/// An unfinished folder. Dropping it removes the folder with its content.
#[derive(Debug)]
pub struct UnfinishedFolder {
    folder: TempDir,
    _lock: Option<File>,
}

impl UnfinishedFolder {
    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Finishes the folder, so that it is not removed. Returns its path.
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }
}

/// Creates an unfinished folder in `parent`.
///
/// # Errors
/// Returns an error if `parent` cannot be written to.
pub fn create_unfinished_folder(parent: &Path) -> io::Result<UnfinishedFolder> {
    loop {
        let folder = create_unfinished(0o777, |builder| builder.tempdir_in(parent))?;
        // If folders cannot be opened, `sweep` removes none.
        let lock = File::open(folder.path()).ok();
        if lock
            .as_ref()
            .is_none_or(|lock| try_lock(lock, folder.path()))
        {
            return Ok(UnfinishedFolder {
                folder,
                _lock: lock,
            });
        }
    }
}

/// A claim on a folder. No other program writes to the folder until the claim is dropped.
#[derive(Debug)]
pub struct FolderClaim {
    _lock: Option<File>,
}

/// Claims an existing folder for writing. On systems that cannot lock folders, every claim is granted.
///
/// # Errors
/// Returns an error if another program has claimed the folder.
pub fn claim(folder: &Path) -> io::Result<FolderClaim> {
    let lock = File::open(folder).ok();
    let tried = lock.as_ref().map(File::try_lock);
    if let Some(Err(TryLockError::WouldBlock)) = tried {
        let what = "another command writes there; wait until that has ended";
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, what));
    }
    Ok(FolderClaim { _lock: lock })
}

/// Checks that files can be created in a folder, by creating and removing one.
///
/// # Errors
/// Returns an error if the folder cannot be written to.
pub fn check_writable(folder: &Path) -> io::Result<()> {
    create_unfinished_file(folder).map(drop)
}

pub(crate) fn create_unfinished_file(folder: &Path) -> io::Result<NamedTempFile> {
    loop {
        let file = create_unfinished(0o666, |builder| builder.tempfile_in(folder))?;
        if try_lock(file.as_file(), file.path()) {
            return Ok(file);
        }
    }
}

/// Locks a new file or folder while the file is open. Other processes may remove a file that they can lock.
///
/// Returns `false` if another process removed the file before the lock, so that the caller must create a new one.
fn try_lock(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Ok(()) => path.exists(),
        Err(TryLockError::WouldBlock) => false,
        // Without locks, other processes remove no unfinished file.
        Err(TryLockError::Error(_)) => true,
    }
}

/// Creates a file or folder with an unfinished name of this process.
///
/// `mode` is that of ordinary files, since temporary files are private to their owner by default. The umask still
/// applies.
#[cfg_attr(not(unix), allow(unused_variables))]
fn create_unfinished<T>(
    mode: u32,
    make: impl FnOnce(&tempfile::Builder<'_, '_>) -> io::Result<T>,
) -> io::Result<T> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(OWN_PREFIX.as_str());
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    let _changes = lock_changes();
    make(&builder)
}

/// Removes the unfinished files and folders of processes that have ended from a folder. If `own` is set, those of this
/// process are removed too.
///
/// A process has ended if its file is no longer locked, since the system releases the locks of every ended process.
/// Only on Unix can an open file be locked and removed. Files that cannot be removed are ignored.
pub fn sweep(folder: &Path, own: bool) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !is_unfinished(&name) {
            continue;
        }
        let path = entry.path();
        let ours = name.starts_with(OWN_PREFIX.as_str());
        // Without the lock, another process could take the file for its own before the removal.
        let abandoned = if ours { None } else { lock_if_abandoned(&path) };
        if abandoned.is_some() || (own && ours) {
            let _ = if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                std::fs::remove_dir_all(path)
            } else {
                std::fs::remove_file(path)
            };
        }
    }
}

/// Returns whether a name is that of an unfinished file or folder.
fn is_unfinished(name: &str) -> bool {
    let process = name
        .strip_prefix(NAME_PREFIX)
        .and_then(|n| n.split_once('-'));
    process.is_some_and(|(process, _)| process.parse::<u32>().is_ok())
}

/// Locks a file or folder whose process has ended. `None` if the process is still running.
fn lock_if_abandoned(path: &Path) -> Option<File> {
    let is_folder = path.symlink_metadata().ok()?.is_dir();
    let file = if is_folder {
        File::open(path)
    } else {
        open_file(path)
    };
    let file = file.ok().filter(|_| cfg!(unix))?;
    file.try_lock().is_ok().then_some(file)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use std::io::Write;

    use super::*;
    use crate::UnfinishedFile;

    /// Checks that only the lock decides, not the process id in the name. Containers that share a folder may have the
    /// same ids.
    #[cfg(unix)]
    #[test]
    fn what_nobody_holds_any_more_is_removed_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let own = format!("{}x", *OWN_PREFIX);
        let others = [
            ".deadloop-4000000000-file",
            ".deadloop-4000000000-folder",
            ".deadloop-AbCdEf",
            ".deadloop-notes-x",
            "x",
        ];
        std::fs::create_dir(at(others[1])).unwrap();
        std::fs::create_dir(at(".deadloop-1-folder")).unwrap();
        let abandoned = [".deadloop-1-folder/x", ".deadloop-1-x"];
        let files = [&others[..1], &others[2..], &abandoned].concat();
        for name in files.into_iter().chain([&*own]) {
            std::fs::write(at(name), "").unwrap();
        }
        let held = others[..2].iter().map(|name| {
            let file = File::open(at(name)).unwrap();
            file.lock().unwrap();
            file
        });
        let held: Vec<File> = held.collect();
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
        drop(held);
    }

    /// Covers a sweep between the making of a file and its lock, after which another file must be made.
    #[cfg(unix)]
    #[test]
    fn a_file_that_is_being_made_is_not_swept() {
        let dir = tempfile::tempdir().unwrap();
        let made = create_unfinished_file(dir.path()).unwrap();
        assert!(lock_if_abandoned(made.path()).is_none(), "it is held");
        let folder = create_unfinished_folder(dir.path()).unwrap();
        assert!(lock_if_abandoned(folder.path()).is_none(), "it is held");
        let early = NamedTempFile::new_in(dir.path()).unwrap();
        let swept = lock_if_abandoned(early.path()).unwrap();
        assert!(!try_lock(early.as_file(), early.path()), "the sweep has it");
        std::fs::remove_file(early.path()).unwrap();
        drop(swept);
        assert!(!try_lock(early.as_file(), early.path()), "it is gone");
    }

    /// Sweeps while threads write files in a loop, as a report does. During the standstill no unfinished file may
    /// appear, and afterwards the threads must continue.
    #[test]
    fn in_a_standstill_nothing_unfinished_comes_up() {
        let dir = tempfile::tempdir().unwrap();
        let unfinished = || {
            let entries = std::fs::read_dir(dir.path()).unwrap();
            let mut names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
            names.any(|name| name.starts_with(NAME_PREFIX))
        };
        let (ended, named) = (AtomicBool::new(false), AtomicUsize::new(0));
        let write = |name: &str| {
            while !ended.load(Ordering::SeqCst) {
                check_writable(dir.path()).unwrap();
                drop(create_unfinished_folder(dir.path()).unwrap());
                let mut file = UnfinishedFile::create(&dir.path().join(name), true).unwrap();
                file.write_all(b"whole").unwrap();
                // A file that a sweep removed cannot be renamed. In a real program, the sweep is the end.
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
                let still = block_file_changes();
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
