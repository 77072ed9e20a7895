//! [`run`]: a corpus through a subject: [`PlanGuards`] of a plan, or what else says something of each transcript.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use deadloop_corpus::{Corpus, Cost, Entry, Problem};

use crate::each::{Interrupted, Watch};
use crate::journal::{Entered, Journal, JournalError};
use crate::record::Record;
use crate::subject::{PlanGuards, Subject, each_for};

/// What is run over what.
pub struct Job<'a, S> {
    /// The recordings.
    pub corpus: &'a Corpus,
    /// Which transcripts are meant.
    pub ids: &'a dyn Meant,
    /// What is asked about each.
    pub subject: &'a S,
}

/// Which transcripts of a corpus are meant.
pub trait Meant: Sync {
    /// Whether this one may be: of several with one id the first is.
    fn has(&self, entry: &Entry) -> bool;

    /// How many are.
    fn number(&self) -> usize;

    /// Whether it tells two transcripts with one id apart.
    fn by_place(&self) -> bool {
        false
    }
}

/// By their ids.
impl Meant for HashSet<Arc<str>> {
    fn has(&self, entry: &Entry) -> bool {
        self.contains(entry.transcript.id.as_str())
    }

    fn number(&self) -> usize {
        self.len()
    }
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Stopped from outside; what was done is in the journal, if there is one.
    #[error("interrupted after {done} of {of} transcripts")]
    Interrupted {
        /// Transcripts done.
        done: usize,
        /// Transcripts meant.
        of: usize,
    },
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A program failed on more transcripts than it may; what was done is in the journal.
    #[error("{0}")]
    Program(String),
    /// The corpus is not what it was when it was checked.
    #[error("the corpus changed while it was read: {0}")]
    Changed(String),
    /// Memory or file handles ran out while the corpus was read, which says nothing of it; what was done is
    /// in the journal.
    #[error("{0}")]
    Machine(String),
}

/// What a run leaves.
#[derive(Debug)]
pub struct Ran {
    /// One a transcript that is meant, in corpus order.
    pub records: Vec<Record>,
    /// The journal, if there was one, with all of them but those that are errors.
    pub journal: Option<Journal>,
}

/// A journal, and what it has already.
pub type Resumed<T> = (Journal, Vec<Entered<T>>);

/// Replays each transcript that is meant through every setting of a plan, in parallel; the records come in corpus
/// order and do not depend on the number of threads. Records stay in memory (some hundred bytes a transcript and
/// block), text does not.
///
/// # Errors
/// As [`run_into`].
pub fn run(
    job: &Job<'_, PlanGuards<'_>>,
    journal: Option<Resumed<<PlanGuards<'_> as Subject>::Said>>,
    watch: &Watch<'_>,
) -> Result<Ran, RunError> {
    let mut records = Vec::new();
    let journal = run_into(job, journal, watch, &mut |entered| {
        records.push(Record {
            transcript: entered.transcript,
            blocks: entered.said,
        });
    })?;
    Ok(Ran { records, journal })
}

/// Asks a subject about each transcript that is meant, in parallel; `keep` gets what it says, in corpus order. Returns
/// the journal, if there was one.
///
/// With a journal, what is in it is not asked again, and each new answer is added: the same call after an
/// interruption goes on where it stopped. An answer that is not whole is not added: it is asked again.
///
/// # Errors
/// It was stopped, the journal cannot be written, a program fails too often, the corpus is not what it was.
pub fn run_into<S: Subject>(
    job: &Job<'_, S>,
    journal: Option<Resumed<S::Said>>,
    watch: &Watch<'_>,
    keep: &mut dyn FnMut(Entered<S::Said>),
) -> Result<Option<Journal>, RunError> {
    let mut taking = Taking::new(journal, job, keep);
    let done: HashSet<Arc<str>> = taking.known.keys().cloned().collect();
    let map = |entry: Result<Entry, Problem>, _| match entry {
        Err(problem) => Step::Bad(problem),
        Ok(entry) => step(job, &done, &entry, watch),
    };
    let sink = |step| taking.take(step);
    let end = each_for(job.subject, job.corpus, watch, map, sink);
    if let Some(what) = job.subject.failure() {
        taking.flush()?;
        return Err(RunError::Program(what));
    }
    taking.finish(job.ids.number(), end)
}

