//! Checks that no output overwrites an input or another output.

use std::fmt::Display;
use std::io::Error;
use std::path::{Path, PathBuf};

use deadloop_corpus::{FolderClaim, UnfinishedFile, WriteError, claim, prove_writable};

use crate::failure::{Code, Failure, RunResult};
use crate::host::Host;
use crate::option::{FORCE, OUT, RunOption};

/// The files beside the transcripts of a corpus.
const BESIDE: [&str; 3] = ["dataset.toml", "labels.csv", "splits.csv"];

/// Creates a folder and claims it. Checks that `files` can be written there and that none would overwrite an input.
pub(crate) fn claim_folder<'a>(
    dir: &Path,
    files: impl IntoIterator<Item = &'a str>,
    read: &[&Path],
    host: &dyn Host,
) -> RunResult<FolderClaim> {
    let refuse =
        |what: &str, e: Error| Code::Usage.at(OUT, format!("{}: {what}: {e}", dir.display()));
    std::fs::create_dir_all(dir).map_err(|e| refuse("cannot be made", e))?;
    let claim = claim(dir).map_err(|e| refuse("is in use", e))?;
    let files: Vec<_> = files
        .into_iter()
        .map(|name| (OUT, dir.join(name)))
        .collect();
    apart(&files, read)?;
    host.writes(dir);
    prove_writable(dir).map_err(|e| refuse("cannot be written to", e))?;
    Ok(claim)
}

/// Returns the error for a folder with a file of something else.
pub(crate) fn occupied(dir: &Path, name: &Path, what: &str) -> Failure {
    let (dir, name) = (dir.display(), name.display());
    let what = format!("{dir}: holds {name}{what}; choose another folder, or {FORCE} to overwrite");
    Code::Usage.at(OUT, what)
}

/// Checks before any work that the folder of a file is there.
pub fn prove_folder_of(option: RunOption, file: &Path) -> RunResult {
    let folder = folder_of(file);
    if folder.is_dir() {
        return Ok(());
    }
    let (file, folder) = (file.display(), folder.display());
    let what = format!("{file}: there is no folder {folder}; make it first");
    Err(Code::Usage.at(option, what))
}

/// Checks, before any work, that a file can be written: its folder exists and is writable. Without `force` the file must
/// not exist.
pub(crate) fn prove_file(option: RunOption, path: &Path, force: bool) -> RunResult {
    prove_folder_of(option, path)?;
    let refuse = |e: WriteError| match e {
        WriteError::Exists { path } => {
            format!("{} is there already; {FORCE} overwrites it", path.display())
        }
        other => other.to_string(),
    };
    UnfinishedFile::create(path, force)
        .map(drop)
        .map_err(|e| Code::Usage.at(option, refuse(e)))
}

/// Writes a table as CSV. Without `force`, an existing file is an error.
pub(crate) fn write_table<R: IntoIterator<Item: AsRef<[u8]>>>(
    path: &Path,
    header: &[&str],
    rows: impl IntoIterator<Item = R>,
    force: bool,
) -> RunResult {
    let mut writer = csv::Writer::from_writer(UnfinishedFile::create(path, force)?);
    writer.write_record(header)?;
    for row in rows {
        writer.write_record(row)?;
    }
    let file = writer.into_inner().map_err(|e| e.into_error())?;
    Ok(file.finish()?)
}

/// Returns the folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Refuses outputs that would overwrite an input or another output, even if others may be overwritten. `written` pairs each output
/// with its option. `read` holds files and corpora.
pub(crate) fn apart(written: &[(impl Display, PathBuf)], read: &[&Path]) -> RunResult {
    let files: Vec<PathBuf> = read.iter().flat_map(|path| parts(path)).collect();
    let corpora: Vec<PathBuf> = read
        .iter()
        .map(|path| place(&path.join("transcripts")))
        .collect();
    let mut places: Vec<PathBuf> = Vec::new();
    for (option, path) in written {
        let at = place(path);
        let among = at
            .parent()
            .is_some_and(|dir| corpora.iter().any(|inner| inner == dir));
        let what = if files.contains(&at) {
            "would be written over what is read"
        } else if among {
            "would stand among the transcripts that are read"
        } else if places.contains(&at) {
            "would be written twice"
        } else {
            places.push(at);
            continue;
        };
        let path = path.display();
        let what = format!("{option} {path}: {what}; choose another name");
        return Err(Code::Usage.error(what));
    }
    Ok(())
}

/// Returns the files of an input path.
fn parts(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        BESIDE.iter().map(|name| place(&path.join(name))).collect()
    } else {
        vec![place(path)]
    }
}

/// Returns the canonical path, whether or not the file exists.
fn place(path: &Path) -> PathBuf {
    if let Ok(there) = path.canonicalize() {
        return there;
    }
    match (folder_of(path).canonicalize(), path.file_name()) {
        (Ok(dir), Some(name)) => dir.join(name),
        _ => path.to_path_buf(),
    }
}
