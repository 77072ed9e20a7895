//! `deadloop check`: a sound corpus has no finding, and each fault, put into that corpus alone, is
//! found and nothing else is.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

use program::{Ran, deadloop, stderr, stdout};
use serde_json::{Value, json};

/// A corpus as it is written to disk.
struct Corpus {
    transcripts: Vec<Value>,
    splits: Vec<(String, String)>,
    /// Lines that are put after the transcripts as they are.
    lines: Vec<String>,
    labels: String,
    /// Other files: name, text.
    files: Vec<(&'static str, String)>,
}

/// Chars of a clean transcript: 60 of them a split are enough for the claim that `check` asks for.
const CHARS: usize = 5_200;
const UNIT: &str = "Wait, let me look at the north road once more before I go on. ";

/// Words in an order of chance: nothing in it repeats.
fn prose(seed: u64, chars: usize) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut text = String::new();
    while text.len() < chars {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let syllable =
            |n: u64| ["ka", "lo", "mi", "ter", "an", "su", "vel", "or"][(n % 8) as usize];
        for part in 0..2 + state % 3 {
            text += syllable(state >> (8 + 3 * part));
        }
        text += if state.is_multiple_of(9) { ". " } else { " " };
    }
    text.truncate(chars);
    text
}

fn transcript(id: &str, group: &str, text: &str, finish: &str, label: Value) -> Value {
    let half = text.len() / 2;
    json!({
        "id": id, "model": "m", "group": group, "lang": "en",
        "events": [
            {"type": "answer", "text": text[..half], "t_ms": 10},
            {"type": "answer", "text": text[half..], "t_ms": 25.5},
            {"type": "finish", "reason": finish},
        ],
        "labels": [label],
    })
}

fn clean(n: u64) -> Value {
    let text = prose(n, CHARS);
    transcript(
        &format!("clean{n}"),
        &format!("g{n}"),
        &text,
        "stop",
        json!({"class": "clean"}),
    )
}

/// Prose of `onset` - 62 chars, then a unit of its own again and again.
fn looping(n: u64, unit: &str) -> Value {
    let healthy = prose(1000 + n, 700);
    let unit = format!("{unit}{}", prose(2000 + n, 20));
    let label = json!({
        "class": "loop", "kind": "paragraph", "channel": "answer", "start": 700,
        "onset": 700 + unit.len(), "period": unit.len(), "by": "planted",
    });
    let text = healthy + &unit.repeat(12);
    transcript(
        &format!("loop{n}"),
        &format!("h{n}"),
        &text,
        "length",
        label,
    )
}

impl Corpus {
    fn sound() -> Self {
        let mut transcripts: Vec<Value> = (0..120).map(clean).collect();
        transcripts.extend((0..30).map(|n| looping(n, UNIT)));
        let split = |(place, t): (usize, &Value)| {
            let split = if place % 2 == 0 { "dev" } else { "test" };
            (id(t), split.to_owned())
        };
        Self {
            splits: transcripts.iter().enumerate().map(split).collect(),
            transcripts,
            lines: Vec::new(),
            labels: String::new(),
            files: Vec::new(),
        }
    }

    fn at(&mut self, wanted: &str) -> &mut Value {
        let mut all = self.transcripts.iter_mut();
        all.find(|t| t["id"] == wanted).expect("it is there")
    }

    /// One more transcript, in the split.
    fn add(&mut self, transcript: Value, split: &str) {
        self.splits.push((id(&transcript), split.to_owned()));
        self.transcripts.push(transcript);
    }

    fn write(&self, dir: &Path) {
        let write = |name: &str, text: String| {
            std::fs::write(dir.join(name), text).expect("a temporary folder is writable");
        };
        std::fs::create_dir_all(dir.join("transcripts")).expect("likewise");
        let lines = self.transcripts.iter().map(Value::to_string);
        let lines: Vec<String> = lines.chain(self.lines.clone()).collect();
        write("transcripts/all.jsonl", lines.join("\n"));
        let splits = self
            .splits
            .iter()
            .map(|(id, split)| format!("{id},{split}\n"));
        write(
            "splits.csv",
            format!("transcript,split\n{}", splits.collect::<String>()),
        );
        if !self.labels.is_empty() {
            write("labels.csv", self.labels.clone());
        }
        for (name, text) in &self.files {
            write(name, text.clone());
        }
    }

