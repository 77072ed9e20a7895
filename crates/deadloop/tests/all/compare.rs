//! The gate from outside: `compare`, `--bless`, `cases`, and the CI action's steps.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says why"
)]

use crate::program;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use program::{code, deadloop, file, stderr, stdout};
use serde_json::{Value, json};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn root(path: &str) -> String {
    format!("{ROOT}/{path}")
}

fn parsed(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", stderr(output)))
}

fn temporary() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn inside(dir: &Path, name: &str) -> String {
    dir.join(name).display().to_string()
}

/// A settings file of the checkpoint detector.
fn checkpoint(dir: &Path, name: &str, params: &str) -> String {
    let text = format!("[[guard]]\ndetector = \"checkpoint\"\n{params}");
    file(dir, name, &text)
}

/// Replays into a folder.
fn replayed(corpus: &str, out: &str, more: &[&str]) {
    let fixed = ["replay", corpus, "--out", out, "--csv", "-q"];
    let run = deadloop(&[&fixed, more].concat());
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
}

/// Transcript to verdict, of one setting of outcomes.csv: read without a line of deadloop's.
fn verdicts(outcomes: &str) -> BTreeMap<String, String> {
    let mut reader = csv::Reader::from_path(outcomes).expect("outcomes.csv is there");
    let rows = reader.deserialize::<BTreeMap<String, String>>();
    rows.map(|row| row.expect("a row"))
        .map(|row| (row["transcript"].clone(), row["verdict"].clone()))
        .collect()
}

fn flips(compared: &Value) -> BTreeSet<String> {
    let flips = compared["flips"].as_array().expect("a list").iter();
    let flips = flips.filter(|flip| flip["change"] == "flip");
    flips
        .map(|f| f["transcript"].as_str().expect("an id").to_owned())
        .collect()
}

#[test]
fn a_change_of_a_threshold_is_caught_on_the_baseline() {
    let dir = temporary();
    let (baseline, starter) = (inside(dir.path(), "baseline"), root("datasets/starter"));
    let document = checkpoint(dir.path(), "document.toml", "preset = \"document\"\n");
    replayed(
        &starter,
        &baseline,
        &["--split", "dev", "--settings", &document],
    );
    let new = |matches: &str| {
        let out = inside(dir.path(), matches);
        let set = format!("guard.params.min_matches={matches}");
        replayed(
            &starter,
            &out,
            &["--split", "dev", "--settings", &document, "--set", &set],
        );
        out
    };
    let compare = |out: &str| {
        let fixed = ["compare", &baseline, out];
        deadloop(&[&fixed, &["--fail-on", "flips", "--json"][..]].concat())
    };
    let same = compare(&new("6"));
    assert_eq!(code(&same), Some(0), "{}", stderr(&same));
    assert_eq!(parsed(&same)["verdict"], "equivalent");
    assert!(flips(&parsed(&same)).is_empty());

    let three = new("3");
    let caught = compare(&three);
    assert_eq!(code(&caught), Some(100), "{}", stderr(&caught));
    let told = parsed(&caught);
    let base = verdicts(&format!("{baseline}/outcomes.csv"));
    let other = verdicts(&format!("{three}/outcomes.csv"));
    assert_eq!(base.len(), other.len());
    let changed = base.iter().filter(|(id, verdict)| other[*id] != **verdict);
    let changed: BTreeSet<String> = changed.map(|(id, _)| id.clone()).collect();
    assert!(!changed.is_empty(), "three matches fewer change something");
    assert_eq!(flips(&told), changed);
}

#[test]
fn one_match_less_fails_the_gate_as_it_is_by_default() {
    let dir = temporary();
    let drop = "[guard.params]\npartial_tail = \"drop\"\nevery = 1000\n";
    let settings = checkpoint(dir.path(), "drop.toml", drop);
    let starter = root("datasets/starter");
    let compare = |matches: &str, jobs: &str| {
        let set = format!("guard.params.min_matches={matches}");
        let fixed = [
            "compare", &settings, &settings, "--corpus", &starter, "--split", "dev",
        ];
        deadloop(&[&fixed[..], &["--set", &set, "--json", "-j", jobs]].concat())
    };
    let five = compare("5", "1");
    assert_eq!(code(&five), Some(100), "{}", stderr(&five));
    assert!(stderr(&five).contains("wrong-alarms"), "{}", stderr(&five));
    let named = flips(&parsed(&five));
    assert!(named.contains("handmade/diff/en/3"), "{named:?}");
    assert_eq!(
        compare("5", "2").stdout,
        five.stdout,
        "for any number of threads"
    );
    assert_eq!(code(&compare("6", "2")), Some(0));
    let explain = parsed(&five)["flips"][0]["explain"].clone();
    assert_eq!(explain, Value::Null, "no file holds NEW's settings");
}

