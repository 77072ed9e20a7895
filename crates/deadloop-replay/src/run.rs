//! [`run`]: runs a subject, such as [`PlanGuards`], over a corpus.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use deadloop_corpus::{Corpus, Cost, Entry, Problem};

use crate::corpus_pass::{Interruption, PassResult, Watcher};
use crate::journal::{Journal, JournalEntry, JournalError};
use crate::record::Record;
use crate::subject::{PlanGuards, Subject, map_corpus_for};

/// The inputs of a run: a corpus, a selection of its transcripts, and a subject.
pub struct Job<'a, S> {
    /// The corpus whose transcripts are read.
    pub corpus: &'a Corpus,
    /// The selection of transcripts to compute.
    pub ids: &'a dyn IdFilter,
    /// The subject that computes the results.
    pub subject: &'a S,
}

/// A selection of the transcripts of a corpus.
pub trait IdFilter: Sync {
    /// Returns whether the transcript is selected. Of several transcripts with the same id, the run uses the first.
    fn contains(&self, entry: &Entry) -> bool;

    /// Returns the number of selected transcripts.
    fn number(&self) -> usize;

    /// Returns whether the selection distinguishes transcripts with the same id by their place.
    fn distinguishes_places(&self) -> bool {
        false
    }
}

impl IdFilter for HashSet<Arc<str>> {
    fn contains(&self, entry: &Entry) -> bool {
        self.contains(entry.transcript.id.as_str())
    }

    fn number(&self) -> usize {
        self.len()
    }
}

/// The reasons why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The run was cancelled. Finished results are in the journal, if there is one.
    #[error("interrupted after {done} of {of} transcripts")]
    Interrupted {
        /// The number of finished transcripts.
        done: usize,
        /// The number of selected transcripts.
        of: usize,
    },
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A program failed on more transcripts than allowed. Finished results are in the journal.
    #[error("{0}")]
    Program(String),
    /// The corpus has changed since it was checked.
    #[error("the corpus changed while it was read: {0}")]
    Changed(String),
    /// Memory or file handles ran out while the corpus was read. Finished results are in the journal.
    #[error("{0}")]
    Machine(String),
}

/// The results of a run over a corpus.
#[derive(Debug)]
pub struct RunOutput {
    /// The result of each selected transcript, in corpus order.
    pub records: Vec<Record>,
    /// The journal, if there was one. It has no results with errors.
    pub journal: Option<Journal>,
}

/// A journal, and the entries that it already contains.
pub type ResumedJournal<T> = (Journal, Vec<JournalEntry<T>>);

/// Replays each selected transcript through every setting of a plan, in parallel.
///
/// The records are in corpus order and do not depend on the number of threads. They stay in memory, at some hundred
/// bytes for each transcript and block. Text does not.
///
/// # Errors
/// Returns the errors of [`run_into`].
pub fn run(
    job: &Job<'_, PlanGuards<'_>>,
    journal: Option<ResumedJournal<<PlanGuards<'_> as Subject>::Reply>>,
    watch: &Watcher<'_>,
) -> Result<RunOutput, RunError> {
    let mut records = Vec::new();
    let journal = run_into(job, journal, watch, &mut |entered| {
        records.push(Record {
            transcript: entered.transcript,
            blocks: entered.said,
        });
    })?;
    Ok(RunOutput { records, journal })
}

/// Runs a subject on each selected transcript, in parallel, and calls `keep` with each result, in corpus order.
/// Returns the journal, if there was one.
///
/// With a journal, its results are not computed again, and each new result is appended. So the same call after an
/// interruption resumes the run. Incomplete results are not appended, so they are computed again.
///
/// # Errors
/// Returns an error if the run was cancelled, if the journal cannot be written, if a program fails too often, or if
/// the corpus has changed.
pub fn run_into<S: Subject>(
    job: &Job<'_, S>,
    journal: Option<ResumedJournal<S::Reply>>,
    watch: &Watcher<'_>,
    keep: &mut dyn FnMut(JournalEntry<S::Reply>),
) -> Result<Option<Journal>, RunError> {
    let mut collector = ResultCollector::new(journal, job, keep);
    let done: HashSet<Arc<str>> = collector.journaled.keys().cloned().collect();
    let map = |entry: Result<Entry, Problem>, _| match entry {
        Err(problem) => RecordOutcome::Bad(problem),
        Ok(entry) => run_record(job, &done, &entry, watch),
    };
    let sink = |outcome| collector.add_outcome(outcome);
    let end = map_corpus_for(job.subject, job.corpus, watch, map, sink);
    if let Some(what) = job.subject.failure() {
        collector.flush()?;
        return Err(RunError::Program(what));
    }
    collector.finish(job.ids.number(), end)
}

