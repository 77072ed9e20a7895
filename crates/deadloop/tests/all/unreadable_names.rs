//! What is named in a corpus and cannot be read is an error that names the file, and never taken for absent.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::program;

use std::path::Path;

use program::{Place, Ran, code, stderr};

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
            let place = Place::new();
            place.file("corpus/transcripts/t.jsonl", LINES);
            put(&place.path("corpus").join(part), how);
            for line in [
                "check corpus --quiet",
                "replay corpus --out out",
                "replay corpus --out out --on-bad skip",
                "tune corpus --out out",
                "label corpus --force",
                "label corpus --out x.csv",
                "label --merge corpus corpus --out x.csv",
                "explain corpus a",
                "import corpus --out imported",
            ] {
                let run = place.run(line);
                let said = stderr(&run);
                assert_eq!(code(&run), Some(2), "{how} {part} {line}: {said}");
                assert!(said.contains(part), "{how} {part} {line}: {said}");
            }
        }
    }
}

/// A report and a comparison are made from what a folder names, or not at all.
#[test]
fn a_part_of_a_result_that_cannot_be_read_is_named() {
    let place = Place::new();
    place.file("t.jsonl", LINES);
    place.run("replay t.jsonl --out out --quiet").ends(0);
    for (part, line) in [
        ("settings.toml", "report out"),
        ("outcomes.parquet", "compare out out"),
        ("choice.csv", "compare out out"),
    ] {
        for how in ["link", "folder", "pipe"] {
            let path = place.path("out").join(part);
            let kept = std::fs::read(&path).ok();
            drop(std::fs::remove_file(&path));
            put(&path, how);
            let run = place.run(line);
            let said = stderr(&run);
            assert_eq!(code(&run), Some(2), "{how} {part}: {said}");
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

#[test]
fn a_labels_file_that_is_named_outright_is_read_or_told() {
    let place = Place::new();
    place.file("t.jsonl", LINES);
    for how in ["link", "folder", "pipe"] {
        let csv = format!("{how}.csv");
        put(&place.path(&csv), how);
        for line in [
            "label --merge CSV CSV --out merged.csv",
            "label t.jsonl --review --out CSV",
            "label t.jsonl --out CSV --force",
        ] {
            let run = place.run(line.replace("CSV", &csv)).ends(2);
            run.says(&csv);
        }
    }
}

/// Labels of transcripts that nobody has seen are of those, one line for all of them.
#[test]
fn a_file_that_cannot_be_read_is_told_and_not_each_of_its_labels() {
    let place = Place::new();
    place.file("corpus/transcripts/a.jsonl", LINES);
    put(&place.path("corpus/transcripts/b.jsonl"), "link");
    let rows: String = (0..50).map(|i| format!("t{i},clean,,,,,,,,,\n")).collect();
    let header = "transcript,class,kind,channel,start,onset,earliest,end,period,by,note\n";
    let labels = format!("{header}a,clean,,,,,,,,,\n{rows}");
    place.file("corpus/labels.csv", labels);
    let run = place.run("check corpus --quiet").ends(2);
    run.says("b.jsonl: cannot be read: a link to /nowhere");
    run.says("50 labels for no transcript that could be read");
    let said = stderr(&run);
    assert_eq!(said.lines().count(), 3, "{said}");
}

/// However few files may be open: it works, or it is said that there are too few, which is nobody's corpus.
#[test]
fn too_few_file_handles_are_no_fault_of_the_corpus() {
    let place = Place::new();
    place.file("corpus/transcripts/a.jsonl", LINES);
    place.file(
        "corpus/labels.csv",
        "transcript,class,kind,channel,start,onset,earliest,end,period,by,note\na,clean,,,,,,,,,\n",
    );
    place.file("corpus/splits.csv", "transcript,split\na,dev\n");
    let mut refused = 0;
    for handles in 3..16 {
        let script =
            format!("ulimit -n {handles}; exec \"$0\" replay corpus --quiet --force --out out");
        let run = std::process::Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_deadloop")])
            .current_dir(place.dir())
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
    let place = Place::new();
    place.file("t.jsonl", LINES);
    place.run("replay t.jsonl --out out --quiet").ends(0);
    let sample = format!(
        "{}/tests/formats/import/table-messages.parquet",
        program::ROOT
    );
    let recording = std::fs::read(sample).unwrap();
    let result = place.bytes("out/outcomes.parquet");
    for part in 0..60 {
        for (bytes, path, line) in [
            (
                &recording,
                "damaged.parquet",
                "import damaged.parquet --out imported --force",
            ),
            (&result, "out/outcomes.parquet", "compare out out"),
        ] {
            let mut bytes = bytes.clone();
            let at = bytes.len() - 1 - part * (bytes.len() / 2) / 60;
            bytes[at] ^= 0x55;
            place.file(path, bytes);
            let run = place.run(line);
            let said = stderr(&run);
            assert!(
                code(&run).is_some_and(|code| code != 101),
                "{part} {line}: {said}"
            );
            assert!(
                !said.contains("panicked") && !said.contains("backtrace"),
                "{part} {line}: {said}"
            );
        }
    }
}
