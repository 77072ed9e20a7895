//! `deadloop explain` from outside: what it says of an alarm, of a near miss, and of hostile text.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::path::{Path, PathBuf};
use std::process::Output;

use program::{Ran, command, stderr};
use serde_json::{Value, json};

/// A corpus of one file, and settings.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new(transcripts: &[Value]) -> Self {
        let place = Self {
            dir: tempfile::tempdir().expect("a temporary folder"),
        };
        let lines: Vec<String> = transcripts.iter().map(Value::to_string).collect();
        place.file("corpus.jsonl", &lines.join("\n"));
        for detector in ["periodic", "checkpoint"] {
            let text = format!("[[guard]]\ndetector = \"{detector}\"\n");
            place.file(&format!("{detector}.toml"), &text);
        }
        place
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).expect("a temporary folder is writable");
        path
    }

    fn explain(&self, args: &[&str]) -> Output {
        self.explain_with(args, &[])
    }

    fn explain_with(&self, args: &[&str], env: &[(&str, &str)]) -> Output {
        command(&["explain", "corpus.jsonl"])
            .current_dir(self.dir.path())
            .args(args)
            .envs(env.iter().copied())
            .output()
            .expect("it starts")
    }
}

fn stdout(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    program::stdout(output)
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&stdout(output)).expect("one JSON object")
}

/// Chars that never repeat.
fn fresh(chars: u32) -> String {
    (0x4e00..0x4e00 + chars)
        .filter_map(char::from_u32)
        .collect()
}

/// A loop from char 1000 on, whose second copy begins at 1010.
fn looping() -> Value {
    let text = fresh(1000) + &"Wait, no. ".repeat(150);
    json!({"id": "runs/loop", "model": "m", "answer": text, "labels": [
        {"class": "loop", "kind": "short-sequence", "channel": "answer", "start": 1000, "onset": 1010, "period": 10}]})
}

/// Clean, with three copies of 100 chars.
fn quiet() -> Value {
    let text = fresh(300) + &"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN".repeat(3) + "!";
    json!({"id": "runs/quiet", "model": "m", "reasoning": text, "labels": [{"class": "clean"}]})
}

#[test]
fn an_alarm_is_shown_with_what_decided_it() {
    let place = Place::new(&[looping(), quiet()]);
    let said = stdout(&place.explain(&["runs/loop", "--settings", "checkpoint.toml"]));
    for part in [
        "onset 1,010",
        "hit, 990 chars after the onset, 99.0 copies",
        "checkpoint, with checkpoints [2000, 3000, 5000]",
        "fires at 2,000: the alarm",
        "decided by min_repeats 20 ≥ 4",
        "⟦Wait, no. ⟧⟦Wait, no. ⟧",
        "▲ labelled onset: 1,010",
        "alarm: 2,000",
    ] {
        assert!(said.contains(part), "{part} in\n{said}");
    }
    assert!(!said.contains('\u{1b}'), "no colours in a pipe");

    let said = stdout(&place.explain(&["runs/loop", "--settings", "periodic.toml"]));
    for part in [
        "hit, 190 chars after the onset",
        "fires at 1,200: the alarm",
        "decided by min_chars 200 ≥ 200; met min_copies 20 ≥ 4",
    ] {
        assert!(said.contains(part), "{part} in\n{said}");
    }
}

#[test]
fn a_quiet_transcript_shows_what_came_nearest() {
    let place = Place::new(&[looping(), quiet()]);
    let args = ["runs/quiet", "--settings", "periodic.toml", "--presets"];
    let said = stdout(&place.explain(&args));
    for part in [
        "verdict     quiet",
        "in reasoning: does not fire",
        "refused by min_copies 3 < 4, min_chars 150 < 200",
        "nearest miss: 450",
        "nearest: periodic/periodic in reasoning at 450, refused by",
        "document",
    ] {
        assert!(said.contains(part), "{part} in\n{said}");
    }
}

