//! Checks that outputs can be written and overwrite no input.

use std::fmt::Display;
use std::io::Error;
use std::path::{Path, PathBuf};

use deadloop_corpus::{FolderClaim, UnfinishedFile, WriteError, check_writable, claim};

use crate::failure::{Code, Failure, RunResult};
use crate::host::Host;
use crate::option::{FORCE, OUT, RunOption};

/// The input files of a corpus beside its transcripts.
const SIDE_FILES: [&str; 3] = ["dataset.toml", "labels.csv", "splits.csv"];

/// Creates a folder and claims it. Checks that `files` can be written there and that none would overwrite an input in
/// `read`.
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
    check_distinct(&files, read)?;
    host.writes(dir);
    check_writable(dir).map_err(|e| refuse("cannot be written to", e))?;
    Ok(claim)
}

/// Returns the error for a folder that holds a file `name` of another result.
pub(crate) fn occupied_by(dir: &Path, name: &Path, what: &str) -> Failure {
    let (dir, name) = (dir.display(), name.display());
    let what = format!("{dir}: holds {name}{what}; choose another folder, or {FORCE} to overwrite");
    Code::Usage.at(OUT, what)
}

/// Checks, before any work, that the folder of an output file exists.
pub fn prove_folder_of(option: RunOption, file: &Path) -> RunResult {
    let folder = parent_folder(file);
    if folder.is_dir() {
        return Ok(());
    }
    let (file, folder) = (file.display(), folder.display());
    let what = format!("{file}: there is no folder {folder}; make it first");
    Err(Code::Usage.at(option, what))
}

/// Checks, before any work, that a file can be written. Without `force`, the file must not exist.
pub(crate) fn check_file_writable(option: RunOption, path: &Path, force: bool) -> RunResult {
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

/// Returns the folder of a file, which is `.` for a bare name.
pub(crate) fn parent_folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Returns an error if an output would overwrite an input, or two outputs have the same path. `written` pairs each
/// output with its option. `read` lists input files and corpora.
pub(crate) fn check_distinct(written: &[(impl Display, PathBuf)], read: &[&Path]) -> RunResult {
    let files: Vec<PathBuf> = read.iter().flat_map(|path| input_files(path)).collect();
    let corpora: Vec<PathBuf> = read
        .iter()
        .map(|path| canonical(&path.join("transcripts")))
        .collect();
    let mut output_paths: Vec<PathBuf> = Vec::new();
    for (option, path) in written {
        let at = canonical(path);
        let among = at
            .parent()
            .is_some_and(|dir| corpora.iter().any(|inner| inner == dir));
        let what = if files.contains(&at) {
            "would be written over what is read"
        } else if among {
            "would stand among the transcripts that are read"
        } else if output_paths.contains(&at) {
            "would be written twice"
        } else {
            output_paths.push(at);
            continue;
        };
        let path = path.display();
        let what = format!("{option} {path}: {what}; choose another name");
        return Err(Code::Usage.error(what));
    }
    Ok(())
}

/// Returns the files of an input, which is a file or a corpus folder.
fn input_files(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        SIDE_FILES
            .iter()
            .map(|f| canonical(&path.join(f)))
            .collect()
    } else {
        vec![canonical(path)]
    }
}

/// Returns the canonical path of a file, even if the file does not exist.
fn canonical(path: &Path) -> PathBuf {
    if let Ok(there) = path.canonicalize() {
        return there;
    }
    match (parent_folder(path).canonicalize(), path.file_name()) {
        (Ok(dir), Some(name)) => dir.join(name),
        _ => path.to_path_buf(),
    }
}
