//! Every seed of the fuzz targets, and everything that they have ever found, keeps the laws.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};

use deadloop_laws::{FuzzTarget, TARGETS, detector, text_detectors};

/// The files of a target: its seeds, and its finds.
fn files(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths: Vec<PathBuf> = Vec::new();
    for kind in ["seeds", "found"] {
        let listed = std::fs::read_dir(fuzz.join(kind).join(target));
        let listed = listed.into_iter().flatten();
        paths.extend(listed.map(|entry| entry.unwrap().path()));
    }
    paths.sort();
    let read = |path: PathBuf| (path.clone(), std::fs::read(path).unwrap());
    paths.into_iter().map(read).collect()
}

/// Runs a target on its files; on the console the last name before a failure is the file.
fn all(target: &str, least: usize) {
    let (_, law): (_, FuzzTarget) = *TARGETS.iter().find(|(name, _)| *name == target).unwrap();
    let files = files(target);
    assert!(files.len() >= least, "{target} has {} files", files.len());
    for (path, bytes) in files {
        println!("{}", path.display());
        law(&bytes);
    }
}

/// A test of each target, and the least number of files that it has.
macro_rules! targets {
    ($($name:ident $least:literal),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                all(stringify!($name), $least);
            }
        )*
    };
}

targets! {
    import 21, parquet 1, splitter 21, repair 31, runs 42, grids 10, proxy 15, http 106, settings 21,
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

/// The script knows each target, and each detector of text by its name.
#[test]
fn the_script_lists_every_target() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut asked = std::process::Command::new("bash");
    let asked = asked.args(["scripts/fuzz", "nobody"]).current_dir(root);
    let said = asked.output().unwrap();
    assert_eq!(said.status.code(), Some(2));
    let said = String::from_utf8(said.stdout).unwrap();
    let known: Vec<&str> = said.split_whitespace().collect();
    let targets = TARGETS.iter().map(|(name, _)| *name);
    let targets = targets.filter(|name| *name != "detectors");
    for name in targets.chain(text_detectors().iter().map(|one| one.name)) {
        assert!(known.contains(&name), "{name} is not in {said}");
    }
}
