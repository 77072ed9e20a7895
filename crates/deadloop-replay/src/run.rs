//! [`run`]: replays a corpus through a plan.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::sync::Arc;

use deadloop_corpus::{Corpus, Cost, Entry, Problem};

use crate::each::{Interrupted, Watch};
use crate::journal::{Journal, JournalError};
use crate::plan::Plan;
use crate::program::Programs;
use crate::record::Record;

/// What is replayed, and how.
pub struct Job<'a> {
    /// The recordings.
    pub corpus: &'a Corpus,
    /// Which transcripts are meant.
    pub ids: &'a dyn Meant,
    /// The settings.
    pub plan: &'a Plan,
    /// The plan's programs, started; [`Programs::default`] where it has none.
    pub programs: &'a Programs,
    /// The size, in chars, of the chunks in which all text is taken to have come; `None`: as recorded.
    pub chunks: Option<NonZeroU64>,
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

/// Replays each transcript that is meant through every setting of the plan, in parallel; the
/// records come in corpus order and do not depend on the number of threads.
///
/// With a journal, records that are in it are not computed again, and each new one is added: the
/// same call after an interruption goes on where it stopped. A record with an error is not added: it
/// is tried again. Records stay in memory (some hundred bytes a transcript and block), text does
/// not.
pub fn run(
    job: &Job<'_>,
    journal: Option<(Journal, Vec<Record>)>,
    watch: &Watch<'_>,
) -> Result<Ran, RunError> {
    let mut records = Vec::new();
    let journal = run_into(job, journal, watch, &mut |record| records.push(record))?;
    Ok(Ran { records, journal })
}

/// The same, each record handed to `keep`; the journal, if there was one.
pub fn run_into(
    job: &Job<'_>,
    journal: Option<(Journal, Vec<Record>)>,
    watch: &Watch<'_>,
    keep: &mut dyn FnMut(Record),
) -> Result<Option<Journal>, RunError> {
    let mut taking = Taking::new(journal, job.ids.by_place(), keep);
    let done: HashSet<Arc<str>> = taking.known.keys().cloned().collect();
    let map = |entry: Result<Entry, Problem>, _| match entry {
        Err(problem) => Step::Bad(problem),
        Ok(entry) => step(job, &done, &entry, watch),
    };
    let sink = |step| taking.take(step);
    let end = job.programs.each(job.corpus, watch, map, sink);
    if let Some(what) = job.programs.failure() {
        taking.flush()?;
        return Err(RunError::Program(what));
    }
    taking.finish(job.ids.number(), end)
}

/// What became of one transcript of the corpus.
enum Step {
    /// It is not meant.
    Passed,
    /// It is in the journal.
    Known(Arc<str>),
    New(Record),
    Bad(Problem),
    /// Nobody wants it any more.
    Stopped,
}

fn step(job: &Job<'_>, done: &HashSet<Arc<str>>, entry: &Entry, watch: &Watch<'_>) -> Step {
    let t = &entry.transcript;
    if !job.ids.has(entry) {
        return Step::Passed;
    }
    if let Some(id) = done.get(t.id.as_str()) {
        return Step::Known(id.clone());
    }
    match job.programs.decide(job.plan, t, job.chunks, watch.cancel) {
        Ok(record) => Step::New(record),
        Err(Interrupted) => Step::Stopped,
    }
}

/// What has been taken in so far.
struct Taking<'a> {
    journal: Option<Journal>,
    /// Those of the journal whose place in the corpus has not come yet.
    known: HashMap<Arc<str>, Record>,
    keep: &'a mut dyn FnMut(Record),
    kept: usize,
    /// The ids of new ones; none: no two with one id are meant.
    met: Option<HashSet<Arc<str>>>,
    changed: Option<Problem>,
    failed: Result<(), JournalError>,
}

impl<'a> Taking<'a> {
    fn new(
        journal: Option<(Journal, Vec<Record>)>,
        by_place: bool,
        keep: &'a mut dyn FnMut(Record),
    ) -> Self {
        let (journal, records) = journal.unzip();
        let records = records.unwrap_or_default().into_iter();
        Self {
            journal,
            known: records.map(|r| (r.transcript.clone(), r)).collect(),
            keep,
            kept: 0,
            met: (!by_place).then(HashSet::new),
            changed: None,
            failed: Ok(()),
        }
    }

    fn take(&mut self, step: Step) -> ControlFlow<()> {
        match step {
            Step::Passed => {}
            Step::Bad(problem) => self.changed = Some(problem),
            Step::Known(id) => {
                if let Some(record) = self.known.remove(&id) {
                    self.kept += 1;
                    (self.keep)(record);
                }
            }
            Step::New(record) if !self.is_first(&record) => {}
            Step::New(record) => {
                let whole = record.blocks.iter().all(|block| block.error.is_none());
                if let (Some(journal), Ok(()), true) = (&mut self.journal, &self.failed, whole) {
                    self.failed = journal.push(&record);
                }
                self.kept += 1;
                (self.keep)(record);
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
    fn is_first(&mut self, record: &Record) -> bool {
        let id = || record.transcript.clone();
        self.met.as_mut().is_none_or(|met| met.insert(id()))
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
