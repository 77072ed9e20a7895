//! Reading: the records of a corpus in order, undecoded, and the simple decoded way through it.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::files::formats::{self, Record, Records};
use crate::files::{RecordDigest, options};
use crate::transcript::wire::{Wire, WireFault};
use crate::{Card, Corpus, Entry, Ids, Place, Problem};

/// One undecoded line or Parquet row, with its place. Reading it was cheap, decoding it is not:
/// [`Corpus::parse`] may be called on any thread.
pub struct Raw {
    place: Place,
    record: Box<dyn Record>,
}

impl Raw {
    pub(crate) fn new(place: Place, record: Box<dyn Record>) -> Self {
        Self { place, record }
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// A digest of its bytes, for [`CorpusHasher`](crate::CorpusHasher).
    pub fn digest(&self) -> RecordDigest {
        self.record.digest()
    }

    /// Returns the bytes that it holds in memory; with them a caller bounds its own use.
    pub fn bytes(&self) -> usize {
        self.record.bytes()
    }

    pub(crate) fn decode(&self) -> Result<Wire, WireFault> {
        self.record.decode()
    }

    /// Its transcript, `text` split at think tags as the card says.
    pub(crate) fn entry(&self, card: Option<&Card>) -> Result<Entry, Problem> {
        let wire = self.decode();
        let entry = wire.and_then(|wire| wire.entry(&self.place, |model| options(card, model)));
        entry.map_err(|fault| fault.at(self.place.clone()))
    }
}

impl std::fmt::Debug for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Raw({})", self.place)
    }
}

/// Counts bytes read from disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress(Arc<AtomicU64>);

impl Progress {
    /// Bytes read so far.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A reader whose bytes are counted.
pub(crate) struct Counted<R> {
    inner: R,
    progress: Progress,
}

impl<R> Counted<R> {
    pub(crate) fn new(inner: R, progress: Progress) -> Self {
        Self { inner, progress }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.progress.add(count as u64);
        Ok(count)
    }
}

/// The records of a corpus in order, from [`Corpus::raws`]. What cannot be read is a [`Problem`],
/// and reading goes on: with the next line where that is possible, else with the next file.
pub struct Raws {
    files: VecDeque<Arc<PathBuf>>,
    current: Option<Records>,
    progress: Progress,
    total: u64,
}

impl Raws {
    pub(crate) fn new(files: &[PathBuf]) -> Self {
        let size = |file: &PathBuf| file.metadata().map_or(0, |data| data.len());
        Self {
            files: files.iter().cloned().map(Arc::new).collect(),
            current: None,
            progress: Progress::default(),
            total: files.iter().map(size).sum(),
        }
    }

    /// Bytes read from disk so far, as they lie there (compressed).
    pub fn bytes_read(&self) -> u64 {
        self.progress.get()
    }

    /// Bytes on disk of all the files.
    pub fn total_bytes(&self) -> u64 {
        self.total
    }
}

impl Iterator for Raws {
    type Item = Result<Raw, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.current.as_mut().and_then(Iterator::next) {
                return Some(item);
            }
            let file = self.files.pop_front()?;
            match formats::open(&file, self.progress.clone()) {
                Ok(records) => self.current = Some(records),
                Err(problem) => {
                    self.current = None;
                    return Some(Err(problem));
                }
            }
        }
    }
}

/// The transcripts of a corpus one after the other, from [`Corpus::entries`]: what several threads
/// do with [`Raws`], [`Corpus::parse`] and [`Ids`], for callers that are in no hurry.
pub struct Entries<'a> {
    pub(crate) corpus: &'a Corpus,
    pub(crate) raws: Raws,
    pub(crate) ids: Ids,
}

impl Entries<'_> {
    /// The ids met so far.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let raw = self.raws.next()?;
        Some(raw.and_then(|raw| {
            let entry = self.corpus.parse(&raw)?;
            self.ids.insert(&entry.transcript.id, &entry.place)?;
            Ok(entry)
        }))
    }
}
