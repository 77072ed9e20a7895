//! What a command reads is never written over, whatever `--force` says, and no two of its files are one.

use std::path::{Path, PathBuf};

use crate::failure::{Code, RunResult};

/// The files that stand beside the transcripts of a corpus.
const BESIDE: [&str; 3] = ["dataset.toml", "labels.csv", "splits.csv"];

/// Refuses files that would be written over what is read, or over each other. `written`: each under the
/// option that asks for it; `read`: files, and corpora.
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

/// The files of a path that is read.
fn parts(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        BESIDE.iter().map(|name| place(&path.join(name))).collect()
    } else {
        vec![place(path)]
    }
}

/// The one name of a place, whether or not a file is there.
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
