//! `tune` from outside: what each option promises, on a small corpus whose answer is
//! known.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use program::{Ran, code, command, deadloop, has, stderr, stdout};
use serde_json::{Value, json};

fn stdout_json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("--json prints JSON")
}

/// Healthy prose of so many words, another one for each seed.
fn prose(seed: u64, words: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % n
    };
    let mut text = String::new();
    for i in 0..words {
        let length = 3 + next(6);
        text.extend((0..length).map(|_| char::from(b'a' + next(26) as u8)));
        text.push_str(if i % 12 == 11 { ".\n" } else { " " });
    }
    text
}

/// What is in a corpus: so many loops and clean transcripts of each model, in one split.
struct Corpus<'a> {
    models: &'a [(&'a str, usize)],
    loops: bool,
    split: &'a str,
}

impl Corpus<'_> {
    /// The lines of its file: a loop is prose, then one sentence again and again.
    fn lines(&self) -> String {
        let mut lines = String::new();
        for (m, (model, n)) in self.models.iter().enumerate() {
            for i in 0..*n {
                let seed = 1 + (m * 1000 + i) as u64 + 7919 * self.split.len() as u64;
                let row = |kind: &str, answer: String, label: Value| {
                    json!({"id": format!("{model}/{}/{kind}{i}", self.split), "model": model,
                           "answer": answer, "labels": [label]})
                };
                let clean = row("clean", prose(seed, 2500), json!({"class": "clean"}));
                writeln!(lines, "{clean}").expect("a string grows");
                if self.loops {
                    let (start, unit) = (prose(seed + 1_000_000, 300), prose(seed + 2_000_000, 12));
                    let onset = start.chars().count() + unit.chars().count();
                    let label = json!({"class": "loop", "kind": "paragraph", "channel": "answer", "onset": onset});
                    let text = start + &unit.repeat(100);
                    writeln!(lines, "{}", row("loop", text, label)).expect("a string grows");
                }
            }
        }
        lines
    }
}

const MODELS: [(&str, usize); 2] = [("big", 20), ("small", 4)];

/// A folder for a test, and its corpus.
struct Bench {
    dir: tempfile::TempDir,
    corpus: String,
}

impl Bench {
    fn new(lines: &str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let corpus = dir.path().join("corpus.jsonl");
        std::fs::write(&corpus, lines).expect("it is writable");
        let corpus = corpus.display().to_string();
        Self { dir, corpus }
    }

    fn looping() -> Self {
        let corpus = Corpus {
            models: &MODELS,
            loops: true,
            split: "dev",
        };
        Self::new(&corpus.lines())
    }

    /// A corpus in a folder, whose `splits.csv` says which lines are of which split.
    fn split(dev: &str, test: &str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let corpus = dir.path().join("corpus");
        let transcripts = corpus.join("transcripts");
        std::fs::create_dir_all(&transcripts).expect("it can be made");
        let mut splits = "transcript,split\n".to_owned();
        for (split, lines) in [("dev", dev), ("test", test)] {
            let file = transcripts.join(format!("{split}.jsonl"));
            std::fs::write(file, lines).expect("it is writable");
            for line in lines.lines() {
                let row: Value = serde_json::from_str(line).expect("it is JSON");
                let id = row["id"].as_str().expect("it has one");
                writeln!(splits, "{id},{split}").expect("a string grows");
            }
        }
        std::fs::write(corpus.join("splits.csv"), splits).expect("it is writable");
        let corpus = corpus.display().to_string();
        Self { dir, corpus }
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("it is writable");
        path
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("it was written")
    }

    /// A grid of eight structures, three thresholds each.
    fn grid(&self) -> String {
        let text = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\n\
            checkpoints = [[1000, 2000, 4000], [2000, 4000]]\nevery = [0, 500, 1000, 2000]\nmin_matches = [3, 4, 6]\n";
        self.write("grid.toml", text)
    }

    fn tune(&self, out: &str, more: &[&str]) -> Output {
        let (grid, out) = (self.grid(), self.path(out));
        let args = ["tune", &self.corpus, "--grid", &grid, "--out", &out];
        deadloop(&[&args, more].concat())
    }

    fn manifest(&self, out: &str) -> Value {
        serde_json::from_str(&self.read(&format!("{out}/manifest.json"))).expect("it is JSON")
    }

