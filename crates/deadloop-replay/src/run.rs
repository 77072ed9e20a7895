//! [`run`]: a corpus through a plan.

use std::collections::HashSet;
use std::num::NonZeroU64;

use deadloop_corpus::{Corpus, Problem};

use crate::each::{Interrupted, Watch, each};
use crate::engine::decide;
use crate::journal::{Journal, JournalError};
use crate::plan::Plan;
use crate::record::Record;

/// What is replayed, and how.
pub struct Job<'a> {
    /// The recordings.
    pub corpus: &'a Corpus,
    /// The ids of the transcripts that are meant.
    pub ids: &'a HashSet<String>,
    /// The settings.
    pub plan: &'a Plan,
    /// As if all text had come in chunks of so many chars.
    pub chunks: Option<NonZeroU64>,
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
    /// The corpus is not what it was when it was checked.
    #[error("the corpus changed while it was read: {0}")]
    Changed(String),
}

/// Replays each transcript that is meant through every setting of the plan, in parallel; the
/// records come in corpus order and do not depend on the number of threads.
///
/// With a journal, records that are in it are not computed again, and each new one is added: the
/// same call after an interruption goes on where it stopped. Records stay in memory (some hundred
/// bytes a transcript and block), text does not.
pub fn run(
    job: &Job<'_>,
    journal: Option<(Journal, Vec<Record>)>,
    watch: &Watch<'_>,
) -> Result<(Vec<Record>, Option<Journal>), RunError> {
    let (mut journal, mut records) = match journal {
        Some((journal, records)) => (Some(journal), records),
        None => (None, Vec::new()),
    };
    let done: HashSet<String> = records.iter().map(|r| r.transcript.clone()).collect();
    let mut changed: Option<Problem> = None;
    let mut failed: Result<(), JournalError> = Ok(());
    let map = |entry: Result<deadloop_corpus::Entry, Problem>, _| match entry {
        Err(problem) => Some(Err(problem)),
        Ok(entry) => {
            let t = &entry.transcript;
            let wanted = job.ids.contains(&t.id) && !done.contains(&t.id);
            wanted.then(|| Ok(decide(job.plan, t, job.chunks)))
        }
    };
    let mut met = HashSet::new();
    let end = each(job.corpus, watch, map, |result| match result {
        None => {}
        Some(Err(problem)) => changed = Some(problem),
        // Of a repeated id the first is meant.
        Some(Ok(record)) if !met.insert(record.transcript.clone()) => {}
        Some(Ok(record)) => {
            if let (Some(journal), Ok(())) = (journal.as_mut(), &failed) {
                failed = journal.push(&record);
            }
            records.push(record);
        }
    });
    failed?;
    if let Some(journal) = journal.as_mut() {
        journal.flush()?;
    }
    match (end, changed) {
        (Err(Interrupted), _) => Err(RunError::Interrupted {
            done: records.len(),
            of: job.ids.len(),
        }),
        (Ok(()), _) if records.len() == job.ids.len() => Ok((records, journal)),
        (Ok(()), Some(problem)) => Err(RunError::Changed(problem.to_string())),
        (Ok(()), None) => {
            let what = format!(
                "{} transcripts were there, now {}",
                job.ids.len(),
                records.len()
            );
            Err(RunError::Changed(what))
        }
    }
}
