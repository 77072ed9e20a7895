//! `deadloop synth` from outside: the same bytes for any number of threads, a corpus that is whole,
//! and errors that name file and line.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Ran, deadloop};
use std::path::{Path, PathBuf};
use std::process::Output;

const DATASETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets");

fn synth(spec: &Path, out: &Path, more: &[&str]) -> Output {
    let (spec, out) = (spec.display().to_string(), out.display().to_string());
    let args = [&["synth", "--spec", &spec, "--out", &out][..], more].concat();
    deadloop(&args)
}

fn bytes(corpus: &Path) -> Vec<Vec<u8>> {
    let listed = std::fs::read_dir(corpus.join("transcripts")).expect("synth made it");
    let mut files: Vec<PathBuf> = listed.map(|file| file.expect("a file").path()).collect();
    files.sort();
    files.extend(["labels.csv", "dataset.toml"].map(|name| corpus.join(name)));
    let read = |path: &PathBuf| std::fs::read(path).expect("synth wrote it");
    files.iter().map(read).collect()
}

fn spec(name: &str) -> PathBuf {
    Path::new(DATASETS).join(name).join("spec.toml")
}

#[test]
fn planted_is_the_same_for_any_jobs_and_whole() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (one, four) = (dir.path().join("one"), dir.path().join("four"));
    for (out, jobs) in [(&one, "1"), (&four, "4")] {
        synth(&spec("planted"), out, &["--jobs", jobs, "--quiet"]).ends(0);
    }
    assert_eq!(bytes(&one), bytes(&four));
    let card = std::fs::read(spec("planted").with_file_name("dataset.toml"));
    assert_eq!(bytes(&one).pop(), card.ok(), "the card is committed");
    deadloop(&["check", &one.display().to_string()]).ends(0);
    let again = synth(&spec("planted"), &one, &[]);
    assert_eq!(again.status.code(), Some(2), "not without --force");
    again.says("--force");
    let forced = synth(&spec("planted"), &one, &["--force", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&forced.stdout).expect("JSON on stdout");
    assert_eq!(told["items"]["words"]["loops"], 20);
    assert_eq!(bytes(&one), bytes(&four));
}

#[test]
fn hard_negatives_and_the_starter_are_committed_as_they_are_made() {
    for corpus in ["negatives", "puzzles", "starter"] {
        let dir = tempfile::tempdir().expect("a temporary folder");
        synth(&spec(corpus), dir.path(), &["--quiet"]).ends(0);
        let committed = Path::new(DATASETS).join(corpus);
        let splits = |folder: &Path| std::fs::read(folder.join("splits.csv")).expect("it is there");
        assert_eq!(splits(dir.path()), splits(&committed), "{corpus}");
        assert!(bytes(dir.path()) == bytes(&committed), "{corpus}");
    }
}

#[test]
fn bad_specs_and_foreign_folders_are_refused() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).expect("a temporary folder is writable");
        path
    };
    let head = "name = \"x\"\nseed = 1\n";
    let source = "[[source]]\nname = \"a\"\ntext = \"a.txt\"\nlang = \"en\"\n";
    let item = "[[item]]\nname = \"i\"\nkind = \"clean\"\ncount = 1\n";
    write(
        "a.txt",
        "A paragraph.\n\nAnother one, which is a little longer.\n",
    );
    let out = dir.path().join("out");
    let cases = [
        (
            format!("{head}{source}[[item]]\nname = \"i\"\nkind = \"clene\"\ncount = 1\n"),
            "spec.toml:9: kind = \"clene\" (did you mean \"clean\"?); expected short-sequence | ",
        ),
        (
            format!("{head}{}{item}", source.replace("a.txt", "b.txt")),
            "b.txt: cannot be read",
        ),
        (
            format!("{head}{source}{item}"),
            "spec.toml:7: i/000 cannot be made: too little clean text; expected",
        ),
    ];
    for (text, told) in cases {
        let run = synth(&write("spec.toml", &text), &out, &["--force"]).ends(2);
        run.says(told);
        assert!(
            !out.join("transcripts/synth.jsonl.zst").exists(),
            "nothing half made"
        );
    }
    std::fs::write(out.join("transcripts/mine.jsonl"), "{}").expect("it is writable");
    let good = format!("{head}{source}{item}chars = [5, 20]\n");
    let run = synth(&write("spec.toml", &good), &out, &["--force"]).ends(2);
    run.says("holds transcripts/mine.jsonl");
    let keys = deadloop(&["synth", "--keys", "--json"]);
    let keys: serde_json::Value = serde_json::from_slice(&keys.stdout).expect("JSON on stdout");
    assert!(keys.as_array().is_some_and(|keys| keys.len() > 60));
}

/// Shapes of agents of today are made on demand: their card is committed, and they are whole.
#[test]
fn shapes_of_agents_are_whole() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    synth(&spec("agents-shapes"), dir.path(), &["--quiet"]).ends(0);
    let card = std::fs::read(spec("agents-shapes").with_file_name("dataset.toml"));
    assert_eq!(bytes(dir.path()).pop(), card.ok(), "the card is committed");
    deadloop(&["check", &dir.path().display().to_string()]).ends(0);
}

/// Its transcripts too: whoever reads the walk of docs/agents.md has the same bytes.
#[test]
fn runs_of_agents_are_committed_as_they_are_made() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    synth(&spec("agents-starter"), dir.path(), &["--quiet"]).ends(0);
    assert_eq!(
        bytes(dir.path()),
        bytes(&Path::new(DATASETS).join("agents-starter"))
    );
    deadloop(&["check", &dir.path().display().to_string()]).ends(0);
}