    fn choice(&self, out: &str) -> Vec<BTreeMap<String, String>> {
        let path = self.path(&format!("{out}/choice.csv"));
        rows(Path::new(&path))
    }
}

fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).expect("it was written");
    reader
        .deserialize()
        .map(|row| row.expect("it is whole"))
        .collect()
}

#[test]
fn a_choice_takes_loops_and_the_sentence_says_how_many() {
    let corpus = Corpus {
        models: &MODELS,
        loops: false,
        split: "dev",
    };
    let bench = Bench::new(&corpus.lines());
    let run = bench.tune("out", &[]).ends(5);
    let said = stderr(&run);
    has(
        &said,
        "Collect labelled loops: none of the labelled transcripts is a loop.",
    );
    let settings = bench.read("out/settings.toml");
    assert!(
        settings.ends_with(deadloop_detect::RECOMMENDED),
        "what is in use is kept"
    );
}

/// A limit that the user gave and the file breaks has an exit code of its own, and the first sentence says so.
#[test]
fn a_given_limit_that_the_file_breaks_is_said() {
    let bench = Bench::looping();
    let run = bench
        .tune(
            "out",
            &["--constraint", "delay<=10", "--constraint", "recall>=0.5"],
        )
        .ends(6);
    let said = stderr(&run);
    assert!(said.contains(" breaks the limit delay<=10 ("), "{said}");
    let advice = &bench.manifest("out")["advice"];
    assert_eq!(
        (&advice["verdict"], &advice["over_limit"]),
        (&json!("keep"), &json!(true))
    );
}

