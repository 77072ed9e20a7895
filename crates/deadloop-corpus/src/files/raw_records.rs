//! [`RawRecords`]: reads the undecoded records of a corpus in order.
//!
//! [`Entries`] decodes them on the same thread.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::files::jsonl::{self, FileRecords};
use crate::files::{RecordDigest, think_options};
use crate::transcript::wire::{WireFault, WireResult, WireTranscript, read_utf8};
use crate::{Card, Corpus, Entry, Ids, Place, Problem};

/// An undecoded line with its place.
///
/// Reading a line is cheap, decoding it is expensive. [`Corpus::parse`] decodes a record on any thread.
pub struct RawRecord {
    place: Place,
    /// The line, trimmed.
    line: Vec<u8>,
}

impl RawRecord {
    pub(crate) fn new(place: Place, line: Vec<u8>) -> Self {
        Self { place, line }
    }

    /// Returns the file and line of the record.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Hashes the bytes of the record, for [`CorpusHasher`](crate::CorpusHasher).
    pub fn digest(&self) -> RecordDigest {
        RecordDigest::from_parts([self.line.as_slice()])
    }

    /// Returns the size in memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.line.len()
    }

    pub(crate) fn decode(&self) -> WireResult<WireTranscript> {
        let text = read_utf8(&self.line)?;
        serde_json::from_str(text).map_err(|e| WireFault::json(&e, text))
    }

    /// Decodes the transcript. The rules of the card determine how `text` is split at `<think>` tags.
    pub(crate) fn decode_entry(&self, card: Option<&Card>) -> Result<Entry, Problem> {
        let wire = self.decode();
        let entry =
            wire.and_then(|wire| wire.into_entry(&self.place, |model| think_options(card, model)));
        entry.map_err(|fault| fault.at(self.place.clone()))
    }
}

impl std::fmt::Debug for RawRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Raw({})", self.place)
    }
}

/// A shared counter of the bytes read from disk.
#[derive(Clone, Debug, Default)]
pub struct ReadProgress(Arc<AtomicU64>);

impl ReadProgress {
    /// Returns the number of bytes read so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A reader that counts its bytes.
pub struct CountingReader<R> {
    inner: R,
    progress: ReadProgress,
}

impl<R> CountingReader<R> {
    /// Creates a reader of `inner` that adds its bytes to `progress`.
    pub fn new(inner: R, progress: ReadProgress) -> Self {
        Self { inner, progress }
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.progress.add(count as u64);
        Ok(count)
    }
}

/// An iterator over the undecoded records of a corpus in order, from [`Corpus::raw_records`].
///
/// A record that cannot be read is a [`Problem`]. Reading continues with the next line if possible, otherwise with the
/// next file.
pub struct RawRecords {
    files: VecDeque<Arc<PathBuf>>,
    current: Option<FileRecords>,
    progress: ReadProgress,
    total_bytes: u64,
}

impl RawRecords {
    pub(crate) fn new(files: &[PathBuf]) -> Self {
        let size = |file: &PathBuf| file.metadata().map_or(0, |data| data.len());
        Self {
            files: files.iter().cloned().map(Arc::new).collect(),
            current: None,
            progress: ReadProgress::default(),
            total_bytes: files.iter().map(size).sum(),
        }
    }

    /// Returns the number of bytes read from disk so far, before unpacking.
    pub fn bytes_read(&self) -> u64 {
        self.progress.get()
    }

    /// Returns the size of all files on disk, in bytes.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }
}

impl Iterator for RawRecords {
    type Item = Result<RawRecord, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.current.as_mut().and_then(Iterator::next) {
                return Some(item);
            }
            let file = self.files.pop_front()?;
            match jsonl::open(&file, self.progress.clone()) {
                Ok(records) => self.current = Some(records),
                Err(problem) => {
                    self.current = None;
                    return Some(Err(problem));
                }
            }
        }
    }
}

/// An iterator over the decoded transcripts of a corpus in order, from [`Corpus::entries`].
///
/// It combines [`RawRecords`], [`Corpus::parse`] and [`Ids`] on a single thread.
pub struct Entries<'a> {
    pub(crate) corpus: &'a Corpus,
    pub(crate) raw_records: RawRecords,
    pub(crate) ids: Ids,
}

impl Entries<'_> {
    /// Returns the ids of the transcripts so far.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let raw = self.raw_records.next()?;
        Some(raw.and_then(|raw| {
            let entry = self.corpus.parse(&raw)?;
            self.ids.insert(&entry.transcript.id, &entry.place)?;
            Ok(entry)
        }))
    }
}
