//! `deadloop label` from outside: proposals, a review by lines of keys, disputes.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use program::{Ran, command, has, stderr, stdout};
use serde_json::{Value, json};

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    /// A corpus of a loop, a hostile one, a passing repetition and clean text, with labels inside
    /// that a proposal must not read.
    fn new() -> Self {
        let place = Self {
            dir: tempfile::tempdir().expect("a temporary folder"),
        };
        let unit = "Let me think about it once more. ";
        let clean = "A text that says one thing after another, and each of them once. ".to_owned();
        let lie = json!([{"class": "loop", "onset": 3, "channel": "answer"}]);
        let transcripts = [
            json!({"id": "loop", "answer": format!("A start. {}", unit.repeat(20)), "labels": lie}),
            json!({"id": "clean\u{1b}[2J", "answer": format!("{clean}\u{1b}[31mred\u{202e}"), "labels": lie}),
            json!({"id": "over", "answer": format!("{clean}{}Now I know. {clean}", unit.repeat(12))}),
            json!({"id": "doubt", "answer": format!("{clean}{}", "It is so, I think, and it stays so. ".repeat(3))}),
        ];
        let lines: Vec<String> = transcripts.iter().map(Value::to_string).collect();
        place.file("c.jsonl", &lines.join("\n"));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a temporary folder is writable");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("the file is there")
    }

    fn label(&self, args: &[&str], keys: &str) -> Output {
        let mut child = command(&["label"])
            .args(args)
            .current_dir(self.dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(keys.as_bytes()).expect("keys are read");
        drop(stdin);
        child.wait_with_output().expect("the program ends")
    }
}

#[track_caller]
fn fine(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output)
}

/// The cells of the first row of a transcript.
#[track_caller]
fn row(labels: &str, id: &str) -> Vec<String> {
    let line = labels.lines().find(|line| line.starts_with(id));
    let line = line.expect("a row of that transcript");
    line.split(',').map(str::to_owned).collect()
}

#[test]
fn proposals_are_written_beside_the_corpus_and_nothing_is_overwritten() {
    let place = Place::new();
    let told = fine(&place.label(&["c.jsonl"], ""));
    assert!(told.contains("short-sequence"), "{told}");
    let labels = place.read("c.labels.csv");
    assert_eq!(
        row(&labels, "loop")[..9],
        [
            "loop",
            "loop",
            "short-sequence",
            "answer",
            "9",
            "42",
            "",
            "",
            "33"
        ]
    );
    assert_eq!(row(&labels, "loop")[9], "auto");
    assert!(row(&labels, "loop")[10].starts_with("confidence 0.9"));
    assert_eq!(
        row(&labels, "clean")[1],
        "clean",
        "the label inside is not read"
    );
    assert_eq!(row(&labels, "over")[1], "transient");
    assert_eq!(row(&labels, "over")[5], "98");

    let again = place.label(&["c.jsonl"], "").ends(2);
    again.says("--force");
    fine(&place.label(&["c.jsonl", "--force", "--jobs", "1"], ""));
    assert_eq!(
        place.read("c.labels.csv"),
        labels,
        "the same bytes, however many threads"
    );
}

#[test]
fn a_review_saves_every_answer_and_goes_on_where_it_stopped() {
    let place = Place::new();
    let args = ["c.jsonl", "--review", "--reviewer", "ann", "--out", "l.csv"];
    // The most uncertain is `doubt`; then the input ends.
    let told = fine(&place.label(&args, ">\n>\n[\nt\n"));
    has(&told, "1 of 4   proposed: clean, confidence 0.666   doubt");
    assert!(told.contains("1 answered, 3 left"), "{told}");
    let labels = place.read("l.csv");
    let doubt = row(&labels, "doubt");
    assert_eq!(
        (doubt[1].as_str(), doubt[9].as_str()),
        ("transient", "review:ann")
    );
    assert_eq!(row(&labels, "loop")[9], "auto");

    let told = fine(&place.label(&args, "s\nnonsense\nc\nz\nu\nq\n"));
    assert!(told.contains("1 of 3"), "{told}");
    assert!(told.contains("1 answered, 2 left"), "{told}");
    let labels = place.read("l.csv");
    let unsure: Vec<&str> = labels
        .lines()
        .filter(|line| line.contains("unsure"))
        .collect();
    assert_eq!(unsure.len(), 1, "{labels}");
    assert_eq!(row(&labels, "doubt"), doubt, "an answer of before stays");
}

#[test]
fn hostile_text_is_shown_and_not_obeyed() {
    let place = Place::new();
    let told = fine(&place.label(&["c.jsonl", "--review"], "s\ns\ns\ns\n"));
    assert!(
        told.contains("\\u{1b}[31mr") && told.contains("\\u{202e}"),
        "{told}"
    );
    assert!(
        !told.contains('\u{1b}') && !told.contains('\u{202e}'),
        "{told:?}"
    );
    has(&told, "⟦Let me think about it once more. ⟧");
}

