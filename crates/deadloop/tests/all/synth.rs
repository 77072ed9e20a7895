//! `deadloop synth` from outside: the same bytes for any number of threads, a corpus that is whole,
//! and errors that name file and line.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Place, ROOT, Ran};
use std::path::{Path, PathBuf};

fn bytes(corpus: &Path) -> Vec<Vec<u8>> {
    let listed = std::fs::read_dir(corpus.join("transcripts")).expect("synth made it");
    let mut files: Vec<PathBuf> = listed.map(|file| file.expect("a file").path()).collect();
    files.sort();
    files.extend(["labels.csv", "dataset.toml"].map(|name| corpus.join(name)));
    let read = |path: &PathBuf| std::fs::read(path).expect("synth wrote it");
    files.iter().map(read).collect()
}

/// Makes a corpus of the repository.
fn made(place: &Place, name: &str, out: &str, more: &str) {
    let synth = format!("synth --spec ROOT/datasets/{name}/spec.toml --out {out}");
    place.run(format!("{synth} {more}")).ends(0);
}

/// A corpus as it is committed.
fn committed(name: &str) -> PathBuf {
    Path::new(ROOT).join("datasets").join(name)
}

#[test]
fn planted_is_the_same_for_any_jobs_and_whole() {
    let place = Place::new();
    made(&place, "planted", "one", "--jobs 1 --quiet");
    made(&place, "planted", "four", "--jobs 4 --quiet");
    let [one, four] = ["one", "four"].map(|name| bytes(&place.path(name)));
    assert_eq!(one, four);
    let card = std::fs::read(committed("planted").join("dataset.toml"));
    assert_eq!(one.last(), card.ok().as_ref(), "the card is committed");
    place.run("check one").ends(0);
    let synth = "synth --spec ROOT/datasets/planted/spec.toml --out one";
    place.run(synth).ends(2).says("--force");
    let told = place.run(format!("{synth} --force --json")).json();
    assert_eq!(told["items"]["words"]["loops"], 20);
    assert_eq!(bytes(&place.path("one")), four);
}

/// Transcripts too: whoever reads the walk of docs/agents.md has the same bytes.
#[test]
fn hard_negatives_runs_and_the_starter_are_committed_as_they_are_made() {
    for corpus in ["negatives", "puzzles", "starter", "agents-starter"] {
        let place = Place::new();
        made(&place, corpus, "made", "--quiet");
        let (made, committed) = (place.path("made"), committed(corpus));
        let splits = |folder: &Path| std::fs::read(folder.join("splits.csv")).ok();
        assert_eq!(splits(&made), splits(&committed), "{corpus}");
        assert!(bytes(&made) == bytes(&committed), "{corpus}");
        if corpus == "agents-starter" {
            place.run("check made").ends(0);
        }
    }
}

#[test]
fn bad_specs_and_foreign_folders_are_refused() {
    let place = Place::new();
    let head = "name = \"x\"\nseed = 1\n";
    let source = "[[source]]\nname = \"a\"\ntext = \"a.txt\"\nlang = \"en\"\n";
    let item = "[[item]]\nname = \"i\"\nkind = \"clean\"\ncount = 1\n";
    let text = "A paragraph.\n\nAnother one, which is a little longer.\n";
    place.file("a.txt", text);
    let synth = "synth --spec spec.toml --out out --force";
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
        place.file("spec.toml", text);
        place.run(synth).ends(2).says(told);
        let half = place.path("out/transcripts/synth.jsonl.zst");
        assert!(!half.exists(), "nothing half made");
    }
    place.file("out/transcripts/mine.jsonl", "{}");
    let good = format!("{head}{source}{item}chars = [5, 20]\n");
    place.file("spec.toml", good);
    let run = place.run(synth).ends(2);
    run.says("holds transcripts/mine.jsonl");
    let keys = place.run("synth --keys --json").json();
    assert!(keys.as_array().is_some_and(|keys| keys.len() > 60));
}

/// Shapes of agents of today are made on demand: their card is committed, and they are whole.
#[test]
fn shapes_of_agents_are_whole() {
    let place = Place::new();
    made(&place, "agents-shapes", "made", "--quiet");
    let card = std::fs::read(committed("agents-shapes").join("dataset.toml"));
    let made = bytes(&place.path("made")).pop();
    assert_eq!(made, card.ok(), "the card is committed");
    place.run("check made").ends(0);
}
