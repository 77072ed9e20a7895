//! `deadloop check`: a sound corpus has no finding, and each fault, put into that corpus alone, is
//! found and nothing else is.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Place, Ran, has, stderr, stdout};
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

    /// Sets the span of a loop.
    fn span(&mut self, start: u64, onset: u64) {
        let label = &mut self.at("loop3")["labels"][0];
        (label["start"], label["onset"]) = (start.into(), onset.into());
    }

    /// Adds nearly the same text under the id `copy`.
    fn copy(&mut self, of: &str, group: &str, split: &str) {
        let copy = nearly(self.at(of), "copy", group);
        self.add(copy, split);
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

    /// A folder with the corpus `c`.
    fn written(&self) -> Place {
        let place = Place::new();
        let lines = self.transcripts.iter().map(Value::to_string);
        let lines: Vec<String> = lines.chain(self.lines.clone()).collect();
        place.file("c/transcripts/all.jsonl", lines.join("\n"));
        let splits = self.splits.iter();
        let splits: String = splits
            .map(|(id, split)| format!("{id},{split}\n"))
            .collect();
        place.file("c/splits.csv", format!("transcript,split\n{splits}"));
        if !self.labels.is_empty() {
            place.file("c/labels.csv", &self.labels);
        }
        for (name, text) in &self.files {
            place.file(&format!("c/{name}"), text);
        }
        place
    }

    /// What `deadloop check --json` finds, and its exit code.
    fn checked(&self) -> (Option<i32>, Value) {
        let output = self.written().run("check c --json");
        (output.status.code(), output.json())
    }

    /// The names of all findings.
    fn names(&self) -> Vec<String> {
        let (_, report) = self.checked();
        let findings = report["findings"].as_array().expect("a list").iter();
        findings
            .map(|f| f["check"].as_str().expect("a name").to_owned())
            .collect()
    }

    fn find(&self, name: &str) -> Value {
        let (_, report) = self.checked();
        let mut findings = report["findings"].as_array().expect("a list").iter();
        let found = findings.find(|f| f["check"] == name);
        found.expect(name).clone()
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

#[track_caller]
fn says(finding: &Value, words: &str) {
    has(finding["what"].as_str().unwrap_or_default(), words);
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

/// A fault put into a sound corpus, the check that finds it, and words of the finding.
type Fault = (fn(&mut Corpus), &'static str, &'static [&'static str]);

const FAULTS: [Fault; 21] = [
    (
        |c| c.lines.push("nonsense".into()),
        "bad-input",
        &["not JSON"],
    ),
    (
        |c| {
            let label = &mut c.at("loop0")["labels"][0];
            label["earliest"] = json!(label["onset"].as_u64().expect("a number") + 9);
        },
        "late-earliest",
        &["earliest is 7"],
    ),
    (
        |c| c.at("loop0")["labels"][0]["earlest"] = json!(700),
        "label-fields",
        &["\"earlest\""],
    ),
    (
        |c| c.at("clean1")["group"] = "g0".into(),
        "torn-group",
        &["group \"g0\": 1 in dev, 1 in test"],
    ),
    (
        |c| c.copy("clean0", "other", "test"),
        "near-duplicates-across-splits",
        &["2 transcripts in dev and test, 99."],
    ),
    (
        |c| c.copy("clean0", "other", "dev"),
        "near-duplicates-across-groups",
        &["in 2 groups"],
    ),
    (
        |c| c.span(300, 382),
        "onset-contradicted",
        &["no second copy starts at 382"],
    ),
    // A copy too late.
    (
        |c| c.span(782, 864),
        "onset-contradicted",
        &["the second copy starts before 864", "are at 700 too"],
    ),
    (
        |c| {
            let label = &mut c.at("loop3")["labels"][0];
            (label["start"], label["period"]) = (Value::Null, 1000.into());
        },
        "onset-contradicted",
        &["would begin before the text"],
    ),
    (
        |c| c.at("loop3")["labels"] = json!([{"class": "clean"}]),
        "clean-repeats",
        &["82 chars again and again in answer, the second copy at 782, to the end"],
    ),
    (
        |c| c.at("loop3")["events"][2]["reason"] = "stop".into(),
        "loop-that-finished",
        &["the stream ended with \"stop\""],
    ),
    (
        |c| *c.at("loop3") = led_into(3),
        "no-earliest",
        &["3 near-copies of 82 chars stand before the first copy, from 454 on"],
    ),
    (
        |c| c.at("clean3")["events"][1]["t_ms"] = 9.into(),
        "clock-backwards",
        &["events[1] came at 9 ms, after 10 ms"],
    ),
    (
        |c| {
            for n in (1..21).step_by(2) {
                let gone = format!("loop{n}");
                c.transcripts.retain(|t| t["id"] != *gone);
                c.splits.retain(|(id, _)| *id != gone);
            }
        },
        "too-few-labels",
        &["split test: 5 loops: even if every one is found, a recall of 54.9 % is the most"],
    ),
    (
        |c| {
            c.at("clean0")["model"] = "rare".into();
            c.at("loop0")["model"] = "rare".into();
        },
        "model-with-few-labels",
        &[
            "rare: 1 loop: even if every one is found, a recall of 5.0 % ",
            "5,200 clean chars in 1 transcript: ",
        ],
    ),
    (
        |c| {
            let text = prose(7, 700) + &"0 - ".repeat(200);
            let label = json!({"class": "loop", "channel": "answer", "start": 700, "onset": 704, "period": 4});
            *c.at("loop3") = transcript("loop3", "h3", &text, "length", label);
        },
        "wordless-loop",
        &["\"0 - \" again and again from 704 on"],
    ),
    (
        |c| {
            // Five weights, in no order.
            let weight = |n: u32| (n.wrapping_mul(2_654_435_761) >> 13) % 5 * 10 + 120;
            let row = |n: u32| format!("Sample {n} weighs {} grams.\n", weight(n));
            let text = prose(7, 700) + &(100..200).map(row).collect::<String>() + "Sample 2";
            let label = json!({"class": "loop", "kind": "near-repeat", "channel": "answer", "start": 700, "onset": 729, "period": 29});
            *c.at("loop3") = transcript("loop3", "h3", &text, "length", label);
        },
        "folded-numbers",
        &["copies of 29 chars in answer from 700 on, whose numbers differ"],
    ),
    (
        |c| c.at("clean3")["labels"] = json!([]),
        "unlabelled",
        &["1 of 150 "],
    ),
    (
        |c| c.at("clean3")["group"] = Value::Null,
        "ungrouped",
        &["1 of 150 "],
    ),
    (
        |c| c.splits.retain(|(id, _)| id != "clean3"),
        "unsplit",
        &["1 of 150 "],
    ),
    (
        |c| {
            for event in 0..2 {
                c.at("clean3")["events"][event]["t_ms"] = Value::Null;
            }
        },
        "untimed",
        &["1 of 150 "],
    ),
];

#[test]
fn each_fault_alone_is_found_and_nothing_else() {
    for (fault, name, words) in FAULTS {
        let mut corpus = Corpus::sound();
        fault(&mut corpus);
        let finding = corpus.only(name);
        words.iter().for_each(|words| says(&finding, words));
        // Where it is, and whose.
        match name {
            "bad-input" => {
                assert_eq!(finding["line"], 151);
                has(&finding["file"].to_string(), "all.jsonl\"");
            }
            "torn-group" => assert_eq!(finding["transcripts"], json!(["clean0", "clean1"])),
            "near-duplicates-across-splits" => {
                assert_eq!(finding["transcripts"], json!(["clean0", "copy"]));
            }
            "onset-contradicted" => assert_eq!(finding["line"], 124),
            _ => {}
        }
    }
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

/// What cannot be read has such a name, so it is missed where nobody says so.
#[cfg(unix)]
#[test]
fn transcripts_that_are_no_files() {
    let place = Corpus::sound().written();
    let inner = place.path("c/transcripts");
    std::fs::create_dir(inner.join("folder.jsonl")).expect("it is writable");
    std::os::unix::fs::symlink("gone", inner.join("link.jsonl")).expect("likewise");
    let pipe = std::process::Command::new("mkfifo")
        .arg(inner.join("pipe.jsonl"))
        .status();
    assert!(pipe.is_ok_and(|status| status.success()), "mkfifo is there");
    let run = place.run("check c --quiet").ends(2);
    for words in [
        "folder.jsonl: cannot be read: a folder, not a file; expected a readable file",
        "link.jsonl: cannot be read: a link to gone, which is not there",
        "pipe.jsonl: cannot be read: a pipe or a device, not a file",
        "3 problems",
    ] {
        run.says(words);
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
    let counted = |name: &String| name == "counted-once";
    assert_eq!(corpus.names().into_iter().filter(counted).count(), 1);
    let found = &corpus.find("counted-once");
    assert_eq!(found["severity"], "warning");
    assert_eq!(found["transcripts"], json!(["a", "b", "c"]));
    says(found, "count as one");
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

/// A label may say that it is so.
#[test]
fn what_is_labelled_is_no_fault() {
    let mut corpus = Corpus::sound();
    *corpus.at("loop3") = led_into(3);
    corpus.at("loop3")["labels"][0]["earliest"] = 536.into();
    corpus.at("loop4")["events"][2]["reason"] = "stop".into();
    corpus.at("loop4")["labels"][0]["end"] = 1684.into();
    assert_eq!(corpus.names(), [""; 0]);
}

#[test]
fn findings_that_come_together() {
    let mut corpus = Corpus::sound();
    corpus.copy("loop0", "h0", "dev");
    corpus.at("copy")["labels"] = json!([{"class": "unsure"}]);
    let mut names = corpus.names();
    names.sort_unstable();
    assert_eq!(names, ["near-duplicates-in-a-group", "unlabelled"]);

    let mut corpus = Corpus::sound();
    corpus.at("clean0")["model"] = "tidy".into();
    corpus.at("clean1")["model"] = "tidy".into();
    assert_eq!(corpus.names(), ["model-with-few-labels", "one-class"]);
    let one_class = corpus.find("one-class");
    says(&one_class, "tidy: 2 transcripts, all clean");
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
    let order = &corpus.find("message-order");
    says(order, "event 3: a result belongs to no call; 1 more");
}

#[test]
fn warnings_fail_where_that_is_asked_for_and_all_are_shown() {
    let mut corpus = Corpus::sound();
    for n in 0..7 {
        corpus.at(&format!("clean{n}"))["events"][1]["t_ms"] = 9.into();
    }
    let place = corpus.written();
    let few = stdout(&place.run("check c").ends(0));
    assert_eq!(few.matches("came at 9 ms").count(), 5);
    has(&few, "… and 2 more (--all)");
    assert!(few.ends_with("0 errors, 7 warnings, 0 notes\n"));
    let all = place.run("check c --all --strict").ends(2);
    assert_eq!(stdout(&all).matches("came at 9 ms").count(), 7);
    assert_eq!(stderr(&all), "deadloop: 7 warnings (--strict)\n");
}
