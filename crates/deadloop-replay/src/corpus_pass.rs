//! [`map_corpus`]: maps all records of a corpus in parallel, and passes on the results in order.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use deadloop_corpus::{Corpus, Entry, Place, Problem, RawRecord, RawRecords};
use rayon::prelude::*;

/// The maximum number of undecoded bytes read ahead, besides the batch in progress.
const BATCH_BYTES: usize = 8 << 20;
/// The maximum number of records read ahead, for cheap records.
const BATCH_RECORDS: usize = 1024;

/// Callbacks that report the progress of a pass over a corpus, and cancel it.
pub struct Watcher<'a> {
    /// Flag that cancels the pass. It is checked before each record.
    pub cancel: &'a AtomicBool,
    /// Callback after each batch. It gets the number of bytes read so far and the total size of all files.
    pub progress: &'a (dyn Fn(u64, u64) + Sync),
}

impl Watcher<'_> {
    /// Returns whether the pass was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// The error of a pass that was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interruption;

/// The result of a pass over a corpus, or of a part of one.
pub type PassResult<T = ()> = Result<T, Interruption>;

/// Decodes and maps every record of `corpus` on the current rayon pool, and passes the results to `sink` in corpus
/// order.
///
/// `map` also gets the undecoded record, if it could be read. While one batch is mapped, the next is read. A break from
/// `sink` counts as an interruption. After an interruption, the finished results are still passed on, so that some
/// between them may be missing.
///
/// Memory holds the decoded records of one batch and two batches of 8 MiB of undecoded text, or of one longer record.
pub fn map_corpus<T: Send>(
    corpus: &Corpus,
    watch: &Watcher<'_>,
    map: impl Fn(Result<Entry, Problem>, Option<RawRecord>) -> T + Sync,
    sink: impl FnMut(T) -> ControlFlow<()>,
) -> PassResult {
    map_in_batches(corpus, (BATCH_RECORDS, &|_| true), watch, map, sink)
}

/// Maps the records at the `wanted` places, see [`map_corpus`]. Other records are read but not decoded.
pub fn map_corpus_at<T: Send>(
    corpus: &Corpus,
    wanted: &(impl Fn(&Place) -> bool + Sync),
    watch: &Watcher<'_>,
    map: impl Fn(Result<Entry, Problem>, Option<RawRecord>) -> T + Sync,
    sink: impl FnMut(T) -> ControlFlow<()>,
) -> PassResult {
    map_in_batches(corpus, (BATCH_RECORDS, wanted), watch, map, sink)
}

/// Maps records, see [`map_corpus_at`], at most `records` at a time. For slow records, a small number limits the work lost by
/// an interruption.
pub(crate) fn map_in_batches<T: Send>(
    corpus: &Corpus,
    (records, wanted): (usize, &(impl Fn(&Place) -> bool + Sync)),
    watch: &Watcher<'_>,
    map: impl Fn(Result<Entry, Problem>, Option<RawRecord>) -> T + Sync,
    mut sink: impl FnMut(T) -> ControlFlow<()>,
) -> PassResult {
    let mut raw_records = corpus.raw_records();
    let mut batch = read_batch(&mut raw_records, records);
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
        let (done, next) = rayon::join(work, || read_batch(&mut raw_records, records));
        let mut cut = false;
        for item in done {
            cut |= item.is_none_or(|item| sink(item).is_break());
        }
        if cut {
            return Err(Interruption);
        }
        (watch.progress)(raw_records.bytes_read(), raw_records.total_bytes());
        batch = next;
    }
    Ok(())
}

fn read_batch(raw_records: &mut RawRecords, records: usize) -> Vec<Result<RawRecord, Problem>> {
    let mut batch = Vec::new();
    let mut bytes = 0;
    while bytes < BATCH_BYTES && batch.len() < records {
        let Some(raw) = raw_records.next() else { break };
        bytes += raw.as_ref().map_or(0, RawRecord::bytes);
        batch.push(raw);
    }
    batch
}
