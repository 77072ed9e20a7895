//! Faults and repairers from outside: `synth` makes them, `repair` scores them, `watch --repair` mends a stream,
//! `explain --repair` says how; a detector of faults is scored on them.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Output;

use program::{deadloop, no_python, stderr};

const DATASETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets");

fn faults() -> String {
    format!("{DATASETS}/faults")
}

fn code(run: &Output) -> Option<i32> {
    run.status.code()
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).expect("it is there")
}

/// The rows of a CSV file, by column.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut csv = csv::Reader::from_path(path).expect("it is there");
    csv.deserialize()
        .map(|row| row.expect("a row of texts"))
        .collect()
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().to_path_buf();
    (dir, path)
}

fn write(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).expect("a temporary folder is writable");
    path.display().to_string()
}

#[test]
fn faults_are_committed_as_they_are_made() {
    let (_dir, out) = folder();
    let spec = format!("{DATASETS}/faults/spec.toml");
    let run = deadloop(&[
        "synth",
        "--spec",
        &spec,
        "--out",
        &out.display().to_string(),
        "--quiet",
    ]);
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    for name in ["labels.csv", "dataset.toml"] {
        assert_eq!(
            text(&out.join(name)),
            text(&Path::new(DATASETS).join("faults").join(name)),
            "{name}"
        );
    }
    let labels = rows(&out.join("labels.csv"));
    assert_eq!(labels.len(), 2000);
    let kinds: BTreeSet<&str> = labels.iter().map(|row| row["kind"].as_str()).collect();
    // Each of the 26, and none of what is intact.
    assert_eq!(kinds.len(), 27, "{kinds:?}");
    let intact = labels.iter().filter(|row| row["class"] == "clean").count();
    assert!((300..700).contains(&intact), "{intact}");
    let check = deadloop(&["check", &out.display().to_string()]);
    assert_eq!(code(&check), Some(0), "{}", stderr(&check));
}

const GRID: &str = "[[repairer]]\nname = \"tags\"\npresets = true\n[[repairer]]\nname = \"json\"\npresets = true\n\
                    [repairer.params]\npartial = [\"keep\", \"drop\"]\n[[repairer]]\nname = \"replay\"\npresets = true\n";

#[test]
fn counts_are_the_sums_of_the_verdicts_whatever_the_threads() {
    let (_dir, dir) = folder();
    let grid = write(&dir, "grid.toml", GRID);
    let run = |jobs: &str| {
        let out = dir.join(jobs).display().to_string();
        let run = deadloop(&[
            "repair",
            &faults(),
            "--grid",
            &grid,
            "--out",
            &out,
            "--csv",
            "--json",
            "--jobs",
            jobs,
        ]);
        assert_eq!(code(&run), Some(0), "{}", stderr(&run));
        String::from_utf8(run.stdout).expect("JSON")
    };
    let (said, other) = (run("1"), run("4"));
    let shown = |said: &str| -> serde_json::Value { serde_json::from_str(said).expect("JSON") };
    let (said, mut other) = (shown(&said), shown(&other));
    other["out"] = said["out"].clone();
    assert_eq!(said, other);
    for name in ["repairs.csv", "repairs.parquet"] {
        let bytes = |jobs: &str| std::fs::read(dir.join(jobs).join(name)).expect("it was written");
        assert_eq!(bytes("1"), bytes("4"), "{name}");
    }
    let tables = program::tables_as_said(&dir.join("1"), "repair");
    assert_eq!(tables, ["repairs.parquet"]);
    let repairs = rows(&dir.join("1/repairs.csv"));
    let mut sums: BTreeMap<(String, String, String), u64> = BTreeMap::new();
    let mut waits: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for row in &repairs {
        for of in [row["fault"].clone(), "*".to_owned()] {
            let key = (row["variant"].clone(), of, row["verdict"].clone());
            *sums.entry(key).or_default() += 1;
        }
        let all = waits.entry(row["variant"].clone()).or_default();
        all.extend(row["silence"].parse::<u64>());
    }
    let scores = |table: &str| said[table].as_array().cloned().unwrap_or_default();
    let all = [scores("repairers"), scores("faults")].concat();
    assert!(all.len() > 25, "{all:?}");
    for score in &all {
        let name = |key: &str| score[key].as_str().expect("a name").to_owned();
        for verdict in [
            "recovered",
            "wrong",
            "lost",
            "leaked",
            "false-repair",
            "intact",
        ] {
            let key = (name("variant"), name("fault"), verdict.to_owned());
            assert_eq!(
                score[verdict],
                sums.get(&key).copied().unwrap_or(0),
                "{key:?}"
            );
        }
        if score["fault"] == "*" {
            // Waits, by nearest rank; what reads events, and the stream as it is, have none.
            let own = waits.get_mut(&name("variant")).expect("rows");
            own.sort_unstable();
            let rank = (own.len() * 95).div_ceil(100);
            let p95 = rank.checked_sub(1).map(|at| own[at]);
            assert_eq!(score["waits"].as_u64(), p95, "{score}");
            let none = name("variant").starts_with("replay") || name("variant").ends_with("/none");
            assert_eq!(score["waits"].is_null(), none, "{score}");
        }
    }
    // The best of a repairer does no harm, and none without harm recovers more.
    let count = |variant: &str, verdict: &str| {
        let key = (variant.to_owned(), "*".to_owned(), verdict.to_owned());
        sums.get(&key).copied().unwrap_or(0)
    };
    let harm = |variant: &str| count(variant, "wrong") + count(variant, "false-repair");
    for best in scores("best") {
        let best = best["variant"].as_str().expect("one does no harm");
        assert_eq!(harm(best), 0, "{best}");
        let repairer = best.split_once('/').map(|(name, _)| name);
        let own = waits
            .keys()
            .filter(|v| v.split_once('/').map(|(name, _)| name) == repairer);
        let most = own
            .filter(|v| harm(v) == 0)
            .map(|v| count(v, "recovered"))
            .max();
        assert_eq!(Some(count(best, "recovered")), most, "{best}");
    }
    assert_eq!(harm("json/careful"), 0);
    assert_ne!(harm("json/llama-cpp"), 0);
    let again = dir.join("1").display().to_string();
    let run = deadloop(&[
        "repair",
        &faults(),
        "--grid",
        &grid,
        "--out",
        &again,
        "--csv",
    ]);
    assert!(
        stderr(&run).contains("already holds these results"),
        "{}",
        stderr(&run)
    );
    let page = deadloop(&["report", &again]);
    assert_eq!(code(&page), Some(2), "{}", stderr(&page));
    assert!(
        stderr(&page).contains("no page for results of repair; the tables are repairs.parquet")
    );
}

