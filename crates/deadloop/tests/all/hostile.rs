//! A law over all commands that write: what one of them writes every other reads, whatever ids, models,
//! groups and notes are called.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::program;

use std::path::{Path, PathBuf};

use program::{code, deadloop, stderr};
use serde_json::json;

/// What ids, models, groups and splits are called.
const NAMES: [&str; 16] = [
    "line\nbreak",
    "cr\r\nlf",
    "\nfirst",
    "last\n",
    "=1+1",
    "@everyone",
    "-2+3",
    "-5",
    "'=z",
    " before",
    "after ",
    "a\"quote",
    "\"quoted\"",
    "x,y",
    "\u{feff}mark\u{2028}\u{202e}",
    "tab\tnul\u{0}<script>|`*`",
];

fn corpus(dir: &Path) -> PathBuf {
    let corpus = dir.join("corpus");
    std::fs::create_dir_all(corpus.join("transcripts")).unwrap();
    let mut splits = csv::Writer::from_path(corpus.join("splits.csv")).unwrap();
    splits.write_record(["transcript", "split"]).unwrap();
    let mut lines = String::new();
    for (i, name) in NAMES.iter().enumerate() {
        let text = match i % 2 {
            0 => "This is a line that comes again and again, as it was. ".repeat(60),
            _ => format!("Nothing of the sort is said in number {i}."),
        };
        let line = json!({
            "id": name, "model": NAMES[i % 5], "group": name, "profile": name, "lang": name,
            "meta": {"source": name}, "answer": text,
        });
        lines += &format!("{line}\n");
        splits.write_record([name, ["dev", "test"][i % 2]]).unwrap();
    }
    splits.flush().unwrap();
    std::fs::write(corpus.join("transcripts/t.jsonl"), lines).unwrap();
    corpus
}

/// Runs it; how it has to end.
fn ran(words: &[&str], wanted: &[i32]) -> String {
    let run = deadloop(words);
    let ended = code(&run);
    assert!(
        ended.is_some_and(|code| wanted.contains(&code)),
        "{words:?} ended with {ended:?}: {}",
        stderr(&run)
    );
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn what_one_command_writes_every_other_reads() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let corpus = corpus(dir.path()).display().to_string();
    ran(&["check", &corpus], &[0]);
    ran(&["label", &corpus], &[0]);
    let (again, json, merged) = (at("again"), at("again.csv"), at("merged.csv"));
    ran(&["import", &corpus, "--out", &again], &[0]);
    ran(&["label", &again, "--out", &json], &[0]);
    for corpus in [&corpus, &again] {
        ran(&["check", corpus], &[0]);
        let merge = ["label", "--merge", corpus, &json, "--out", &merged];
        let told = ran(&[&merge[..], &["--force", "--json"]].concat(), &[0]);
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["merged"]["nobody"], NAMES.len(), "{told}");
        // An argument of a program cannot hold a NUL.
        for name in NAMES.iter().filter(|name| !name.contains('\0')) {
            ran(&["explain", corpus, "--", name], &[0]);
        }
    }
    let (out, other, flips) = (at("out"), at("other"), at("flips"));
    let setting = dir.path().join("s.toml");
    let text = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = 50\n";
    std::fs::write(&setting, text).unwrap();
    let setting = setting.display().to_string();
    let replay = ["replay", "--csv", "--by", "meta.source", "--out"];
    ran(&[&replay[..], &[&out, &corpus]].concat(), &[0]);
    ran(
        &[&replay[..], &[&other, &again, "--settings", &setting]].concat(),
        &[0],
    );
    ran(&["compare", &out, &other, "--out", &flips], &[0, 100]);
    // From the table for people too.
    std::fs::remove_file(Path::new(&out).join("outcomes.parquet")).unwrap();
    let same = ran(&["compare", &out, &other, "--json"], &[0, 100]);
    assert!(!same.is_empty());
    let cells = csv::Reader::from_path(Path::new(&out).join("outcomes.csv"));
    for row in cells.unwrap().records() {
        for cell in &row.unwrap() {
            let runs = cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
            assert!(!runs, "{cell:?}");
        }
    }
    ran(&["report", &other], &[0]);
    let tuned = at("tuned");
    ran(&["tune", &corpus, "--out", &tuned], &[0, 5, 6]);
    ran(&["report", &tuned], &[0]);
}
