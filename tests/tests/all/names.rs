//! What names say: no public type name stands for two things, so who reads one crate knows what the word means in the next; and
//! nothing below `score` can name what is true.
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

/// The words of what is true of a transcript, and of whoever knows it.
const TRUTH: [&str; 12] = [
    "gold", "golds", "label", "labels", "truth", "truths", "judge", "judged", "verdict",
    "verdicts", "damage", "damaged",
];

/// Public names that hold such a word and say nothing of a transcript, with the crate and why.
const OTHERS: [(&str, &str); 1] = [("deadloop-stream", "label")];

/// The words of a name, in small letters: `WrongRepair`, `wrong_repair`.
fn words(name: &str) -> Vec<String> {
    let word = Regex::new("[A-Z]?[a-z0-9]+|[A-Z]+").expect("a pattern");
    let found = word.find_iter(name);
    found.map(|word| word.as_str().to_lowercase()).collect()
}

/// What embeds, watches and replays has no public item or field that could hold a label, a truth or a verdict on one, and
/// depends on no crate that has.
#[test]
fn nothing_below_score_can_name_what_is_true() {
    let item = Regex::new(
        r"(?m)^\s*pub (?:const fn|async fn|fn|struct|enum|trait|type|mod|const|static)? ?(\w+)",
    )
    .expect("a pattern");
    let mut seen = 0;
    for name in ["deadloop-detect", "deadloop-stream", "deadloop-replay"] {
        let below = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../crates")
            .join(name);
        let manifest = std::fs::read_to_string(below.join("Cargo.toml")).expect("a manifest");
        assert!(!manifest.contains("deadloop-score"), "{name} depends on it");
        let mut files = Vec::new();
        sources(&below.join("src"), &mut files);
        for file in &files {
            let text = std::fs::read_to_string(file).expect("a source");
            for found in item.captures_iter(&text) {
                seen += 1;
                let says = |word: &String| TRUTH.contains(&word.as_str());
                let told = words(&found[1]).iter().any(says);
                let known = OTHERS.contains(&(name, &found[1]));
                assert!(!told || known, "{}: {}", file.display(), &found[1]);
            }
        }
    }
    assert!(seen > 1_000, "{seen} names: where are the others?");
    assert_eq!(words("JudgedStream"), ["judged", "stream"]);
}
