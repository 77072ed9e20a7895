//! [`each`]: every record of a corpus through a function, in parallel, in bounded memory, in order.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use deadloop_corpus::{Corpus, Entry, Place, Problem, Raw, Raws};
use rayon::prelude::*;

/// Undecoded bytes in hand at a time, besides the records that threads are working on.
const BATCH_BYTES: usize = 8 << 20;
/// Records in hand at a time, where a record costs little.
const BATCH_RECORDS: usize = 1024;

/// How a pass over a corpus is watched and stopped.
pub struct Watch<'a> {
    /// Raised from outside to stop; looked at before each record.
    pub cancel: &'a AtomicBool,
    /// Is called after each batch with the bytes read and the bytes of all files on disk.
    pub progress: &'a (dyn Fn(u64, u64) + Sync),
}

impl Watch<'_> {
    /// Whether the pass is to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// The pass was stopped from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Decodes every record of `corpus` and maps it, with its undecoded form where it could be read, on
/// all threads of the current rayon pool, and hands the results to `sink` in corpus order. While one
/// batch is worked on the next is read. A sink that breaks off is an interruption; after one, what
/// was done is handed over all the same, and some may be missing in between.
///
/// Memory: two batches of 8 MiB of undecoded text, or of one record where that is longer, and what
/// is decoded of one of them.
pub fn each<T: Send>(
    corpus: &Corpus,
    watch: &Watch<'_>,
    map: impl Fn(Result<Entry, Problem>, Option<Raw>) -> T + Sync,
    sink: impl FnMut(T) -> ControlFlow<()>,
) -> Result<(), Interrupted> {
    each_few(corpus, (BATCH_RECORDS, &|_| true), watch, map, sink)
}

/// The same of the records at some places alone: the others are read, and not decoded.
pub fn each_at<T: Send>(
    corpus: &Corpus,
    wanted: &(impl Fn(&Place) -> bool + Sync),
    watch: &Watch<'_>,
    map: impl Fn(Result<Entry, Problem>, Option<Raw>) -> T + Sync,
    sink: impl FnMut(T) -> ControlFlow<()>,
) -> Result<(), Interrupted> {
    each_few(corpus, (BATCH_RECORDS, wanted), watch, map, sink)
}

/// The same with at most `records` in hand at a time: where each takes long, so that little is lost
/// by an interruption.
pub(crate) fn each_few<T: Send>(
    corpus: &Corpus,
    (records, wanted): (usize, &(impl Fn(&Place) -> bool + Sync)),
    watch: &Watch<'_>,
    map: impl Fn(Result<Entry, Problem>, Option<Raw>) -> T + Sync,
    mut sink: impl FnMut(T) -> ControlFlow<()>,
) -> Result<(), Interrupted> {
    let mut raws = corpus.raws();
    let mut batch = next_batch(&mut raws, records);
    while !batch.is_empty() {
        let one = |raw: Result<Raw, Problem>| {
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
            return Err(Interrupted);
        }
        (watch.progress)(raws.bytes_read(), raws.total_bytes());
        batch = next;
    }
    Ok(())
}

fn next_batch(raws: &mut Raws, records: usize) -> Vec<Result<Raw, Problem>> {
    let mut batch = Vec::new();
    let mut bytes = 0;
    while bytes < BATCH_BYTES && batch.len() < records {
        let Some(raw) = raws.next() else { break };
        bytes += raw.as_ref().map_or(0, Raw::bytes);
        batch.push(raw);
    }
    batch
}
