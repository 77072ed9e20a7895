//! `deadloop label` from outside: proposals, a review by lines of keys, disputes.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::io::Write;
use std::process::{Output, Stdio};

use program::{Place, Ran, has, stdout};
use serde_json::{Value, json};

/// A corpus of a loop, a hostile one, a passing repetition and clean text, with labels inside
/// that a proposal must not read.
fn place() -> Place {
    let place = Place::new();
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
    place.file("c.jsonl", lines.join("\n"));
    place
}

/// Runs `label` with lines of keys.
fn label(place: &Place, args: &str, keys: &str) -> Output {
    let mut command = place.command(format!("label {args}"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(keys.as_bytes()).expect("keys are read");
    drop(stdin);
    child.wait_with_output().expect("the program ends")
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
    let place = place();
    label(&place, "c.jsonl", "").ends(0).shows("short-sequence");
    let labels = place.read("c.labels.csv");
    let found = row(&labels, "loop");
    assert_eq!(
        found[..9].join(","),
        "loop,loop,short-sequence,answer,9,42,,,33"
    );
    assert_eq!(found[9], "auto");
    assert!(found[10].starts_with("confidence 0.9"));
    assert_eq!(
        row(&labels, "clean")[1],
        "clean",
        "the label inside is not read"
    );
    assert_eq!(row(&labels, "over")[1], "transient");
    assert_eq!(row(&labels, "over")[5], "98");

    label(&place, "c.jsonl", "").ends(2).says("--force");
    label(&place, "c.jsonl --force --jobs 1", "").ends(0);
    assert_eq!(
        place.read("c.labels.csv"),
        labels,
        "the same bytes, however many threads"
    );
}

/// In a folder, labels.csv replaces the labels inside the transcripts that it names.
#[test]
fn proposals_in_a_folder_leave_out_what_has_labels_inside() {
    let place = place();
    place.file("d/transcripts/c.jsonl", place.read("c.jsonl"));
    label(&place, "d --review", "q\n").ends(0);
    let labels = place.read("d/labels.csv");
    let named: Vec<&str> = labels
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').next())
        .collect();
    assert_eq!(named, ["over", "doubt"], "{labels}");
}

#[test]
fn a_review_saves_every_answer_and_goes_on_where_it_stopped() {
    let place = place();
    let args = "c.jsonl --review --reviewer ann --out l.csv";
    // The most uncertain is `doubt`; then the input ends.
    let run = label(&place, args, ">\n>\n[\nt\n").ends(0);
    run.shows("1 of 4   proposed: clean, confidence 0.666   doubt");
    run.shows("1 answered, 3 left");
    let labels = place.read("l.csv");
    let doubt = row(&labels, "doubt");
    assert_eq!(
        (doubt[1].as_str(), doubt[9].as_str()),
        ("transient", "review:ann")
    );
    assert_eq!(row(&labels, "loop")[9], "auto");

    let run = label(&place, args, "s\nnonsense\nc\nz\nu\nq\n").ends(0);
    run.shows("1 of 3").shows("1 answered, 2 left");
    let labels = place.read("l.csv");
    let unsure: Vec<&str> = labels
        .lines()
        .filter(|line| line.contains("unsure"))
        .collect();
    assert_eq!(unsure.len(), 1, "{labels}");
    assert_eq!(row(&labels, "doubt"), doubt, "an answer of before stays");
}

/// Of two reviews of one file the one that comes second to an answer is told, and no answer of the other is lost.
#[test]
fn two_reviews_at_once_lose_no_answer() {
    let place = place();
    let args = "c.jsonl --review --out l.csv";
    let mut slow = place.command(format!("label {args} --reviewer ann"));
    let slow = slow.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut slow = slow.stderr(Stdio::piped()).spawn().expect("it starts");
    let mut keys = slow.stdin.take().expect("a pipe");
    keys.write_all(b"c\n").expect("a key is read");
    let labels = place.path("l.csv");
    let saved = || std::fs::read_to_string(&labels).unwrap_or_default();
    program::until(|| saved().contains("review:ann"));
    label(&place, &format!("{args} --reviewer ben"), "c\nc\nq\n").ends(0);
    let both = saved();
    assert_eq!(both.matches("review:ben").count(), 2, "{both}");
    keys.write_all(b"c\n").expect("a key is read");
    drop(keys);
    let ended = slow.wait_with_output().expect("it ends").ends(2);
    ended.says("l.csv: another command has changed it");
    assert_eq!(saved(), both);
    // Nor does an answer disappear with the folder that an import replaces.
    let import = std::fs::File::open(place.dir()).expect("a folder");
    import.lock().expect("it is free");
    let refused = label(&place, args, "c\nq\n").ends(2);
    refused.says("writes there");
    assert_eq!(saved(), both);
}

#[test]
fn hostile_text_is_shown_and_not_obeyed() {
    let run = label(&place(), "c.jsonl --review", "s\ns\ns\ns\n");
    let told = stdout(&run.ends(0));
    has(&told, "\\u{1b}[31mr");
    has(&told, "\\u{202e}");
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
    place.file("d.jsonl", lines.join("\n"));
    place.run("replay d.jsonl --out run --quiet").ends(0);
    let found = place
        .run("label d.jsonl --disputes run --json")
        .ends(0)
        .json();
    let found = found["disputes"].as_array().expect("a list");
    let ids: Vec<&str> = found
        .iter()
        .filter_map(|one| one["transcript"].as_str())
        .collect();
    assert_eq!(
        ids,
        ["unlabelled", "too-late", "short", "no-loop"],
        "{found:?}"
    );
    assert!(found.iter().all(|one| one["agrees"] == true));
    assert_eq!(found[0]["looks_like"], "a loop from char 62 on");
    assert_eq!(found[3]["looks_like"], "no repetition");
    assert_eq!(found[3]["alarm"], Value::Null);
    let run = place.run("label d.jsonl --disputes run").ends(0);
    run.shows("4 of 4 disputes");
    run.says("--disputes run --review");
    // Only the four are asked about: `l` says loop.
    label(&place, "d.jsonl --disputes run --review", "l\nl\nq\n").ends(0);
    let labels = place.read("d.labels.csv");
    assert_eq!(row(&labels, "right")[9], "auto", "{labels}");
    assert_eq!(labels.matches("review:me").count(), 2, "{labels}");

    let nowhere = place.run("label d.jsonl --disputes nowhere");
    nowhere.ends(2).says("nowhere");
}

#[test]
fn wrong_usage_is_told() {
    let place = place();
    place.run("label").ends(2);
    place.run("label nowhere").ends(2);
    place.run("label c.jsonl --model nobody").ends(4);
    for line in [
        "label c.jsonl --out none/l.csv",
        "label --merge c.jsonl c.jsonl --out none/l.csv",
        "compare c.jsonl c.jsonl --markdown none/x.md",
        "compare c.jsonl c.jsonl --junit none/x.xml",
        "watch --record none/x.jsonl",
    ] {
        place.run(line).ends(2).says("there is no folder none;");
    }
    place.file(
        "bad.jsonl",
        "{\"id\": 1}\n{\"id\": \"a\", \"answer\": \"x\"}\n",
    );
    place.run("label bad.jsonl").ends(2).says("bad.jsonl:1:");
    assert!(!place.path("bad.labels.csv").exists());
    place.run("label bad.jsonl --on-bad skip").ends(0);
    assert!(place.path("bad.labels.csv").exists());
}

#[test]
fn a_label_is_opened_again_and_a_filter_that_matches_nothing_is_no_review() {
    let place = place();
    place.run("label c.jsonl --out l.csv").ends(0);
    let run = |more: &str, keys: &str| {
        let review = "c.jsonl --out l.csv --review --reviewer ann";
        label(&place, &format!("{review} {more}"), keys)
    };
    run("", "c\nc\nc\nc\n").ends(0);
    // All were answered: nothing is asked, and how to ask again is said.
    let done = run("", "").ends(0);
    done.shows("0 answered, 0 left").says("--review --again");
    run("loop", "l\n").ends(0).shows("1 answered, 0 left");
    has(&place.read("l.csv"), "loop,loop,");
    run("--again", "u\nq\n").shows("1 answered, 3 left");
    for more in ["--model nobody*", "lop", "--again --where x=y"] {
        run(more, "").ends(4);
    }
    run("lop", "").says("did you mean \"loop\"?");
    place.run("label c.jsonl --out m.csv --again").ends(2);
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
    let line = json!({"id": "long", "answer": text});
    place.file("long.jsonl", line.to_string());
    place.run("label long.jsonl --quiet").ends(0);
    let labels = place.read("long.labels.csv");
    let onset = |at: usize, unit: &str| format!(",{at},{},", at + unit.len());
    assert!(labels.contains(&onset(over, passing)), "{labels}");
    let tail = labels.lines().last().expect("a row");
    assert!(
        tail.starts_with("long,loop,") && tail.contains(&onset(start, unit)),
        "{labels}"
    );
}
