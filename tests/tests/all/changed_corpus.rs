//! A corpus that changes between the check and the replay.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use deadloop_corpus::Corpus;
use deadloop_detect::{RECOMMENDED, Settings};
use deadloop_replay::{Job, Plan, PlanGuards, Programs, RunError, Watcher, run};

/// Checks a corpus of two files, lets `change` happen, and replays it: what the run says.
fn after(change: impl Fn(&Path)) -> String {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("transcripts");
    std::fs::create_dir(&folder).unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    put("one.jsonl", "{\"id\":\"a\",\"answer\":\"x\"}\n");
    put("two.jsonl", "{\"id\":\"b\",\"answer\":\"y\"}\n");
    let corpus = Corpus::open(dir.path()).unwrap();
    let ids: HashSet<Arc<str>> = corpus
        .entries()
        .map(|e| e.unwrap().transcript.id.into())
        .collect();
    assert_eq!(ids.len(), 2);
    change(&folder.join("two.jsonl"));
    let mut plan = Plan::default();
    plan.add_settings(&Settings::parse(RECOMMENDED).unwrap());
    let job = Job {
        corpus: &corpus,
        ids: &ids,
        subject: &PlanGuards {
            plan: &plan,
            programs: &Programs::default(),
            chunks: None,
        },
    };
    let watch = Watcher {
        cancel: &AtomicBool::new(false),
        progress: &|_, _| {},
    };
    match run(&job, None, &watch) {
        Err(error @ RunError::Changed(_)) => error.to_string(),
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("half of the corpus passed for all of it"),
    }
}

#[test]
fn a_file_that_vanished_is_named() {
    let said = after(|file| std::fs::remove_file(file).unwrap());
    assert!(
        said.contains("the corpus changed while it was read"),
        "{said}"
    );
    assert!(said.contains("two.jsonl"), "{said}");
}

#[test]
fn a_transcript_that_vanished_is_missed() {
    let said = after(|file| std::fs::write(file, "").unwrap());
    assert!(said.contains("2 transcripts were there, now 1"), "{said}");
}

#[test]
fn a_line_that_was_spoilt_is_named() {
    let said = after(|file| std::fs::write(file, "{\"id\":").unwrap());
    assert!(said.contains("two.jsonl:1"), "{said}");
}