/// Some loops and some clean texts, with their labels; what `change` does to them.
fn corpus(dir: &Path, name: &str, change: impl Fn(usize, &mut Value)) -> String {
    let mut lines = String::new();
    for i in 0..20_usize {
        let start = format!("Text number {i}. ");
        let loops = i.is_multiple_of(2);
        let (answer, labels) = if loops {
            let unit = format!("I should stop now, at {i}. ");
            let onset = start.len() + unit.len();
            let label = json!([{"class": "loop", "channel": "answer", "onset": onset}]);
            (start + &unit.repeat(60 + i), label)
        } else {
            (start, json!([{"class": "clean"}]))
        };
        let mut line = json!({"id": format!("t{i}"), "answer": answer, "labels": labels});
        change(i, &mut line);
        if line != Value::Null {
            lines += &format!("{line}\n");
        }
    }
    file(dir, name, &lines)
}

#[test]
fn what_is_not_of_the_same_thing_is_not_comparable() {
    let dir = temporary();
    let at = |name: &str| inside(dir.path(), name);
    let plain = corpus(dir.path(), "plain.jsonl", |_, _| ());
    replayed(&plain, &at("base"), &[]);
    let against = |name: &str, change: &dyn Fn(usize, &mut Value), more: &[&str]| {
        let changed = corpus(dir.path(), &format!("{name}.jsonl"), change);
        replayed(&changed, &at(name), more);
        let run = deadloop(&[
            "compare",
            &at("base"),
            &at(name),
            "--json",
            "--junit",
            &at(&format!("{name}.xml")),
        ]);
        assert_eq!(code(&run), Some(3), "{name}: {}", stderr(&run));
        assert_eq!(parsed(&run)["verdict"], "not-comparable");
        let xml = std::fs::read_to_string(at(&format!("{name}.xml"))).expect("JUnit was asked for");
        assert!(xml.contains("errors=\"1\""), "{xml}");
        stderr(&run)
    };
    let only = |n: usize, what: Value| {
        move |i: usize, line: &mut Value| {
            if i == n {
                *line = what.clone();
            }
        }
    };
    let text = json!({"id": "t3", "answer": "Another text.", "labels": [{"class": "clean"}]});
    let e = against("text", &only(3, text), &[]);
    assert!(e.contains("with another text: t3"), "{e}");
    let e = against(
        "label",
        &|i, line| {
            if i == 5 {
                line["labels"] = json!([{"class": "transient"}])
            }
        },
        &[],
    );
    assert!(
        e.contains("with another label: t5 (BASE clean, NEW transient)"),
        "{e}"
    );
    let onset = |i, line: &mut Value| {
        if i == 4 {
            line["labels"][0]["onset"] = json!(50)
        }
    };
    let e = against("onset", &onset, &[]);
    assert!(e.contains("t4 (onset 40 → 50"), "{e}");
    let e = against("gone", &only(7, Value::Null), &[]);
    assert!(e.contains("1 transcript only in BASE: t7"), "{e}");
    let e = against("rules", &|_, _| (), &["--transient", "loop"]);
    assert!(e.contains("judged by other rules"), "{e}");
    let wrong = "[[guard]]\ndetector = \"command\"\n[guard.params]\ncommand = [\"sh\", \"-c\", \"read x; echo '{\\\"type\\\":\\\"ready\\\",\\\"name\\\":\\\"x\\\",\\\"version\\\":\\\"1\\\"}'; while read x; do case $x in *end*) echo nonsense;; esac; done\"]\nmax_errors = 1000\n";
    let wrong = file(dir.path(), "wrong.toml", wrong);
    let out = at("error");
    let run = deadloop(&["replay", &plain, "--out", &out, "--settings", &wrong, "-q"]);
    assert_eq!(code(&run), Some(1), "{}", stderr(&run));
    assert!(
        stderr(&run).contains("failed on all 20 transcripts"),
        "{}",
        stderr(&run)
    );
    let run = deadloop(&["compare", &at("base"), &out]);
    assert_eq!(code(&run), Some(3), "{}", stderr(&run));
    let e = stderr(&run);
    assert!(e.contains("on which the detector of NEW failed"), "{e}");
    let same = deadloop(&["compare", &at("base"), &at("base"), "-q"]);
    assert_eq!(code(&same), Some(0), "{}", stderr(&same));
}

