//! The finder shares no code with the detectors, so that their results can be checked against each other.

use std::collections::BTreeSet;
use std::path::Path;

use regex::Regex;

/// The allowed items: types of events, without decisions.
const ALLOWED: [&str; 4] = ["Arguments", "Channel", "Event", "Kind"];

#[test]
fn only_event_types_of_detect_are_used() {
    let path = Regex::new(r"detect(?:::(\{[^}]*\}|\w+))?").unwrap();
    let mut used = BTreeSet::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            if file.is_dir() {
                folders.push(file);
                continue;
            }
            let text = std::fs::read_to_string(&file).unwrap();
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            for found in path.captures_iter(&code.collect::<Vec<_>>().join("\n")) {
                // A mention of the crate without an item is not allowed.
                let names = found.get(1).map_or("detect", |names| names.as_str());
                let names = names.split(|c: char| !c.is_alphanumeric());
                used.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
            }
        }
    }
    assert!(used.iter().eq(ALLOWED), "{used:?}");
}

#[test]
fn only_corpus_and_detect_are_dependencies() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let text = std::fs::read_to_string(manifest).unwrap();
    let (_, rest) = text.split_once("[dependencies]").unwrap();
    let (code, _) = rest.split_once("\n[").unwrap();
    let names = code.lines().filter_map(|line| line.split('.').next());
    let own: Vec<&str> = names.filter(|name| name.starts_with("deadloop-")).collect();
    assert_eq!(own, ["deadloop-corpus", "deadloop-detect"]);
}