/// What became of one transcript of the corpus.
enum Step<T> {
    /// It is not meant.
    Passed,
    /// It is in the journal.
    Known(Arc<str>),
    New(Entered<T>),
    Bad(Problem),
    /// Nobody wants it any more.
    Stopped,
}

fn step<S: Subject>(
    job: &Job<'_, S>,
    done: &HashSet<Arc<str>>,
    entry: &Entry,
    watch: &Watch<'_>,
) -> Step<S::Said> {
    let t = &entry.transcript;
    if !job.ids.has(entry) {
        return Step::Passed;
    }
    if let Some(id) = done.get(t.id.as_str()) {
        return Step::Known(id.clone());
    }
    match job.subject.say(t, watch.cancel) {
        Ok(said) => Step::New(Entered {
            transcript: t.id.as_str().into(),
            said,
        }),
        Err(Interrupted) => Step::Stopped,
    }
}

/// What has been taken in so far.
struct Taking<'a, S: Subject> {
    subject: &'a S,
    journal: Option<Journal>,
    /// Those of the journal whose place in the corpus has not come yet.
    known: HashMap<Arc<str>, S::Said>,
    keep: &'a mut dyn FnMut(Entered<S::Said>),
    kept: usize,
    /// The ids of new ones; none: no two with one id are meant.
    met: Option<HashSet<Arc<str>>>,
    changed: Option<Problem>,
    failed: Result<(), JournalError>,
}

impl<'a, S: Subject> Taking<'a, S> {
    fn new(
        journal: Option<Resumed<S::Said>>,
        job: &Job<'a, S>,
        keep: &'a mut dyn FnMut(Entered<S::Said>),
    ) -> Self {
        let (journal, known) = journal.unzip();
        let known = known.unwrap_or_default().into_iter();
        Self {
            subject: job.subject,
            journal,
            known: known.map(|one| (one.transcript, one.said)).collect(),
            keep,
            kept: 0,
            met: (!job.ids.by_place()).then(HashSet::new),
            changed: None,
            failed: Ok(()),
        }
    }

    fn take(&mut self, step: Step<S::Said>) -> ControlFlow<()> {
        match step {
            Step::Passed => {}
            Step::Bad(problem) => self.changed = Some(problem),
            Step::Known(transcript) => {
                if let Some(said) = self.known.remove(&transcript) {
                    self.kept += 1;
                    (self.keep)(Entered { transcript, said });
                }
            }
            Step::New(new) if !self.is_first(&new.transcript) => {}
            Step::New(new) => {
                let whole = self.subject.is_whole(&new.said);
                if let (Some(journal), Ok(()), true) = (&mut self.journal, &self.failed, whole) {
                    self.failed = journal.push(&new);
                }
                self.kept += 1;
                (self.keep)(new);
                if self.failed.is_err() {
                    // All would be lost in the end.
                    return ControlFlow::Break(());
                }
            }
            Step::Stopped => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// Of a repeated id the first is meant.
    fn is_first(&mut self, id: &Arc<str>) -> bool {
        self.met
            .as_mut()
            .is_none_or(|met| met.insert(Arc::clone(id)))
    }

    /// What is done is on disk.
    fn flush(&mut self) -> Result<(), JournalError> {
        std::mem::replace(&mut self.failed, Ok(()))?;
        self.journal.as_mut().map_or(Ok(()), Journal::flush)
    }

    fn finish(
        mut self,
        of: usize,
        end: Result<(), Interrupted>,
    ) -> Result<Option<Journal>, RunError> {
        self.flush()?;
        let found = self.kept;
        match (end, self.changed) {
            (Err(Interrupted), _) => {
                let done = found + self.known.len();
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