    /// What `deadloop check --json` finds, and its exit code.
    fn checked(&self) -> (Option<i32>, Value) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        self.write(dir.path());
        let output = check(dir.path(), &["--json"]);
        let report = serde_json::from_slice(&output.stdout).expect("JSON on stdout");
        (output.status.code(), report)
    }

    /// The only finding.
    #[track_caller]
    fn only(&self, name: &str) -> Value {
        let (code, report) = self.checked();
        let findings = report["findings"].as_array().expect("a list").clone();
        let names: Vec<&Value> = findings.iter().map(|f| &f["check"]).collect();
        assert_eq!(names, [name], "{findings:#?}");
        let is_error = findings[0]["severity"] == "error";
        assert_eq!(code, Some(if is_error { 2 } else { 0 }));
        for field in ["what", "why", "advice"] {
            assert!(
                findings[0][field]
                    .as_str()
                    .is_some_and(|text| !text.is_empty())
            );
        }
        findings[0].clone()
    }
}

fn id(transcript: &Value) -> String {
    transcript["id"].as_str().expect("an id").to_owned()
}

fn check(dir: &Path, options: &[&str]) -> Output {
    deadloop(&[&["check", &dir.display().to_string()], options].concat())
}

#[track_caller]
fn says(finding: &Value, words: &str) {
    let what = finding["what"].as_str().unwrap_or_default();
    assert!(what.contains(words), "{what:?} does not say {words:?}");
}

/// The same text with a few words of its own, under another id.
fn nearly(original: &Value, id: &str, group: &str) -> Value {
    let mut copy = original.clone();
    copy["id"] = id.into();
    copy["group"] = group.into();
    copy["events"][0]["text"] = format!(
        "Sure! {}",
        copy["events"][0]["text"].as_str().expect("text")
    )
    .into();
    copy
}

#[test]
fn a_sound_corpus_has_no_finding() {
    let (code, report) = Corpus::sound().checked();
    assert_eq!(report["findings"], json!([]));
    assert_eq!((code, &report["transcripts"]), (Some(0), &json!(150)));
    assert_eq!(
        [&report["errors"], &report["warnings"], &report["notes"]],
        [&json!(0); 3]
    );
}

#[test]
fn a_bad_line() {
    let mut corpus = Corpus::sound();
    corpus.lines.push("nonsense".into());
    let finding = corpus.only("bad-input");
    says(&finding, "not JSON");
    assert_eq!(finding["line"], 151);
    assert!(
        finding["file"]
            .as_str()
            .is_some_and(|f| f.ends_with("all.jsonl"))
    );
}

/// Everything that the contract calls bad input, in one corpus: all of it is listed.
#[test]
fn everything_that_is_bad_is_told_at_once() {
    let mut corpus = Corpus::sound();
    corpus.lines = [
        r#"{"id":"cut""#,
        r#"{"text":"no id"}"#,
        r#"{"id":"clean0","text":"again"}"#,
        r#"{"id":"s","text":"\ud83d"}"#,
        "{\"id\":\"n\",\"text\":\"a\0b\"}",
        r#"{"id":"u","answer":"x","labels":[{"class":"loop","kind":"strange","onset":0}]}"#,
        r#"{"id":"p","answer":"x","labels":[{"class":"loop","onset":7}]}"#,
    ]
    .map(String::from)
    .to_vec();
    corpus.labels = "transcript,class,kind,channel,start,onset,earliest,end,period,by,note\n\
                     ghost,clean,,,,,,,,,\nclean1,cleen,,,,,,,,,\n"
        .into();
    corpus.files = vec![("dataset.toml", "name = 7\n".into())];
    corpus.splits.push(("nobody".into(), "dev".into()));
    let (code, report) = corpus.checked();
    let all = report["findings"].as_array().expect("a list");
    let errors: Vec<String> = all
        .iter()
        .filter(|f| f["severity"] == "error")
        .map(|f| format!("{}:{}", f["line"], f["what"]))
        .collect();
    let expected = [
        "1:\"invalid type",
        "3:\"unknown class",
        "151:\"not JSON",
        "152:\"no `id`",
        "153:\"the id \\\"clean0\\\" was used before",
        "154:\"lone surrogate",
        "155:\"not JSON",
        "156:\"unknown kind",
        "157:\"onset 7 is past the end",
        "152:\"a split for no transcript",
        "2:\"a label for no transcript",
    ];
    assert_eq!(errors.len(), expected.len(), "{errors:#?}");
    for start in expected {
        assert!(
            errors.iter().any(|e| e.starts_with(start)),
            "{start} is not in {errors:#?}"
        );
    }
    assert_eq!((code, &report["errors"]), (Some(2), &json!(expected.len())));
}

