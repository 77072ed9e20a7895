//! The schemas of `deadloop generate`: what a schema refuses the program refuses too. The schemas themselves are asked by
//! `scripts/schemas.py`, about the same texts (`tests/schemas.toml`) and about the files of the repository.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Place, code, stderr};
use serde::Deserialize;

const TEXTS: &str = include_str!("../schemas.toml");

#[derive(Deserialize)]
struct Asked {
    texts: Vec<Texts>,
}

/// Texts of a kind.
#[derive(Deserialize)]
struct Texts {
    kind: String,
    /// The commands that read such a file.
    run: Vec<Vec<String>>,
    takes: Vec<String>,
    refuses: Vec<String>,
}

/// Asks the program about a text, each way. Returns the exit codes and what it said.
fn asked(texts: &Texts, text: &str) -> Vec<(Option<i32>, String)> {
    let place = Place::new();
    let name = match texts.kind.as_str() {
        "transcript" => "asked.jsonl",
        _ => "asked.toml",
    };
    place.file(name, format!("{text}\n"));
    place.file("x.jsonl", "{\"id\":\"a\",\"answer\":\"x\"}\n");
    let run = |words: &Vec<String>| {
        let line = words.join(" ").replace("FILE", name);
        let run = place.run(line.replace("CORPUS", "x.jsonl").replace("OUT", "out"));
        (code(&run), stderr(&run))
    };
    texts.run.iter().map(run).collect()
}

#[test]
fn what_schemas_refuse_the_program_refuses() {
    let all: Asked = toml::from_str(TEXTS).expect("texts");
    let mut count = 0;
    for texts in all.texts.iter().filter(|texts| !texts.run.is_empty()) {
        for text in &texts.refuses {
            for (code, said) in asked(texts, text) {
                assert_eq!(code, Some(2), "{}: taken: {text}", texts.kind);
                assert!(said.contains("asked."), "{}: {text}: {said}", texts.kind);
                count += 1;
            }
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn transcripts_that_the_schema_takes_check_takes() {
    let all: Asked = toml::from_str(TEXTS).expect("texts");
    let texts = all.texts.iter().find(|texts| texts.kind == "transcript");
    let texts = texts.expect("transcripts");
    for text in &texts.takes {
        for (code, said) in asked(texts, text) {
            assert_eq!(code, Some(0), "{text}: {said}");
        }
    }
}