#[test]
fn a_variant_that_changes_intact_streams_is_not_the_best() {
    let (_dir, dir) = folder();
    let grid = write(
        &dir,
        "grid.toml",
        "[[repairer]]\nname = \"filter\"\n[repairer.params]\nlists = [[\"zh\", \"en\", \"zh-done\", \"en-done\"]]\n\
         max_chars = [40, 100]\n",
    );
    let out = dir.join("out").display().to_string();
    let run = deadloop(&["repair", &faults(), "--grid", &grid, "--out", &out]);
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    let said = String::from_utf8(run.stdout).expect("text");
    // Longer acknowledgements too, and intact answers that look like them: more is recovered, with harm.
    let sentence = said.lines().last().unwrap_or_default();
    assert!(sentence.contains("max_chars=40) 100 of 141"), "{said}");
    assert!(said.contains("pseudo"), "fault by fault: {said}");
}

#[test]
fn a_program_stands_in_the_same_table() {
    if no_python() {
        return;
    }
    let (_dir, dir) = folder();
    let script = write(
        &dir,
        "echo.py",
        "import json, sys\n\
         text = id = None\n\
         for line in sys.stdin:\n\
         \x20   m = json.loads(line)\n\
         \x20   t = m['type']\n\
         \x20   if t == 'hello': print(json.dumps({'type': 'ready', 'name': 'echo', 'version': '1'}), flush=True)\n\
         \x20   elif t == 'start': id, text = m['transcript'], None\n\
         \x20   elif t == 'tool_call': text = m['arguments']\n\
         \x20   elif t == 'end':\n\
         \x20       if id.endswith('7'): print('nonsense', flush=True)\n\
         \x20       else: print(json.dumps({'type': 'repaired', 'transcript': id, 'arguments': text}), flush=True)\n",
    );
    let command = format!(
        "[[repairer]]\nname = \"command\"\ncommand = [\"python3\", {script:?}]\nstream = \"arguments\"\n"
    );
    let grid = write(
        &dir,
        "grid.toml",
        &format!("{command}[[repairer]]\nname = \"json\"\npreset = \"strict\"\n"),
    );
    let out = dir.join("out");
    let run = deadloop(&[
        "repair",
        &faults(),
        "--grid",
        &grid,
        "--out",
        &out.display().to_string(),
        "--json",
    ]);
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    let said: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let of = |variant: &str| {
        let mut rows = said["repairers"].as_array().into_iter().flatten();
        rows.find(|row| row["variant"] == variant).expect("a row")
    };
    let count = |variant: &str, column: &str| of(variant)[column].as_u64().expect("a count");
    assert!(count("command/echo", "errors") > 20);
    assert_eq!(
        count("command/echo", "recovered"),
        0,
        "it gives back what it gets"
    );
    let all = |variant: &str| {
        let columns = [
            "recovered",
            "wrong",
            "lost",
            "leaked",
            "false-repair",
            "intact",
            "errors",
        ];
        columns
            .map(|column| count(variant, column))
            .iter()
            .sum::<u64>()
    };
    assert_eq!(all("command/echo"), all("json/strict"));
}