#[test]
fn nothing_selected_and_nothing_known_do_not_pass() {
    let dir = temporary();
    let at = |name: &str| inside(dir.path(), name);
    let plain = corpus(dir.path(), "plain.jsonl", |_, _| ());
    replayed(&plain, &at("base"), &[]);
    let empty = deadloop(&["compare", &at("base"), &at("base"), "--model", "nobody"]);
    assert_eq!(code(&empty), Some(4), "{}", stderr(&empty));
    let judged = deadloop(&["compare", &at("base"), &at("base"), "--transient", "loop"]);
    assert_eq!(code(&judged), Some(2), "what cannot be heeded is refused");
    let empty = [
        "compare",
        "recommended",
        "document",
        "--corpus",
        &plain,
        "--split",
        "none",
    ];
    assert_eq!(code(&deadloop(&empty)), Some(4));
    // Nobody labelled it: neither gate can be evaluated.
    let bare = corpus(dir.path(), "bare.jsonl", |_, line| {
        line["labels"] = json!([])
    });
    let unknown = deadloop(&[
        "compare",
        "recommended",
        "document",
        "--corpus",
        &bare,
        "--json",
    ]);
    assert_eq!(code(&unknown), Some(5), "{}", stderr(&unknown));
    let gates = parsed(&unknown)["gates"].clone();
    assert!(
        gates
            .as_array()
            .is_some_and(|all| all.iter().all(|g| g["passed"].is_null())),
        "{gates}"
    );
    // Loops from the first char on, and no clean text: nothing is known about wrong alarms.
    let looping = corpus(dir.path(), "looping.jsonl", |i, line| {
        *line = match i % 2 {
            0 => {
                json!({"id": format!("t{i}"), "answer": "Stop. ".repeat(400), "labels": [{"class": "loop", "onset": 6, "earliest": 0}]})
            }
            _ => Value::Null,
        };
    });
    let unknown = deadloop(&[
        "compare",
        "recommended",
        "recommended",
        "--corpus",
        &looping,
    ]);
    assert_eq!(code(&unknown), Some(5), "{}", stderr(&unknown));
    assert!(
        stderr(&unknown).contains("no healthy char"),
        "{}",
        stderr(&unknown)
    );
    // Healthy text before loops alone: of what a clean stream would have met nothing is known either.
    let loops = corpus(dir.path(), "loops.jsonl", |i, line| {
        if i % 2 == 1 {
            *line = Value::Null;
        }
    });
    let same = ["compare", "recommended", "recommended", "--corpus", &loops];
    let unknown = deadloop(&same);
    assert_eq!(code(&unknown), Some(5), "{}", stderr(&unknown));
    let told = stderr(&unknown);
    assert!(told.contains("no transcript is clean"), "{told}");
    // Pinned cases that cannot be looked at.
    let pins = file(
        dir.path(),
        "pins.toml",
        "[[case]]\nname = \"n\"\ntranscript = \"nowhere\"\nexpect = { alarm = false }\n",
    );
    let unknown = deadloop(&["compare", &at("base"), &at("base"), "--cases", &pins]);
    assert_eq!(code(&unknown), Some(5), "{}", stderr(&unknown));
    let none = file(dir.path(), "none.toml", "");
    let unknown = deadloop(&["compare", &at("base"), &at("base"), "--cases", &none]);
    assert_eq!(code(&unknown), Some(4), "{}", stderr(&unknown));
}

#[test]
fn two_programs_are_compared_and_pinned_cases_gate_them() {
    let dir = temporary();
    let example = root("scripts/peers/example.py");
    let settings = |name: &str, lines: u64| {
        let text = format!(
            "[[guard]]\ndetector = \"command\"\n[guard.params]\ncommand = [\"python3\", {example:?}]\nparams = {{ lines = {lines} }}\n"
        );
        file(dir.path(), name, &text)
    };
    let (few, many) = (settings("few.toml", 3), settings("many.toml", 40));
    let lines = corpus(dir.path(), "lines.jsonl", |i, line| {
        let text = format!("start {i}\n{}", "again\n".repeat(10));
        let label = if i.is_multiple_of(2) {
            json!({"class": "loop", "onset": 15})
        } else {
            json!({"class": "clean"})
        };
        *line = json!({"id": format!("t{i}"), "answer": text, "labels": [label]});
    });
    let pins = "[[case]]\nname = \"twelve lines\"\ntext = [{ repeat = \"again\\n\", times = 12 }]\nexpect = { alarm = true, between = [1, 60] }\n\n[[case]]\nname = \"t1\"\ntranscript = \"t1\"\nexpect = { alarm = false, todo = \"known\" }\n";
    let pins = file(dir.path(), "pins.toml", pins);
    let out = inside(dir.path(), "out");
    let run = deadloop(&[
        "compare", &few, &many, "--corpus", &lines, "--cases", &pins, "--out", &out, "--json",
    ]);
    assert_eq!(code(&run), Some(100), "{}", stderr(&run));
    let told = parsed(&run);
    assert_eq!(
        flips(&told).len(),
        20,
        "ten hits and ten wrong alarms fewer"
    );
    assert_eq!(told["verdict"], "regressed");
    assert_eq!(
        (&told["pinned"][0]["base"], &told["pinned"][0]["new"]),
        (&json!("pass"), &json!("fail"))
    );
    assert_eq!(
        (&told["pinned"][1]["base"], &told["pinned"][1]["new"]),
        (&json!("fail"), &json!("pass"))
    );
    let gates: Vec<&Value> = told["gates"]
        .as_array()
        .expect("gates")
        .iter()
        .map(|g| &g["passed"])
        .collect();
    assert_eq!(gates, [&json!(false), &json!(true), &json!(false)]);
    // The settings that it leaves are those: the same comparison from them.
    let (base, new) = (format!("{out}/base.toml"), format!("{out}/new.toml"));
    let again = deadloop(&["compare", &base, &new, "--corpus", &lines, "--json"]);
    assert_eq!(flips(&parsed(&again)), flips(&told));
    assert!(
        told["flips"][0]["explain"]
            .as_str()
            .is_some_and(|e| e.contains("base.toml"))
    );
}

