//! `deadloop detectors`: one screen, one detector in full, and grids that every command takes as they are.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Ran, STARTER, code, deadloop, file, stderr, stdout};
use serde_json::Value;

fn names() -> Vec<String> {
    let run = deadloop(&["detectors", "--json"]);
    let all: Value = serde_json::from_slice(&run.stdout).expect("JSON on stdout");
    let all = all.as_array().expect("a list");
    all.iter()
        .map(|d| d["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[test]
fn all_of_them_are_one_screen() {
    let run = deadloop(&["detectors"]);
    let told = stdout(&run);
    assert_eq!(code(&run), Some(0));
    assert!(told.lines().count() <= 30, "{told}");
    assert!(
        told.lines().all(|line| line.chars().count() <= 100),
        "{told}"
    );
    let names = names();
    assert!(names.len() >= 7);
    for name in &names {
        let row = told
            .lines()
            .find(|line| line.trim_start().starts_with(name));
        assert!(
            row.is_some_and(|row| row.contains("stop") || row.contains("warn")),
            "{name}: {told}"
        );
    }
    let next = stderr(&run);
    assert!(next.contains("next: deadloop detectors periodic"), "{next}");
    assert_eq!(stderr(&deadloop(&["detectors", "--quiet"])), "");
}

#[test]
fn one_of_them_is_told_in_full() {
    let told = stdout(&deadloop(&["detectors", "checkpoint"]));
    for words in [
        "checkpoint (version",
        "At checkpoint c, on the first c chars exactly",
        "min_repeats",
        "a whole number, 2..100000",
        "S changes what is measured, T only what is accepted.",
        "document: looks at 2000, 3000 and 5000 chars",
    ] {
        assert!(told.contains(words), "{words:?} is not in {told}");
    }
    assert!(!told.contains("periodic (version"), "{told}");
    let run = deadloop(&["detectors", "checkpoint", "--json"]);
    let one: Value = serde_json::from_slice(&run.stdout).expect("JSON on stdout");
    assert_eq!(one["name"], "checkpoint");
}

#[test]
fn an_unknown_one_is_refused_with_the_one_that_was_meant() {
    for words in [
        &["detectors", "periodc"][..],
        &["detectors", "periodc", "--grid"],
    ] {
        let run = deadloop(words).ends(2);
        let said = stderr(&run);
        assert!(said.contains("(did you mean \"periodic\"?)"), "{said}");
    }
}

/// The law of grids: what is printed for any detector is taken as it is, and has something to search.
#[test]
fn every_grid_is_planned_as_it_is_printed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for name in names() {
        let run = deadloop(&["detectors", &name, "--grid"]);
        assert_eq!((code(&run), stderr(&run).as_str()), (Some(0), ""), "{name}");
        let printed = stdout(&run);
        let grid = file(dir.path(), "grid.toml", &printed);
        let run = deadloop(&["tune", STARTER, "--grid", &grid, "--dry-run"]);
        if name == "circling" {
            // What warns is swept, and chosen by nobody.
            run.says("tune chooses among what stops");
            continue;
        }
        let told = stdout(&run);
        assert_eq!(code(&run), Some(0), "{name}: {}", stderr(&run));
        let words: Vec<&str> = told.split_whitespace().collect();
        let settings: u64 = words[2].parse().expect("a count");
        assert!(settings > 1, "{name}: {told}");
        let json = deadloop(&["detectors", &name, "--grid", "--json"]);
        let json: Value = serde_json::from_slice(&json.stdout).expect("JSON on stdout");
        assert_eq!(json["grid"].as_str().map(str::trim), Some(printed.trim()));
    }
}
