//! Parquet files that deadloop did not write, and broken ones.
#![allow(clippy::unwrap_used, reason = "a test")]
use crate::kit;

use std::fs::File;
use std::path::Path;

use deadloop_corpus::{Corpus, CorpusWriter};
use deadloop_tables::{ColumnDoc, ParquetWriter, schema};
use kit::{file, one, read, tell, told_of};
use serde_json::json;

/// A column as a frame.
type Column = deadloop_tables::DataFrame;

/// Writes columns, two rows in a row group.
fn table(path: &Path, columns: &[(Column, Vec<ColumnDoc>)]) {
    let docs: Vec<ColumnDoc> = columns.iter().flat_map(|(_, docs)| docs.clone()).collect();
    let mut writer = ParquetWriter::new(File::create(path).unwrap(), &docs).unwrap();
    let (first, rest) = columns.split_first().unwrap();
    let all = rest.iter().fold(first.0.clone(), |all, (column, _)| {
        all.hstack(column.columns()).unwrap()
    });
    for from in (0..all.height()).step_by(2) {
        writer.write(&all.slice(from as i64, 2)).unwrap();
    }
    writer.finish().unwrap();
}

fn told(columns: &[(Column, Vec<ColumnDoc>)]) -> Vec<String> {
    let (_dir, path) = file("x.parquet", b"");
    table(&path, columns);
    read(&path).into_iter().map(tell).collect()
}