#[test]
fn files_are_short_safe_and_not_overwritten() {
    let dir = temporary();
    let at = |name: &str| inside(dir.path(), name);
    let mut lines = String::new();
    for i in 0..1500_u16 {
        let id = format!("<script>alert({i})</script>|`@everyone`\u{1b}[2J\u{202e}{i}");
        // A word of its own: copies, and texts that differ in numbers alone, are one observation.
        let word: String = [i / 676, i / 26 % 26, i % 26]
            .iter()
            .map(|n| char::from(b'a' + u8::try_from(*n).unwrap_or(0)))
            .collect();
        let text = format!("Stop {word} now. ").repeat(100);
        let label = json!([{"class": "loop", "onset": 14}]);
        lines += &format!("{}\n", json!({"id": id, "answer": text, "labels": label}));
    }
    lines += &format!(
        "{}\n",
        json!({"id": "clean", "answer": "Once.", "labels": [{"class": "clean"}]})
    );
    let corpus = file(dir.path(), "many.jsonl", &lines);
    let (markdown, junit, out) = (at("s.md"), at("j.xml"), at("out"));
    let args = [
        "compare",
        "recommended",
        "document",
        "--corpus",
        &corpus,
        "--markdown",
        &markdown,
        "--junit",
        &junit,
        "--out",
        &out,
    ];
    let run = deadloop(&args);
    assert_eq!(code(&run), Some(100), "{}", stderr(&run));
    let shown = stdout(&run);
    assert!(
        !shown.contains('\u{1b}') && shown.contains("1460 more"),
        "{shown}"
    );
    let text = std::fs::read_to_string(&markdown).expect("it was written");
    assert!(
        text.len() <= 65_536 && text.len() > 30_000,
        "{}",
        text.len()
    );
    assert!(!text.contains("<script") && !text.contains("`@") && !text.contains('\u{1b}'));
    let listed = text
        .lines()
        .filter(|line| line.contains("| worse |"))
        .count();
    assert!(
        text.contains(&format!("{} more are left out here", 1500 - listed)),
        "{listed}"
    );
    assert!(text.trim_end().ends_with("</details>"));
    let xml = std::fs::read_to_string(&junit).expect("it was written");
    assert!(!xml.contains("<script") && !xml.contains('\u{1b}'));
    assert_eq!(xml.matches("<testcase ").count(), 1502);
    let tables = program::tables_as_said(Path::new(&out), "compare");
    assert_eq!(tables, ["flips.csv"]);
    let rows = csv::Reader::from_path(format!("{out}/flips.csv"))
        .expect("flips")
        .into_records()
        .count();
    assert_eq!(rows, 1500);
    let again = deadloop(&args);
    assert_eq!(code(&again), Some(2), "{}", stderr(&again));
    assert!(stderr(&again).contains("--force"), "{}", stderr(&again));
    assert_eq!(
        code(&deadloop(&[&args[..], &["--force"]].concat())),
        Some(100)
    );
}

#[test]
fn a_baseline_is_promoted_after_showing_what_changes() {
    let dir = temporary();
    let at = |name: &str| inside(dir.path(), name);
    let corpus = corpus(dir.path(), "c.jsonl", |_, _| ());
    let document = checkpoint(dir.path(), "document.toml", "preset = \"document\"\n");
    replayed(&corpus, &at("one"), &[]);
    replayed(&corpus, &at("two"), &["--settings", &document]);
    let read = |name: &str| std::fs::read(dir.path().join(name)).expect("it is there");
    let bless = |new: &str| deadloop(&["compare", &at("baseline"), &at(new), "--bless"]);
    let first = bless("one");
    assert_eq!(code(&first), Some(0), "{}", stderr(&first));
    assert_eq!(read("baseline/outcomes.csv"), read("one/outcomes.csv"));
    let shown = bless("two");
    assert_eq!(code(&shown), Some(0), "{}", stderr(&shown));
    assert!(
        stdout(&shown).contains("regressed") && stdout(&shown).contains("t0"),
        "{}",
        stdout(&shown)
    );
    assert!(
        stderr(&shown).contains("the gate failed"),
        "{}",
        stderr(&shown)
    );
    assert_eq!(read("baseline/outcomes.csv"), read("two/outcomes.csv"));
    assert_eq!(
        code(&bless("document.toml")),
        Some(2),
        "settings are no result"
    );
    let gate = deadloop(&[
        "compare",
        &at("baseline"),
        &at("two"),
        "--fail-on",
        "flips",
        "-q",
    ]);
    assert_eq!(code(&gate), Some(0), "{}", stderr(&gate));
}