#[test]
fn json_has_all_of_it() {
    let place = Place::new(&[looping(), quiet()]);
    let args = [
        "runs/loop",
        "--settings",
        "periodic.toml",
        "--presets",
        "--json",
    ];
    let told = json(&place.explain(&args));
    assert_eq!(told["transcript"]["id"], "runs/loop");
    assert_eq!(
        told["transcript"]["chars"],
        json!({"reasoning": 0, "answer": 2500})
    );
    assert_eq!(told["transcript"]["labels"][0]["onset"], 1010);
    let first = &told["settings"][0];
    assert_eq!(
        (&first["name"], &first["verdict"]),
        (&json!("periodic"), &json!("hit"))
    );
    assert_eq!(
        (&first["latency"], &first["latency_copies"]),
        (&json!(190), &json!(19.0))
    );
    assert_eq!(first["alarm"]["exact"], 1200);
    let reading = &first["members"][0]["readings"][0];
    assert_eq!(
        (&reading["channel"], &reading["fires_at"]),
        (&json!("answer"), &json!(1200))
    );
    let fact = &reading["facts"][0];
    assert_eq!(
        (&fact["unit"], &fact["copies"]),
        (&json!("Wait, no. "), &json!(20))
    );
    let decided = &fact["thresholds"][1];
    assert_eq!(
        (
            &decided["param"],
            &decided["wanted"],
            &decided["measured"],
            &decided["decided"]
        ),
        (&json!("min_chars"), &json!(200), &json!(200), &json!(true))
    );
    assert!(told["settings"].as_array().is_some_and(|all| all.len() > 4));
    let marks = told["text"][0]["marks"].as_array().expect("marks");
    assert!(
        marks
            .iter()
            .any(|m| m["what"] == "alarm" && m["position"] == 1200)
    );
}

#[test]
fn an_unknown_id_is_code_4_and_a_bad_corpus_code_2() {
    let place = Place::new(&[looping(), quiet()]);
    let run = place.explain(&["LOOP"]).ends(4);
    run.says("1 contains that: runs/loop");
    let run = place.explain(&["\u{1b}[2Jx"]).ends(4);
    run.says("\\u{1b}[2Jx");

    let bad = Path::new("corpus.jsonl");
    let text = std::fs::read_to_string(place.dir.path().join(bad)).expect("it is there");
    place.file("corpus.jsonl", &format!("{text}\nnot JSON\n"));
    let run = place.explain(&["runs/loop"]).ends(2);
    run.says("corpus.jsonl:3");
    let run = place.explain(&["runs/loop", "--on-bad", "skip"]);
    run.shows("transcript  runs/loop");
}

/// A corpus folder may hold a manifest of somebody else's: it is no result for that.
#[test]
fn a_corpus_with_a_manifest_beside_its_transcripts_is_a_corpus() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let inner = dir.path().join("transcripts");
    std::fs::create_dir(&inner).expect("it is writable");
    program::file(&inner, "all.jsonl", &looping().to_string());
    program::file(dir.path(), "manifest.json", "not deadloop's");
    let corpus = dir.path().display().to_string();
    let run = program::deadloop(&["explain", &corpus, "runs/loop"]);
    run.shows("transcript  runs/loop");
}

#[test]
fn hostile_text_is_escaped_with_and_without_colours() {
    let text = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}x\r".repeat(200);
    let hostile = json!({"id": "a\u{1b}[31m", "model": "m\u{7}", "answer": text});
    let place = Place::new(&[hostile]);
    let args = ["a\u{1b}[31m", "--settings", "periodic.toml"];
    let plain = stdout(&place.explain(&args));
    let raw = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert_eq!(plain.find(raw), None, "{plain:?}");
    assert!(plain.contains("\\u{1b}[2J") && plain.contains("transcript  a\\u{1b}[31m"));
    let tinted = stdout(&place.explain_with(&args, &[("CLICOLOR_FORCE", "1")]));
    assert!(tinted.contains("\u{1b}[46m"), "colours are on");
    for bad in ["\u{1b}[2J", "\u{1b}]0", "\u{7}", "\u{9b}", "\u{202e}", "\r"] {
        assert!(!tinted.contains(bad), "{bad:?} in {tinted:?}");
    }
    let env = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
    let quiet = stdout(&place.explain_with(&args, &env[1..]));
    assert_eq!(quiet, plain);
}
