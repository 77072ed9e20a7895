//! Helpers of the tests of this crate, for corpora on disk.
#![allow(dead_code, reason = "each test file uses a part")]

use std::io::Write;
use std::path::{Path, PathBuf};

use deadloop_corpus::{Corpus, Entry, Problem};
use tempfile::TempDir;

/// Creates a file with these bytes in a new folder.
pub(crate) fn file(name: &str, bytes: &[u8]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (dir, path)
}

/// Reads all entries and problems of a file, in order.
pub(crate) fn read(path: &Path) -> Vec<Result<Entry, Problem>> {
    Corpus::open(path).unwrap().entries().collect()
}

/// Reads lines: ids, or `line: what; expected`.
pub(crate) fn told(bytes: &[u8]) -> Vec<String> {
    told_of("x.jsonl", bytes)
}

pub(crate) fn told_of(name: &str, bytes: &[u8]) -> Vec<String> {
    let (_dir, path) = file(name, bytes);
    read(&path).into_iter().map(tell).collect()
}

pub(crate) fn tell(item: Result<Entry, Problem>) -> String {
    match item {
        Ok(entry) => entry.transcript.id,
        Err(p) => format!("{}: {}; expected {}", p.place.line, p.what, p.expected),
    }
}

/// Parses the transcript of a line.
pub(crate) fn one(line: &str) -> Entry {
    let (_dir, path) = file("x.jsonl", line.as_bytes());
    read(&path).pop().unwrap().unwrap()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

pub(crate) fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}
