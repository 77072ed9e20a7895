//! `--records`: lines that an engine made leave the bytes of a replay here, or are refused with what to do. The lines are
//! those of a part; that the Python package writes the same is tested in `bindings/python/tests/test_cluster.py`.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::fmt::Write as _;
use std::path::Path;

use deadloop_replay::{Grid, Plan};
use program::{code, deadloop, file, stderr};
use serde_json::json;
use sha2::{Digest, Sha256};

const GRID: &str = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = [3, 5, 9]\n";
const SPLITS: &str = "transcript,split\na,dev\nb,test\n";

/// A corpus of two files, and its grid.
fn made(dir: &Path) -> (String, String) {
    let inner = dir.join("corpus/transcripts");
    std::fs::create_dir_all(&inner).expect("a temporary folder is writable");
    let line = |id: &str, copies: usize| {
        let answer = "so the story goes on, ".repeat(copies);
        let label = json!({"class": "loop", "kind": "short-sequence", "channel": "answer", "start": 0, "onset": 22});
        json!({"id": id, "model": "m", "answer": answer, "labels": [label]}).to_string() + "\n"
    };
    file(&inner, "one.jsonl", &(line("a", 40) + &line("b", 3)));
    file(&inner, "two.jsonl", &line("c", 9));
    file(&dir.join("corpus"), "splits.csv", SPLITS);
    (
        dir.join("corpus").display().to_string(),
        file(dir, "grid.toml", GRID),
    )
}

/// The first line of a file of records.
fn head(grid: &str, splits: &str) -> String {
    let mut plan = Plan::default();
    let grid = Grid::parse(grid).expect("a grid");
    plan.add_grid(&grid).expect("a plan");
    let mut hex = String::new();
    for byte in Sha256::digest(splits) {
        write!(hex, "{byte:02x}").expect("text grows");
    }
    let sides = json!({ "splits.csv": hex });
    let head =
        json!({"deadloop": env!("CARGO_PKG_VERSION"), "plan": plan.fingerprint(), "sides": sides});
    head.to_string() + "\n"
}

/// The lines of a part of the whole corpus.
fn lines(dir: &Path, corpus: &str, grid: &str) -> Vec<String> {
    let part = dir.join("part").display().to_string();
    let run = deadloop(&[
        "sweep", corpus, "--grid", grid, "--shard", "1/1", "--out", &part, "-q",
    ]);
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    let packed = std::fs::read(dir.join("part/records.jsonl.zst")).expect("a part");
    let text = zstd::decode_all(packed.as_slice()).expect("it is packed");
    let text = String::from_utf8(text).expect("text");
    text.lines().map(|line| line.to_owned() + "\n").collect()
}

#[test]
fn lines_of_an_engine_make_the_part_that_a_replay_makes() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    let (corpus, grid) = made(dir);
    let text = head(GRID, SPLITS) + &lines(dir, &corpus, &grid).concat();
    let records = file(dir, "records.jsonl", &text);
    let other = dir.join("other").display().to_string();
    let run = deadloop(&[
        "sweep",
        &corpus,
        "--grid",
        &grid,
        "--shard",
        "1/1",
        "--records",
        &records,
        "--out",
        &other,
        "-q",
    ]);
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    for name in ["part.json", "records.jsonl.zst", "names.jsonl.zst"] {
        let both = ["part", "other"].map(|part| std::fs::read(dir.join(part).join(name)));
        let [a, b] = both.map(|bytes| bytes.expect("a file of a part"));
        assert!(a == b, "{name} differs");
    }
}

#[test]
fn lines_of_something_else_are_refused() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    let (corpus, grid) = made(dir);
    let lines = lines(dir, &corpus, &grid);
    let good = head(GRID, SPLITS);
    let turned: String = lines.iter().rev().cloned().collect();
    let cases = [
        (String::new(), "it is empty", &[][..]),
        (
            head(&GRID.replace('9', "8"), SPLITS),
            "made for another grid",
            &[],
        ),
        (
            head(GRID, "transcript,split\n"),
            "made with other labels",
            &[],
        ),
        (
            good.replace("\"deadloop\":\"", "\"deadloop\":\"9"),
            "install one version",
            &[],
        ),
        (good.clone() + &turned, "out of its order", &[]),
        (
            good.clone() + &lines[0] + &lines[0],
            "out of its order, or twice",
            &[],
        ),
        (
            good.clone() + "{\"at\": [0, 1]}\n",
            "not what a shard writes",
            &[],
        ),
        (
            good.clone() + &lines[0].replace("[0,1]", "[7,1]"),
            "no file of this shard",
            &[],
        ),
        (good.clone(), "leave out the filters", &["--split", "dev"]),
        (good.clone(), "leave out the filters", &["--chunks", "7"]),
    ];
    for (i, (text, said, more)) in cases.iter().enumerate() {
        let records = file(dir, "records.jsonl", text);
        let out = dir.join(format!("out-{i}")).display().to_string();
        let command = [
            "sweep",
            &corpus,
            "--grid",
            &grid,
            "--shard",
            "1/1",
            "--out",
            &out,
            "-q",
            "--records",
            &records,
        ];
        let run = deadloop(&[&command, *more].concat());
        assert_eq!(code(&run), Some(2), "{said}: {}", stderr(&run));
        assert!(stderr(&run).contains(said), "{said}: {}", stderr(&run));
        assert!(!dir.join(format!("out-{i}/part.json")).exists());
    }
}