/// The outcome for one transcript of the corpus.
enum RecordOutcome<T> {
    /// The transcript is not selected.
    NotSelected,
    /// The journal already has the result.
    InJournal(Arc<str>),
    New(JournalEntry<T>),
    Bad(Problem),
    /// The run was cancelled.
    Stopped,
}

fn run_record<S: Subject>(
    job: &Job<'_, S>,
    done: &HashSet<Arc<str>>,
    entry: &Entry,
    watch: &Watcher<'_>,
) -> RecordOutcome<S::Reply> {
    let t = &entry.transcript;
    if !job.ids.contains(entry) {
        return RecordOutcome::NotSelected;
    }
    if let Some(id) = done.get(t.id.as_str()) {
        return RecordOutcome::InJournal(id.clone());
    }
    match job.subject.compute(t, watch.cancel) {
        Ok(said) => RecordOutcome::New(JournalEntry {
            transcript: t.id.as_str().into(),
            said,
        }),
        Err(Interruption) => RecordOutcome::Stopped,
    }
}

/// Collector of the results of a run.
struct ResultCollector<'a, S: Subject> {
    subject: &'a S,
    journal: Option<Journal>,
    /// The results of the journal whose transcripts have not been reached yet.
    journaled: HashMap<Arc<str>, S::Reply>,
    keep: &'a mut dyn FnMut(JournalEntry<S::Reply>),
    kept: usize,
    /// The ids of new results. `None` if the selection distinguishes transcripts by place.
    new_ids: Option<HashSet<Arc<str>>>,
    changed: Option<Problem>,
    failed: Result<(), JournalError>,
}

impl<'a, S: Subject> ResultCollector<'a, S> {
    fn new(
        journal: Option<ResumedJournal<S::Reply>>,
        job: &Job<'a, S>,
        keep: &'a mut dyn FnMut(JournalEntry<S::Reply>),
    ) -> Self {
        let (journal, known) = journal.unzip();
        let known = known.unwrap_or_default().into_iter();
        Self {
            subject: job.subject,
            journal,
            journaled: known.map(|one| (one.transcript, one.said)).collect(),
            keep,
            kept: 0,
            new_ids: (!job.ids.distinguishes_places()).then(HashSet::new),
            changed: None,
            failed: Ok(()),
        }
    }

    fn add_outcome(&mut self, outcome: RecordOutcome<S::Reply>) -> ControlFlow<()> {
        match outcome {
            RecordOutcome::NotSelected => {}
            RecordOutcome::Bad(problem) => self.changed = Some(problem),
            RecordOutcome::InJournal(transcript) => {
                if let Some(said) = self.journaled.remove(&transcript) {
                    self.kept += 1;
                    (self.keep)(JournalEntry { transcript, said });
                }
            }
            RecordOutcome::New(new) if !self.is_first(&new.transcript) => {}
            RecordOutcome::New(new) => {
                let whole = self.subject.is_whole(&new.said);
                if let (Some(journal), Ok(()), true) = (&mut self.journal, &self.failed, whole) {
                    self.failed = journal.push(&new);
                }
                self.kept += 1;
                (self.keep)(new);
                if self.failed.is_err() {
                    // All later results would be lost as well.
                    return ControlFlow::Break(());
                }
            }
            RecordOutcome::Stopped => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// Returns whether a transcript is the first with its id.
    fn is_first(&mut self, id: &Arc<str>) -> bool {
        self.new_ids
            .as_mut()
            .is_none_or(|ids| ids.insert(Arc::clone(id)))
    }

    /// Writes the finished results to disk.
    fn flush(&mut self) -> Result<(), JournalError> {
        std::mem::replace(&mut self.failed, Ok(()))?;
        self.journal.as_mut().map_or(Ok(()), Journal::flush)
    }

    fn finish(mut self, of: usize, end: PassResult) -> Result<Option<Journal>, RunError> {
        self.flush()?;
        let found = self.kept;
        match (end, self.changed) {
            (Err(Interruption), _) => {
                let done = found + self.journaled.len();
                Err(RunError::Interrupted { done, of })
            }
            (Ok(()), _) if found == of => Ok(self.journal),
            (
                Ok(()),
                Some(Problem {
                    place,
                    what,
                    cost: Cost::Machine,
                    ..
                }),
            ) => Err(RunError::Machine(format!("{place}: {what}"))),
            (Ok(()), Some(problem)) => Err(RunError::Changed(problem.to_string())),
            (Ok(()), None) => {
                let what = format!("{of} transcripts were there, now {found}");
                Err(RunError::Changed(what))
            }
        }
    }
}
