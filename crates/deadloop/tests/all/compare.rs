//! The gate from outside: `compare`, `--bless`, `cases`, and the CI action's steps.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says why"
)]

use crate::program;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use program::{Place, ROOT, Ran, code, has, stderr, stdout};
use serde_json::{Value, json};

fn root(path: &str) -> String {
    format!("{ROOT}/{path}")
}

/// A settings file of the checkpoint detector.
fn checkpoint(place: &Place, name: &str, params: &str) {
    let text = format!("[[guard]]\ndetector = \"checkpoint\"\n{params}");
    place.file(name, text);
}

/// Replays into a folder.
fn replayed(place: &Place, corpus: &str, out: &str, more: &str) {
    let replay = format!("replay {corpus} --out {out} --csv -q {more}");
    place.run(replay).ends(0);
}

/// Transcript to verdict, of one setting: read without a line of deadloop's.
fn verdicts(place: &Place, result: &str) -> BTreeMap<String, String> {
    let rows = place.rows(&format!("{result}/outcomes.csv")).into_iter();
    rows.map(|row| (row["transcript"].clone(), row["verdict"].clone()))
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
    let place = Place::new();
    checkpoint(&place, "document.toml", "preset = \"document\"\n");
    let replay = |out: &str, more: &str| {
        let more = format!("--split dev --settings document.toml {more}");
        replayed(&place, "ROOT/datasets/starter", out, &more);
    };
    replay("baseline", "");
    replay("six", "--set guard.params.min_matches=6");
    replay("three", "--set guard.params.min_matches=3");
    let compare = |out: &str| place.run(format!("compare baseline {out} --fail-on flips --json"));
    let same = compare("six").ends(0).json();
    assert_eq!(same["verdict"], "equivalent");
    assert!(flips(&same).is_empty());

    let told = compare("three").ends(100).json();
    let (base, other) = (verdicts(&place, "baseline"), verdicts(&place, "three"));
    assert_eq!(base.len(), other.len());
    let changed = base.iter().filter(|(id, verdict)| other[*id] != **verdict);
    let changed: BTreeSet<String> = changed.map(|(id, _)| id.clone()).collect();
    assert!(!changed.is_empty(), "three matches fewer change something");
    assert_eq!(flips(&told), changed);
}

#[test]
fn one_match_less_fails_the_gate_as_it_is_by_default() {
    let place = Place::new();
    let drop = "[guard.params]\npartial_tail = \"drop\"\nevery = 1000\n";
    checkpoint(&place, "drop.toml", drop);
    let compare = |matches: u32, jobs: u32| {
        place.run(format!("compare drop.toml drop.toml --corpus ROOT/datasets/starter --split dev --set guard.params.min_matches={matches} --json -j {jobs}"))
    };
    let five = compare(5, 1).ends(100);
    five.says("wrong-alarms");
    let told = five.json();
    let named = flips(&told);
    assert!(named.contains("handmade/diff/en/3"), "{named:?}");
    let other = compare(5, 2);
    assert_eq!(other.stdout, five.stdout, "for any number of threads");
    compare(6, 2).ends(0);
    let explain = &told["flips"][0]["explain"];
    assert_eq!(*explain, Value::Null, "no file holds NEW's settings");
}

/// Some loops and some clean texts, with their labels; what `change` does to them.
fn corpus(place: &Place, name: &str, change: impl Fn(usize, &mut Value)) {
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
    place.file(name, lines);
}

