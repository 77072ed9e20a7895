//! Checks that no output overwrites an input or another output.

use std::path::{Path, PathBuf};

use crate::failure::{Code, RunResult};

/// The files beside the transcripts of a corpus.
const BESIDE: [&str; 3] = ["dataset.toml", "labels.csv", "splits.csv"];

/// Refuses outputs that would overwrite an input or another output, even with `--force`. `written` pairs each output
/// with its option. `read` holds files and corpora.
pub fn apart(written: &[(&str, PathBuf)], read: &[&Path]) -> RunResult {
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
