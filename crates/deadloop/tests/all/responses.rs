//! What an alarm does (`response`), from outside: what warns ends nothing, is scored apart, and stays as it
//! is where `tune` chooses.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::path::Path;
use std::process::{Output, Stdio};

use program::{Ran, code, command, deadloop_in, file, stderr, stdout};
use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

const STOPS: &str = "[[guard]]\ndetector = \"periodic\"\n";
const WARNS: &str =
    "[[guard]]\ndetector = \"checkpoint\"\npreset = \"document\"\nresponse = \"warn\"\n";

fn deadloop(args: &[&str]) -> Output {
    let run = deadloop_in(Path::new(ROOT), args).ends(0);
    run
}

/// The rows of a table that a replay of the starter corpus under these settings leaves; without the setting's name.
fn rows(dir: &Path, name: &str, settings: &str, table: &str) -> Vec<String> {
    let settings = file(dir, &format!("{name}.toml"), settings);
    let out = dir.join(name);
    let told = out.to_str().expect("UTF-8");
    let replay = ["replay", "datasets/starter", "--settings", &settings];
    deadloop(&[&replay[..], &["--csv", "--quiet", "--force", "--out", told]].concat());
    let text = std::fs::read_to_string(out.join(table)).expect("it is there");
    text.lines().map(str::to_owned).collect()
}

/// Those of one response, with another word for it.
fn of(rows: &[String], response: &str, other: &str) -> Vec<String> {
    let (is, as_if) = (format!(",{response},"), format!(",{other},"));
    let these = rows.iter().filter(|row| row.contains(&is));
    these.map(|row| row.replacen(&is, &as_if, 1)).collect()
}

/// Outcomes of a file with both are those of two files, but for the setting's name.
#[test]
fn what_warns_has_rows_of_its_own() {
    let dir = tempfile::tempdir().expect("a folder");
    let both = rows(
        dir.path(),
        "both",
        &format!("{STOPS}{WARNS}"),
        "outcomes.csv",
    );
    let stops = rows(dir.path(), "stops", STOPS, "outcomes.csv");
    assert_eq!(of(&both, "stop", "stop"), of(&stops, "stop", "stop"));
    let as_a_stop = WARNS.replace("warn", "stop");
    let alone = rows(dir.path(), "alone", &as_a_stop, "outcomes.csv");
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
    assert!(!of(&both, "warn", "stop").is_empty());
    assert_eq!(
        column(of(&both, "warn", "stop")),
        column(of(&alone, "stop", "stop"))
    );
    let scores = std::fs::read_to_string(dir.path().join("both/scores.csv")).expect("it is there");
    let count = |word: &str| scores.lines().filter(|row| row.contains(word)).count();
    assert!(count(",chars,warn,") > 0 && count(",chars,warn,") <= count(",chars,stop,"));
}

/// The live guard goes on after a warning, and says it once.
#[test]
fn watch_goes_on_after_a_warning() {
    let dir = tempfile::tempdir().expect("a folder");
    let warns = file(
        dir.path(),
        "warns.toml",
        &STOPS.replace("periodic\"", "periodic\"\nresponse = \"warn\""),
    );
    let watch = |settings: &str| {
        let mut child = command(&["watch", "--json", "--settings", settings])
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
    let run = watch(&warns).ends(0);
    let told: Value = serde_json::from_str(&stdout(&run)).expect("JSON");
    let warnings = told["warnings"].as_array().expect("a list");
    assert_eq!(
        (warnings.len(), &warnings[0]["response"]),
        (1, &Value::from("warn"))
    );
    assert!(
        told["alarm"].is_null() && stderr(&run).contains("deadloop: warn: dead loop"),
        "{told}"
    );
    let stops = file(dir.path(), "stops.toml", STOPS);
    assert_eq!(code(&watch(&stops)), Some(10));
}

/// `tune` chooses among what stops; a warning stands in what it ships, as it stood in what is in use.
#[test]
fn tune_keeps_a_warning() {
    let dir = tempfile::tempdir().expect("a folder");
    let late = STOPS.to_owned() + "[guard.params]\nmin_chars = 6500\n" + WARNS;
    let settings = file(dir.path(), "use.toml", &late);
    let grid = file(
        dir.path(),
        "grid.toml",
        &(STOPS.to_owned() + "[guard.params]\nmin_chars = [300, 600]\n"),
    );
    let out = dir.path().join("out");
    let told = out.to_str().expect("UTF-8");
    let tune = [
        "tune",
        "datasets/starter",
        "--settings",
        &settings,
        "--grid",
        &grid,
    ];
    let limit = ["--constraint", "fa_per_mchar<=20"];
    deadloop(&[&tune[..], &limit, &["--quiet", "--out", told]].concat());
    let shipped = std::fs::read_to_string(out.join("settings.toml")).expect("it is there");
    assert!(
        shipped.starts_with("# deadloop tune: ship") && !shipped.contains("6500\n"),
        "{shipped}"
    );
    assert_eq!(
        shipped.matches("response = \"warn\"").count(),
        1,
        "{shipped}"
    );
    let warns = file(
        dir.path(),
        "warns.toml",
        &(STOPS.to_owned() + "response = \"observe\"\n"),
    );
    let run = deadloop_in(
        Path::new(ROOT),
        &[
            "tune",
            "datasets/starter",
            "--grid",
            &warns,
            "--out",
            told,
            "--force",
        ],
    )
    .ends(2);
    run.says("tune chooses among what stops");
}