#[test]
fn cases_hold_fail_and_mend() {
    let dir = temporary();
    let case = |expect: &str| {
        let text = format!(
            "[[case]]\nname = \"stop\"\ntext = [\"Well.\\n⟦onset⟧\", {{ repeat = \"Stop now. \", times = 90 }}]\nexpect = {expect}\n"
        );
        file(dir.path(), "cases.toml", &text)
    };
    let check = |expect: &str| deadloop(&["cases", &case(expect)]);
    assert_eq!(
        code(&check(
            "{ alarm = true, between = [\"onset\", \"onset+600\"] }"
        )),
        Some(0)
    );
    let late = check("{ alarm = true, between = [\"onset\", \"onset+10\"] }");
    assert_eq!(code(&late), Some(100));
    let told = stdout(&late);
    assert!(
        told.contains("cases.toml:2: stop") && told.contains("an alarm from 6 to 16"),
        "{told}"
    );
    assert!(
        told.contains("⟦alarm⟧") && told.contains("Stop now. Stop"),
        "{told}"
    );
    let known = check("{ alarm = false, todo = \"ticket 12\" }");
    assert_eq!(code(&known), Some(0), "{}", stderr(&known));
    let mended = check("{ alarm = true, todo = \"ticket 12\" }");
    assert_eq!(code(&mended), Some(0));
    assert!(stdout(&mended).contains("holds now"), "{}", stdout(&mended));
    assert_eq!(code(&check("[]")), Some(4), "no expectation is no check");
    assert_eq!(code(&check("{ alarm = maybe }")), Some(2));
    let document = checkpoint(dir.path(), "d.toml", "preset = \"document\"\n");
    let path = case("{ alarm = true }");
    let other = deadloop(&["cases", &path, "--settings", &document, "--json"]);
    assert_eq!(
        (code(&other), &parsed(&other)["failed"]),
        (Some(100), &json!(1))
    );
}

#[test]
fn recordings_become_cases() {
    let dir = temporary();
    let starter = root("datasets/starter");
    for id in [
        "planted/paragraph/013",
        "planted/short-sequence/000",
        "handmade/loop/near-repeat/009",
        "handmade/numbered-lines/en/0",
        "handmade/csv-rows/zh/2",
        "gemma-3-270m-base:t1.0:p28:r0",
        "smollm2-135m-instruct:t0.7:p54:r0",
    ] {
        let made = deadloop(&["cases", "--add", &starter, id]);
        assert_eq!(code(&made), Some(0), "{id}: {}", stderr(&made));
        let path = file(dir.path(), "case.toml", &stdout(&made));
        let check = deadloop(&["cases", &path, "--json"]);
        assert_eq!(
            code(&check),
            Some(0),
            "{id}: {} {}",
            stderr(&check),
            stdout(&made)
        );
        let finding = parsed(&check)["expectations"][0]["finding"].clone();
        assert_ne!(finding, "mended", "{id}");
    }
    let unknown = deadloop(&["cases", "--add", &starter, "nobody"]);
    assert_eq!(code(&unknown), Some(4), "{}", stderr(&unknown));
    assert_eq!(code(&deadloop(&["cases"])), Some(2));
}

/// The shell steps of a composite action: name, condition, environment, script.
struct Step {
    name: String,
    condition: Option<String>,
    env: Vec<(String, String)>,
    run: String,
}

/// What `steps:` of the action holds; it is written with two blanks a level, and every script is on
/// the line of its `run:` or in the block below it.
fn steps(action: &str) -> Vec<Step> {
    let (_, steps) = action.split_once("  steps:\n").expect("it has steps");
    let mut found: Vec<Step> = Vec::new();
    let (mut block, mut env) = (false, false);
    for line in steps.lines() {
        let depth = line.len() - line.trim_start().len();
        let step = found.last_mut();
        if let Some(name) = line.strip_prefix("    - name: ") {
            (block, env) = (false, false);
            found.push(Step {
                name: name.into(),
                condition: None,
                env: Vec::new(),
                run: String::new(),
            });
        } else if let Some(step) = step {
            match line.trim().split_once(':') {
                _ if block && (depth >= 8 || line.is_empty()) => {
                    step.run += &format!("{}\n", line.get(8..).unwrap_or(""))
                }
                Some((key, value)) if env && depth == 8 => {
                    step.env.push((key.into(), value.trim().into()))
                }
                Some(("run", value)) if depth == 6 => {
                    (block, env) = (value.trim() == "|", false);
                    if !block {
                        step.run = value.trim().trim_matches('\'').into();
                    }
                }
                Some(("env", _)) if depth == 6 => env = true,
                Some(("if", value)) if depth == 6 => step.condition = Some(value.trim().into()),
                _ => {}
            }
        }
    }
    found
}