#[test]
fn what_is_wrong_is_said() {
    let (_dir, dir) = folder();
    let out = dir.join("out").display().to_string();
    let bad = write(
        &dir,
        "bad.toml",
        "[[repairer]]\nname = \"tags\"\n[repairer.params]\nedits = 7\n",
    );
    for (more, exit, said) in [
        (vec!["--grid", bad.as_str()], 2, "bad.toml:4:9: edits: 7"),
        (vec!["--harm", "1"], 2, "unexpected argument '--harm'"),
    ] {
        let corpus = faults();
        let args = [&["repair", &corpus, "--out", &out][..], &more].concat();
        let run = deadloop(&args);
        assert_eq!(code(&run), Some(exit), "{}", stderr(&run));
        assert!(stderr(&run).contains(said), "{}", stderr(&run));
    }
    let plain = write(&dir, "plain.jsonl", "{\"id\":\"a\",\"answer\":\"Four.\"}\n");
    let run = deadloop(&["repair", &plain, "--out", &out]);
    assert_eq!(code(&run), Some(5), "{}", stderr(&run));
    let broken = write(
        &dir,
        "gold.jsonl",
        "{\"id\":\"a\",\"answer\":\"Four.\",\"meta\":{\"gold\":3,\"stream\":\"tags\"}}\n",
    );
    let run = deadloop(&["repair", &broken, "--out", &out]);
    assert_eq!(code(&run), Some(2), "{}", stderr(&run));
    assert!(stderr(&run).contains("gold.jsonl:1"), "{}", stderr(&run));
}

#[test]
fn real_arguments_that_are_no_json_are_counted_apart() {
    let (_dir, dir) = folder();
    let call = |arguments: &str| {
        let arguments = serde_json::Value::from(arguments);
        format!("{{\"type\":\"tool_call\",\"name\":\"f\",\"arguments\":{arguments}}}")
    };
    let events = [
        call("{\"a\": 1}"),
        call("{\"a\": 2,}"),
        call("{\"a\": \"cut"),
    ]
    .join(",");
    let corpus = write(
        &dir,
        "runs.jsonl",
        &format!("{{\"id\":\"r\",\"events\":[{events}]}}\n"),
    );
    let out = dir.join("out");
    let run = deadloop(&[
        "repair",
        &corpus,
        "--out",
        &out.display().to_string(),
        "--quiet",
    ]);
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    assert!(program::tables_as_said(&out, "repair").contains(&"arguments.csv".to_owned()));
    let found = rows(&out.join("arguments.csv"));
    let of = |variant: &str| {
        let row = found
            .iter()
            .find(|row| row["variant"] == variant)
            .expect("a preset");
        ["broken", "objects", "schema_valid"].map(|column| row[column].clone())
    };
    assert_eq!(of("json/strict"), ["2", "0", "0"]);
    assert_eq!(
        of("json/lenient"),
        ["2", "1", "1"],
        "nothing of what was cut"
    );
    assert_eq!(
        of("json/llama-cpp"),
        ["2", "1", "0"],
        "a text where a number was"
    );
}

#[test]
fn a_detector_of_faults_is_scored_on_them_and_a_loop_guard_is_wrong_there() {
    let (_dir, dir) = folder();
    let stall = write(&dir, "stall.toml", "[[guard]]\ndetector = \"stall\"\n");
    let out = dir.join("out");
    let run = deadloop(&[
        "replay",
        &faults(),
        "--where",
        "meta.item=stall",
        "--settings",
        &stall,
        "--out",
        &out.display().to_string(),
        "--csv",
        "--quiet",
    ]);
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    let outcomes = rows(&out.join("outcomes.csv"));
    let own: Vec<_> = outcomes
        .iter()
        .filter(|row| row["setting"] != "never")
        .collect();
    let verdict = |class: &str, verdict: &str| {
        own.iter()
            .filter(|row| row["class"] == class && row["verdict"] == verdict)
            .count()
    };
    assert_eq!(verdict("fault", "miss"), 0, "two minutes of silence");
    assert!(verdict("fault", "hit") > 30);
    assert!(
        verdict("clean", "false-alarm") > 0 && verdict("clean", "quiet") > 0,
        "some pauses are longer than 30 s"
    );
    let loops = dir.join("loops");
    let run = deadloop(&[
        "replay",
        &faults(),
        "--where",
        "meta.item=stall",
        "--out",
        &loops.display().to_string(),
        "--csv",
        "--quiet",
    ]);
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    let outcomes = rows(&loops.join("outcomes.csv"));
    assert!(
        outcomes.iter().all(|row| row["verdict"] != "miss"),
        "a fault is no loop"
    );
}

#[test]
fn explain_says_what_was_given_when() {
    let (_dir, dir) = folder();
    let file = write(
        &dir,
        "tags.toml",
        "[[repairer]]\nname = \"tags\"\npreset = \"lenient\"\n",
    );
    let run = deadloop(&[
        "explain",
        &faults(),
        "tags/000",
        "--repair",
        &file,
        "--json",
    ]);
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    let told: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON on stdout");
    assert_eq!(told[0]["variant"], "tags/lenient");
    assert!(
        told[0]["verdict"].is_string() && told[0]["steps"].as_array().is_some_and(|s| s.len() > 2)
    );
    let run = deadloop(&["explain", &faults(), "tags/000", "--repair", &file]);
    let shown = String::from_utf8_lossy(&run.stdout);
    assert!(
        shown.contains("gold:") && shown.contains("delay: at most"),
        "{shown}"
    );
    assert!(!shown.contains("Action {"), "for a person: {shown}");
}
