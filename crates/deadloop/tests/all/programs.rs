//! Detectors that are programs, from outside: the files and exit codes of a replay with them.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Place, ROOT, Ran, has, no_python, stdout};
#[cfg(target_os = "linux")]
use program::{ended, until};
use std::path::Path;

/// Reads to the end of each transcript; alarms, sleeps or dies where its id says so.
const PROGRAM: &str = r#"
import json, sys, time
for raw in sys.stdin.buffer:
    m = json.loads(raw)
    if m["type"] == "hello":
        print(json.dumps({"type": "ready", "name": "mine", "version": "7"}), flush=True)
    elif m["type"] == "start":
        t, n = m["transcript"], 0
    elif m["type"] == "end":
        if "dies" in t:
            sys.exit("I cannot")
        if "sleeps" in t:
            time.sleep(100)
        alarm = {"event": 0, "at": 30, "kind": "babble"} if "loop" in t else None
        print(json.dumps({"type": "verdict", "transcript": t, "alarm": alarm}), flush=True)
"#;

/// The program, and settings that run it, with more lines.
fn settings(place: &Place, program: &str, more: &str) {
    place.file("mine.py", program);
    let program = place.path("mine.py");
    let text = format!(
        "[[guard]]\ndetector = \"command\"\n[guard.params]\ncommand = [\"python3\", {program:?}]\n{more}\n"
    );
    place.file("mine.toml", text);
}

fn corpus(place: &Place, ids: &[&str]) {
    let line = |id: &&str| {
        let class = if id.contains("loop") {
            r#"{"class":"loop","kind":"paragraph","channel":"answer","onset":20}"#
        } else {
            r#"{"class":"clean"}"#
        };
        let text = "ten chars ".repeat(6);
        format!("{{\"id\":\"{id}\",\"answer\":\"{text}\",\"labels\":[{class}]}}\n")
    };
    let lines = ids.iter().map(line).collect::<String>();
    place.file("corpus.jsonl", lines);
}

const REPLAY: &str = "replay corpus.jsonl --settings mine.toml --csv";

#[test]
fn an_error_is_a_row_and_more_than_allowed_end_the_job() {
    if no_python() {
        return;
    }
    let place = Place::new();
    settings(&place, PROGRAM, "max_errors = 1");
    corpus(&place, &["loop-1", "fine", "dies", "loop-2"]);
    let replay = |name: &str, jobs: &str| {
        let run = place.run(format!("{REPLAY} --presets --jobs {jobs} --out {name}"));
        let run = run.ends(0);
        run.says("failed on 1 transcripts")
            .says("dies: mine 7: it ended");
        let read = |table| place.bytes(&format!("{name}/{table}"));
        (read("outcomes.parquet"), read("scores.csv"))
    };
    assert_eq!(replay("one", "1"), replay("eight", "8"));
    let outcomes = place.rows("one/outcomes.csv");
    let columns = ["verdict", "alarm_at", "alarm_kind", "detector", "error"];
    let row = |id: &str| {
        let row = outcomes.iter().find(|row| row["transcript"] == id);
        columns.map(|column| row.expect("a row")[column].clone())
    };
    assert_eq!(row("loop-2"), ["hit", "30", "other", "command", ""]);
    assert_eq!(row("fine"), ["quiet", "", "", "", ""]);
    let error = row("dies");
    assert_eq!(error[0], "error");
    assert!(error[4].contains("its stderr ends: I cannot"), "{error:?}");
    has(&place.read("one/scores.csv"), "2,1,4,0,1,2,0,0,0,0,0,");
    has(&place.read("one/manifest.json"), "\"name\": \"mine\"");

    // The same request is done; with another program it is another request.
    let again = format!("{REPLAY} --presets --out one");
    place.run(&again).ends(0).says("nothing to do");
    place.file("mine.py", format!("{PROGRAM}# changed\n"));
    let other = place.run(&again).ends(2);
    other.says("not the result of these inputs");
    settings(&place, PROGRAM, "max_errors = 0");
    let failed = place.run(format!("{again} --force")).ends(1);
    failed
        .says("max_errors = 0")
        .says("dies: it ended")
        .says("I cannot");
}

#[test]
fn a_program_that_cannot_run_is_wrong_usage_and_watch_takes_none() {
    let place = Place::new();
    let text =
        "[[guard]]\ndetector = \"command\"\n[guard.params]\ncommand = [\"no-such-program\"]\n";
    place.file("mine.toml", text);
    corpus(&place, &["fine"]);
    let run = place.run(format!("{REPLAY} --out out")).ends(2);
    run.says("no-such-program: it cannot be started");
    let run = place.run("watch --settings mine.toml").ends(2);
    run.says("the detector \"command\" is a program");
}

/// Every settings file of the peers is readable; whether a peer is installed is not asked.
#[test]
fn the_settings_of_the_peers_are_read() {
    let folder = Path::new(ROOT).join("scripts/peers/settings");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the settings are committed") {
        let name = entry.expect("readable").file_name();
        let settings = format!("ROOT/scripts/peers/settings/{}", name.display());
        let run = Place::new()
            .run(format!("watch --settings {settings}"))
            .ends(2);
        run.says("the detector \"command\" is a program");
        count += 1;
    }
    assert!(count >= 10, "{count}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_replay_leaves_no_program() {
    if no_python() {
        return;
    }
    let place = Place::new();
    settings(&place, PROGRAM, "timeout_ms = 60000");
    corpus(&place, &["loop-1", "sleeps", "fine"]);
    let mut child = program::quiet(place.command(format!("{REPLAY} --out out -q")));
    let mine = place.path("mine.py").display().to_string();
    until(|| running(&mine) >= 1);
    program::send(&child, nix::sys::signal::Signal::SIGTERM);
    // The program would take longer than this waits.
    assert_eq!(ended(&mut child).code(), Some(130));
    until(|| running(&mine) == 0);
}

