//! What is named in a corpus and cannot be read is an error that names the file, and never taken for absent.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::program;

use std::path::Path;

use program::{Ran, code, deadloop, file, has, stderr};

const LINES: &str = "{\"id\":\"a\",\"answer\":\"It is fine.\",\"labels\":[{\"class\":\"clean\"}]}\n\
                     {\"id\":\"b\",\"answer\":\"So is it.\",\"labels\":[{\"class\":\"clean\"}]}\n";

/// Puts something at a name that cannot be read as a file; whether that can be done here.
fn put(path: &Path, how: &str) {
    match how {
        "link" => std::os::unix::fs::symlink("/nowhere/at/all", path).unwrap(),
        "folder" => std::fs::create_dir(path).unwrap(),
        _ => {
            let made = std::process::Command::new("mkfifo").arg(path).status();
            assert!(made.unwrap().success());
        }
    }
}

#[test]
fn a_part_of_a_corpus_that_cannot_be_read_is_named_by_every_command() {
    for part in ["labels.csv", "splits.csv", "dataset.toml"] {
        for how in ["link", "folder", "pipe"] {
            let dir = tempfile::tempdir().unwrap();
            let corpus = dir.path().join("corpus");
            std::fs::create_dir_all(corpus.join("transcripts")).unwrap();
            file(&corpus.join("transcripts"), "t.jsonl", LINES);
            put(&corpus.join(part), how);
            let corpus = corpus.display().to_string();
            let at = |name: &str| dir.path().join(name).display().to_string();
            let (out, csv) = (at("out"), at("x.csv"));
            let commands = [
                &["check", &corpus, "--quiet"][..],
                &["replay", &corpus, "--out", &out],
                &["replay", &corpus, "--out", &out, "--on-bad", "skip"],
                &["tune", &corpus, "--out", &out],
                &["label", &corpus, "--force"],
                &["label", &corpus, "--out", &csv],
                &["label", "--merge", &corpus, &corpus, "--out", &csv],
                &["explain", &corpus, "a"],
                &["import", &corpus, "--out", &at("imported")],
            ];
            for words in commands {
                let run = deadloop(words);
                let said = stderr(&run);
                assert_eq!(code(&run), Some(2), "{how} {part} {words:?}: {said}");
                assert!(said.contains(part), "{how} {part} {words:?}: {said}");
            }
        }
    }
}

/// A report is made from what a folder names, or not at all.
#[test]
fn a_part_of_a_result_that_cannot_be_read_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = file(dir.path(), "t.jsonl", LINES);
    for how in ["link", "folder", "pipe"] {
        let out = dir.path().join(how);
        let out_is = out.display().to_string();
        deadloop(&["replay", &corpus, "--out", &out_is, "--quiet"]).ends(0);
        put(&out.join("settings.toml"), how);
        let run = deadloop(&["report", &out_is]);
        let said = stderr(&run);
        assert_eq!(code(&run), Some(2), "{how}: {said}");
        assert!(said.contains("settings.toml"), "{how}: {said}");
    }
}

#[test]
fn a_labels_file_that_is_named_outright_is_read_or_told() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = file(dir.path(), "t.jsonl", LINES);
    for how in ["link", "folder", "pipe"] {
        let csv = dir.path().join(format!("{how}.csv"));
        put(&csv, how);
        let csv = csv.display().to_string();
        let merged = dir.path().join("merged.csv").display().to_string();
        for words in [
            &["label", "--merge", &csv, &csv, "--out", &merged][..],
            &["label", &corpus, "--review", "--out", &csv],
            &["label", &corpus, "--out", &csv, "--force"],
        ] {
            let run = deadloop(words);
            let said = stderr(&run);
            assert_eq!(code(&run), Some(2), "{how} {words:?}: {said}");
            assert!(said.contains(&csv), "{how} {words:?}: {said}");
        }
    }
}

/// A file of a result that leads nowhere is not one that was never written.
#[test]
fn so_is_a_part_of_a_result() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = file(dir.path(), "t.jsonl", LINES);
    let out = dir.path().join("out").display().to_string();
    deadloop(&["replay", &corpus, "--out", &out, "--quiet"]).ends(0);
    for part in ["outcomes.parquet", "choice.csv"] {
        for how in ["link", "folder", "pipe"] {
            let path = Path::new(&out).join(part);
            let kept = std::fs::read(&path).ok();
            drop(std::fs::remove_file(&path));
            put(&path, how);
            let run = deadloop(&["compare", &out, &out]);
            let said = stderr(&run);
            assert!(!run.status.success(), "{how} {part}: {said}");
            assert!(said.contains(part), "{how} {part}: {said}");
            match how {
                "folder" => std::fs::remove_dir(&path).unwrap(),
                _ => std::fs::remove_file(&path).unwrap(),
            }
            if let Some(bytes) = kept {
                std::fs::write(&path, bytes).unwrap();
            }
        }
    }
}

