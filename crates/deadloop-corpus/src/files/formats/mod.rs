//! The file formats of a corpus, listed in `FORMATS`.
//!
//! A format is recognised by its first bytes if it has a mark there (Parquet), otherwise by the file's name. The
//! default is JSON lines. A new format needs a file with an `ENTRY` in this folder, `mod x;`, and `&x::ENTRY` here.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::NamedTempFile;

use crate::files::{Raw, ReadProgress, RecordDigest, open_file};
use crate::transcript::wire::{Wire, WireFault};
use crate::{Cost, Entry, Place, Problem};

pub(crate) mod jsonl;
pub mod parquet;

/// Every supported format.
pub(crate) const FORMATS: &[&Format] = &[&jsonl::ENTRY, &parquet::ENTRY];

/// The registry entry of a format.
pub(crate) struct Format {
    /// The name in messages.
    pub(crate) name: &'static str,
    /// The endings of file names. In a folder only files with such endings are read.
    pub(crate) endings: &'static [&'static str],
    /// The first bytes of every file of the format. Empty if the format has no mark.
    pub(crate) magic: &'static [u8],
    /// The function that reads the records of an open file in order.
    pub(crate) read: fn(Source) -> Records,
    /// The function that begins a file. It may use the path's ending.
    pub(crate) create: fn(NamedTempFile, &Path, Effort) -> io::Result<Box<dyn Sink>>,
}

/// The records of a file, in order and in bounded memory. It ends after an error from which reading cannot continue.
pub(crate) type Records = Box<dyn Iterator<Item = Result<Raw, Problem>> + Send>;

/// An undecoded record, in the representation of its format.
pub(crate) trait Record: Send + Sync {
    /// Decodes the fields.
    fn decode(&self) -> Result<Wire, WireFault>;
    /// Returns a digest of the bytes.
    fn digest(&self) -> RecordDigest;
    /// Returns the number of bytes in memory.
    fn bytes(&self) -> usize;
}

/// The effort to write a small file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// The effort for a file that is kept: a tenth smaller, at several times the cost.
    Kept,
    /// The effort for a file whose writing is waited for.
    Quick,
}

/// A file being written.
pub(crate) trait Sink: Send {
    /// Writes a transcript.
    fn write(&mut self, entry: &Entry) -> io::Result<()>;
    /// Writes the rest and returns the file.
    fn finish(self: Box<Self>) -> io::Result<NamedTempFile>;
}

/// An open file before reading.
pub(crate) struct Source {
    /// The path, as a user would write it.
    pub(crate) path: Arc<PathBuf>,
    /// The file, at its beginning.
    pub(crate) file: File,
    /// The counter of the bytes read.
    pub(crate) progress: ReadProgress,
}

impl Source {
    /// Returns the place of a line of this file.
    pub(crate) fn place(&self, line: u64) -> Place {
        Place::new(Arc::clone(&self.path), line)
    }
}

/// Returns whether a file with this name belongs to a corpus.
pub(crate) fn is_transcripts(path: &Path) -> bool {
    named(path).is_some()
}

/// Returns the format of a file name.
pub(crate) fn named(path: &Path) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| format.names(path))
}

/// Opens a file, detects its format and begins to read.
pub(crate) fn open(path: &Arc<PathBuf>, progress: ReadProgress) -> Result<Records, Problem> {
    let unreadable = |e: std::io::Error| {
        let place = Place::new(Arc::clone(path), 0);
        let problem = Problem::new(place, format!("cannot be read: {e}"), "a readable file");
        problem.costing(Cost::from_error(&e))
    };
    let mut file = open_file(path).map_err(unreadable)?;
    let mut head = Vec::with_capacity(8);
    file.by_ref()
        .take(8)
        .read_to_end(&mut head)
        .map_err(unreadable)?;
    file.rewind().map_err(unreadable)?;
    let source = Source {
        path: Arc::clone(path),
        file,
        progress,
    };
    let format =
        recognize(path, &head).map_err(|fault| fault.costing(Cost::Unread).at(source.place(0)))?;
    Ok((format.read)(source))
}

fn recognize(path: &Path, head: &[u8]) -> Result<&'static Format, WireFault> {
    let marked = |format: &&&Format| !format.magic.is_empty() && head.starts_with(format.magic);
    if let Some(format) = FORMATS.iter().find(marked) {
        return Ok(format);
    }
    match named(path) {
        Some(format) if !format.magic.is_empty() => {
            let mark = String::from_utf8_lossy(format.magic);
            let what = format!("the name says {}, the bytes do not", format.name);
            Err(WireFault::new(
                what,
                format!("a file that begins with {mark}"),
            ))
        }
        Some(format) => Ok(format),
        None => Ok(&jsonl::ENTRY),
    }
}

impl Format {
    fn names(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.endings.iter().any(|ending| name.ends_with(ending))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_here_is_registered() {
        let names = FORMATS.iter().map(|format| format.name);
        crate::registered("src/files/formats", names.collect());
    }

    #[test]
    fn bytes_go_before_names() {
        let name = |path: &str, head: &[u8]| recognize(Path::new(path), head).map(|f| f.name);
        assert_eq!(name("x.jsonl", b"PAR1"), Ok("parquet"));
        assert_eq!(name("x.anything", b"{\"id\""), Ok("jsonl"));
        assert_eq!(name("x.jsonl.gz", b"\x1f\x8b"), Ok("jsonl"));
        assert!(name("x.parquet", b"{}").is_err());
    }
}