#[test]
fn what_is_not_of_the_same_thing_is_not_comparable() {
    let place = Place::new();
    corpus(&place, "plain.jsonl", |_, _| ());
    replayed(&place, "plain.jsonl", "base", "");
    let against = |name: &str, change: &dyn Fn(usize, &mut Value), more: &str| {
        let file = format!("{name}.jsonl");
        corpus(&place, &file, change);
        replayed(&place, &file, name, more);
        let run = place
            .run(format!("compare base {name} --json --junit {name}.xml"))
            .ends(3);
        assert_eq!(run.json()["verdict"], "not-comparable");
        has(&place.read(&format!("{name}.xml")), "errors=\"1\"");
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
    let e = against("text", &only(3, text), "");
    has(&e, "with another text: t3");
    let label = |i, line: &mut Value| {
        if i == 5 {
            line["labels"] = json!([{"class": "transient"}])
        }
    };
    let e = against("label", &label, "");
    has(&e, "with another label: t5 (BASE clean, NEW transient)");
    let onset = |i, line: &mut Value| {
        if i == 4 {
            line["labels"][0]["onset"] = json!(50)
        }
    };
    let e = against("onset", &onset, "");
    has(&e, "t4 (onset 40 → 50");
    let e = against("gone", &only(7, Value::Null), "");
    has(&e, "1 transcript only in BASE: t7");
    let e = against("rules", &|_, _| (), "--transient loop");
    has(&e, "judged by other rules");
    let wrong = "[[guard]]\ndetector = \"command\"\n[guard.params]\ncommand = [\"sh\", \"-c\", \"read x; echo '{\\\"type\\\":\\\"ready\\\",\\\"name\\\":\\\"x\\\",\\\"version\\\":\\\"1\\\"}'; while read x; do case $x in *end*) echo nonsense;; esac; done\"]\nmax_errors = 1000\n";
    place.file("wrong.toml", wrong);
    let run = place.run("replay plain.jsonl --out error --settings wrong.toml -q");
    run.ends(1).says("failed on all 20 transcripts");
    let run = place.run("compare base error").ends(3);
    run.says("on which the detector of NEW failed");
    place.run("compare base base -q").ends(0);
}

#[test]
fn nothing_selected_and_nothing_known_do_not_pass() {
    let place = Place::new();
    corpus(&place, "plain.jsonl", |_, _| ());
    replayed(&place, "plain.jsonl", "base", "");
    place.run("compare base base --model nobody").ends(4);
    // What cannot be heeded is refused.
    place.run("compare base base --transient loop").ends(2);
    place
        .run("compare recommended document --corpus plain.jsonl --split none")
        .ends(4);
    // Nobody labelled it: neither gate can be evaluated.
    corpus(&place, "bare.jsonl", |_, line| line["labels"] = json!([]));
    let unknown = place
        .run("compare recommended document --corpus bare.jsonl --json")
        .ends(5);
    let gates = unknown.json()["gates"].clone();
    let all = gates.as_array().expect("gates");
    assert!(all.iter().all(|g| g["passed"].is_null()), "{gates}");
    // Loops from the first char on, and no clean text: nothing is known about wrong alarms.
    corpus(&place, "looping.jsonl", |i, line| {
        *line = match i % 2 {
            0 => {
                json!({"id": format!("t{i}"), "answer": "Stop. ".repeat(400), "labels": [{"class": "loop", "onset": 6, "earliest": 0}]})
            }
            _ => Value::Null,
        };
    });
    let unknown = place.run("compare recommended recommended --corpus looping.jsonl");
    unknown.ends(5).says("no healthy char");
    // Healthy text before loops alone: of what a clean stream would have met nothing is known either.
    corpus(&place, "loops.jsonl", |i, line| {
        if i % 2 == 1 {
            *line = Value::Null;
        }
    });
    let unknown = place.run("compare recommended recommended --corpus loops.jsonl");
    unknown.ends(5).says("no transcript is clean");
    // Pinned cases that cannot be looked at.
    let pins = "[[case]]\nname = \"n\"\ntranscript = \"nowhere\"\nexpect = { alarm = false }\n";
    place.file("pins.toml", pins);
    place.run("compare base base --cases pins.toml").ends(5);
    place.file("none.toml", "");
    place.run("compare base base --cases none.toml").ends(4);
}

#[test]
fn two_programs_are_compared_and_pinned_cases_gate_them() {
    let place = Place::new();
    let example = root("scripts/peers/example.py");
    for (name, lines) in [("few.toml", 3), ("many.toml", 40)] {
        let text = format!(
            "[[guard]]\ndetector = \"command\"\n[guard.params]\ncommand = [\"python3\", {example:?}]\nparams = {{ lines = {lines} }}\n"
        );
        place.file(name, text);
    }
    corpus(&place, "lines.jsonl", |i, line| {
        let text = format!("start {i}\n{}", "again\n".repeat(10));
        let label = if i.is_multiple_of(2) {
            json!({"class": "loop", "onset": 15})
        } else {
            json!({"class": "clean"})
        };
        *line = json!({"id": format!("t{i}"), "answer": text, "labels": [label]});
    });
    let pins = "[[case]]\nname = \"twelve lines\"\ntext = [{ repeat = \"again\\n\", times = 12 }]\nexpect = { alarm = true, between = [1, 60] }\n\n[[case]]\nname = \"t1\"\ntranscript = \"t1\"\nexpect = { alarm = false, todo = \"known\" }\n";
    place.file("pins.toml", pins);
    let run = place
        .run("compare few.toml many.toml --corpus lines.jsonl --cases pins.toml --out out --json");
    let told = run.ends(100).json();
    assert_eq!(
        flips(&told).len(),
        20,
        "ten hits and ten wrong alarms fewer"
    );
    assert_eq!(told["verdict"], "regressed");
    let pinned = [0, 1].map(|n| ["base", "new"].map(|side| &told["pinned"][n][side]));
    assert_eq!(pinned, [["pass", "fail"], ["fail", "pass"]]);
    let gates = told["gates"].as_array().expect("gates").iter();
    let gates: Vec<&Value> = gates.map(|g| &g["passed"]).collect();
    assert_eq!(gates, [false, true, false]);
    // The settings that it leaves are those: the same comparison from them.
    let again = place.run("compare out/base.toml out/new.toml --corpus lines.jsonl --json");
    assert_eq!(flips(&again.json()), flips(&told));
    has(&told["flips"][0]["explain"].to_string(), "base.toml");
}

#[test]
fn files_are_short_safe_and_not_overwritten() {
    let place = Place::new();
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
    place.file("many.jsonl", lines);
    let compare =
        "compare recommended document --corpus many.jsonl --markdown s.md --junit j.xml --out out";
    let run = place.run(compare).ends(100);
    let shown = stdout(&run);
    assert!(
        !shown.contains('\u{1b}') && shown.contains("1460 more"),
        "{shown}"
    );
    let text = place.read("s.md");
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
    let xml = place.read("j.xml");
    assert!(!xml.contains("<script") && !xml.contains('\u{1b}'));
    assert_eq!(xml.matches("<testcase ").count(), 1502);
    let tables = program::tables_as_said(&place.path("out"), "compare");
    assert_eq!(tables, ["flips.csv"]);
    assert_eq!(place.rows("out/flips.csv").len(), 1500);
    place.run(compare).ends(2).says("--force");
    place.run(format!("{compare} --force")).ends(100);
}

#[test]
fn a_baseline_is_promoted_after_showing_what_changes() {
    let place = Place::new();
    corpus(&place, "c.jsonl", |_, _| ());
    checkpoint(&place, "document.toml", "preset = \"document\"\n");
    replayed(&place, "c.jsonl", "one", "");
    replayed(&place, "c.jsonl", "two", "--settings document.toml");
    let read = |name: &str| place.bytes(&format!("{name}/outcomes.csv"));
    let bless = |new: &str| place.run(format!("compare baseline {new} --bless"));
    bless("one").ends(0);
    assert_eq!(read("baseline"), read("one"));
    let shown = bless("two").ends(0);
    shown.shows("regressed").shows("t0").says("the gate failed");
    assert_eq!(read("baseline"), read("two"));
    // Settings are no result.
    bless("document.toml").ends(2);
    place.run("compare baseline two --fail-on flips -q").ends(0);
}

#[test]
fn cases_hold_fail_and_mend() {
    let place = Place::new();
    let check = |expect: &str| {
        let text = format!(
            "[[case]]\nname = \"stop\"\ntext = [\"Well.\\n⟦onset⟧\", {{ repeat = \"Stop now. \", times = 90 }}]\nexpect = {expect}\n"
        );
        place.file("cases.toml", text);
        place.run("cases cases.toml")
    };
    check("{ alarm = true, between = [\"onset\", \"onset+600\"] }").ends(0);
    let late = check("{ alarm = true, between = [\"onset\", \"onset+10\"] }").ends(100);
    let told = stdout(&late);
    for words in [
        "cases.toml:2: stop",
        "an alarm from 6 to 16",
        "⟦alarm⟧",
        "Stop now. Stop",
    ] {
        has(&told, words);
    }
    check("{ alarm = false, todo = \"ticket 12\" }").ends(0);
    let mended = check("{ alarm = true, todo = \"ticket 12\" }").ends(0);
    mended.shows("holds now");
    // No expectation is no check.
    check("[]").ends(4);
    check("{ alarm = maybe }").ends(2);
    check("{ alarm = true }").ends(0);
    checkpoint(&place, "d.toml", "preset = \"document\"\n");
    let other = place
        .run("cases cases.toml --settings d.toml --json")
        .ends(100);
    assert_eq!(other.json()["failed"], 1);
}

#[test]
fn recordings_become_cases() {
    let place = Place::new();
    let add = "cases --add ROOT/datasets/starter";
    for id in [
        "planted/paragraph/013",
        "planted/short-sequence/000",
        "handmade/loop/near-repeat/009",
        "handmade/numbered-lines/en/0",
        "handmade/csv-rows/zh/2",
        "gemma-3-270m-base:t1.0:p28:r0",
        "smollm2-135m-instruct:t0.7:p54:r0",
    ] {
        let made = place.run(format!("{add} {id}")).ends(0);
        place.file("case.toml", &made.stdout);
        let check = place.run("cases case.toml --json").ends(0).json();
        assert_ne!(check["expectations"][0]["finding"], "mended", "{id}");
    }
    place.run(format!("{add} nobody")).ends(4);
    place.run("cases").ends(2);
}

/// A case of a model that thinks holds where it was made: loops in the thoughts, in the answer, in both or in none, with
/// words of users before and between, with a label and without.
#[test]
fn a_case_of_a_thinking_model_holds() {
    let place = Place::new();
    place.file("settings.toml", "[[guard]]\ndetector = \"periodic\"\n");
    let again = "Wait, so it is. ".repeat(40);
    let fresh = "It is four, and then it is over. ";
    for (thought, answer) in [
        (again.as_str(), fresh),
        (fresh, again.as_str()),
        (again.as_str(), again.as_str()),
        (fresh, fresh),
    ] {
        let user = json!({"type": "user", "text": "Once more, please."});
        let response = [
            json!({"type": "reasoning", "text": thought}),
            json!({"type": "answer", "text": answer}),
        ];
        let channel = match (thought == again, answer == again) {
            (true, _) => Some("reasoning"),
            (_, true) => Some("answer"),
            _ => None,
        };
        let label = match channel {
            Some(of) => json!({"class": "loop", "kind": "paragraph", "channel": of, "onset": 16}),
            None => json!({"class": "clean"}),
        };
        let asked = [&[user][..], &response].concat();
        for events in [
            response.to_vec(),
            asked.clone(),
            [&asked[..], &asked].concat(),
        ] {
            for labels in [json!([]), json!([label])] {
                let run = json!({"id": "t", "model": "m", "events": events, "labels": labels});
                place.file("t.jsonl", run.to_string());
                let made = place.run("cases --add t.jsonl t --settings settings.toml");
                place.file("case.toml", &made.ends(0).stdout);
                let check = place.run("cases case.toml --settings settings.toml --json");
                let said = check.ends(0).json();
                assert_eq!(said["expectations"][0]["finding"], "pass", "{run}: {said}");
                if let Some(of) = channel.filter(|_| labels[0].is_null()) {
                    has(&place.read("case.toml"), &format!("channel = \"{of}\""));
                }
            }
        }
    }
}

/// A full disk, as a limit on the size of a file: none of the files has its name, and the same command goes on later.
#[cfg(unix)]
#[test]
fn a_comparison_has_all_its_files_or_none() {
    let place = Place::new();
    let line = "compare recommended quiet --corpus ROOT/datasets/starter --limit 20 --out out";
    let whole = place.command(line);
    let limited = Command::new("bash")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""])
        .arg(whole.get_program())
        .args(whole.get_args())
        .current_dir(place.dir())
        .output()
        .expect("bash is there")
        .ends(1);
    limited.says("out/comparison.json");
    let files = || {
        std::fs::read_dir(place.path("out"))
            .expect("a folder")
            .count()
    };
    assert_eq!(files(), 0);
    // Too few transcripts for a gate, all the same.
    place.run(line).ends(5);
    assert_eq!(files(), 4);
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

