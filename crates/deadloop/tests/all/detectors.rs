//! `deadloop detectors`: one screen, one detector in full, and grids that every command takes as they are.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Place, Ran, code, has, stderr, stdout};

fn names() -> Vec<String> {
    let all = Place::new().run("detectors --json").json();
    let all = all.as_array().expect("a list");
    all.iter()
        .map(|d| d["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[test]
fn all_of_them_are_one_screen() {
    let place = Place::new();
    let run = place.run("detectors");
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
    assert_eq!(stderr(&place.run("detectors --quiet")), "");
}

#[test]
fn one_of_them_is_told_in_full() {
    let place = Place::new();
    let told = stdout(&place.run("detectors checkpoint"));
    for words in [
        "checkpoint (version",
        "At checkpoint c, on the first c chars exactly",
        "min_repeats",
        "a whole number, 2..100000",
        "S changes what is measured, T only what is accepted.",
        "document: looks at 2000, 3000 and 5000 chars",
    ] {
        has(&told, words);
    }
    assert!(!told.contains("periodic (version"), "{told}");
    let one = place.run("detectors checkpoint --json").json();
    assert_eq!(one["name"], "checkpoint");
}

#[test]
fn an_unknown_one_is_refused_with_the_one_that_was_meant() {
    for line in ["detectors periodc", "detectors periodc --grid"] {
        let run = Place::new().run(line).ends(2);
        run.says("(did you mean \"periodic\"?)");
    }
}

/// The law of grids: what is printed for any detector is taken as it is, and has something to search.
#[test]
fn every_grid_is_planned_as_it_is_printed() {
    let place = Place::new();
    for name in names() {
        let line = format!("detectors {name} --grid");
        let run = place.run(&line);
        assert_eq!((code(&run), stderr(&run).as_str()), (Some(0), ""), "{name}");
        let printed = stdout(&run);
        place.file("grid.toml", &printed);
        let tune = "tune ROOT/datasets/starter --grid grid.toml --dry-run";
        let run = place.run(tune);
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
        let json = place.run(format!("{line} --json")).json();
        assert_eq!(json["grid"].as_str().map(str::trim), Some(printed.trim()));
    }
}
