//! What names say: no type name stands for two things, so who reads one crate knows what the word means in the next;
//! and nothing below `score` can name what is true.
#![allow(clippy::expect_used, reason = "in the helpers of tests as in tests")]

use std::collections::{BTreeMap, BTreeSet};
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

fn of_all_crates() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(crates).expect("the crates") {
        sources(&entry.expect("a crate").path().join("src"), &mut files);
    }
    files
}

#[test]
fn no_type_name_stands_for_two_things() {
    let files = of_all_crates();
    let declared = Regex::new(r"(?m)^(?:\s*pub(?:\([^)]*\))? )?(?:struct|enum|trait|type) (\w+)")
        .expect("a pattern");
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

/// A tuple as a parameter hides an argument from the lint that counts them, and names neither of its parts where it is called.
#[test]
fn no_public_function_takes_a_tuple() {
    let files = of_all_crates();
    // A parameter's name or pattern, then a type that begins with a tuple of two or more.
    let function = Regex::new(r"(?m)^\s*pub (?:const |async )?fn \w+(?:<[^(]*>)?\(([^{;]*)")
        .expect("a pattern");
    let tuple = Regex::new(r"[\w)]: (?:&(?:'\w+ )?(?:mut )?)?\([^()]+,").expect("a pattern");
    assert!(tuple.is_match("(a, b): (&A, bool), c: C"));
    assert!(tuple.is_match("at: (f64, f64)"));
    assert!(!tuple.is_match("a: &A, of: impl Fn(&A, usize) -> (A, B)"));
    let mut seen = 0;
    for file in &files {
        let text = std::fs::read_to_string(file).expect("a source");
        for found in function.captures_iter(&text) {
            seen += 1;
            let parameters = found[1].split(") ->").next().unwrap_or_default();
            assert!(
                !tuple.is_match(parameters),
                "{}: {}",
                file.display(),
                &found[0]
            );
        }
    }
    assert!(seen > 1_000, "{seen} functions: where are the others?");
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
    for name in [
        "deadloop-detect",
        "deadloop-repair",
        "deadloop-stream",
        "deadloop-replay",
    ] {
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

/// A command is its arguments, its help and what it shows: what two of them need stands beside `commands/` or in a library.
#[test]
fn no_command_imports_another() {
    let commands = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/deadloop/src/commands");
    let mut files = Vec::new();
    sources(&commands, &mut files);
    let verb = |path: &Path| -> Option<String> {
        let inside = path.strip_prefix(&commands).ok()?;
        let first = inside.components().next()?.as_os_str().to_str()?;
        Some(first.trim_end_matches(".rs").to_owned())
    };
    let verbs: BTreeSet<String> = files.iter().filter_map(|file| verb(file)).collect();
    assert!(verbs.len() > 20, "{verbs:?}");
    let named = Regex::new(r"((?:super::)+|crate::commands::)(\w+|\{[^}]*\})").expect("a pattern");
    for file in &files {
        let own = verb(file).expect("it is in the folder");
        if own == "mod" {
            continue;
        }
        let inside = file.strip_prefix(&commands).expect("it is in it");
        let deep = inside.components().count();
        let is_front = inside.file_name().is_some_and(|name| name == "mod.rs");
        let up = "super::".repeat(deep - usize::from(is_front));
        let text = std::fs::read_to_string(file).expect("a source");
        // What stands in a module of tests is one level further down.
        let code = text.split("#[cfg(test)]").next().unwrap_or(&text);
        for found in named.captures_iter(code) {
            let here = found[1] == up || found[1].starts_with("crate");
            let mut words = found[2].split(|c: char| !(c.is_alphanumeric() || c == '_'));
            let other = words.any(|word| verbs.contains(word) && word != own && word != "families");
            assert!(!(here && other), "{}: {}", file.display(), &found[0]);
        }
    }
}

/// A run is a library call: the code with which a program ends is the program's.
#[test]
fn a_run_knows_no_exit_code() {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/deadloop-run/src");
    let mut files = Vec::new();
    sources(&run, &mut files);
    assert!(
        files.len() > 60,
        "{} files: where are the others?",
        files.len()
    );
    let exit = Regex::new(r"process::exit|ExitCode|Code::\w+ as ").expect("a pattern");
    for file in &files {
        let text = std::fs::read_to_string(file).expect("a source");
        let code = text.split("#[cfg(test)]").next().unwrap_or(&text);
        for line in code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
        {
            assert!(!exit.is_match(line), "{}: {line}", file.display());
        }
    }
}

/// Public items of `deadloop-detect` that name a type of serde_json, and why.
const OF_JSON: [&str; 3] = ["Event", "OwnedEvent", "Arguments"]; // The arguments of a call, which who embeds has as such a value.

/// A product that embeds `deadloop-detect` is not bound to the major versions of what it reads TOML, JSON and globs with.
#[test]
fn no_public_type_of_detect_is_one_of_another_crate() {
    let detect = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/deadloop-detect/src");
    let mut files = Vec::new();
    sources(&detect, &mut files);
    // A public item up to its body, or a public field.
    let item = Regex::new(r"(?m)^ *pub (?:[a-z]+ )*(\w+)[^{};]*").expect("a pattern");
    let foreign = Regex::new(r"\b(toml::|Spanned|serde_json::|Json\b|Glob\w*)").expect("a pattern");
    let (mut seen, mut known) = (0, BTreeSet::new());
    for file in &files {
        let text = std::fs::read_to_string(file).expect("a source");
        let code = text.split("#[cfg(test)]").next().unwrap_or(&text);
        // What files call `Value` is serde_json's where they import it.
        let json = code.contains("use serde_json::Value");
        for found in item.captures_iter(code) {
            seen += 1;
            let said = found[0].replace("///", "");
            let names = foreign.is_match(&said) || (json && said.contains("Value"));
            if names && OF_JSON.contains(&&found[1]) {
                known.insert(found[1].to_owned());
            } else {
                assert!(!names, "{}: {}", file.display(), &found[0]);
            }
        }
    }
    assert!(seen > 300, "{seen} items: where are the others?");
    assert_eq!(known.len(), OF_JSON.len(), "{known:?}");
}