#[test]
fn disputes_of_a_replay_with_its_labels_come_worst_first_and_can_be_reviewed() {
    let place = Place::new();
    let unit = "Let me think about it once more. ";
    let looped = |times: usize| format!("A start that says something. {}", unit.repeat(times));
    let healthy =
        "Seven people went to the lake. Nobody saw the boat, which had been sold in May. ";
    let clean = json!([{"class": "clean"}]);
    let transcripts = [
        json!({"id": "unlabelled", "answer": looped(60), "labels": clean}),
        json!({"id": "short", "answer": looped(30), "labels": clean}),
        json!({"id": "too-late", "answer": looped(60), "labels": [{"class": "loop", "onset": 1500, "channel": "answer"}]}),
        json!({"id": "no-loop", "answer": healthy, "labels": [{"class": "loop", "onset": 40, "channel": "answer"}]}),
        json!({"id": "right", "answer": looped(60), "labels": [{"class": "loop", "onset": 62, "channel": "answer"}]}),
    ];
    let lines: Vec<String> = transcripts.iter().map(Value::to_string).collect();
    place.file("d.jsonl", &lines.join("\n"));
    let replay = command(&["replay", "d.jsonl", "--out", "run", "--quiet"])
        .current_dir(place.dir.path())
        .output()
        .expect("it starts");
    fine(&replay);
    let told = fine(&place.label(&["d.jsonl", "--disputes", "run", "--json"], ""));
    let found: Value = serde_json::from_str(&told).expect("JSON");
    let found = found["disputes"].as_array().expect("a list");
    let ids: Vec<&str> = found
        .iter()
        .filter_map(|one| one["transcript"].as_str())
        .collect();
    assert_eq!(
        ids,
        ["unlabelled", "too-late", "short", "no-loop"],
        "{told}"
    );
    assert!(found.iter().all(|one| one["agrees"] == true), "{told}");
    assert_eq!(found[0]["looks_like"], "a loop from char 62 on");
    assert_eq!(found[3]["looks_like"], "no repetition");
    assert_eq!(found[3]["alarm"], Value::Null);
    let run = place.label(&["d.jsonl", "--disputes", "run"], "");
    assert!(fine(&run).contains("4 of 4 disputes"));
    let next = stderr(&run);
    assert!(next.contains("--disputes run --review"), "{next}");
    // Only the four are asked about: `l` says loop.
    fine(&place.label(&["d.jsonl", "--disputes", "run", "--review"], "l\nl\nq\n"));
    let labels = place.read("d.labels.csv");
    assert_eq!(row(&labels, "right")[9], "auto", "{labels}");
    assert_eq!(labels.matches("review:me").count(), 2, "{labels}");

    let nowhere = place
        .label(&["d.jsonl", "--disputes", "nowhere"], "")
        .ends(2);
    nowhere.says("nowhere");
}

#[test]
fn wrong_usage_is_told() {
    let place = Place::new();
    assert_eq!(place.label(&[], "").status.code(), Some(2));
    assert_eq!(place.label(&["nowhere"], "").status.code(), Some(2));
    place.label(&["c.jsonl", "--model", "nobody"], "").ends(4);
    place.file(
        "bad.jsonl",
        "{\"id\": 1}\n{\"id\": \"a\", \"answer\": \"x\"}\n",
    );
    let bad = place.label(&["bad.jsonl"], "").ends(2);
    bad.says("bad.jsonl:1:");
    assert!(!place.path("bad.labels.csv").exists());
    fine(&place.label(&["bad.jsonl", "--on-bad", "skip"], ""));
    assert!(place.path("bad.labels.csv").exists());
}

#[test]
fn a_label_is_opened_again_and_a_filter_that_matches_nothing_is_no_review() {
    let place = Place::new();
    assert_eq!(
        place
            .label(&["c.jsonl", "--out", "l.csv"], "")
            .status
            .code(),
        Some(0)
    );
    let review = ["c.jsonl", "--out", "l.csv", "--review", "--reviewer", "ann"];
    let run = |more: &[&str], keys: &str| place.label(&[&review[..], more].concat(), keys);
    assert_eq!(run(&[], "c\nc\nc\nc\n").status.code(), Some(0));
    // All were answered: nothing is asked, and how to ask again is said.
    let done = run(&[], "").ends(0);
    done.shows("0 answered, 0 left");
    done.says("--review --again");
    let one = run(&["loop"], "l\n").ends(0);
    one.shows("1 answered, 0 left");
    assert!(
        place.read("l.csv").contains("loop,loop,"),
        "{}",
        place.read("l.csv")
    );
    let again = run(&["--again"], "u\nq\n");
    again.shows("1 answered, 3 left");
    for more in [
        &["--model", "nobody*"][..],
        &["lop"],
        &["--again", "--where", "x=y"],
    ] {
        let run = run(more, "");
        assert_eq!(run.status.code(), Some(4), "{more:?}: {}", stderr(&run));
    }
    assert!(stderr(&run(&["lop"], "")).contains("did you mean \"loop\"?"));
    place
        .label(&["c.jsonl", "--out", "m.csv", "--again"], "")
        .ends(2);
}

#[test]
fn a_loop_far_beyond_the_first_window_is_found_where_it_is() {
    let place = Place::new();
    let words = (0_u64..).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40);
    let mut prose: String = words.take(160_000).map(|n| format!("{n:x} ")).collect();
    let (passing, unit) = (
        "I look at the road again, slowly. ",
        "Wait, once more from the north. ",
    );
    let over = prose.len();
    prose += &passing.repeat(40);
    prose.extend_from_within(..600_000);
    let start = prose.len();
    let text = prose + &unit.repeat(20_000);
    assert!(start > 1 << 20 && text.len() > 2_000_000);
    place.file(
        "long.jsonl",
        &json!({"id": "long", "answer": text}).to_string(),
    );
    fine(&place.label(&["long.jsonl", "--quiet"], ""));
    let labels = place.read("long.labels.csv");
    let onset = |at: usize, unit: &str| format!(",{at},{},", at + unit.len());
    assert!(labels.contains(&onset(over, passing)), "{labels}");
    let tail = labels.lines().last().expect("a row");
    assert!(
        tail.starts_with("long,loop,") && tail.contains(&onset(start, unit)),
        "{labels}"
    );
}
