//! What an alarm does (`response`), from outside: what warns ends nothing, is scored apart, and stays as it
//! is where `tune` chooses.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::process::Stdio;

use program::{Place, Ran};

const STOPS: &str = "[[guard]]\ndetector = \"periodic\"\n";
const WARNS: &str =
    "[[guard]]\ndetector = \"checkpoint\"\npreset = \"document\"\nresponse = \"warn\"\n";

/// The rows of a table that a replay of the starter corpus under these settings leaves; without the setting's name.
fn rows(place: &Place, name: &str, settings: &str, table: &str) -> Vec<String> {
    place.file("settings.toml", settings);
    let replay = "replay ROOT/datasets/starter --settings settings.toml --csv --quiet --force";
    place.run(format!("{replay} --out {name}")).ends(0);
    let text = place.read(&format!("{name}/{table}"));
    text.lines().map(str::to_owned).collect()
}

/// Those of one response, with another word for it.
fn rows_with(rows: &[String], response: &str, other: &str) -> Vec<String> {
    let (is, as_if) = (format!(",{response},"), format!(",{other},"));
    let these = rows.iter().filter(|row| row.contains(&is));
    these.map(|row| row.replacen(&is, &as_if, 1)).collect()
}

/// Outcomes of a file with both are those of two files, but for the setting's name.
#[test]
fn what_warns_has_rows_of_its_own() {
    let place = Place::new();
    let both = rows(&place, "both", &format!("{STOPS}{WARNS}"), "outcomes.csv");
    let stops = rows(&place, "stops", STOPS, "outcomes.csv");
    assert_eq!(
        rows_with(&both, "stop", "stop"),
        rows_with(&stops, "stop", "stop")
    );
    let as_a_stop = WARNS.replace("warn", "stop");
    let alone = rows(&place, "alone", &as_a_stop, "outcomes.csv");
    let column = |rows: Vec<String>| {
        let row = |row: String| {
            row.split(',')
                .enumerate()
                .filter(|(i, _)| *i != 8)
                .map(|(_, cell)| cell.to_owned())
                .collect::<Vec<_>>()
        };
        rows.into_iter().map(row).collect::<Vec<_>>()
    };
    assert!(!rows_with(&both, "warn", "stop").is_empty());
    assert_eq!(
        column(rows_with(&both, "warn", "stop")),
        column(rows_with(&alone, "stop", "stop"))
    );
    let scores = place.read("both/scores.csv");
    let count = |word: &str| scores.lines().filter(|row| row.contains(word)).count();
    assert!(count(",chars,warn,") > 0 && count(",chars,warn,") <= count(",chars,stop,"));
}

/// The live guard goes on after a warning, and says it once.
#[test]
fn watch_goes_on_after_a_warning() {
    let place = Place::new();
    let warns = STOPS.replace("periodic\"", "periodic\"\nresponse = \"warn\"");
    place.file("warns.toml", warns);
    place.file("stops.toml", STOPS);
    let watch = |settings: &str| {
        let mut child = place
            .command(format!("watch --json --settings {settings}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut stdin = child.stdin.take().expect("piped");
        let _ = std::io::Write::write_all(&mut stdin, "再想一想！".repeat(2000).as_bytes());
        drop(stdin);
        child.wait_with_output().expect("it ends")
    };
    let run = watch("warns.toml").ends(0);
    let told = run.json();
    let warnings = told["warnings"].as_array().expect("a list");
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0]["response"], "warn");
    assert!(told["alarm"].is_null(), "{told}");
    run.says("deadloop: warn: dead loop");
    watch("stops.toml").ends(10);
}

/// `tune` chooses among what stops; a warning stands in what it ships, as it stood in what is in use.
#[test]
fn tune_keeps_a_warning() {
    let place = Place::new();
    let late = STOPS.to_owned() + "[guard.params]\nmin_chars = 6500\n" + WARNS;
    place.file("use.toml", late);
    let grid = STOPS.to_owned() + "[guard.params]\nmin_chars = [300, 600]\n";
    place.file("grid.toml", grid);
    let tune = "tune ROOT/datasets/starter --out out --grid";
    let limit = "--settings use.toml --constraint fa_per_mchar<=20 --quiet";
    place.run(format!("{tune} grid.toml {limit}")).ends(0);
    let shipped = place.read("out/settings.toml");
    assert!(
        shipped.starts_with("# deadloop tune: ship") && !shipped.contains("6500\n"),
        "{shipped}"
    );
    assert_eq!(
        shipped.matches("response = \"warn\"").count(),
        1,
        "{shipped}"
    );
    let observes = STOPS.to_owned() + "response = \"observe\"\n";
    place.file("observes.toml", observes);
    let run = place.run(format!("{tune} observes.toml --force")).ends(2);
    run.says("tune chooses among what stops");
}