/// Terminal, page, report.md, `--json`, manifest and the head of settings.toml.
#[test]
fn the_verdict_is_one_sentence_in_all_six_places() {
    let bench = Bench::looping();
    for (out, limit, verdict, exit) in [
        ("ship", "fa_per_mchar<=10", "ship", 0),
        ("keep", "delay<=10", "keep", 6),
        ("collect", "fa_per_mchar<=0.1", "collect", 5),
    ] {
        let now = bench.write(
            "now.toml",
            "# mine\n[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nmin_repeats = 500\n",
        );
        let few = if verdict == "collect" { "small" } else { "*" };
        let more = ["--constraint", limit, "--settings", &now, "--model", few];
        let shown = bench.tune(out, &more).ends(exit);
        let manifest = bench.manifest(out);
        assert_eq!(manifest["advice"]["verdict"], verdict);
        let sentence = manifest["advice"]["reason"].as_str().expect("a sentence");
        let again = bench.tune(out, &[&more[..], &["--json"]].concat());
        assert_eq!(
            stdout_json(&again)["reason"],
            sentence,
            "--json, said again"
        );
        assert_eq!(stdout_json(&again)["verdict"], verdict);
        let settings = bench.read(&format!("{out}/settings.toml"));
        assert!(settings.starts_with(&format!("# deadloop tune: {verdict}\n# {sentence}\n")));
        assert_eq!(
            settings.contains("# mine"),
            verdict != "ship",
            "kept as it was given"
        );
        let plain = |text: String| -> String {
            let text = text
                .replace("&lt;", "<")
                .replace("&#x27;", "'")
                .replace("&#39;", "'");
            text.replace('\\', "")
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        for (place, text) in [
            ("terminal", stdout(&shown)),
            ("page", bench.read(&format!("{out}/report.html"))),
            ("report.md", bench.read(&format!("{out}/report.md"))),
        ] {
            assert!(
                plain(text).contains(&plain(sentence.into())),
                "{place} of {verdict}: {sentence}"
            );
        }
    }
}

/// A corpus in which each fifth loop is called clean `by` somebody.
fn wrongly_labelled(by: &str) -> Bench {
    let corpus = Corpus {
        models: &[("m", 40)],
        loops: true,
        split: "dev",
    };
    let mut loops = 0;
    let lines = corpus.lines();
    let line = |line: &str| {
        let mut row: Value = serde_json::from_str(line).expect("it is JSON");
        loops += u32::from(row["labels"][0]["class"] == "loop");
        if row["labels"][0]["class"] == "loop" && loops.is_multiple_of(5) {
            row["labels"] = json!([{"class": "clean", "by": by}]);
        }
        format!("{row}\n")
    };
    Bench::new(&lines.lines().map(line).collect::<String>())
}

#[test]
fn a_label_that_the_finder_doubts_does_not_speak_against_a_ready_guard() {
    let advice = |by: &str| {
        let bench = wrongly_labelled(by);
        let now = bench.write(
            "now.toml",
            "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nmin_repeats = 500\n",
        );
        let more = ["--settings", &now, "--also", "recommended"];
        bench.tune("out", &more).ends(0);
        bench.manifest("out")["advice"].clone()
    };
    let taken = advice("auto");
    let reason = taken["reason"].as_str().expect("a sentence");
    assert_eq!(taken["verdict"], "ship", "{reason}");
    assert_eq!(taken["doubted"], 8);
    assert!(
        reason.starts_with("Ship the recommended guard: "),
        "{reason}"
    );
    let more = taken["more"].to_string();
    has(&more, "8 labels are in doubt and left out of the choice");
    // What is printed of the file counts them.
    assert_eq!(taken["file"]["wrong"], 8);
    // What a person has confirmed counts as it is: the guard is surely over the limit.
    let kept = advice("review:ann");
    assert_eq!(
        (&kept["doubted"], &kept["verdict"]),
        (&json!(0), &json!("keep"))
    );
}

#[test]
fn the_sealed_split_is_never_chosen_on_and_its_openings_are_counted() {
    let [dev, test] = ["dev", "test"].map(|split| {
        let corpus = Corpus {
            models: &MODELS,
            loops: true,
            split,
        };
        corpus.lines()
    });
    let bench = Bench::split(&dev, &test);
    bench.tune("out", &[]).ends(0);
    let choice = bench.choice("out");
    assert_eq!(choice[0]["transcripts"], "48", "those of dev");
    let openings = || -> Vec<String> {
        let rows = bench.choice("out").into_iter();
        rows.map(|row| row["test_openings"].clone()).collect()
    };
    assert_eq!(openings(), ["0", "0", "0"]);
    let settings = bench.path("out/settings.toml");
    let replay = |split: &str| {
        let out = bench.path("seen");
        let split = ["--split", split, "--out", &out, "--force"];
        deadloop(
            &[
                &["replay", &bench.corpus, "--settings", &settings],
                &split[..],
            ]
            .concat(),
        )
    };
    assert_eq!(code(&replay("dev")), Some(0));
    assert_eq!(openings(), ["0", "0", "0"], "dev is not sealed");
    for time in ["1", "2"] {
        let run = replay("test").ends(0);
        run.says(&format!("split test, time {time}"));
        assert_eq!(openings(), [time, time, time]);
    }
}

#[test]
fn the_file_has_a_setting_for_models_that_were_not_in_the_corpus() {
    let bench = Bench::looping();
    // The current setting never alarms, so another one is chosen.
    let current = bench.write(
        "now.toml",
        "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nmin_repeats = 500\n",
    );
    let grid = bench.write(
        "periodic.toml",
        "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = [3, 4]\n",
    );
    let out = bench.path("out");
    // Ten, since 0.4 million clean chars without an alarm are not sure of one.
    let limit = ["--constraint", "fa_per_mchar<=10"];
    let options = [
        "--grid",
        &grid,
        "--settings",
        &current,
        "--out",
        &out,
        limit[0],
        limit[1],
    ];
    deadloop(&[&["tune", &bench.corpus], &options[..]].concat()).ends(0);
    let text = bench.read("out/settings.toml");
    let pooled = &bench.choice("out")[0]["setting"];
    assert!(text.contains("min_copies") && !pooled.is_empty(), "{text}");
    let unknown = Corpus {
        models: &[("unknown", 2)],
        loops: true,
        split: "dev",
    };
    let unknown = bench.write("unknown.jsonl", &unknown.lines());
    let (settings, out) = (bench.path("out/settings.toml"), bench.path("seen"));
    deadloop(&[
        "replay",
        &unknown,
        "--settings",
        &settings,
        "--csv",
        "--out",
        &out,
        "-q",
    ])
    .ends(0);
    let outcomes = rows(Path::new(&bench.path("seen/outcomes.csv")));
    let verdicts: Vec<&str> = outcomes.iter().map(|row| row["verdict"].as_str()).collect();
    assert_eq!(
        verdicts.iter().filter(|v| **v == "hit").count(),
        2,
        "{verdicts:?}"
    );
    let looping = outcomes
        .iter()
        .find(|row| row["verdict"] == "hit")
        .expect("there are two");
    let stream = prose(1, 300) + &prose(2, 12).repeat(100);
    let model = &looping["model"];
    let mut watch = command(&["watch", "--settings", &settings, "--model", model, "-q"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    // It may end before it has read all: after an alarm nothing is waited for.
    let _ = watch
        .stdin
        .take()
        .expect("it reads")
        .write_all(stream.as_bytes());
    assert_eq!(watch.wait().expect("it ends").code(), Some(10));
}

/// A choice among guards of loops says nothing about a timeout: what is in use for faults stays beside what ships.
#[test]
fn a_timeout_in_use_stays_beside_the_guard_that_ships() {
    let bench = Bench::looping();
    let in_use = "[[guard]]\ndetector = \"checkpoint\"\n[[guard]]\ndetector = \"stall\"\n[guard.params]\nidle_ms = 7000\n";
    let in_use = bench.write("in-use.toml", in_use);
    let grid = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = [3, 4, 5]\n";
    let (grid, out) = (bench.write("periodic.toml", grid), bench.path("out"));
    let limit = "fa_per_mchar<=100";
    let run = deadloop(&[
        "tune",
        &bench.corpus,
        "--grid",
        &grid,
        "--settings",
        &in_use,
        "--constraint",
        limit,
        "--out",
        &out,
        "--json",
    ])
    .ends(0);
    let told = stdout_json(&run);
    assert_eq!(told["verdict"], "ship", "{told}");
    let changed = told["changes"].to_string();
    assert!(!changed.contains("stall"), "{changed}");
    let ships: toml::Table = toml::from_str(&bench.read("out/settings.toml")).expect("it is TOML");
    let guards = ships["guard"].as_array().expect("a list");
    let detectors: Vec<_> = guards.iter().map(|g| g["detector"].as_str()).collect();
    assert_eq!(detectors, [Some("periodic"), Some("stall")]);
    assert_eq!(guards[1]["params"]["idle_ms"].as_integer(), Some(7000));
}

/// Five transcripts choose nothing: what is in use stays, and the exit code says why.
#[test]
fn five_transcripts_are_too_few_to_choose_by() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let loops = |n: u32| {
        format!(
            "{{\"id\":\"l{n}\",\"answer\":\"{}\",\"labels\":[{{\"class\":\"loop\",\"channel\":\"answer\",\"start\":0,\"onset\":14,\"period\":14}}]}}\n",
            format!("Let me {n} it. ").repeat(100)
        )
    };
    let clean = |n: u32| {
        format!(
            "{{\"id\":\"c{n}\",\"answer\":\"All is well, {n} times.\",\"labels\":[{{\"class\":\"clean\"}}]}}\n"
        )
    };
    let text: String = (0..3).map(loops).chain((0..2).map(clean)).collect();
    let raw = |n: u32| format!("{{\"id\":\"r{n}\",\"answer\":\"All is well, {n} times.\"}}\n");
    for (name, text, next) in [
        ("all.jsonl", text.clone(), "all.jsonl --review"),
        (
            "clean.jsonl",
            (0..5).map(clean).collect(),
            "clean.jsonl --review",
        ),
        ("raw.jsonl", (0..5).map(raw).collect(), "raw.jsonl --review"),
    ] {
        let corpus = program::file(dir.path(), name, &text);
        let out = dir.path().join(format!("{name}-out")).display().to_string();
        let run = deadloop(&["tune", &corpus, "--out", &out]);
        assert_eq!(
            code(&run),
            Some(5),
            "{name}: {}{}",
            stdout(&run),
            stderr(&run)
        );
        let said = stdout(&run);
        let labels = said.lines().find(|line| line.contains("deadloop label "));
        assert!(
            labels.is_some_and(|line| format!("{line}\n").contains(next)),
            "{name}: {said}"
        );
        let kept = std::fs::read_to_string(std::path::Path::new(&out).join("settings.toml"));
        let kept = kept.expect("it is written");
        assert!(kept.contains("min_copies = 3"), "what is in use: {kept}");
    }
}

/// Runs of an agent: so many that poll until it is done, so many that loop over a read, and one loop over a poll of another
/// tool that healthy runs repeat too.
fn runs_that_poll() -> String {
    let mut lines = String::new();
    let mut run = |id: String, calls: &[(&str, &str, usize)], label: Value| {
        let mut events = Vec::new();
        for (name, result, times) in calls {
            for _ in 0..*times {
                events.push(json!({"type": "turn"}));
                events.push(json!({"type": "tool_call", "id": "1", "name": name, "arguments": {}}));
                events.push(json!({"type": "tool_result", "id": "1", "content": result}));
            }
        }
        let run = json!({"id": id, "model": "m", "events": events, "labels": [label]});
        writeln!(lines, "{run}").expect("a string grows");
    };
    let clean = || json!({"class": "clean"});
    let looped = || {
        json!({"class": "loop", "kind": "same-call-same-result", "channel": "tools", "onset": 2,
               "earliest": 1, "end": 9, "open": true})
    };
    for i in 0..12 {
        run(
            format!("poll{i}"),
            &[
                ("list", "a.txt, b.txt", 1),
                ("job_status", "the job is still running", 4),
            ],
            clean(),
        );
        run(
            format!("tail{i}"),
            &[("tail_log", "no new lines in the log", 4)],
            clean(),
        );
        run(
            format!("read{i}"),
            &[("read_file", "fn main() { todo(); }", 9)],
            looped(),
        );
    }
    run(
        "tail-loop".into(),
        &[("tail_log", "no new lines in the log", 9)],
        looped(),
    );
    lines
}

/// A tool that only healthy runs repeat may pass, one that a loop repeats too may not, and nothing is taken unasked.
#[test]
fn tools_that_may_repeat_are_named_and_left_to_the_user() {
    let dir = tempfile::tempdir().expect("a folder");
    let (corpus, out) = (dir.path().join("runs.jsonl"), dir.path().join("out"));
    std::fs::write(&corpus, runs_that_poll()).expect("a corpus");
    let settings = dir.path().join("mine.toml");
    let in_use =
        "[[guard]]\ndetector = \"same-pair\"\n[guard.params]\nn = 3\nallow = [\"wait*\"]\n";
    std::fs::write(&settings, in_use).expect("settings");
    let mut tune = command(&["tune"]);
    tune.arg(&corpus)
        .args(["--unit", "calls", "--json", "--settings"])
        .arg(&settings)
        .arg("--out")
        .arg(&out);
    let said = stdout_json(&tune.output().expect("it runs"));
    // The loops are copies of two.
    assert_eq!(said["verdict"], "collect", "{said}");
    let lines: Vec<&str> = said["to_do"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let job = "job_status may pass (allow = [\"job_status\"]): 24 -> 12 clean runs stopped, 13 -> 13 loops ended.";
    assert_eq!(lines[0], job, "{lines:?}");
    let tail = "tail_log repeats in clean runs, but must not pass: 24 -> 12 clean runs stopped, 13 -> 12 loops ended.";
    assert_eq!(lines[1], tail, "{lines:?}");
    let text = std::fs::read_to_string(out.join("settings.toml")).expect("settings");
    assert!(
        text.contains(&format!("# {job}\n")) && text.ends_with(in_use),
        "{text}"
    );
}

/// A line that healthy text repeats may be ignored, and the figures say what that costs.
#[test]
fn lines_that_healthy_text_repeats_are_named() {
    let corpus = Corpus {
        models: &[("m", 15)],
        loops: true,
        split: "dev",
    };
    let mut lines = corpus.lines();
    for i in 0..4 {
        let board = format!(
            "{}{}{}",
            prose(90 + i, 300),
            "a . . . . . . . .\n".repeat(60),
            prose(95 + i, 300)
        );
        let row = json!({"id": format!("board{i}"), "model": "m", "answer": board, "labels": [{"class": "clean"}]});
        writeln!(lines, "{row}").expect("a string grows");
    }
    let bench = Bench::new(&lines);
    let run = deadloop(&["tune", &bench.corpus, "--out", &bench.path("out"), "--json"]);
    let said = stdout_json(&run);
    let line = said["to_do"][0].as_str().unwrap_or_default();
    let want = "Healthy text repeats a line: ignore = ['^a \\. \\. \\. \\. \\. \\. \\. \\.$'] makes it pass: 4 -> 0 clean transcripts stopped, 15 -> 15 loops ended.";
    assert_eq!(line, want, "{said}");
}
