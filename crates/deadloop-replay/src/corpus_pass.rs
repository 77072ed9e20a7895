//! [`each`]: maps every record of a corpus in parallel, in order.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use deadloop_corpus::{Corpus, Entry, Place, Problem, RawRecord, RawRecords};
use rayon::prelude::*;

/// The maximum number of undecoded bytes that are read ahead, besides the records in work.
const BATCH_BYTES: usize = 8 << 20;
/// The maximum number of records that are read ahead, if a record costs little.
const BATCH_RECORDS: usize = 1024;

/// Callbacks to watch and to stop a pass over a corpus.
pub struct Watcher<'a> {
    /// Set from outside to stop the pass. It is checked before each record.
    pub cancel: &'a AtomicBool,
    /// Called after each batch with the bytes read so far and the bytes of all files on disk.
    pub progress: &'a (dyn Fn(u64, u64) + Sync),
}

impl Watcher<'_> {
    /// Returns whether the pass was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// The error of a pass that was stopped from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interruption;

/// Decodes and maps every record of `corpus` on all threads of the current rayon pool, and passes the results to
/// `sink` in corpus order. `map` also gets the undecoded record, if it could be read. While one batch is mapped, the
/// next is read. A `sink` that breaks counts as an interruption. After an interruption the finished results are still
/// passed on, so some in between may be missing.
///
/// The memory used is two batches of 8 MiB of undecoded text, or of one record if that is longer, and the decoded
/// records of one batch.
pub fn each<T: Send>(
    corpus: &Corpus,
    watch: &Watcher<'_>,
    map: impl Fn(Result<Entry, Problem>, Option<RawRecord>) -> T + Sync,
    sink: impl FnMut(T) -> ControlFlow<()>,
) -> Result<(), Interruption> {
    each_few(corpus, (BATCH_RECORDS, &|_| true), watch, map, sink)
}

/// Maps the records at the `wanted` places, as [`each`] does. The other records are read but not decoded.
pub fn each_at<T: Send>(
    corpus: &Corpus,
    wanted: &(impl Fn(&Place) -> bool + Sync),
    watch: &Watcher<'_>,
    map: impl Fn(Result<Entry, Problem>, Option<RawRecord>) -> T + Sync,
    sink: impl FnMut(T) -> ControlFlow<()>,
) -> Result<(), Interruption> {
    each_few(corpus, (BATCH_RECORDS, wanted), watch, map, sink)
}

/// Maps records as [`each_at`] does, at most `records` at a time. With slow records, a small number limits the work
/// that an interruption loses.
pub(crate) fn each_few<T: Send>(
    corpus: &Corpus,
    (records, wanted): (usize, &(impl Fn(&Place) -> bool + Sync)),
    watch: &Watcher<'_>,
    map: impl Fn(Result<Entry, Problem>, Option<RawRecord>) -> T + Sync,
    mut sink: impl FnMut(T) -> ControlFlow<()>,
) -> Result<(), Interruption> {
    let mut raws = corpus.raws();
    let mut batch = next_batch(&mut raws, records);
    while !batch.is_empty() {
        let one = |raw: Result<RawRecord, Problem>| {
            if watch.is_cancelled() {
                return None;
            }
            Some(match raw {
                Ok(raw) => map(corpus.parse(&raw), Some(raw)),
                Err(problem) => map(Err(problem), None),
            })
        };
        batch.retain(|raw| raw.as_ref().map_or(true, |raw| wanted(raw.place())));
        let work = || batch.into_par_iter().map(one).collect::<Vec<Option<T>>>();
        let (done, next) = rayon::join(work, || next_batch(&mut raws, records));
        let mut cut = false;
        for item in done {
            cut |= item.is_none_or(|item| sink(item).is_break());
        }
        if cut {
            return Err(Interruption);
        }
        (watch.progress)(raws.bytes_read(), raws.total_bytes());
        batch = next;
    }
    Ok(())
}

fn next_batch(raws: &mut RawRecords, records: usize) -> Vec<Result<RawRecord, Problem>> {
    let mut batch = Vec::new();
    let mut bytes = 0;
    while bytes < BATCH_BYTES && batch.len() < records {
        let Some(raw) = raws.next() else { break };
        bytes += raw.as_ref().map_or(0, RawRecord::bytes);
        batch.push(raw);
    }
    batch
}
