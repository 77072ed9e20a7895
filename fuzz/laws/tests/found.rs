//! Every seed of the fuzz targets, and everything that they have ever found, keeps the laws.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};

use deadloop_laws::{TARGETS, Target, detector, text_detectors};

/// The files of a target: its seeds, and its finds.
fn files(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths: Vec<PathBuf> = Vec::new();
    for kind in ["seeds", "found"] {
        let listed = std::fs::read_dir(fuzz.join(kind).join(target));
        paths.extend(
            listed
                .into_iter()
                .flatten()
                .map(|entry| entry.unwrap().path()),
        );
    }
    paths.sort();
    let read = |path: PathBuf| (path.clone(), std::fs::read(path).unwrap());
    paths.into_iter().map(read).collect()
}

/// Runs a target on its files; on the console the last name before a failure is the file.
fn all(target: &str, least: usize) {
    let (_, law): (_, Target) = *TARGETS.iter().find(|(name, _)| *name == target).unwrap();
    let files = files(target);
    assert!(files.len() >= least, "{target} has {} files", files.len());
    for (path, bytes) in files {
        println!("{}", path.display());
        law(&bytes);
    }
}

#[test]
fn import() {
    all("import", 21);
}

#[test]
fn parquet() {
    all("parquet", 1);
}

#[test]
fn splitter() {
    all("splitter", 21);
}

#[test]
fn repair() {
    all("repair", 31);
}

#[test]
fn runs() {
    all("runs", 42);
}

#[test]
fn grids() {
    all("grids", 10);
}

#[test]
fn proxy() {
    all("proxy", 15);
}

#[test]
fn http() {
    all("http", 106);
}

#[test]
fn settings() {
    all("settings", 21);
}

/// What was found with one detector is asked of all of them.
#[test]
fn detectors() {
    let files = files("detectors");
    assert!(files.len() > 20);
    for (path, bytes) in files {
        for each in text_detectors() {
            println!("{} {}", each.name, path.display());
            detector(each, &bytes);
        }
    }
}