/// Labels of transcripts that nobody has seen are of those, one line for all of them.
#[test]
fn a_file_that_cannot_be_read_is_told_and_not_each_of_its_labels() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus");
    std::fs::create_dir_all(corpus.join("transcripts")).unwrap();
    file(&corpus.join("transcripts"), "a.jsonl", LINES);
    put(&corpus.join("transcripts/b.jsonl"), "link");
    let rows: String = (0..50).map(|i| format!("t{i},clean,,,,,,,,,\n")).collect();
    let header = "transcript,class,kind,channel,start,onset,earliest,end,period,by,note\n";
    file(
        &corpus,
        "labels.csv",
        &format!("{header}a,clean,,,,,,,,,\n{rows}"),
    );
    let run = deadloop(&["check", &corpus.display().to_string(), "--quiet"]).ends(2);
    let said = stderr(&run);
    has(&said, "b.jsonl: cannot be read: a link to /nowhere");
    has(&said, "50 labels for no transcript that could be read");
    assert_eq!(said.lines().count(), 3, "{said}");
}

/// However few files may be open: it works, or it is said that there are too few, which is nobody's corpus.
#[test]
fn too_few_file_handles_are_no_fault_of_the_corpus() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus");
    std::fs::create_dir_all(corpus.join("transcripts")).unwrap();
    file(&corpus.join("transcripts"), "a.jsonl", LINES);
    file(
        &corpus,
        "labels.csv",
        "transcript,class,kind,channel,start,onset,earliest,end,period,by,note\na,clean,,,,,,,,,\n",
    );
    file(&corpus, "splits.csv", "transcript,split\na,dev\n");
    let program = env!("CARGO_BIN_EXE_deadloop");
    let mut refused = 0;
    for handles in 3..16 {
        let script = format!(
            "ulimit -n {handles}; exec {program} replay {} --quiet --force --out {}",
            corpus.display(),
            dir.path().join("out").display(),
        );
        let run = std::process::Command::new("sh")
            .args(["-c", &script])
            .output()
            .unwrap();
        let said = stderr(&run);
        match code(&run) {
            Some(0) => {}
            // The folder of results, or another file.
            Some(1 | 2) => {
                refused += 1;
                assert!(said.contains("Too many open files"), "{handles}: {said}");
            }
            // The program itself could not be loaded.
            Some(126 | 127) => {}
            other => panic!("{handles} handles: {other:?}: {said}"),
        }
    }
    assert!(refused > 0, "no limit was low enough");
}

#[test]
fn a_damaged_table_prints_no_panic() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = file(dir.path(), "t.jsonl", LINES);
    let out = dir.path().join("out").display().to_string();
    assert_eq!(
        code(&deadloop(&["replay", &corpus, "--out", &out, "--quiet"])),
        Some(0)
    );
    let sample = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/formats/import/table-messages.parquet"
    );
    let recording = std::fs::read(sample).unwrap();
    let table = Path::new(&out).join("outcomes.parquet");
    let result = std::fs::read(&table).unwrap();
    let damaged = dir.path().join("damaged.parquet");
    let imported = dir.path().join("imported").display().to_string();
    for part in 0..60 {
        for (bytes, path) in [(&recording, &damaged), (&result, &table)] {
            let mut bytes = bytes.clone();
            let at = bytes.len() - 1 - part * (bytes.len() / 2) / 60;
            bytes[at] ^= 0x55;
            std::fs::write(path, bytes).unwrap();
        }
        let damaged = damaged.display().to_string();
        for words in [
            &["import", &damaged, "--out", &imported, "--force"][..],
            &["compare", &out, &out],
        ] {
            let run = deadloop(words);
            let said = stderr(&run);
            assert!(
                code(&run).is_some_and(|code| code != 101),
                "{part} {words:?}: {said}"
            );
            assert!(
                !said.contains("panicked") && !said.contains("backtrace"),
                "{part} {words:?}: {said}"
            );
        }
    }
}
