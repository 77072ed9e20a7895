//! `deadloop explain` from outside: what it says of an alarm, of a near miss, and of hostile text.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Place, Ran, has, stdout};
use serde_json::{Value, json};

/// A corpus of one file, and settings.
fn place(transcripts: &[Value]) -> Place {
    let place = Place::new();
    let lines: Vec<String> = transcripts.iter().map(Value::to_string).collect();
    place.file("corpus.jsonl", lines.join("\n"));
    for detector in ["periodic", "checkpoint"] {
        let text = format!("[[guard]]\ndetector = \"{detector}\"\n");
        place.file(&format!("{detector}.toml"), text);
    }
    place
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
    let place = place(&[looping()]);
    let run = place.run("explain corpus.jsonl runs/loop --settings checkpoint.toml");
    let said = stdout(&run.ends(0));
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
        has(&said, part);
    }
    assert!(!said.contains('\u{1b}'), "no colours in a pipe");

    let run = place.run("explain corpus.jsonl runs/loop --settings periodic.toml");
    let said = stdout(&run.ends(0));
    for part in [
        "hit, 190 chars after the onset",
        "fires at 1,200: the alarm",
        "decided by min_chars 200 ≥ 200; met min_copies 20 ≥ 4",
    ] {
        has(&said, part);
    }
}

#[test]
fn a_quiet_transcript_shows_what_came_nearest() {
    let place = place(&[quiet()]);
    let run = place.run("explain corpus.jsonl runs/quiet --settings periodic.toml --presets");
    let said = stdout(&run.ends(0));
    for part in [
        "verdict     quiet",
        "in reasoning: does not fire",
        "refused by min_copies 3 < 4, min_chars 150 < 200",
        "nearest miss: 450",
        "nearest: periodic/periodic in reasoning at 450, refused by",
        "document",
    ] {
        has(&said, part);
    }
}

/// The checkpoint at 3,000 chars cuts a line, so that the lines before it are not counted.
#[test]
fn a_loop_that_a_cut_line_hides_is_named_with_its_place() {
    let lines = (1..200).map(|n| format!("{n}. {} the question\n", ["Read", "Answer"][n % 2]));
    let text = fresh(2100) + "\n" + &lines.collect::<String>();
    let place = place(&[json!({"id": "runs/list", "model": "m", "reasoning": text})]);
    let run = place.run("explain corpus.jsonl runs/list --settings checkpoint.toml --presets");
    let said = stdout(&run.ends(0));
    for part in [
        "in reasoning: misses a loop: the checkpoint at 3,000 cuts the last element",
        "ordered-list",
        "cut here: 3,000",
        "hidden: checkpoint/ordered-list in reasoning by the element that the checkpoint at 3,000 cuts",
    ] {
        has(&said, part);
    }
    // A whole last line hides nothing.
    let whole = format!("{}\n{}", fresh(2399), "1. Read it all\n".repeat(40));
    let place = self::place(&[json!({"id": "runs/list", "model": "m", "reasoning": whole})]);
    let run = place.run("explain corpus.jsonl runs/list --settings checkpoint.toml");
    let said = stdout(&run.ends(0));
    has(&said, "fires at 3,000: the alarm");
    assert!(!said.contains("cuts the last element"), "{said}");
}

#[test]
fn json_has_all_of_it() {
    let place = place(&[looping()]);
    let explain = "explain corpus.jsonl runs/loop --settings periodic.toml --presets --json";
    let told = place.run(explain).ends(0).json();
    for (path, value) in [
        ("/transcript/id", json!("runs/loop")),
        ("/transcript/chars", json!({"reasoning": 0, "answer": 2500})),
        ("/transcript/labels/0/onset", json!(1010)),
        ("/settings/0/name", json!("periodic")),
        ("/settings/0/verdict", json!("hit")),
        ("/settings/0/latency", json!(190)),
        ("/settings/0/latency_copies", json!(19.0)),
        ("/settings/0/alarm/exact", json!(1200)),
    ] {
        assert_eq!(told.pointer(path), Some(&value), "{path}");
    }
    let reading = &told["settings"][0]["members"][0]["readings"][0];
    for (path, value) in [
        ("/channel", json!("answer")),
        ("/fires_at", json!(1200)),
        ("/facts/0/unit", json!("Wait, no. ")),
        ("/facts/0/copies", json!(20)),
        ("/facts/0/thresholds/1/param", json!("min_chars")),
        ("/facts/0/thresholds/1/wanted", json!(200)),
        ("/facts/0/thresholds/1/measured", json!(200)),
        ("/facts/0/thresholds/1/decided", json!(true)),
    ] {
        assert_eq!(reading.pointer(path), Some(&value), "{path}");
    }
    assert!(told["settings"].as_array().is_some_and(|all| all.len() > 4));
    let mut marks = told["text"][0]["marks"].as_array().expect("marks").iter();
    assert!(marks.any(|m| m["what"] == "alarm" && m["position"] == 1200));
}

#[test]
fn an_unknown_id_is_code_4_and_a_bad_corpus_code_2() {
    let place = place(&[looping(), quiet()]);
    let run = place.run("explain corpus.jsonl LOOP").ends(4);
    run.says("1 contains that: runs/loop");
    let run = place.run("explain corpus.jsonl \u{1b}[2Jx").ends(4);
    run.says("\\u{1b}[2Jx");

    let text = place.read("corpus.jsonl");
    place.file("corpus.jsonl", format!("{text}\nnot JSON\n"));
    let explain = "explain corpus.jsonl runs/loop";
    place.run(explain).ends(2).says("corpus.jsonl:3");
    let run = place.run(format!("{explain} --on-bad skip")).ends(0);
    run.shows("transcript  runs/loop");
}

/// A corpus folder may hold a manifest of somebody else's: it is no result for that.
#[test]
fn a_corpus_with_a_manifest_beside_its_transcripts_is_a_corpus() {
    let place = Place::new();
    place.file("corpus/transcripts/all.jsonl", looping().to_string());
    place.file("corpus/manifest.json", "not deadloop's");
    let run = place.run("explain corpus runs/loop").ends(0);
    run.shows("transcript  runs/loop");
}

#[test]
fn hostile_text_is_escaped_with_and_without_colours() {
    let text = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}x\r".repeat(200);
    let hostile = json!({"id": "a\u{1b}[31m", "model": "m\u{7}", "answer": text});
    let place = place(&[hostile]);
    let explain = |env: &[(&str, &str)]| {
        let line = "explain corpus.jsonl a\u{1b}[31m --settings periodic.toml";
        let run = place.command(line).envs(env.iter().copied()).output();
        stdout(&run.expect("it starts").ends(0))
    };
    let plain = explain(&[]);
    let raw = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert_eq!(plain.find(raw), None, "{plain:?}");
    assert!(plain.contains("\\u{1b}[2J") && plain.contains("transcript  a\\u{1b}[31m"));
    let tinted = explain(&[("CLICOLOR_FORCE", "1")]);
    assert!(tinted.contains("\u{1b}[46m"), "colours are on");
    for bad in ["\u{1b}[2J", "\u{1b}]0", "\u{7}", "\u{9b}", "\u{202e}", "\r"] {
        assert!(!tinted.contains(bad), "{bad:?} in {tinted:?}");
    }
    let env = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
    assert_eq!(explain(&env[1..]), plain);
}
