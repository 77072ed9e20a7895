//! Checks that no output overwrites an input or another output.

use std::fmt::Display;
use std::io::Error;
use std::path::{Path, PathBuf};

use deadloop_corpus::{FolderClaim, claim, prove_writable};

use crate::failure::{Code, Failure, RunResult};
use crate::host::Host;
use crate::option::{FORCE, OUT};

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

/// Refuses outputs that would overwrite an input or another output, even with `--force`. `written` pairs each output
/// with its option. `read` holds files and corpora.
pub fn apart(written: &[(impl Display, PathBuf)], read: &[&Path]) -> RunResult {
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
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let dir = dir.unwrap_or(Path::new(".")).canonicalize();
    match (dir, path.file_name()) {
        (Ok(dir), Some(name)) => dir.join(name),
        _ => path.to_path_buf(),
    }
}