/// Runs the steps as a runner would; the exit code of the last one, and what it wrote.
fn act(
    dir: &Path,
    inputs: &[(&str, &str)],
    pull_request: bool,
) -> (Vec<(String, Option<i32>)>, String) {
    let action = root("scripts/ci/compare/action.yml");
    let text = std::fs::read_to_string(&action).expect("the action is there");
    let (summary, output) = (inside(dir, "summary"), inside(dir, "output"));
    let mut context: BTreeMap<String, String> = BTreeMap::new();
    for name in [
        "base", "new", "corpus", "args", "out", "deadloop", "version", "comment",
    ] {
        let given = inputs
            .iter()
            .find(|(input, _)| *input == name)
            .map(|(_, value)| *value);
        let default = if name == "comment" { "false" } else { "" };
        context.insert(format!("inputs.{name}"), given.unwrap_or(default).into());
    }
    let event = if pull_request { "pull_request" } else { "push" };
    for (name, value) in [
        ("github.event_name", event),
        ("github.event.pull_request.number", "7"),
        ("github.repository", "o/r"),
        ("github.action_repository", "o/deadloop"),
        ("steps.program.outputs.path", ""),
        ("github.token", "none"),
    ] {
        context.insert(name.into(), value.into());
    }
    context.insert("github.action_path".into(), root("scripts/ci/compare"));
    let filled = |text: &str, context: &BTreeMap<String, String>| {
        let mut text = text.to_owned();
        for (name, value) in context {
            text = text.replace(&format!("${{{{ {name} }}}}"), value);
        }
        assert!(!text.contains("${{"), "{text} is filled");
        text
    };
    let mut ran = Vec::new();
    for step in steps(&text) {
        let holds = |condition: &str| match condition.trim() {
            "inputs.deadloop == ''" => context["inputs.deadloop"].is_empty(),
            "inputs.comment == 'true'" => context["inputs.comment"] == "true",
            "github.event_name == 'pull_request'" => pull_request,
            other => panic!("a condition that this test does not know: {other}"),
        };
        if !step
            .condition
            .as_deref()
            .is_none_or(|all| all.split("&&").all(holds))
        {
            continue;
        }
        assert!(
            !step.run.contains("${{"),
            "inputs reach {} by its environment alone",
            step.name
        );
        let fake = format!(
            "{}:{}",
            dir.display(),
            std::env::var("PATH").expect("a path")
        );
        let mut shell = Command::new("bash");
        shell
            .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &step.run])
            .current_dir(dir);
        shell
            .env("PATH", fake)
            .env("GITHUB_STEP_SUMMARY", &summary)
            .env("GITHUB_OUTPUT", &output);
        for (name, value) in &step.env {
            shell.env(name, filled(value, &context));
        }
        let done = shell.output().expect("bash starts");
        ran.push((step.name, code(&done)));
        let written = std::fs::read_to_string(&output).unwrap_or_default();
        for (key, name) in [
            ("code=", "steps.compare.outputs.code"),
            ("path=", "steps.program.outputs.path"),
        ] {
            if let Some(value) = written.lines().find_map(|line| line.strip_prefix(key)) {
                context.insert(name.into(), value.into());
            }
        }
        if code(&done) != Some(0) {
            break;
        }
    }
    (ran, std::fs::read_to_string(&summary).unwrap_or_default())
}

#[test]
fn the_action_runs_its_steps() {
    let dir = temporary();
    let corpus = corpus(dir.path(), "c.jsonl", |_, _| ());
    let gh = dir.path().join("gh");
    std::fs::write(&gh, "#!/bin/sh\necho \"$@\" > gh-said\n").expect("a fake gh");
    let executable = Command::new("chmod").arg("+x").arg(&gh).status();
    assert!(executable.is_ok_and(|s| s.success()));
    let program = env!("CARGO_BIN_EXE_deadloop");
    let inputs = |new: &'static str, args: &'static str| {
        vec![
            ("base", "recommended"),
            ("new", new),
            ("args", args),
            ("out", "compared with blanks"),
            ("deadloop", program),
        ]
    };
    let with = |mut inputs: Vec<(&'static str, &'static str)>, pull_request| {
        let corpus: &'static str = Box::leak(corpus.clone().into_boxed_str());
        inputs.extend([("corpus", corpus), ("comment", "true")]);
        for name in ["summary", "output"] {
            let _ = std::fs::remove_file(dir.path().join(name));
        }
        act(dir.path(), &inputs, pull_request)
    };
    let step = |name: &str, code| (name.to_owned(), Some(code));
    let (ran, summary) = with(inputs("recommended", "--margin 0.5"), true);
    assert_eq!(
        ran,
        [step("Compare", 0), step("Comment", 0), step("Gate", 0)]
    );
    assert!(summary.starts_with("## deadloop: equivalent"), "{summary}");
    let said = std::fs::read_to_string(dir.path().join("gh-said")).expect("gh was called");
    assert!(
        said.starts_with("pr comment 7 --repo o/r --body-file compared with blanks/summary.md"),
        "{said}"
    );
    let junit = dir.path().join("compared with blanks/junit.xml");
    assert!(
        junit.is_file()
            && dir
                .path()
                .join("compared with blanks/comparison.json")
                .is_file()
    );
    let (ran, summary) = with(inputs("document", ""), false);
    assert_eq!(ran, [step("Compare", 0), step("Gate", 100)]);
    assert!(summary.starts_with("## deadloop: regressed"), "{summary}");
    let (ran, summary) = with(inputs("no such thing", ""), false);
    assert_eq!(ran, [step("Compare", 0), step("Gate", 2)]);
    assert!(summary.contains("not compared"), "{summary}");
}