/// A column of texts; what is empty is null.
fn text(name: &'static str, cells: &[&'static str]) -> (Column, Vec<ColumnDoc>) {
    let schema = schema![&'static str; (name, Text, "A text.", |cell| Some(*cell).filter(|text| !text.is_empty()))];
    (schema.frame(cells), schema.described())
}

fn floats(name: &'static str, cells: &[f64]) -> (Column, Vec<ColumnDoc>) {
    let schema = schema![f64; (name, Float, "A number.", |cell| *cell)];
    (schema.frame(cells), schema.described())
}

fn ints(name: &'static str, cells: &[i64]) -> (Column, Vec<ColumnDoc>) {
    let schema = schema![i64; (name, Int, "A number.", |cell| *cell)];
    (schema.frame(cells), schema.described())
}

#[test]
fn columns_are_read_over_row_groups_and_bad_rows_are_told() {
    let (_dir, path) = file("x.parquet", b"");
    let event = r#"[{"type":"answer","text":"two"}]"#;
    let columns = [
        text("id", &["a", "b", "c", "", "e"]),
        text("text", &["one", "", "x", "y", "<think>r</think>a"]),
        text("events", &["", event, "[", "", ""]),
        text("meta", &[r#"{"k":1}"#, "", "", "", ""]),
        text("extra", &["kept", "", "", "", ""]),
        ints("n", &[1, -2, 3, 4, 5]),
        floats("f", &[1.5, 2.0, 3.0, 4.0, f64::NAN]),
    ];
    table(&path, &columns);
    let all = read(&path);
    let first = all[0].as_ref().unwrap();
    assert_eq!(first.transcript.answer(), "one");
    assert_eq!(first.transcript.meta["k"], 1);
    let rest = json!({"extra": "kept", "n": 1, "f": 1.5});
    assert_eq!(json!(first.rest), rest);
    assert_eq!(all[1].as_ref().unwrap().transcript.answer(), "two");
    assert_eq!(all[4].as_ref().unwrap().transcript.reasoning(), "r");
    let told: Vec<_> = all.into_iter().map(tell).collect();
    assert!(
        told[2].starts_with("3: `events`: not JSON: EOF"),
        "{told:?}"
    );
    assert!(told[3].starts_with("4: no `id`; expected"), "{told:?}");
    let corpus = Corpus::open(&path).unwrap();
    let mut raws = corpus.raws();
    assert_eq!(raws.by_ref().count(), 5);
    assert!(raws.bytes_read() > 0 && raws.bytes_read() <= raws.total_bytes());
}

#[test]
fn missing_and_mistyped_columns() {
    let a = || text("id", &["a"]);
    for (columns, what) in [
        (
            vec![text("text", &["x"])],
            "0: no column `id`; expected a column `id` of text",
        ),
        (
            vec![ints("id", &[1])],
            "0: the column `id` is of type i64; expected text",
        ),
        (
            vec![a(), floats("events", &[1.5])],
            "0: the column `events` is of type f64; expected text (JSON)",
        ),
        (
            vec![a()],
            "1: no events and no text; expected `events`, or `text`, or `reasoning` and `answer`",
        ),
    ] {
        assert_eq!(told(&columns), [what]);
    }
}

fn written_elsewhere(name: &str) -> Vec<Result<deadloop_corpus::Entry, deadloop_corpus::Problem>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/formats/parquet");
    read(&Path::new(folder).join(name))
}

/// Of a file that polars for Python wrote, with categories, dates and whatever else it has types for.
#[test]
fn columns_of_any_type_are_kept() {
    let all = written_elsewhere("types.parquet").into_iter();
    let all: Vec<_> = all.map(Result::unwrap).collect();
    let transcript = &all[0].transcript;
    assert_eq!(transcript.model, "m1");
    assert_eq!(transcript.lang.as_deref(), Some("en"));
    assert_eq!(all[2].transcript.model, "unknown");
    let expected = json!({
        "quality": "good", "at": "2025-01-02T03:04:05", "at_ns": "2025-01-02T03:04:05",
        "at_utc": "2025-01-02T03:04:05+00:00", "at_paris": "2025-01-02T03:04:05 CET",
        "day": "2025-01-02", "clock": "03:04:05", "took": "61005000us", "tags": ["x", "y"],
        "who": {"n": 1, "s": "p"}, "raw": "ab", "u": 1, "f": 1.5, "ok": true,
    });
    assert_eq!(json!(all[0].rest), expected);
    assert_eq!(all[1].rest["at"], "2025-01-02T03:04:05.250");
}

#[test]
fn a_type_that_cannot_be_kept_is_named_with_its_column() {
    let told = written_elsewhere("array.parquet").into_iter().map(tell);
    let right = "0: the column `arr` is of type fixedsizelist; expected text (JSON)";
    assert_eq!(told.collect::<Vec<_>>(), [right]);
}

#[test]
fn a_name_that_promises_parquet_and_a_file_that_is_cut() {
    let promised =
        "0: the name says parquet, the bytes do not; expected a file that begins with PAR1";
    assert_eq!(told_of("x.parquet", b"{}"), [promised]);
    let bytes = small();
    let told = told_of("x.parquet", &bytes[..bytes.len() - 5]);
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("0: broken Parquet: "), "{}", told[0]);
}

fn small() -> Vec<u8> {
    let (dir, _) = file("unused", b"");
    let path = dir.path().join("x.parquet");
    let mut writer = CorpusWriter::create(&path, false).unwrap();
    for n in 0..3 {
        let line = json!({"id": n.to_string(), "answer": "abc"});
        writer.write(&one(&line.to_string())).unwrap();
    }
    writer.finish().unwrap();
    std::fs::read(path).unwrap()
}

/// A file that is cut short, at any place, is a problem.
#[test]
fn a_file_that_is_cut_short_is_a_problem() {
    let bytes = small();
    for cut in [4, 5, 12, bytes.len() / 2, bytes.len() - 9, bytes.len() - 1] {
        let (_dir, path) = file("x.parquet", &bytes[..cut]);
        let read: Vec<_> = Corpus::open(&path).unwrap().entries().take(100).collect();
        assert_eq!(read.len(), 1, "cut at {cut}");
        assert!(read[0].is_err(), "cut at {cut}");
    }
}

/// Every byte of a file as several others: rows or a problem, and nothing that ends the program (as
/// polars does where it makes room for as much as a spoilt file says).
#[test]
fn a_spoilt_byte_is_told_or_does_no_harm() {
    let bytes = small();
    let (_dir, path) = file("x.parquet", b"");
    for at in 4..bytes.len() {
        for byte in [0, 1, 0x15, 0x7f, 0x80, 0xff, bytes[at] ^ 0x08] {
            let mut spoilt = bytes.clone();
            spoilt[at] = byte;
            std::fs::write(&path, spoilt).unwrap();
            let entries = Corpus::open(&path).map(|corpus| corpus.entries().take(100).count());
            assert_ne!(entries.ok(), Some(0), "{byte} at {at}");
        }
    }
}
