//! `deadloop budget` from the command line to its files.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::collections::BTreeMap;
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
fn a_budget_is_swept_and_left_in_files() {
    let dir = tempfile::tempdir().expect("there is room");
    let (corpus, grid) = (corpus(dir.path(), 120), grid(dir.path(), "grid.toml", GRID));
    let out = dir.path().join("out").display().to_string();
    let args = [
        "budget", &corpus, "--grid", &grid, "--csv", "--json", "--out", &out,
    ];
    let done = deadloop(&args);
    assert_eq!(code(&done), Some(0), "{}", stderr(&done));
    assert!(stderr(&done).contains("unsafe: threshold 0.95 is above 1 - reserve = 0.9"));
    let said: Value = serde_json::from_str(&stdout(&done)).expect("it is JSON");
    let budgets = said["budgets"].as_array().expect("there are budgets");
    // Without a guard, eight settings and four presets.
    assert_eq!(budgets.len(), 1 + 8 + 4);
    // Each run is over 1,800 tokens at its end.
    assert_eq!(
        (&budgets[0]["params"]["policy"], &budgets[0]["overflow"]),
        (&json!("never"), &json!(120))
    );
    let table = read(Path::new(&out), "budgets.csv");
    // At two prices; all runs and two sources.
    assert_eq!(table.lines().count(), 1 + 2 * (1 + 8 + 4) * 3);
    // What is printed are the rows of the table.
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let rows: Vec<BTreeMap<String, String>> =
        rows.deserialize().map(|row| row.expect("a row")).collect();
    for budget in budgets {
        let params = budget["params"].as_object().expect("parameters");
        let is_own = |row: &&BTreeMap<String, String>| {
            let same = |(name, value): (&String, &Value)| match value {
                Value::String(text) => row[name] == *text,
                number => row[name].parse::<f64>().ok() == number.as_f64(),
            };
            row["source"] == "*" && params.iter().all(same)
        };
        let own: Vec<_> = rows.iter().filter(is_own).collect();
        assert_eq!(own.len(), 2, "{budget}");
        for row in own {
            assert_eq!(row["overflow"], budget["overflow"].to_string());
            assert_eq!(row["summaries"], budget["summaries"].to_string());
            let mut costs = budget["cost"].as_array().into_iter().flatten();
            let cost = costs.find(|cost| cost["cache"].as_f64() == row["cache"].parse().ok());
            let cost = cost.expect("each price")["ratio"].as_f64();
            let wanted = row["cost_ratio"].parse::<f64>().ok();
            let near = cost.zip(wanted).is_some_and(|(a, b)| (a - b).abs() < 1e-9);
            assert!(
                near || (cost, wanted) == (None, None),
                "{cost:?} {wanted:?}"
            );
        }
    }
    let tables = program::tables_as_said(Path::new(&out), "budget");
    assert_eq!(tables, ["budgets.parquet", "limits.csv"]);
    let page = deadloop(&["report", &out]);
    assert_eq!(code(&page), Some(2), "{}", stderr(&page));
    assert!(
        stderr(&page).contains("no page for results of budget; the tables are budgets.parquet")
    );
    // Other threads leave the same bytes.
    let other = dir.path().join("other").display().to_string();
    let mut again = args;
    again[args.len() - 1] = &other;
    let again: Vec<&str> = again.into_iter().chain(["--jobs", "1"]).collect();
    assert_eq!(code(&deadloop(&again)), Some(0));
    for name in ["budgets.csv", "limits.csv"] {
        assert_eq!(
            read(Path::new(&out), name),
            read(Path::new(&other), name),
            "{name}"
        );
    }
    // The same request again does nothing.
    assert!(stderr(&deadloop(&args)).contains("already holds these results"));
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
    assert_eq!(code(&done), Some(0), "{}", stderr(&done));
    let told = stdout(&done);
    let words = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let limit = told
        .lines()
        .map(words)
        .find(|words| words.first().is_some_and(|n| n == "5"));
    // No healthy run is there to cut; the loop is ended.
    let limit = limit.expect("a row of the limit 5");
    assert_eq!(limit[1..7], ["0", "of", "0", "1", "of", "1"], "{told}");
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
fn what_cannot_be_played_ends_with_its_code() {
    let dir = tempfile::tempdir().expect("there is room");
    let grid_file = grid(dir.path(), "grid.toml", GRID);
    let end = |corpus: &str, grid: &str, out: &str| {
        let out = dir.path().join(out).display().to_string();
        deadloop(&["budget", corpus, "--grid", grid, "--out", &out])
    };
    let corpus = corpus(dir.path(), 3);
    let bad = "[[budget]]\nparams = { keep = 2 }\n";
    let bad = end(&corpus, &grid(dir.path(), "bad.toml", bad), "bad");
    assert_eq!(code(&bad), Some(2));
    assert!(stderr(&bad).contains("bad.toml:2:"), "{}", stderr(&bad));
    let texts = dir.path().join("texts.jsonl");
    std::fs::write(&texts, "{\"id\":\"t\",\"answer\":\"No run.\"}\n").expect("likewise");
    let text = end(&texts.display().to_string(), &grid_file, "text");
    assert_eq!(code(&text), Some(4));
    assert!(stderr(&text).contains("has a turn"), "{}", stderr(&text));
}
