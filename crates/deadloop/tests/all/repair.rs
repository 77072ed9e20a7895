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
fn scores_are_the_sums_of_the_verdicts_whatever_the_threads() {
    let (_dir, dir) = folder();
    let grid = write(&dir, "grid.toml", GRID);
    for jobs in ["1", "4"] {
        let out = dir.join(jobs).display().to_string();
        let run = deadloop(&[
            "repair",
            &faults(),
            "--grid",
            &grid,
            "--out",
            &out,
            "--csv",
            "--quiet",
            "--jobs",
            jobs,
        ]);
        assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    }
    for name in [
        "repairs.csv",
        "repairs.parquet",
        "scores.csv",
        "settings.toml",
        "report.html",
    ] {
        let bytes = |jobs: &str| std::fs::read(dir.join(jobs).join(name)).expect("it was written");
        assert_eq!(bytes("1"), bytes("4"), "{name}");
    }
    let tables = program::tables_as_said(&dir.join("1"), "repair");
    assert_eq!(tables, ["repairs.parquet", "scores.parquet"]);
    let mut sums: BTreeMap<(String, String, String), u64> = BTreeMap::new();
    for row in rows(&dir.join("1/repairs.csv")) {
        let fault = if row["fault"].is_empty() {
            "intact".to_owned()
        } else {
            row["fault"].clone()
        };
        for of in [fault, "*".to_owned()] {
            let verdict = row["verdict"].replace('-', "_");
            *sums
                .entry((row["variant"].clone(), of, verdict))
                .or_default() += 1;
        }
    }
    let scores = rows(&dir.join("1/scores.csv"));
    assert!(scores.len() > 50);
    for score in &scores {
        for verdict in ["recovered", "wrong", "lost", "leaked", "false_repair"] {
            let key = (
                score["variant"].clone(),
                score["fault"].clone(),
                verdict.to_owned(),
            );
            let sum = sums.get(&key).copied().unwrap_or(0);
            assert_eq!(score[verdict], sum.to_string(), "{key:?}");
        }
    }
    // Waits, by nearest rank; what reads events, and the stream as it is, have none.
    let mut waits: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for row in rows(&dir.join("1/repairs.csv")) {
        let silence = row["silence"].parse::<u64>();
        let all = waits.entry(row["variant"].clone()).or_default();
        all.extend(silence);
    }
    for score in scores.iter().filter(|score| score["fault"] == "*") {
        let own = waits.get_mut(&score["variant"]).expect("rows");
        own.sort_unstable();
        let rank = (own.len() * 95).div_ceil(100);
        let p95 = rank
            .checked_sub(1)
            .map_or(String::new(), |at| own[at].to_string());
        assert_eq!(score["silence_p95"], p95, "{}", score["variant"]);
        let none = score["variant"].starts_with("replay") || score["variant"].ends_with("/none");
        assert_eq!(score["held_p95"].is_empty(), none, "{}", score["variant"]);
    }
    // What is refused does no harm.
    let of = |variant: &str| {
        scores
            .iter()
            .find(|s| s["variant"] == variant && s["fault"] == "*")
    };
    assert_eq!(of("json/careful").expect("a preset")["wrong"], "0");
    assert_ne!(of("json/llama-cpp").expect("a preset")["wrong"], "0");
    assert_eq!(of("replay/in-order").expect("a preset")["wrong"], "0");
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
}

