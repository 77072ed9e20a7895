//! [`SecondPass`]: reads transcripts of a finished run again.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use deadloop_corpus::{Entry, Place, Problem};
use deadloop_replay::{IdFilter, Interruption, map_corpus_at};
use deadloop_score::{Case, CaseSet};

use crate::failure::{Code, RunResult};
use crate::host::{Host, watched};
use crate::replay::ReplayRun;

/// Another pass over the corpus of a finished run.
pub(crate) struct SecondPass<'a> {
    /// The finished run.
    pub done: &'a ReplayRun,
    /// The label of the progress bar.
    pub what: &'static str,
    /// The error message of an interrupted pass.
    pub interrupted: &'static str,
    /// The host, which shows progress and can stop the pass.
    pub host: &'a dyn Host,
}

impl SecondPass<'_> {
    /// Reads the corpus again and passes the transcripts whose index is `wanted`, with their index and case, to `map`.
    /// The results go to `sink` in the order of the corpus. Other transcripts are not decoded. `cases` must be those of
    /// the run.
    ///
    /// # Errors
    /// Returns an error if the host stops the pass or `sink` fails.
    pub(crate) fn for_each_wanted<T: Send>(
        &self,
        cases: &(impl CaseSet + Sync + ?Sized),
        wanted: &dyn Fn(usize) -> bool,
        map: impl Fn(&Entry, (usize, &Case)) -> T + Sync,
        mut sink: impl FnMut(usize, T) -> RunResult,
    ) -> RunResult {
        let id = |case| (cases.on(case, |case| Arc::clone(&case.id)), case);
        let among = (0..cases.number()).filter(|case| wanted(*case));
        let known: HashMap<Arc<str>, usize> = among.map(id).collect();
        // Merged parts have no places, so every transcript is read.
        let all = &self.done.run.surveyed.places;
        let places = (all.number() > 0).then(|| all.only((0..cases.number()).map(wanted)));
        let at = |place: &Place| places.as_ref().is_none_or(|places| places.contains(place));
        let one = |entry: Result<Entry, Problem>, _| {
            let entry = entry.ok()?;
            let case = *known.get(entry.transcript.id.as_str())?;
            Some((case, cases.on(case, |known| map(&entry, (case, known)))))
        };
        let mut failed = Ok(());
        let read = watched(self.host, self.what, |watch| {
            map_corpus_at(&self.done.run.surveyed.corpus, &at, watch, one, |found| {
                failed = found.map_or(Ok(()), |(case, found)| sink(case, found));
                match failed {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            })
        });
        failed?;
        read.map_err(|Interruption| Code::Interrupted.error(self.interrupted))
    }
}