#[test]
fn an_earliest_after_the_onset() {
    let mut corpus = Corpus::sound();
    let label = &mut corpus.at("loop0")["labels"][0];
    label["earliest"] = json!(label["onset"].as_u64().expect("a number") + 9);
    says(&corpus.only("late-earliest"), "earliest is 7");
}

#[test]
fn a_label_with_a_field_that_is_misspelt() {
    let mut corpus = Corpus::sound();
    corpus.at("loop0")["labels"][0]["earlest"] = json!(700);
    says(&corpus.only("label-fields"), "\"earlest\"");
}

/// What cannot be read has such a name, so it is missed where nobody says so.
#[cfg(unix)]
#[test]
fn transcripts_that_are_no_files() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    Corpus::sound().write(dir.path());
    let inner = dir.path().join("transcripts");
    std::fs::create_dir(inner.join("folder.jsonl")).expect("it is writable");
    std::os::unix::fs::symlink("gone", inner.join("link.jsonl")).expect("likewise");
    let pipe = std::process::Command::new("mkfifo")
        .arg(inner.join("pipe.jsonl"))
        .status();
    assert!(pipe.is_ok_and(|status| status.success()), "mkfifo is there");
    let run = check(dir.path(), &["--quiet"]);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(2), "{said}");
    for words in [
        "folder.jsonl: cannot be read: a folder, not a file; expected a readable file",
        "link.jsonl: cannot be read: a link to gone, which is not there",
        "pipe.jsonl: cannot be read: a pipe or a device, not a file",
        "3 problems",
    ] {
        assert!(said.contains(words), "{words:?} in {said}");
    }
}

#[test]
fn a_splits_file_that_is_none_does_not_hide_the_rest() {
    let mut corpus = Corpus::sound();
    corpus.lines.push("nonsense".into());
    corpus.files = vec![("splits.csv", "id,part\na,dev\n".into())];
    let (code, report) = corpus.checked();
    assert_eq!(
        (code, &report["errors"]),
        (Some(2), &json!(2)),
        "{report:#}"
    );
}

#[test]
fn a_group_in_two_splits() {
    let mut corpus = Corpus::sound();
    corpus.at("clean1")["group"] = "g0".into();
    let finding = corpus.only("torn-group");
    says(&finding, "group \"g0\": 1 in dev, 1 in test");
    assert_eq!(finding["transcripts"], json!(["clean0", "clean1"]));
}

#[test]
fn near_duplicates_in_two_splits() {
    let mut corpus = Corpus::sound();
    let copy = nearly(corpus.at("clean0"), "copy", "other");
    corpus.add(copy, "test");
    let finding = corpus.only("near-duplicates-across-splits");
    assert_eq!(finding["transcripts"], json!(["clean0", "copy"]));
    says(&finding, "2 transcripts in dev and test, 99.");
}

#[test]
fn near_duplicates_in_two_groups() {
    let mut corpus = Corpus::sound();
    let copy = nearly(corpus.at("clean0"), "copy", "other");
    corpus.add(copy, "dev");
    says(&corpus.only("near-duplicates-across-groups"), "in 2 groups");
}

