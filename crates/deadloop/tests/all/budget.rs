//! `deadloop budget` from the command line to its files.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::path::Path;

use program::{code, deadloop, stderr, stdout};
use serde_json::{Value, json};

/// A word for a number: runs that differ in numbers alone are copies.
fn word(n: usize) -> String {
    let digit = |at: u32| char::from(b'a' + u8::try_from(n / 26_usize.pow(at) % 26).unwrap_or(0));
    (0..3).map(digit).collect()
}

/// A run of so many turns, each with a call and a result of 400 chars: some 103 tokens.
fn run(n: usize, turns: usize, source: &str) -> Value {
    let mut events = vec![json!({"type": "user", "text": "Mend it."})];
    for turn in 0..turns {
        let id = format!("c{turn}");
        events.push(json!({"type": "turn", "tokens_in": 2 + 130 * turn}));
        events.push(json!({"type": "tool_call", "id": id, "name": "read", "arguments": format!("{}-{turn}", word(n))}));
        events.push(json!({"type": "tool_result", "id": id, "content": format!("{turn} ").repeat(200), "error": false}));
    }
    events.push(json!({"type": "finish", "reason": "stop"}));
    json!({"id": format!("r{n}"), "group": format!("g{n}"), "meta": {"source": source}, "events": events})
}

fn corpus(dir: &Path, runs: usize) -> String {
    let source = |n: usize| if n.is_multiple_of(2) { "even" } else { "odd" };
    let lines = (0..runs).map(|n| run(n, 30 + n % 7, source(n)).to_string());
    let path = dir.join("runs.jsonl");
    std::fs::write(&path, lines.collect::<Vec<_>>().join("\n"))
        .expect("a temporary folder is writable");
    path.display().to_string()
}

fn read(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).expect("it was written")
}

const GRID: &str = "[[budget]]\n[budget.params]\nwindow = 2000\nthreshold = [0.5, 0.7, 0.85, 0.95]\nkeep = [0.2, 0.3]\ncache = [1, 0.1]\n";

fn grid(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).expect("likewise");
    path.display().to_string()
}

#[test]
fn a_budget_is_swept_chosen_and_left_in_files() {
    let dir = tempfile::tempdir().expect("there is room");
    let (corpus, grid) = (corpus(dir.path(), 120), grid(dir.path(), "grid.toml", GRID));
    let out = dir.path().join("out").display().to_string();
    let args = [
        "budget", &corpus, "--grid", &grid, "--preset", "goose", "--preset", "loom", "--csv",
        "--json", "--out", &out,
    ];
    let done = deadloop(&args);
    assert_eq!(code(&done), Some(0), "{}", stderr(&done));
    assert!(stderr(&done).contains("unsafe: threshold 0.95 is above 1 - reserve = 0.9"));
    assert!(stderr(&done).contains("preset loom: unsafe"));
    let said: Value = serde_json::from_str(&stdout(&done)).expect("it is JSON");
    let worlds = said["worlds"].as_array().expect("there are worlds");
    assert_eq!(worlds.len(), 2);
    assert!(worlds.iter().all(|world| {
        world["in_use"]["names"]
            .as_str()
            .is_some_and(|names| names.contains("goose"))
    }));
    let table = read(Path::new(&out), "budgets.csv");
    // Two prices; without a guard, eight settings and two presets; all runs and two sources.
    assert_eq!(table.lines().count(), 1 + 2 * (1 + 8 + 2) * 3);
    let never = table
        .lines()
        .find(|line| line.contains(",never,*,"))
        .expect("there is no guard");
    // Each run is over 1,800 tokens at its end.
    assert!(never.contains(",120,"), "{never}");
    for name in [
        "budgets.parquet",
        "budget.json",
        "limits.csv",
        "manifest.json",
    ] {
        assert!(Path::new(&out).join(name).is_file(), "{name}");
    }
    let tables = program::tables_as_said(Path::new(&out), "budget");
    assert_eq!(
        tables,
        ["budgets.parquet", "budget_runs.parquet", "limits.csv"]
    );
    let page = read(Path::new(&out), "report.html");
    assert!(page.contains("<svg") && page.contains("Content-Security-Policy"));
    // The page is rendered again from the files, and other threads leave the same bytes.
    assert_eq!(code(&deadloop(&["report", &out])), Some(0));
    assert_eq!(read(Path::new(&out), "report.html"), page);
    let other = dir.path().join("other").display().to_string();
    let mut again = args;
    again[args.len() - 1] = &other;
    let again: Vec<&str> = again.into_iter().chain(["--jobs", "1"]).collect();
    assert_eq!(code(&deadloop(&again)), Some(0));
    for name in ["budgets.csv", "budget.json", "limits.csv", "report.html"] {
        assert_eq!(
            read(Path::new(&out), name),
            read(Path::new(&other), name),
            "{name}"
        );
    }
    // What would run against what is in use, world by world and over groups.
    let compared = deadloop(&["compare", &out, &out, "--base-setting", "current", "--json"]);
    assert_eq!(code(&compared), Some(0), "{}", stderr(&compared));
    let compared: Value = serde_json::from_str(&stdout(&compared)).expect("it is JSON");
    let metrics: Vec<&str> = compared["rows"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|row| row["model"] == "*")
        .filter_map(|row| row["metric"].as_str())
        .collect();
    assert_eq!(metrics, ["overflow", "price", "cost"], "{compared}");
    let rows = compared["rows"].as_array().map_or(0, Vec::len);
    assert_eq!(
        (rows, compared["transcripts"].as_u64()),
        (9, Some(120)),
        "two worlds and both"
    );
    let alike = deadloop(&["compare", &out, &other]);
    assert_eq!(code(&alike), Some(0), "{}", stderr(&alike));
    assert!(stdout(&alike).contains("equivalent"), "{}", stdout(&alike));
    let baseline = dir.path().join("baseline").display().to_string();
    let blessed = deadloop(&["compare", &baseline, &out, "--bless"]);
    assert_eq!(code(&blessed), Some(0), "{}", stderr(&blessed));
    let held = deadloop(&["compare", &baseline, &other]);
    assert_eq!(stdout(&held), stdout(&alike).replace(&out, &baseline));
    // The same request again does nothing.
    assert!(stderr(&deadloop(&args)).contains("already holds these results"));
}

