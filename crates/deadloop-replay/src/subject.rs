//! [`Subject`]: the interface for computations over a corpus.
//!
//! The guards of a plan, repairers and context budgets are subjects. One engine runs them in parallel and in corpus
//! order, with a journal for resuming an interrupted run.

use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use deadloop_corpus::{Corpus, Entry, Problem, RawRecord, Transcript};
use deadloop_detect::harness::Program;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::corpus_pass::{PassResult, Watcher, map_corpus, map_in_batches};
use crate::plan::Plan;
use crate::program::{ProgramName, Programs};
use crate::record::{BlockDecision, are_results_of};

/// The maximum number of transcripts per thread in progress, if the subject is slow.
const RECORDS_PER_THREAD: usize = 16;

/// A group of settings that computes a result for each transcript of a corpus.
pub trait Subject: Sync {
    /// The result for one transcript, without its text. Written as JSON to journals and shards.
    type Reply: Serialize + DeserializeOwned + Send;

    /// Returns a text of all inputs that the results depend on, except programs.
    fn fingerprint(&self) -> String;

    /// Lists the programs of the subject, each with the name and version that it reported.
    fn list_programs(&self) -> Vec<(&Program, &ProgramName)> {
        Vec::new()
    }

    /// Returns the first value of a transcript that the subject cannot handle, if any. A single such transcript ends
    /// the run, because the corpus is incomplete.
    fn find_invalid(&self, _: &Transcript) -> Option<InvalidTranscript> {
        None
    }

    /// Computes the result for one transcript.
    ///
    /// # Errors
    /// Returns an error if `cancel` was raised while a program was running.
    fn compute(&self, transcript: &Transcript, cancel: &AtomicBool) -> PassResult<Self::Reply>;

    /// Returns whether a result is complete. Incomplete results are not written to the journal, so a resumed run
    /// computes them again.
    fn is_whole(&self, _: &Self::Reply) -> bool {
        true
    }

    /// Returns whether this subject can return a result. Checks results that were read from a file.
    fn can_return(&self, _: &Self::Reply) -> bool {
        true
    }

    /// Returns whether a single transcript takes long to compute. If so, few transcripts are in progress at a time, so
    /// that an interruption loses little work.
    fn is_slow(&self) -> bool {
        false
    }

    /// Returns the reason to end the run, if too many transcripts have failed.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// An invalid value in a transcript.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; expected {expected}")]
pub struct InvalidTranscript {
    /// The description of the invalid value.
    pub what: String,
    /// The description of the expected values.
    pub expected: String,
}

/// The guards of a plan and its programs, as a [`Subject`].
#[derive(Clone, Copy)]
pub struct PlanGuards<'a> {
    /// The plan with the settings.
    pub plan: &'a Plan,
    /// The running programs of the plan. [`Programs::default`] if it has none.
    pub programs: &'a Programs,
    /// The assumed size of text chunks, in chars. If `None`, the recorded chunks are used.
    pub chunks: Option<NonZeroU64>,
}

impl Subject for PlanGuards<'_> {
    /// The result of each block of the plan.
    type Reply = Vec<BlockDecision>;

    fn fingerprint(&self) -> String {
        self.plan.fingerprint()
    }

    fn list_programs(&self) -> Vec<(&Program, &ProgramName)> {
        self.programs.list().collect()
    }

    fn compute(&self, transcript: &Transcript, cancel: &AtomicBool) -> PassResult<Self::Reply> {
        let record = self
            .programs
            .decide(self.plan, transcript, self.chunks, cancel)?;
        Ok(record.blocks)
    }

    fn is_whole(&self, reply: &Self::Reply) -> bool {
        reply.iter().all(|block| block.error.is_none())
    }

    fn can_return(&self, reply: &Self::Reply) -> bool {
        are_results_of(reply, self.plan)
    }

    fn is_slow(&self) -> bool {
        !self.programs.is_empty()
    }

    fn failure(&self) -> Option<String> {
        self.programs.failure()
    }
}

/// Maps the records of a corpus for a subject, see [`map_corpus`].
///
/// # Errors
/// Returns an error if the pass was cancelled.
pub fn map_corpus_for<S: Subject, T: Send>(
    subject: &S,
    corpus: &Corpus,
    watch: &Watcher<'_>,
    map: impl Fn(Result<Entry, Problem>, Option<RawRecord>) -> T + Sync,
    sink: impl FnMut(T) -> ControlFlow<()>,
) -> PassResult {
    if !subject.is_slow() {
        return map_corpus(corpus, watch, map, sink);
    }
    let few = RECORDS_PER_THREAD * rayon::current_num_threads();
    map_in_batches(corpus, (few, &|_: &_| true), watch, map, sink)
}
