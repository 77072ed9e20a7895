//! No public type name stands for two things: who reads one crate knows what the word means in the next.
#![allow(clippy::expect_used, reason = "in the helpers of tests as in tests")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Every Rust file below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_public_type_name_stands_for_two_things() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(crates).expect("the crates") {
        sources(&entry.expect("a crate").path().join("src"), &mut files);
    }
    let declared = Regex::new(r"(?m)^\s*pub (?:struct|enum|trait|type) (\w+)").expect("a pattern");
    let mut names: BTreeMap<String, Vec<&Path>> = BTreeMap::new();
    for file in &files {
        let text = std::fs::read_to_string(file).expect("a source");
        for found in declared.captures_iter(&text) {
            names.entry(found[1].to_owned()).or_default().push(file);
        }
    }
    assert!(
        names.len() > 300,
        "{} names: where are the others?",
        names.len()
    );
    names.retain(|_, files| files.len() > 1);
    assert!(names.is_empty(), "{names:#?}");
}