/// A release as `gh release download` brings it: an archive of the program for this system, and the sums.
fn fake_release(dir: &Path, sums_of: &str) {
    let script = format!(
        r#"#!/bin/sh
echo "$@" >>gh-said
[ "$2" = download ] || exit 0
while [ "$1" != --dir ]; do shift; done
cd "$2" && name=deadloop-9.9.9-$(uname -m)-unknown-linux-musl && mkdir "$name" && cp '{}' "$name/deadloop"
tar -czf "$name.tar.gz" "$name" && rm -r "$name" && {sums_of} >SHA256SUMS
"#,
        env!("CARGO_BIN_EXE_deadloop"),
    );
    let gh = dir.join("gh");
    std::fs::write(&gh, script).expect("a fake gh");
    let executable = Command::new("chmod").arg("+x").arg(&gh).status();
    assert!(executable.is_ok_and(|s| s.success()));
}

#[test]
fn the_action_takes_a_released_program_that_its_sum_names() {
    let dir = temporary();
    let corpus = corpus(dir.path(), "c.jsonl", |_, _| ());
    let inputs = [
        ("base", "recommended"),
        ("new", "document"),
        ("corpus", corpus.as_str()),
        ("out", "compared"),
        ("version", "v9.9.9"),
    ];
    fake_release(dir.path(), "sha256sum \"$name.tar.gz\"");
    let (ran, summary) = act(dir.path(), &inputs, false);
    let names: Vec<&str> = ran.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Get deadloop", "Compare", "Gate"]);
    assert!(summary.starts_with("## deadloop: regressed"), "{summary}");
    let said = std::fs::read_to_string(dir.path().join("gh-said")).expect("gh was called");
    assert!(
        said.starts_with("release download v9.9.9 --repo o/deadloop"),
        "{said}"
    );
    fake_release(dir.path(), "echo \"00  $name.tar.gz\"");
    let (ran, _) = act(dir.path(), &inputs, false);
    assert_eq!(
        ran,
        [("Get deadloop".to_owned(), Some(1))],
        "a wrong sum ends the job"
    );
}

#[test]
fn the_gitlab_job_runs_its_script() {
    let dir = temporary();
    let corpus = corpus(dir.path(), "c.jsonl", |_, _| ());
    let text = std::fs::read_to_string(root("scripts/ci/gitlab.yml")).expect("it is there");
    let (_, script) = text.split_once("    - |\n").expect("a script");
    let lines = script.lines().take_while(|line| line.starts_with("      "));
    let script: String = lines.map(|line| format!("{}\n", &line[6..])).collect();
    let curl = dir.path().join("curl");
    std::fs::write(&curl, "#!/bin/sh\necho \"$@\" > curl-said\n").expect("a fake curl");
    let executable = Command::new("chmod").arg("+x").arg(&curl).status();
    assert!(executable.is_ok_and(|s| s.success()));
    let path = format!(
        "{}:{}",
        dir.path().display(),
        std::env::var("PATH").expect("a path")
    );
    let mut shell = Command::new("bash");
    shell
        .args(["-eo", "pipefail", "-c", &script])
        .current_dir(dir.path())
        .env("PATH", path);
    shell.env("DEADLOOP", env!("CARGO_BIN_EXE_deadloop"));
    shell
        .env("BASE", "recommended")
        .env("NEW", "document")
        .env("ARGS", format!("--corpus {corpus}"));
    shell
        .env("GITLAB_TOKEN", "none")
        .env("CI_MERGE_REQUEST_IID", "7");
    shell
        .env("CI_API_V4_URL", "https://gitlab.invalid/api/v4")
        .env("CI_PROJECT_ID", "1");
    let done = shell.output().expect("bash starts");
    assert_eq!(code(&done), Some(100), "{}", stderr(&done));
    let said = std::fs::read_to_string(dir.path().join("curl-said")).expect("curl was called");
    assert!(
        said.contains("/projects/1/merge_requests/7/notes"),
        "{said}"
    );
    let junit: PathBuf = dir.path().join("deadloop-compare/junit.xml");
    assert!(std::fs::read_to_string(junit).is_ok_and(|xml| xml.contains("<failure")));
}

