//! [`Subject`]: the interface of everything that runs over a corpus.
//!
//! The guards of a plan, repairers and context budgets are subjects. One engine runs them all: in parallel, in corpus
//! order, with a journal from which an interrupted run is resumed.

use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use deadloop_corpus::{Corpus, Entry, Problem, RawRecord, Transcript};
use deadloop_detect::harness::Program;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::corpus_pass::{Interruption, Watcher, each, each_few};
use crate::plan::Plan;
use crate::program::{Programs, Ready};
use crate::record::{BlockDecision, fits};

/// The number of transcripts in work for each thread, if the subject is slow.
const RECORDS_PER_THREAD: usize = 16;

/// A group of settings that computes a result for each transcript of a corpus.
pub trait Subject: Sync {
    /// The result for one transcript, without its text. It is written as JSON to journals and to the parts of shards.
    type Reply: Serialize + DeserializeOwned + Send;

    /// Returns a text of everything that the results depend on, except programs.
    fn fingerprint(&self) -> String;

    /// Returns the subject's programs, with the name and version that each reported.
    fn programs(&self) -> Vec<(&Program, &Ready)> {
        Vec::new()
    }

    /// Returns the reason why the subject cannot handle a transcript. Such a corpus is incomplete, so no transcript
    /// gets a result.
    fn refuses(&self, _: &Transcript) -> Option<InvalidTranscript> {
        None
    }

    /// Computes the result for one transcript.
    ///
    /// # Errors
    /// Returns an error if `cancel` was raised while a program was running.
    fn compute(
        &self,
        transcript: &Transcript,
        cancel: &AtomicBool,
    ) -> Result<Self::Reply, Interruption>;

    /// Returns whether a result is complete. Incomplete results are not written to the journal, so a resumed run
    /// computes them again.
    fn is_whole(&self, _: &Self::Reply) -> bool {
        true
    }

    /// Returns whether a result can come from this subject. Results that were read from a file are checked before they
    /// are used.
    fn fits(&self, _: &Self::Reply) -> bool {
        true
    }

    /// Returns whether the subject takes long for each transcript. Then few are in work at a time, so that an
    /// interruption loses little.
    fn is_slow(&self) -> bool {
        false
    }

    /// Returns the reason to end the run, if something has failed too often.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// An invalid value in a transcript.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; expected {expected}")]
pub struct InvalidTranscript {
    /// The value that was found.
    pub what: String,
    /// The values that are expected.
    pub expected: String,
}

/// The guards of a plan, with its programs, as a [`Subject`].
#[derive(Clone, Copy)]
pub struct PlanGuards<'a> {
    /// The plan, which holds the settings.
    pub plan: &'a Plan,
    /// The plan's programs, running. [`Programs::default`] if the plan has none.
    pub programs: &'a Programs,
    /// The size, in chars, of the chunks in which all text is assumed to have arrived. With `None` the recorded
    /// chunks are used.
    pub chunks: Option<NonZeroU64>,
}

impl Subject for PlanGuards<'_> {
    /// The result of each block of the plan.
    type Reply = Vec<BlockDecision>;

    fn fingerprint(&self) -> String {
        self.plan.fingerprint()
    }

    fn programs(&self) -> Vec<(&Program, &Ready)> {
        self.programs.ready().collect()
    }

    fn compute(
        &self,
        transcript: &Transcript,
        cancel: &AtomicBool,
    ) -> Result<Self::Reply, Interruption> {
        let record = self
            .programs
            .decide(self.plan, transcript, self.chunks, cancel)?;
        Ok(record.blocks)
    }

    fn is_whole(&self, reply: &Self::Reply) -> bool {
        reply.iter().all(|block| block.error.is_none())
    }

    fn fits(&self, reply: &Self::Reply) -> bool {
        fits(reply, self.plan)
    }

    fn is_slow(&self) -> bool {
        !self.programs.is_empty()
    }

    fn failure(&self) -> Option<String> {
        self.programs.failure()
    }
}

/// Maps the records of a corpus for a subject, as [`each`] does.
///
/// # Errors
/// Returns an error if the pass was cancelled.
pub fn each_for<S: Subject, T: Send>(
    subject: &S,
    corpus: &Corpus,
    watch: &Watcher<'_>,
    map: impl Fn(Result<Entry, Problem>, Option<RawRecord>) -> T + Sync,
    sink: impl FnMut(T) -> ControlFlow<()>,
) -> Result<(), Interruption> {
    if !subject.is_slow() {
        return each(corpus, watch, map, sink);
    }
    let few = RECORDS_PER_THREAD * rayon::current_num_threads();
    each_few(corpus, (few, &|_: &_| true), watch, map, sink)
}