/// A hundred copies of one run, each in a group of its own, support what one does.
#[test]
fn copies_of_a_run_support_nothing() {
    let dir = tempfile::tempdir().expect("there is room");
    let of = |n: usize| {
        let mut one = run(7, 30, "even");
        (one["id"], one["group"]) = (json!(format!("r{n}")), json!(format!("g{n}")));
        one.to_string()
    };
    let path = dir.path().join("copies.jsonl");
    std::fs::write(&path, (0..100).map(of).collect::<Vec<_>>().join("\n")).expect("likewise");
    let (grid, out) = (grid(dir.path(), "grid.toml", GRID), dir.path().join("out"));
    let (path, out) = (path.display().to_string(), out.display().to_string());
    let done = deadloop(&["budget", &path, "--grid", &grid, "--out", &out, "--json"]);
    assert_eq!(code(&done), Some(5), "{}", stderr(&done));
    assert!(
        stdout(&done).contains("runs in 1 groups come near"),
        "{}",
        stdout(&done)
    );
}

/// The turn behind a loop is useful: it begins before its call, and the loop ends before both.
#[test]
fn the_turn_behind_a_loop_is_no_loop() {
    let dir = tempfile::tempdir().expect("there is room");
    let mut one = run(0, 12, "even");
    let at = json!({"class": "loop", "kind": "identical-call", "channel": "tools", "onset": 4, "end": 8});
    one["labels"] = json!([at]);
    let path = dir.path().join("loop.jsonl");
    std::fs::write(&path, one.to_string()).expect("likewise");
    let (grid, out) = (grid(dir.path(), "grid.toml", GRID), dir.path().join("out"));
    let (path, folder) = (path.display().to_string(), out.display().to_string());
    let done = deadloop(&["budget", &path, "--grid", &grid, "--out", &folder]);
    assert_eq!(code(&done), Some(5), "{}", stderr(&done));
    let text = read(&out, "limits.csv");
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let names = rows.headers().expect("it has a head").clone();
    let column = |name: &str| {
        names
            .iter()
            .position(|known| known == name)
            .expect("it is there")
    };
    let stops = |row: &csv::StringRecord| {
        let is = |name: &str, value: &str| &row[column(name)] == value;
        is("source", "*") && is("limit", "5") && is("cancel_after", "0") && is("warn_at", "0.6")
    };
    let row = rows
        .records()
        .map(|row| row.expect("it is CSV"))
        .find(stops)
        .expect("a row");
    // Stopped after 5 turns of 12: 5, 6 and 7 stand in the loop, 8 to 11 do not.
    assert_eq!(
        (
            &row[column("turns_saved")],
            &row[column("useful_turns_cut")]
        ),
        ("3", "4")
    );
}

#[test]
fn what_cannot_be_chosen_ends_with_its_code() {
    let dir = tempfile::tempdir().expect("there is room");
    let grid_file = grid(dir.path(), "grid.toml", GRID);
    let end = |corpus: &str, grid: &str, out: &str| {
        let out = dir.path().join(out).display().to_string();
        deadloop(&["budget", corpus, "--grid", grid, "--out", &out])
    };
    // Three groups say nothing.
    let few = end(&corpus(dir.path(), 3), &grid_file, "few");
    assert_eq!(code(&few), Some(5), "{}", stderr(&few));
    assert!(stdout(&few).contains("collect"));
    // A window that the definitions of tools fill.
    let corpus = corpus(dir.path(), 40);
    let full = "[[budget]]\nparams = { window = 2000, tools = 1950 }\n";
    let none = end(&corpus, &grid(dir.path(), "full.toml", full), "none");
    assert_eq!(code(&none), Some(6), "{}", stderr(&none));
    let bad = "[[budget]]\nparams = { keep = 2 }\n";
    let bad = end(&corpus, &grid(dir.path(), "bad.toml", bad), "bad");
    assert_eq!(code(&bad), Some(2));
    assert!(stderr(&bad).contains("bad.toml:2:"), "{}", stderr(&bad));
    let texts = dir.path().join("texts.jsonl");
    std::fs::write(&texts, "{\"id\":\"t\",\"answer\":\"No run.\"}\n").expect("likewise");
    let text = end(&texts.display().to_string(), &grid_file, "text");
    assert_eq!(code(&text), Some(4));
    assert!(stderr(&text).contains("has a turn"), "{}", stderr(&text));
    let unknown = deadloop(&["budget", &corpus, "--preset", "codx", "--out", "x"]);
    assert!(stderr(&unknown).contains("did you mean \"codex\""));
    assert_eq!(code(&unknown), Some(2));
}