/// Writes a program for [`shell`] to find.
fn fake(place: &Place, name: &str, script: &str) {
    place.file(name, script);
    let executable = Command::new("chmod")
        .arg("+x")
        .arg(place.path(name))
        .status();
    assert!(executable.is_ok_and(|s| s.success()));
}

/// A shell with the folder's programs before others on its path.
fn shell(place: &Place, script: &str) -> Command {
    let path = std::env::var("PATH").expect("a path");
    let mut shell = Command::new("bash");
    shell.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]);
    shell.current_dir(place.dir());
    shell.env("PATH", format!("{}:{path}", place.dir().display()));
    shell
}

/// Runs the steps as a runner would; the exit code of the last one, and what it wrote.
fn act(
    place: &Place,
    inputs: &[(&str, &str)],
    pull_request: bool,
) -> (Vec<(String, Option<i32>)>, String) {
    let text = std::fs::read_to_string(root("scripts/ci/compare/action.yml"));
    let text = text.expect("the action is there");
    let (summary, output) = (place.path("summary"), place.path("output"));
    for name in [&summary, &output] {
        let _ = std::fs::remove_file(name);
    }
    let mut context: BTreeMap<String, String> = BTreeMap::new();
    for name in "base new corpus args out deadloop version comment".split(' ') {
        let given = inputs.iter().find(|(input, _)| *input == name);
        let default = if name == "comment" { "false" } else { "" };
        let value = given.map_or(default, |(_, value)| value);
        context.insert(format!("inputs.{name}"), value.into());
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
        let mut shell = shell(place, &step.run);
        shell.env("GITHUB_STEP_SUMMARY", &summary);
        shell.env("GITHUB_OUTPUT", &output);
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
    let place = Place::new();
    corpus(&place, "c.jsonl", |_, _| ());
    fake(&place, "gh", "#!/bin/sh\necho \"$@\" > said\n");
    let with = |new: &str, args: &str, pull_request| {
        let inputs = [
            ("base", "recommended"),
            ("new", new),
            ("args", args),
            ("out", "compared with blanks"),
            ("deadloop", env!("CARGO_BIN_EXE_deadloop")),
            ("corpus", "c.jsonl"),
            ("comment", "true"),
        ];
        act(&place, &inputs, pull_request)
    };
    let step = |name: &str, code| (name.to_owned(), Some(code));
    let (ran, summary) = with("recommended", "--margin 0.5", true);
    assert_eq!(
        ran,
        [step("Compare", 0), step("Comment", 0), step("Gate", 0)]
    );
    assert!(summary.starts_with("## deadloop: equivalent"), "{summary}");
    let said = place.read("said");
    let comment = "pr comment 7 --repo o/r --body-file compared with blanks/summary.md";
    assert!(said.starts_with(comment), "{said}");
    for name in ["junit.xml", "comparison.json"] {
        assert!(place.path("compared with blanks").join(name).is_file());
    }
    let (ran, summary) = with("document", "", false);
    assert_eq!(ran, [step("Compare", 0), step("Gate", 100)]);
    assert!(summary.starts_with("## deadloop: regressed"), "{summary}");
    let (ran, summary) = with("no such thing", "", false);
    assert_eq!(ran, [step("Compare", 0), step("Gate", 2)]);
    has(&summary, "not compared");
}

/// A release as `gh release download` brings it: an archive of the program for this system, and the sums.
fn fake_release(place: &Place, sums_of: &str) {
    let script = format!(
        r#"#!/bin/sh
echo "$@" >>said
[ "$2" = download ] || exit 0
while [ "$1" != --dir ]; do shift; done
cd "$2" && name=deadloop-9.9.9-$(uname -m)-unknown-linux-musl && mkdir "$name" && cp '{}' "$name/deadloop"
tar -czf "$name.tar.gz" "$name" && rm -r "$name" && {sums_of} >SHA256SUMS
"#,
        env!("CARGO_BIN_EXE_deadloop"),
    );
    fake(place, "gh", &script);
}

#[test]
fn the_action_takes_a_released_program_that_its_sum_names() {
    let place = Place::new();
    corpus(&place, "c.jsonl", |_, _| ());
    let inputs = [
        ("base", "recommended"),
        ("new", "document"),
        ("corpus", "c.jsonl"),
        ("out", "compared"),
        ("version", "v9.9.9"),
    ];
    fake_release(&place, "sha256sum \"$name.tar.gz\"");
    let (ran, summary) = act(&place, &inputs, false);
    let names: Vec<&str> = ran.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Get deadloop", "Compare", "Gate"]);
    assert!(summary.starts_with("## deadloop: regressed"), "{summary}");
    let said = place.read("said");
    let download = "release download v9.9.9 --repo o/deadloop";
    assert!(said.starts_with(download), "{said}");
    fake_release(&place, "echo \"00  $name.tar.gz\"");
    let (ran, _) = act(&place, &inputs, false);
    assert_eq!(
        ran,
        [("Get deadloop".to_owned(), Some(1))],
        "a wrong sum ends the job"
    );
}

#[test]
fn the_gitlab_job_runs_its_script() {
    let place = Place::new();
    corpus(&place, "c.jsonl", |_, _| ());
    let text = std::fs::read_to_string(root("scripts/ci/gitlab.yml")).expect("it is there");
    let (_, script) = text.split_once("    - |\n").expect("a script");
    let lines = script.lines().take_while(|line| line.starts_with("      "));
    let script: String = lines.map(|line| format!("{}\n", &line[6..])).collect();
    fake(&place, "curl", "#!/bin/sh\necho \"$@\" > said\n");
    let mut shell = shell(&place, &script);
    shell.envs([
        ("DEADLOOP", env!("CARGO_BIN_EXE_deadloop")),
        ("BASE", "recommended"),
        ("NEW", "document"),
        ("ARGS", "--corpus c.jsonl"),
        ("GITLAB_TOKEN", "none"),
        ("CI_MERGE_REQUEST_IID", "7"),
        ("CI_API_V4_URL", "https://gitlab.invalid/api/v4"),
        ("CI_PROJECT_ID", "1"),
    ]);
    shell.output().expect("bash starts").ends(100);
    has(&place.read("said"), "/projects/1/merge_requests/7/notes");
    has(&place.read("deadloop-compare/junit.xml"), "<failure");
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
    let place = Place::new();
    let guard = "[[guard]]\ndetector = \"same-pair\"\n";
    place.file("settings.toml", guard);
    let blind = format!("{guard}[guard.params]\nn = 7\n");
    place.file("blind.toml", blind);
    let looped = json!([{"class": "loop", "kind": "same-call-same-result", "channel": "tools", "onset": 1, "end": 6}]);
    for (label, wanted) in [
        (looped, "between = [\"onset"),
        (json!([{"class": "clean"}]), "known wrong alarm"),
        (json!([]), "alarm = 3"),
    ] {
        place.file("runs.jsonl", a_run(label).to_string());
        let made = place.run("cases --add runs.jsonl run --settings settings.toml");
        let text = stdout(&made.ends(0));
        for words in [wanted, "transcript = ", "read_file"] {
            has(&text, words);
        }
        assert!(!text.contains('\u{202e}'), "{text}");
        place.file("case.toml", text);
        let check = place
            .run("cases case.toml --settings settings.toml --json")
            .ends(0);
        assert_ne!(check.json()["expectations"][0]["finding"], "mended");
        // A guard that sees no loop fails the gate, so that the calls are there.
        let clean = wanted == "known wrong alarm";
        let check = place.run("cases case.toml --settings blind.toml --quiet");
        assert_eq!(code(&check), Some(if clean { 0 } else { 100 }), "{wanted}");
    }
}

/// A transcript of a corpus that is a run: its alarm is in calls, and the gate sees it.
#[test]
fn a_pinned_run_of_a_corpus_is_compared() {
    let place = Place::new();
    let label = json!([{"class": "loop", "channel": "tools", "onset": 1, "end": 6}]);
    place.file("runs.jsonl", a_run(label).to_string());
    let pins = "[[case]]\nname = \"run\"\ntranscript = \"run\"\nexpect = { alarm = true, between = [\"onset\", \"onset+3\"] }\n";
    place.file("pins.toml", pins);
    for (name, n) in [("base", 3), ("blind", 7)] {
        let guard = format!("[[guard]]\ndetector = \"same-pair\"\n[guard.params]\nn = {n}\n");
        place.file("guard.toml", guard);
        replayed(&place, "runs.jsonl", name, "--settings guard.toml");
    }
    for (new, passed) in [("base", true), ("blind", false)] {
        let run = place.run(format!("compare base {new} --cases pins.toml --json"));
        let gates = run.json()["gates"].clone();
        let mut all = gates.as_array().expect("gates").iter();
        let pinned = all.find(|gate| gate["gate"] == "pinned");
        assert_eq!(pinned.expect("a gate")["passed"], passed, "{gates}");
    }
}
