//! Faults and repairers from outside: `synth` makes them, `repair` scores them, `watch --repair` mends a stream,
//! `explain --repair` says how; a detector of faults is scored on them.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::collections::{BTreeMap, BTreeSet};

use program::{Place, Ran, no_python, stdout};

const FAULTS: &str = "ROOT/datasets/faults";

#[test]
fn faults_are_committed_as_they_are_made() {
    let place = Place::new();
    let made = format!("synth --spec {FAULTS}/spec.toml --out made --quiet");
    place.run(made).ends(0);
    let committed = FAULTS.replace("ROOT", program::ROOT);
    for name in ["labels.csv", "dataset.toml"] {
        let committed = std::fs::read_to_string(format!("{committed}/{name}"));
        let made = place.read(&format!("made/{name}"));
        assert_eq!(made, committed.expect("it is there"), "{name}");
    }
    let labels = place.rows("made/labels.csv");
    assert_eq!(labels.len(), 2000);
    let kinds: BTreeSet<&str> = labels.iter().map(|row| row["kind"].as_str()).collect();
    // Each of the 26, and none of what is intact.
    assert_eq!(kinds.len(), 27, "{kinds:?}");
    let intact = labels.iter().filter(|row| row["class"] == "clean").count();
    assert!((300..700).contains(&intact), "{intact}");
    place.run("check made").ends(0);
}

const GRID: &str = "[[repairer]]\nname = \"tags\"\npresets = true\n[[repairer]]\nname = \"json\"\npresets = true\n\
                    [repairer.params]\npartial = [\"keep\", \"drop\"]\n[[repairer]]\nname = \"replay\"\npresets = true\n";

#[test]
fn counts_are_the_sums_of_the_verdicts_whatever_the_threads() {
    let place = Place::new();
    place.file("grid.toml", GRID);
    let line = |jobs: &str| {
        format!("repair {FAULTS} --grid grid.toml --out {jobs} --csv --json --jobs {jobs}")
    };
    let (said, mut other) = (
        place.run(line("1")).ends(0).json(),
        place.run(line("4")).ends(0).json(),
    );
    other["out"] = said["out"].clone();
    assert_eq!(said, other);
    for name in ["repairs.csv", "repairs.parquet"] {
        let bytes = |jobs: &str| place.bytes(&format!("{jobs}/{name}"));
        assert_eq!(bytes("1"), bytes("4"), "{name}");
    }
    let tables = program::tables_as_said(&place.path("1"), "repair");
    assert_eq!(tables, ["repairs.parquet"]);
    let repairs = place.rows("1/repairs.csv");
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
        for verdict in "recovered wrong lost leaked false-repair intact".split(' ') {
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
    let again = place.run(line("1"));
    again.says("already holds these results");
    // The page has both tables, and is made again from the folder alone.
    let page = place.read("1/report.html");
    for title in [
        "Streams by variant",
        "Streams by fault",
        "json&#x2f;careful",
    ] {
        assert!(page.contains(title), "{title}");
    }
    place.run("report 1").ends(0);
    assert_eq!(place.read("1/report.html"), page);
}

#[test]
fn a_variant_that_changes_intact_streams_is_not_the_best() {
    let place = Place::new();
    let grid = "[[repairer]]\nname = \"filter\"\n[repairer.params]\nlists = [[\"zh\", \"en\", \"zh-done\", \"en-done\"]]\n\
                max_chars = [40, 100]\n";
    place.file("grid.toml", grid);
    let run = format!("repair {FAULTS} --grid grid.toml --out out");
    let said = stdout(&place.run(run).ends(0));
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
    let place = Place::new();
    place.file(
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
    let script = place.path("echo.py");
    let grid = format!(
        "[[repairer]]\nname = \"command\"\ncommand = [\"python3\", {script:?}]\nstream = \"arguments\"\n\
         [[repairer]]\nname = \"json\"\npreset = \"strict\"\n"
    );
    place.file("grid.toml", grid);
    let run = format!("repair {FAULTS} --grid grid.toml --out out --json");
    let said = place.run(run).ends(0).json();
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
        let columns = "recovered wrong lost leaked false-repair intact errors".split(' ');
        columns.map(|column| count(variant, column)).sum::<u64>()
    };
    assert_eq!(all("command/echo"), all("json/strict"));
}

#[test]
fn what_is_wrong_is_said() {
    let place = Place::new();
    place.file(
        "bad.toml",
        "[[repairer]]\nname = \"tags\"\n[repairer.params]\nedits = 7\n",
    );
    let run = place.run(format!("repair {FAULTS} --out out --grid bad.toml"));
    run.ends(2).says("bad.toml:4:9: edits: 7");
    place.file("plain.jsonl", "{\"id\":\"a\",\"answer\":\"Four.\"}\n");
    place.run("repair plain.jsonl --out out").ends(5);
    place.file(
        "gold.jsonl",
        "{\"id\":\"a\",\"answer\":\"Four.\",\"meta\":{\"gold\":3,\"stream\":\"tags\"}}\n",
    );
    let run = place.run("repair gold.jsonl --out out").ends(2);
    run.says("gold.jsonl:1");
}

#[test]
fn real_arguments_that_are_no_json_are_counted_apart() {
    let place = Place::new();
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
    let run = format!("{{\"id\":\"r\",\"events\":[{events}]}}\n");
    place.file("runs.jsonl", run);
    place.run("repair runs.jsonl --out out --quiet").ends(0);
    let tables = program::tables_as_said(&place.path("out"), "repair");
    assert!(tables.contains(&"arguments.csv".to_owned()));
    let found = place.rows("out/arguments.csv");
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
    let place = Place::new();
    place.file("stall.toml", "[[guard]]\ndetector = \"stall\"\n");
    let replay = format!("replay {FAULTS} --where meta.item=stall --csv --quiet");
    place
        .run(format!("{replay} --settings stall.toml --out out"))
        .ends(0);
    let outcomes = place.rows("out/outcomes.csv");
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
    place.run(format!("{replay} --out loops")).ends(0);
    let outcomes = place.rows("loops/outcomes.csv");
    assert!(
        outcomes.iter().all(|row| row["verdict"] != "miss"),
        "a fault is no loop"
    );
}

#[test]
fn explain_says_what_was_given_when() {
    let place = Place::new();
    place.file(
        "tags.toml",
        "[[repairer]]\nname = \"tags\"\npreset = \"lenient\"\n",
    );
    let explain = format!("explain {FAULTS} tags/000 --repair tags.toml");
    let told = place.run(format!("{explain} --json")).ends(0).json();
    assert_eq!(told[0]["variant"], "tags/lenient");
    assert!(
        told[0]["verdict"].is_string() && told[0]["steps"].as_array().is_some_and(|s| s.len() > 2)
    );
    let shown = stdout(&place.run(explain));
    assert!(
        shown.contains("gold:") && shown.contains("delay: at most"),
        "{shown}"
    );
    assert!(!shown.contains("Action {"), "for a person: {shown}");
}
