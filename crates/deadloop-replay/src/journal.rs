//! [`Journal`]: the file from which an interrupted run is resumed.
//!
//! The first line identifies the run. Each further line is the result for one transcript, in corpus order except for
//! those that an interruption left out. An incomplete last line is dropped when the journal is opened again.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deadloop_corpus::option::{FORCE, OUT};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An open journal, positioned at its end.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: BufWriter<File>,
}

#[derive(Serialize, Deserialize)]
struct JournalHeader {
    deadloop: String,
    inputs: String,
}

/// The result for one transcript, which is one line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry<T> {
    /// The id of the transcript.
    #[serde(serialize_with = "write_id", deserialize_with = "read_id")]
    pub transcript: Arc<str>,
    /// The result that the subject computed for the transcript.
    pub said: T,
}

/// The reasons why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The journal belongs to other inputs.
    #[error(
        "{}: belongs to an unfinished run of other inputs (corpus, grid, options or version changed); finish that one, choose another {out}, or start anew with {force}",
        .0.display(), out = OUT, force = FORCE
    )]
    OtherInputs(PathBuf),
    /// Another run has locked the journal.
    #[error("{}: another run writes to this folder; wait for it, or choose another {out}", .0.display(), out = OUT)]
    Busy(PathBuf),
    /// The journal cannot be read or written.
    #[error("{}: {}", .0.display(), .1)]
    Io(PathBuf, io::Error),
}

impl Journal {
    /// Opens or creates the journal at `path`. Returns the journal and the entries that it already has.
    ///
    /// `inputs` is a text that differs whenever the results could differ. With `force`, a journal of other inputs is
    /// discarded.
    pub fn open<T: DeserializeOwned>(
        path: &Path,
        inputs: &str,
        force: bool,
    ) -> Result<(Self, Vec<JournalEntry<T>>), JournalError> {
        let io = |e| JournalError::Io(path.to_path_buf(), e);
        let header = JournalHeader {
            deadloop: env!("CARGO_PKG_VERSION").into(),
            inputs: inputs.into(),
        };
        let header = serde_json::to_string(&header).map_err(|e| io(e.into()))? + "\n";
        let open = || {
            OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)
        };
        let mut file = open().map_err(io)?;
        // The lock lasts until the file is closed, however the run ends.
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(JournalError::Busy(path.to_path_buf())),
            // Without locks in the file system, two runs cannot be distinguished.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let mut reader = BufReader::new(&mut file);
        let mut first = String::new();
        // A journal whose header is cut short, or is not text, counts as empty.
        let read = reader.read_line(&mut first);
        let is_ours = read.is_ok() && first == header;
        if !is_ours && first.ends_with('\n') && !force {
            return Err(JournalError::OtherInputs(path.to_path_buf()));
        }
        let (entered, end) = if is_ours {
            read_whole_lines(reader, header.len())
        } else {
            (Vec::new(), 0)
        };
        file.set_len(end).map_err(io)?;
        file.seek(io::SeekFrom::End(0)).map_err(io)?;
        let mut journal = Self {
            path: path.to_path_buf(),
            file: BufWriter::new(file),
        };
        if !is_ours {
            journal.file.write_all(header.as_bytes()).map_err(io)?;
        }
        journal.flush()?;
        Ok((journal, entered))
    }

    /// Appends an entry.
    pub fn push(&mut self, entered: &JournalEntry<impl Serialize>) -> Result<(), JournalError> {
        let line = serde_json::to_string(entered).map_err(io::Error::from);
        let written = line.and_then(|line| writeln!(self.file, "{line}"));
        written.map_err(|e| JournalError::Io(self.path.clone(), e))
    }

    /// Writes the appended entries to the disk.
    pub fn flush(&mut self) -> Result<(), JournalError> {
        self.file
            .flush()
            .map_err(|e| JournalError::Io(self.path.clone(), e))
    }

    /// Removes the journal after the results of the run were written.
    pub fn remove(self) -> Result<(), JournalError> {
        std::fs::remove_file(&self.path).map_err(|e| JournalError::Io(self.path.clone(), e))
    }
}

/// Reads the complete lines. Returns their entries, and the offset of the end of the last one.
fn read_whole_lines<T: DeserializeOwned>(
    mut reader: impl BufRead,
    header: usize,
) -> (Vec<JournalEntry<T>>, u64) {
    let mut entered = Vec::new();
    let mut end = header as u64;
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        let Some(text) = line.strip_suffix(b"\n") else {
            break;
        };
        let Ok(one) = serde_json::from_slice(text) else {
            break;
        };
        entered.push(one);
        end += line.len() as u64;
        line.clear();
    }
    (entered, end)
}

fn write_id<S: Serializer>(id: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(id)
}

fn read_id<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
    String::deserialize(from).map(Arc::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Covers every cut, also one where only the line end is missing.
    #[test]
    fn a_torn_last_line_is_no_line() {
        let line = |id: &str| {
            let entered = JournalEntry {
                transcript: id.into(),
                said: 7,
            };
            serde_json::to_string(&entered).expect("plain data") + "\n"
        };
        let (first, last) = (line("first"), line("last"));
        let text = format!("header\n{first}{last}");
        let end = text.len() - last.len();
        for cut in 0..=last.len() {
            let (header, rest) = text[..text.len() - cut].split_at("header\n".len());
            let (entered, whole) = read_whole_lines::<u64>(rest.as_bytes(), header.len());
            let ids: Vec<&str> = entered.iter().map(|r| &*r.transcript).collect();
            let wanted = match cut {
                0 => (vec!["first", "last"], text.len()),
                _ => (vec!["first"], end),
            };
            assert_eq!((ids, whole), (wanted.0, wanted.1 as u64), "{cut} cut");
        }
    }
}