#[test]
fn a_variant_that_changes_intact_streams_is_not_shipped() {
    let (_dir, dir) = folder();
    let out = dir.display().to_string();
    let grid = write(
        &dir,
        "grid.toml",
        "[[repairer]]\nname = \"filter\"\n[repairer.params]\nlists = [[\"zh\", \"en\", \"zh-done\", \"en-done\"]]\n\
         max_chars = [40, 100]\n",
    );
    let chosen = |limit: &str| {
        let out = format!("{out}/{limit}");
        // With some seeds all forms that the bolder variant swallows are left out together: then nothing ships.
        let more = [
            "--grid", &grid, "--harm", limit, "--seed", "2", "--out", &out, "--csv",
        ];
        let run = deadloop(&[&["repair", &faults()][..], &more].concat());
        assert_eq!(code(&run), Some(0), "{}", stderr(&run));
        let said = String::from_utf8(run.stdout).expect("text");
        (said, text(&Path::new(&out).join("settings.toml")))
    };
    let (said, settings) = chosen("0.1");
    assert!(settings.contains("max_chars = 40"), "{settings}");
    let row: Vec<&str> = said
        .lines()
        .nth(3)
        .unwrap_or("")
        .split_whitespace()
        .collect();
    assert_eq!(
        (row[1], row[12..15].join(" ")),
        ("ship", "0 of 329".into()),
        "{said}"
    );
    // Longer acknowledgements, and intact answers that look like them.
    assert!(chosen("10").1.contains("max_chars = 100"));
    let side = |limit: &str| format!("{out}/{limit}");
    let compared = |base: &str, more: &[&str]| {
        let new = side("10");
        let run = deadloop(&[&["compare", base, &new, "--json"][..], more].concat());
        let said: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap_or_default();
        (code(&run), said)
    };
    // More is recovered, and intact streams are changed: that does not pass.
    let (exit, said) = compared(&side("0.1"), &[]);
    assert_eq!(
        (exit, said["damaged"].as_u64()),
        (Some(100), Some(141)),
        "{said}"
    );
    let said_before = said["gates"].clone();
    let gates: Vec<(&str, bool)> = said["gates"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|gate| (gate["gate"].as_str().unwrap_or(""), gate["passed"] == true))
        .collect();
    assert_eq!(
        gates[1..],
        [("wrong", true), ("false-repair", false)],
        "{said}"
    );
    let swallowed = said["flips"].as_array().into_iter().flatten();
    let swallowed = swallowed.filter(|flip| flip["direction"] == "worse");
    assert_eq!(swallowed.count(), 20);
    assert_eq!(compared(&side("0.1"), &["--fail-on", "never"]).0, Some(0));
    assert_eq!(compared(&side("10"), &[]).0, Some(0));
    // A baseline holds what the folder holds, as text.
    let baseline = side("baseline");
    let blessed = deadloop(&["bless", &side("0.1"), &baseline, "--yes"]);
    assert_eq!(code(&blessed), Some(0), "{}", stderr(&blessed));
    let (exit, held) = compared(&baseline, &[]);
    assert_eq!((exit, &held["gates"]), (Some(100), &said_before));
    let asked = deadloop(&["bless", &side("10"), &baseline]);
    assert_eq!(code(&asked), Some(2), "{}", stderr(&asked));
    let told = String::from_utf8_lossy(&asked.stdout);
    assert!(told.contains("false-repair") && told.contains("settings.toml"));
    // A variant by its name, on the same folder; and a folder of something else.
    let (exit, said) = compared(&side("10"), &["--base-setting", "filter/none"]);
    assert_eq!(
        (exit, &said["rows"][0]["base"]),
        (Some(100), &0.0.into()),
        "{said}"
    );
    let (exit, _) = compared(&format!("{DATASETS}/../reports/baseline"), &[]);
    assert_eq!(exit, Some(3));
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
        "--csv",
        "--quiet",
    ]);
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    let scores = rows(&out.join("scores.csv"));
    let of = |variant: &str, column: &str| {
        let row = scores
            .iter()
            .find(|s| s["variant"] == variant && s["fault"] == "*");
        row.expect("a row")[column].parse::<u64>().expect("a count")
    };
    assert!(of("command/echo", "errors") > 20);
    assert_eq!(
        of("command/echo", "recovered"),
        0,
        "it gives back what it gets"
    );
    let all =
        |variant: &str| of(variant, "damaged") + of(variant, "intact") + of(variant, "errors");
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
        (vec!["--in-use", "tags/x"], 2, "no such variant"),
        (vec!["--harm", "200"], 2, "from 0 to 100"),
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
