//! Detectors that are programs, from outside: the files and exit codes of a replay with them.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{deadloop_in, file, no_python, stderr};
#[cfg(target_os = "linux")]
use program::{ended, until};
use std::path::Path;
use std::process::Output;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

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

fn deadloop(args: &[&str]) -> Output {
    deadloop_in(Path::new(ROOT), args)
}

fn says(run: &Output, exit: i32, words: &[&str]) {
    let said = stderr(run);
    assert_eq!(run.status.code(), Some(exit), "{said}");
    words
        .iter()
        .for_each(|word| assert!(said.contains(word), "{word:?} in {said}"));
}

/// The program, and settings that run it, with more lines.
fn settings(dir: &Path, more: &str) -> String {
    let program = file(dir, "mine.py", PROGRAM);
    let text = format!(
        "[[guard]]\ndetector = \"command\"\n[guard.params]\ncommand = [\"python3\", '{program}']\n{more}\n"
    );
    file(dir, "mine.toml", &text)
}

fn corpus(dir: &Path, ids: &[&str]) -> String {
    let line = |id: &&str| {
        let class = if id.contains("loop") {
            r#"{"class":"loop","kind":"paragraph","channel":"answer","onset":20}"#
        } else {
            r#"{"class":"clean"}"#
        };
        let text = "ten chars ".repeat(6);
        format!("{{\"id\":\"{id}\",\"answer\":\"{text}\",\"labels\":[{class}]}}\n")
    };
    file(
        dir,
        "corpus.jsonl",
        &ids.iter().map(line).collect::<String>(),
    )
}

/// The fields of the row of a transcript in outcomes.csv, by column.
fn outcome(out: &str, transcript: &str, columns: &[&str]) -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(out).join("outcomes.csv")).expect("it is written");
    let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let header = fields(text.lines().next().expect("a header"));
    let begin = format!("{transcript},");
    let row = text.lines().find(|line| line.starts_with(&begin));
    let row = fields(row.expect("a row"));
    let at = |name: &&str| header.iter().position(|h| h == name).expect("a column");
    columns.iter().map(|name| row[at(name)].clone()).collect()
}

#[test]
fn an_error_is_a_row_and_more_than_allowed_end_the_job() {
    if no_python() {
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary folder");
    let settings_file = settings(dir.path(), "max_errors = 1");
    let corpus_file = corpus(dir.path(), &["loop-1", "fine", "dies", "loop-2"]);
    let out = |name: &str| dir.path().join(name).display().to_string();
    let replay = |name: &str, jobs: &str| {
        let run = deadloop(&[
            "replay",
            &corpus_file,
            "--settings",
            &settings_file,
            "--csv",
            "--presets",
            "--jobs",
            jobs,
            "--out",
            &out(name),
        ]);
        says(
            &run,
            0,
            &["failed on 1 transcripts", "dies: mine 7: it ended"],
        );
        let read = |table| std::fs::read(Path::new(&out(name)).join(table)).expect("it is written");
        (read("outcomes.parquet"), read("scores.csv"))
    };
    assert_eq!(replay("one", "1"), replay("eight", "8"));
    let columns = ["verdict", "alarm_at", "alarm_kind", "detector", "error"];
    let row = |id| outcome(&out("one"), id, &columns);
    assert_eq!(row("loop-2"), ["hit", "30", "other", "command", ""]);
    assert_eq!(row("fine"), ["quiet", "", "", "", ""]);
    let error = row("dies");
    assert_eq!(error[0], "error");
    assert!(error[4].contains("its stderr ends: I cannot"), "{error:?}");
    let scores = std::fs::read_to_string(Path::new(&out("one")).join("scores.csv"));
    let scores = scores.expect("it is written");
    let wanted = "2,1,4,0,1,2,0,0,0,0,0,";
    assert!(scores.lines().any(|l| l.contains(wanted)), "{scores}");
    let manifest = std::fs::read_to_string(Path::new(&out("one")).join("manifest.json"));
    assert!(
        manifest
            .expect("it is written")
            .contains("\"name\": \"mine\"")
    );

    // The same request is done; with another program it is another request.
    let again = |force: &[&str]| {
        let one = out("one");
        let args = [
            "replay",
            &corpus_file,
            "--settings",
            &settings_file,
            "--csv",
            "--presets",
            "--out",
            &one,
        ];
        deadloop(&[&args, force].concat())
    };
    says(&again(&[]), 0, &["nothing to do"]);
    file(dir.path(), "mine.py", &format!("{PROGRAM}# changed\n"));
    says(&again(&[]), 2, &["not the result of these inputs"]);
    settings(dir.path(), "max_errors = 0");
    says(
        &again(&["--force"]),
        1,
        &["max_errors = 0", "dies: it ended", "I cannot"],
    );
}

#[test]
fn a_program_that_cannot_run_is_wrong_usage_and_watch_takes_none() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let out = dir.path().join("out").display().to_string();
    let text =
        "[[guard]]\ndetector = \"command\"\n[guard.params]\ncommand = [\"no-such-program\"]\n";
    let settings_file = file(dir.path(), "s.toml", text);
    let corpus_file = corpus(dir.path(), &["fine"]);
    let args = ["--settings", &settings_file, "--out", &out];
    let run = deadloop(&[&["replay", &corpus_file], &args[..]].concat());
    says(&run, 2, &["no-such-program: it cannot be started"]);
    let run = deadloop(&["watch", "--settings", &settings_file]);
    says(&run, 2, &["the detector \"command\" is a program"]);
}