/// A run as a corpus has it: six equal calls, with results and turns, and what JSON can say and TOML cannot.
fn a_run(label: Value) -> Value {
    let mut events = vec![json!({"type": "user", "text": "Mend the secret plan."})];
    for n in 0..6 {
        events.push(json!({"type": "turn", "index": n, "agent": "planner", "tokens_in": 100}));
        events.push(json!({"type": "answer", "text": "Let me look \u{202e}again {n}."}));
        let arguments = json!({"path": "secret plan.txt", "line": null});
        events.push(json!({"type": "tool_call", "id": format!("c{n}"), "name": "read_file", "arguments": arguments}));
        events.push(json!({"type": "tool_result", "id": format!("c{n}"), "content": "all is \"well\"\n", "error": false}));
    }
    events.push(json!({"type": "finish", "reason": "stop"}));
    json!({"id": "run", "model": "m", "events": events, "labels": label})
}

#[test]
fn a_case_of_a_run_has_its_calls_and_is_checked() {
    let dir = temporary();
    let settings = file(
        dir.path(),
        "settings.toml",
        "[[guard]]\ndetector = \"same-pair\"\n",
    );
    let looped = json!([{"class": "loop", "kind": "same-call-same-result", "channel": "tools", "onset": 1, "end": 6}]);
    for (label, wanted) in [
        (looped, "between = [\"onset"),
        (json!([{"class": "clean"}]), "known wrong alarm"),
        (json!([]), "alarm = 3"),
    ] {
        let corpus = file(dir.path(), "runs.jsonl", &a_run(label).to_string());
        let made = deadloop(&["cases", "--add", &corpus, "run", "--settings", &settings]);
        assert_eq!(code(&made), Some(0), "{}", stderr(&made));
        let text = stdout(&made);
        assert!(text.contains(wanted), "{wanted}: {text}");
        assert!(
            text.contains("transcript = ")
                && text.contains("read_file")
                && !text.contains('\u{202e}'),
            "{text}"
        );
        let case = file(dir.path(), "case.toml", &text);
        let check = deadloop(&["cases", &case, "--settings", &settings, "--json"]);
        assert_eq!(code(&check), Some(0), "{}", stderr(&check));
        assert_ne!(parsed(&check)["expectations"][0]["finding"], "mended");
        // A guard that sees no loop fails the gate, so that the calls are there.
        let blind = file(
            dir.path(),
            "blind.toml",
            "[[guard]]\ndetector = \"same-pair\"\n[guard.params]\nn = 7\n",
        );
        let check = deadloop(&["cases", &case, "--settings", &blind, "--quiet"]);
        let clean = wanted == "known wrong alarm";
        assert_eq!(code(&check), Some(if clean { 0 } else { 100 }), "{wanted}");
    }
}

/// A transcript of a corpus that is a run: its alarm is in calls, and the gate sees it.
#[test]
fn a_pinned_run_of_a_corpus_is_compared() {
    let dir = temporary();
    let label = json!([{"class": "loop", "channel": "tools", "onset": 1, "end": 6}]);
    let corpus = file(dir.path(), "runs.jsonl", &a_run(label).to_string());
    let pins = file(
        dir.path(),
        "pins.toml",
        "[[case]]\nname = \"run\"\ntranscript = \"run\"\nexpect = { alarm = true, between = [\"onset\", \"onset+3\"] }\n",
    );
    let settings = "[[guard]]\ndetector = \"same-pair\"\n[guard.params]\nn = ";
    let side = |name: &str, n: u32| {
        let settings = file(
            dir.path(),
            &format!("{name}.toml"),
            &format!("{settings}{n}\n"),
        );
        let out = inside(dir.path(), name);
        let run = deadloop(&[
            "replay",
            &corpus,
            "--settings",
            &settings,
            "--out",
            &out,
            "--quiet",
        ]);
        assert_eq!(code(&run), Some(0), "{}", stderr(&run));
        out
    };
    let (base, blind) = (side("base", 3), side("blind", 7));
    for (new, passed) in [(&base, true), (&blind, false)] {
        let run = deadloop(&["compare", &base, new, "--cases", &pins, "--json"]);
        let gates = parsed(&run)["gates"].clone();
        let pinned = gates
            .as_array()
            .into_iter()
            .flatten()
            .find(|gate| gate["gate"] == "pinned");
        assert_eq!(
            pinned.map(|gate| gate["passed"].clone()),
            Some(passed.into()),
            "{gates}"
        );
    }
}