/// How many processes have this among their words.
#[cfg(target_os = "linux")]
fn running(word: &str) -> usize {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let line = |dir: std::fs::DirEntry| std::fs::read(dir.path().join("cmdline")).ok();
    let words = all.filter_map(line);
    words
        .filter(|line| line.split(|b| *b == 0).any(|w| w == word.as_bytes()))
        .count()
}

/// What a program says is asked again, not guessed.
#[test]
fn an_alarm_of_a_program_is_explained_as_it_was_replayed() {
    if no_python() {
        return;
    }
    let place = Place::new();
    settings(&place, PROGRAM, "");
    corpus(&place, &["loop-1", "dies"]);
    let explain = |id: &str| {
        let line = format!("explain corpus.jsonl {id} --settings mine.toml --json");
        place.run(line).ends(0).json()
    };
    let told = explain("loop-1");
    assert_eq!(told["settings"][0]["verdict"], "hit", "{told}");
    let told = explain("dies");
    assert_eq!(told["settings"][0]["verdict"], "error", "{told}");
    assert!(told.to_string().contains("I cannot"), "{told}");
}

#[test]
fn what_a_program_says_of_its_alarm_is_kept_and_its_failures_are_a_column() {
    if no_python() {
        return;
    }
    let place = Place::new();
    let more = "\"kind\": \"babble\", \"detail\": \"a menu, again\"}";
    let program = PROGRAM.replace("\"kind\": \"babble\"}", more);
    settings(&place, &program, "");
    corpus(&place, &["loop-1", "fine", "dies"]);
    let replay = format!("{REPLAY} --presets --out out");
    let table = stdout(&place.run(replay).ends(0));
    let header = table.lines().next().unwrap_or_default();
    assert!(header.trim_end().ends_with("errors"), "{table}");
    let own = table
        .lines()
        .find(|line| line.trim_start().starts_with("mine"));
    assert!(
        own.is_some_and(|row| row.trim_end().ends_with('1')),
        "{table}"
    );
    let outcomes = place.rows("out/outcomes.csv");
    let details = outcomes.iter().map(|row| row["detail"].as_str());
    let details: Vec<&str> = details.filter(|detail| !detail.is_empty()).collect();
    assert_eq!(details, ["a menu, again"]);
    let page = place.read("out/report.html");
    has(&page, "it says &quot;a menu, again&quot;");
    let run = place.run("explain corpus.jsonl loop-1 --settings mine.toml");
    run.ends(0).shows("it says \"a menu, again\"");
    // Who says nothing has no column for it.
    place
        .run("replay corpus.jsonl --csv --out out --force")
        .ends(0);
    let csv = place.read("out/outcomes.csv");
    assert!(!csv.contains("detail"), "{csv}");
}

/// Size and time say nothing where both were set back; the time of the change itself cannot be.
#[cfg(target_os = "linux")]
#[test]
fn a_corpus_that_is_edited_in_place_while_it_is_read_is_another_one() {
    if no_python() {
        return;
    }
    let place = Place::new();
    corpus(&place, &["fine", "other"]);
    let corpus = place.path("corpus.jsonl");
    let edit = format!(
        "import json, os, sys\nC = {corpus:?}\nwas = os.stat(C)\n\
         for raw in sys.stdin.buffer:\n    m = json.loads(raw)\n    if m['type'] == 'hello':\n        \
         print(json.dumps({{'type': 'ready', 'name': 'mine', 'version': '7'}}), flush=True)\n    \
         elif m['type'] == 'start':\n        t = m['transcript']\n    elif m['type'] == 'end':\n        \
         f = open(C, 'r+b')\n        b = f.read().replace(b'ten', b'six')\n        f.seek(0)\n        f.write(b)\n        f.close()\n        \
         os.utime(C, ns=(was.st_atime_ns, was.st_mtime_ns))\n        \
         print(json.dumps({{'type': 'verdict', 'transcript': t, 'alarm': None}}), flush=True)\n"
    );
    settings(&place, &edit, "");
    let run = place.run(format!("{REPLAY} --out out")).ends(2);
    run.says("the corpus changed while it was read")
        .says("corpus.jsonl");
}

/// The rows of a program's parameters are told from each other by what differs.
#[test]
fn the_rows_of_a_program_have_names_that_differ() {
    if no_python() {
        return;
    }
    let place = Place::new();
    let params = "params = [{ window = 1000, ratio = 0.1 }, { window = 2000, ratio = 0.05 }, { window = 2000, ratio = 0.1 }]";
    settings(&place, PROGRAM, params);
    corpus(&place, &["loop-1", "fine"]);
    let run = place.run("sweep corpus.jsonl --grid mine.toml --out out");
    run.ends(0).shows("command with ratio=0.1,window=1000");
    let page = place.read("out/report.html");
    assert!(page.contains("ratio=0.1,window=1000") && !page.contains("params=1 row"));
}