/// Every settings file of the peers is readable; whether a peer is installed is not asked.
#[test]
fn the_settings_of_the_peers_are_read() {
    let folder = Path::new(ROOT).join("scripts/peers/settings");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the settings are committed") {
        let path = entry.expect("readable").path().display().to_string();
        let run = deadloop(&["watch", "--settings", &path]);
        says(&run, 2, &["the detector \"command\" is a program"]);
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
    let dir = tempfile::tempdir().expect("a temporary folder");
    let settings_file = settings(dir.path(), "timeout_ms = 60000");
    let corpus_file = corpus(dir.path(), &["loop-1", "sleeps", "fine"]);
    let out = dir.path().join("out").display().to_string();
    let args = [
        "replay",
        &corpus_file,
        "--settings",
        &settings_file,
        "--out",
        &out,
        "-q",
    ];
    let mut child = program::started(&args);
    let mine = dir.path().join("mine.py").display().to_string();
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
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (settings, corpus) = (
        settings(dir.path(), ""),
        corpus(dir.path(), &["loop-1", "dies"]),
    );
    let explain = |id: &str| {
        let run = deadloop(&["explain", &corpus, id, "--settings", &settings, "--json"]);
        assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
        serde_json::from_slice::<serde_json::Value>(&run.stdout).expect("one object")
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
    let dir = tempfile::tempdir().expect("a temporary folder");
    let settings = settings(dir.path(), "");
    let more = "\"kind\": \"babble\", \"detail\": \"a menu, again\"}";
    let program = PROGRAM.replace("\"kind\": \"babble\"}", more);
    file(dir.path(), "mine.py", &program);
    let corpus = corpus(dir.path(), &["loop-1", "fine", "dies"]);
    let out = dir.path().join("out").display().to_string();
    let words = [
        "replay",
        &corpus,
        "--settings",
        &settings,
        "--presets",
        "--csv",
        "--out",
        &out,
    ];
    let run = deadloop(&words);
    says(&run, 0, &[]);
    let table = String::from_utf8_lossy(&run.stdout).into_owned();
    let header = table.lines().next().unwrap_or_default();
    assert!(header.trim_end().ends_with("errors"), "{table}");
    let own = table
        .lines()
        .find(|line| line.trim_start().starts_with("mine"));
    assert!(
        own.is_some_and(|row| row.trim_end().ends_with('1')),
        "{table}"
    );
    let csv = std::fs::read_to_string(Path::new(&out).join("outcomes.csv")).expect("written");
    assert!(
        csv.lines()
            .next()
            .is_some_and(|line| line.ends_with(",detail")),
        "{csv}"
    );
    assert_eq!(csv.matches(",\"a menu, again\"").count(), 1, "{csv}");
    let page = std::fs::read_to_string(Path::new(&out).join("report.html")).expect("written");
    assert!(
        page.contains("it says &quot;a menu, again&quot;"),
        "the page has it"
    );
    let run = deadloop(&["explain", &corpus, "loop-1", "--settings", &settings]);
    let told = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(told.contains("it says \"a menu, again\""), "{told}");
    // Who says nothing has no column for it.
    let words = ["replay", &corpus, "--csv", "--out", &out, "--force"];
    says(&deadloop(&words), 0, &[]);
    let csv = std::fs::read_to_string(Path::new(&out).join("outcomes.csv")).expect("written");
    assert!(!csv.contains("detail"), "{csv}");
}

/// Size and time say nothing where both were set back; the time of the change itself cannot be.
#[cfg(target_os = "linux")]
#[test]
fn a_corpus_that_is_edited_in_place_while_it_is_read_is_another_one() {
    if no_python() {
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary folder");
    let corpus_file = corpus(dir.path(), &["fine", "other"]);
    let edit = format!(
        "import json, os, sys\nC = {corpus_file:?}\nwas = os.stat(C)\n\
         for raw in sys.stdin.buffer:\n    m = json.loads(raw)\n    if m['type'] == 'hello':\n        \
         print(json.dumps({{'type': 'ready', 'name': 'mine', 'version': '7'}}), flush=True)\n    \
         elif m['type'] == 'start':\n        t = m['transcript']\n    elif m['type'] == 'end':\n        \
         f = open(C, 'r+b')\n        b = f.read().replace(b'ten', b'six')\n        f.seek(0)\n        f.write(b)\n        f.close()\n        \
         os.utime(C, ns=(was.st_atime_ns, was.st_mtime_ns))\n        \
         print(json.dumps({{'type': 'verdict', 'transcript': t, 'alarm': None}}), flush=True)\n"
    );
    let program = file(dir.path(), "edit.py", &edit);
    let text = format!(
        "[[guard]]\ndetector = \"command\"\n[guard.params]\ncommand = [\"python3\", '{program}']\n"
    );
    let settings_file = file(dir.path(), "edit.toml", &text);
    let out = dir.path().join("out").display().to_string();
    let run = deadloop(&[
        "replay",
        &corpus_file,
        "--settings",
        &settings_file,
        "--out",
        &out,
    ]);
    says(
        &run,
        2,
        &["the corpus changed while it was read", "corpus.jsonl"],
    );
}