#[test]
fn near_duplicates_in_one_group() {
    let mut corpus = Corpus::sound();
    let copy = nearly(corpus.at("loop0"), "copy", "h0");
    corpus.add(copy, "dev");
    corpus.at("copy")["labels"] = json!([{"class": "unsure"}]);
    let (_, report) = corpus.checked();
    let names: BTreeSet<&str> = report["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|f| f["check"].as_str())
        .collect();
    assert_eq!(
        names,
        BTreeSet::from(["near-duplicates-in-a-group", "unlabelled"])
    );
}

/// Copies count once, in a group too: equal short texts, long ones with other numbers, runs with equal calls.
#[test]
fn copies_are_told_inside_a_group_too() {
    let mut corpus = Corpus::sound();
    for (n, id) in ["a", "b", "c"].into_iter().enumerate() {
        let mut copy = corpus.at("clean0").clone();
        copy["id"] = id.into();
        let text = copy["events"][0]["text"].as_str().expect("text").to_owned();
        copy["events"][0]["text"] = format!("{text} It took {} steps.", 10 * n).into();
        corpus.add(copy, "dev");
    }
    let (_, report) = corpus.checked();
    let findings = report["findings"].as_array().expect("a list");
    let found: Vec<&Value> = findings
        .iter()
        .filter(|f| f["check"] == "counted-once")
        .collect();
    let [found] = &found[..] else {
        panic!("one finding: {findings:#?}");
    };
    assert_eq!(found["severity"], "warning");
    assert_eq!(found["transcripts"], json!(["a", "b", "c"]));
    says(found, "count as one");
}

#[test]
fn an_onset_where_nothing_is_repeated() {
    let mut corpus = Corpus::sound();
    let label = &mut corpus.at("loop3")["labels"][0];
    (label["start"], label["onset"]) = (300.into(), 382.into());
    let finding = corpus.only("onset-contradicted");
    says(&finding, "the second copy does not start at 382");
    assert_eq!(finding["line"], 124);
}

#[test]
fn an_onset_a_copy_too_late() {
    let mut corpus = Corpus::sound();
    let label = &mut corpus.at("loop3")["labels"][0];
    (label["start"], label["onset"]) = (782.into(), 864.into());
    let finding = corpus.only("onset-contradicted");
    says(&finding, "the second copy starts before 864");
    says(&finding, "stand at 700 too");
}

#[test]
fn a_first_copy_before_the_text() {
    let mut corpus = Corpus::sound();
    let label = &mut corpus.at("loop3")["labels"][0];
    (label["start"], label["period"]) = (Value::Null, 1000.into());
    says(
        &corpus.only("onset-contradicted"),
        "would begin before the text",
    );
}

/// Three copies in other words before the exact ones.
fn led_into(n: u64) -> Value {
    let mut transcript = looping(n, UNIT);
    let text = transcript["events"][0]["text"]
        .as_str()
        .expect("text")
        .to_owned()
        + transcript["events"][1]["text"].as_str().expect("text");
    let (healthy, copies) = text.split_at(700);
    let unit = &copies[..82];
    // As long as the unit, so that the copies stand where they are looked for.
    let near = ["south", "white", "stony"].map(|word| unit.replace("north", word));
    let lead: String = near.concat();
    let text = healthy[246..].to_owned() + &lead + copies;
    transcript["events"] = json!([{"type": "answer", "text": text, "t_ms": 1}, {"type": "finish", "reason": "length"}]);
    transcript
}

#[test]
fn near_copies_before_the_first_one() {
    let mut corpus = Corpus::sound();
    *corpus.at("loop3") = led_into(3);
    let finding = corpus.only("no-earliest");
    says(
        &finding,
        "3 near-copies of 82 chars stand before the first copy, from 454 on",
    );
    corpus.at("loop3")["labels"][0]["earliest"] = 536.into();
    assert_eq!(corpus.checked().1["findings"], json!([]));
}

#[test]
fn a_clean_label_on_a_loop() {
    let mut corpus = Corpus::sound();
    corpus.at("loop3")["labels"] = json!([{"class": "clean"}]);
    let finding = corpus.only("clean-repeats");
    says(
        &finding,
        "82 chars again and again in answer, the second copy at 782, to the end",
    );
}

#[test]
fn a_loop_that_stopped_by_itself() {
    let mut corpus = Corpus::sound();
    corpus.at("loop3")["events"][2]["reason"] = "stop".into();
    says(
        &corpus.only("loop-that-finished"),
        "the stream ended with \"stop\"",
    );
    corpus.at("loop3")["labels"][0]["end"] = 1684.into();
    assert_eq!(corpus.checked().1["findings"], json!([]));
}

#[test]
fn times_that_run_backwards() {
    let mut corpus = Corpus::sound();
    corpus.at("clean3")["events"][1]["t_ms"] = 9.into();
    says(
        &corpus.only("clock-backwards"),
        "events[1] came at 9 ms, after 10 ms",
    );
}

#[test]
fn too_few_loops_in_a_split() {
    let mut corpus = Corpus::sound();
    for n in (1..21).step_by(2) {
        let gone = format!("loop{n}");
        corpus.transcripts.retain(|t| t["id"] != *gone);
        corpus.splits.retain(|(id, _)| *id != gone);
    }
    says(
        &corpus.only("too-few-labels"),
        "split test: 5 loops: even if every one is found, a recall of 54.9 % is the most",
    );
}

#[test]
fn a_model_with_few_labels() {
    let mut corpus = Corpus::sound();
    corpus.at("clean0")["model"] = "rare".into();
    corpus.at("loop0")["model"] = "rare".into();
    let finding = corpus.only("model-with-few-labels");
    says(
        &finding,
        "rare: 1 loop: even if every one is found, a recall of 5.0 % ",
    );
    says(&finding, "5,200 clean chars in 1 transcript: ");
}

#[test]
fn a_run_whose_messages_are_out_of_order() {
    let mut corpus = Corpus::sound();
    let events = corpus.at("clean0")["events"].as_array_mut();
    let events = events.expect("it has events");
    let call = |id: &str| json!({"type": "tool_call", "id": id, "name": "ls", "arguments": "x"});
    let result = |id: &str| json!({"type": "tool_result", "id": id, "content": "y", "t_ms": 30});
    let at = events.len() - 1;
    let more = [
        call("a"),
        result("b"),
        json!({"type": "user", "text": "Well?"}),
        json!({"type": "turn"}),
        call("c"),
        result("c"),
    ];
    events.splice(at..at, more);
    // The result of no call is told as such too.
    let (_, report) = corpus.checked();
    let mut findings = report["findings"].as_array().expect("a list").iter();
    let order = findings.find(|finding| finding["check"] == "message-order");
    let order = order.expect("it is told");
    says(order, "event 3: a result belongs to no call; 1 more");
}

#[test]
fn a_model_of_one_class() {
    let mut corpus = Corpus::sound();
    corpus.at("clean0")["model"] = "tidy".into();
    corpus.at("clean1")["model"] = "tidy".into();
    let (_, report) = corpus.checked();
    let findings = report["findings"].as_array().expect("a list");
    let names: Vec<&Value> = findings.iter().map(|f| &f["check"]).collect();
    assert_eq!(names, ["model-with-few-labels", "one-class"]);
    says(&findings[1], "tidy: 2 transcripts, all clean");
}

#[test]
fn a_loop_without_words() {
    let mut corpus = Corpus::sound();
    let text = prose(7, 700) + &"0 - ".repeat(200);
    let label =
        json!({"class": "loop", "channel": "answer", "start": 700, "onset": 704, "period": 4});
    *corpus.at("loop3") = transcript("loop3", "h3", &text, "length", label);
    says(
        &corpus.only("wordless-loop"),
        "\"0 - \" again and again from 704 on",
    );
}

#[test]
fn what_is_not_said() {
    let fault = |name: &str, change: fn(&mut Corpus)| {
        let mut corpus = Corpus::sound();
        change(&mut corpus);
        says(&corpus.only(name), "1 of 150 ");
    };
    fault("unlabelled", |c| c.at("clean3")["labels"] = json!([]));
    fault("ungrouped", |c| c.at("clean3")["group"] = Value::Null);
    fault("unsplit", |c| c.splits.retain(|(id, _)| id != "clean3"));
    fault("untimed", |c| {
        for event in 0..2 {
            c.at("clean3")["events"][event]["t_ms"] = Value::Null;
        }
    });
}

#[test]
fn warnings_fail_where_that_is_asked_for_and_all_are_shown() {
    let mut corpus = Corpus::sound();
    for n in 0..7 {
        corpus.at(&format!("clean{n}"))["events"][1]["t_ms"] = 9.into();
    }
    let dir = tempfile::tempdir().expect("a temporary folder");
    corpus.write(dir.path());
    let few = check(dir.path(), &[]).ends(0);
    assert_eq!(stdout(&few).matches("came at 9 ms").count(), 5);
    few.shows("… and 2 more (--all)");
    assert!(stdout(&few).ends_with("0 errors, 7 warnings, 0 notes\n"));
    let all = check(dir.path(), &["--all", "--strict"]).ends(2);
    assert_eq!(stdout(&all).matches("came at 9 ms").count(), 7);
    assert_eq!(stderr(&all), "deadloop: 7 warnings (--strict)\n");
}
