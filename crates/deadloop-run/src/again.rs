//! [`Again`]: one more pass over the corpus of a run that is done.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use deadloop_corpus::{Entry, Place, Problem};
use deadloop_replay::{Interrupted, Meant, each_at};
use deadloop_score::{Case, Cases};

use crate::failure::{Code, RunResult};
use crate::host::{Host, watched};
use crate::replay::Replayed;

/// A pass over the corpus of a run that is done.
pub struct Again<'a> {
    /// The run.
    pub done: &'a Replayed,
    /// What the progress says.
    pub what: &'static str,
    /// What is said where it was interrupted.
    pub interrupted: &'static str,
    /// Who asked.
    pub host: &'a dyn Host,
}

impl Again<'_> {
    /// Reads the corpus once more: `of` each transcript of `cases`, which those of the run are, with its place among them,
    /// into `sink` in the order of the corpus.
    ///
    /// # Errors
    /// It was interrupted, or `sink` says why it goes no further.
    pub fn each<T: Send>(
        &self,
        cases: &(impl Cases + Sync + ?Sized),
        of: impl Fn(&Entry, (usize, &Case)) -> T + Sync,
        sink: impl FnMut(usize, T) -> RunResult,
    ) -> RunResult {
        self.some(cases, &|_| true, of, sink)
    }

    /// The same of those that are wanted, by their place among `cases`; the others are not decoded.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    pub fn some<T: Send>(
        &self,
        cases: &(impl Cases + Sync + ?Sized),
        wanted: &dyn Fn(usize) -> bool,
        of: impl Fn(&Entry, (usize, &Case)) -> T + Sync,
        mut sink: impl FnMut(usize, T) -> RunResult,
    ) -> RunResult {
        let id = |case| (cases.on(case, |case| Arc::clone(&case.id)), case);
        let among = (0..cases.number()).filter(|case| wanted(*case));
        let known: HashMap<Arc<str>, usize> = among.map(id).collect();
        // Where parts were merged it is not known where transcripts stand.
        let stand = &self.done.run.surveyed.places;
        let places = (stand.number() > 0).then(|| stand.only((0..cases.number()).map(wanted)));
        let at = |place: &Place| places.as_ref().is_none_or(|places| places.contains(place));
        let one = |entry: Result<Entry, Problem>, _| {
            let entry = entry.ok()?;
            let case = *known.get(entry.transcript.id.as_str())?;
            Some((case, cases.on(case, |known| of(&entry, (case, known)))))
        };
        let mut failed = Ok(());
        let read = watched(self.host, self.what, |watch| {
            each_at(&self.done.run.surveyed.corpus, &at, watch, one, |found| {
                failed = found.map_or(Ok(()), |(case, found)| sink(case, found));
                match failed {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            })
        });
        failed?;
        read.map_err(|Interrupted| Code::Interrupted.error(self.interrupted))
    }
}
