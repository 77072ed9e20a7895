//! `deadloop budget` from the command line to its files.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Place, Ran, stderr, stdout};
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

fn corpus(runs: usize) -> String {
    let source = |n: usize| if n.is_multiple_of(2) { "even" } else { "odd" };
    let lines = (0..runs).map(|n| run(n, 30 + n % 7, source(n)).to_string() + "\n");
    lines.collect()
}

const GRID: &str = "[[budget]]\n[budget.params]\nwindow = 2000\nthreshold = [0.5, 0.7, 0.85, 0.95]\nkeep = [0.2, 0.3]\ncache = [1, 0.1]\n";

#[test]
fn a_budget_is_swept_and_left_in_files() {
    let place = Place::new();
    place.file("runs.jsonl", corpus(120));
    place.file("grid.toml", GRID);
    let budget = "budget runs.jsonl --grid grid.toml --csv --json --out out";
    let done = place.run(budget).ends(0);
    done.says("unsafe: threshold 0.95 is above 1 - reserve = 0.9");
    let said = done.json();
    let budgets = said["budgets"].as_array().expect("there are budgets");
    // Without a guard, eight settings and four presets.
    assert_eq!(budgets.len(), 1 + 8 + 4);
    // Each run is over 1,800 tokens at its end.
    assert_eq!(
        (&budgets[0]["params"]["policy"], &budgets[0]["overflow"]),
        (&json!("never"), &json!(120))
    );
    let rows = place.rows("out/budgets.csv");
    // At two prices; all runs and two sources.
    assert_eq!(rows.len(), 2 * (1 + 8 + 4) * 3);
    // What is printed are the rows of the table.
    for budget in budgets {
        let params = budget["params"].as_object().expect("parameters");
        let is_own = |row: &&program::Row| {
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
    let tables = program::tables_as_said(&place.path("out"), "budget");
    assert_eq!(tables, ["budgets.parquet", "limits.csv"]);
    let page = place.read("out/report.html");
    assert!(page.contains("Budgets</h2>") && page.contains("Iteration limits</h2>"));
    assert!(page.contains("cost at 0.1") && !page.contains("How the numbers are made"));
    // Other threads leave the same bytes.
    let again = budget.replace("--out out", "--out other --jobs 1");
    place.run(again).ends(0);
    for name in ["budgets.csv", "limits.csv"] {
        let read = |out: &str| place.read(&format!("{out}/{name}"));
        assert_eq!(read("out"), read("other"), "{name}");
    }
    // The same request again does nothing.
    place.run(budget).says("already holds these results");
}

/// Nobody is warned of a grid or a field that nobody gave, and recorded tokens are counted, or else it is said.
#[test]
fn a_budget_without_options_counts_recorded_tokens_and_warns_of_nothing() {
    let place = Place::new();
    let mut run = run(0, 30, "even");
    for event in run["events"].as_array_mut().expect("events") {
        if let Some(tokens) = event.get("tokens_in").and_then(Value::as_u64) {
            event["tokens_in"] = json!(3 * tokens);
        }
    }
    place.file("run.jsonl", run.to_string());
    let done = place.run("budget run.jsonl --out out").ends(0);
    let said = stderr(&done);
    for words in ["unsafe", "--by", "no transcript"] {
        assert!(!said.contains(words), "{said}");
    }
    assert!(!stdout(&done).contains("times the recorded tokens"));
    place.file("grid.toml", format!("{GRID}counter = \"chars/4\"\n"));
    let counted = place.run("budget run.jsonl --grid grid.toml --out counted");
    counted
        .ends(0)
        .shows("times the recorded tokens in the median of 30 turns");
}

/// The turn behind a loop is useful: it begins before its call, and the loop ends before both.
#[test]
fn the_turn_behind_a_loop_is_no_loop() {
    let place = Place::new();
    let mut one = run(0, 12, "even");
    let at = json!({"class": "loop", "kind": "identical-call", "channel": "tools", "onset": 4, "end": 8});
    one["labels"] = json!([at]);
    place.file("loop.jsonl", one.to_string());
    place.file("grid.toml", GRID);
    let done = place.run("budget loop.jsonl --grid grid.toml --out out");
    let told = stdout(&done.ends(0));
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
    // Healthy, healthy cut, loops, loops ended, useful turns cut, turns saved.
    assert_eq!(limit[1..7], ["0", "0", "1", "1", "4", "3"], "{told}");
    let rows = place.rows("out/limits.csv");
    let stops = |row: &&program::Row| {
        let is = |name: &str, value: &str| row[name] == value;
        is("source", "*") && is("limit", "5") && is("cancel_after", "0") && is("warn_at", "0.6")
    };
    let row = rows.iter().find(stops).expect("a row");
    // Stopped after 5 turns of 12: 5, 6 and 7 stand in the loop, 8 to 11 do not.
    assert_eq!(row["turns_saved"], "3");
    assert_eq!(row["useful_turns_cut"], "4");
}

#[test]
fn what_cannot_be_played_ends_with_its_code() {
    let place = Place::new();
    place.file("grid.toml", GRID);
    place.file("runs.jsonl", corpus(3));
    place.file("bad.toml", "[[budget]]\nparams = { keep = 2 }\n");
    let bad = place.run("budget runs.jsonl --grid bad.toml --out bad");
    bad.ends(2).says("bad.toml:2:");
    place.file("texts.jsonl", "{\"id\":\"t\",\"answer\":\"No run.\"}\n");
    let text = place
        .run("budget texts.jsonl --grid grid.toml --out text")
        .ends(4);
    text.says("has a turn");
}
