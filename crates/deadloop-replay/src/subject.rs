//! [`Subject`]: what is run over a corpus and says something of each transcript.
//!
//! PlanGuards, repairers and context budgets are subjects. One engine runs them all: in parallel, in the order of the corpus,
//! with a journal from which an interrupted run goes on.

use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use deadloop_corpus::{Corpus, Entry, Problem, Raw, Transcript};
use deadloop_detect::harness::Program;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::each::{Interrupted, Watch, each, each_few};
use crate::plan::Plan;
use crate::program::{Programs, Ready};
use crate::record::{Decided, fits};

/// Transcripts in hand a thread, where each takes long.
const FEW: usize = 16;

/// What is run over a corpus: settings that say something of a transcript.
pub trait Subject: Sync {
    /// What they say of one, without its text. As JSON it stands in journals and in the parts of shards.
    type Said: Serialize + DeserializeOwned + Send;

    /// Everything of it on which its answers depend, the programs aside.
    fn fingerprint(&self) -> String;

    /// Its programs, with the name and version that each reported.
    fn programs(&self) -> Vec<(&Program, &Ready)> {
        Vec::new()
    }

    /// Why nothing can be asked about a transcript. The corpus is not whole then: nothing is said of any.
    fn refuses(&self, _: &Transcript) -> Option<Misfit> {
        None
    }

    /// Asks about one transcript.
    ///
    /// # Errors
    /// `cancel` was raised while a program was waited for.
    fn say(&self, transcript: &Transcript, cancel: &AtomicBool) -> Result<Self::Said, Interrupted>;

    /// Whether all that was asked has answered. An answer that is not whole is in no journal: it is asked again.
    fn is_whole(&self, _: &Self::Said) -> bool {
        true
    }

    /// Whether this can be an answer of its own: what was read from a file is asked before anything is counted.
    fn fits(&self, _: &Self::Said) -> bool {
        true
    }

    /// Whether it takes long over a transcript. Then few are in hand, so that an interruption loses little.
    fn is_slow(&self) -> bool {
        false
    }

    /// Why the run must end, where something has failed too often.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// What a transcript says of itself in a way that nobody can read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; expected {expected}")]
pub struct Misfit {
    /// What stands there.
    pub what: String,
    /// What was expected.
    pub expected: String,
}

/// The guards of a plan, and their programs.
#[derive(Clone, Copy)]
pub struct PlanGuards<'a> {
    /// The settings.
    pub plan: &'a Plan,
    /// The plan's programs, started; [`Programs::default`] where it has none.
    pub programs: &'a Programs,
    /// The size, in chars, of the chunks in which all text is taken to have come; `None`: as recorded.
    pub chunks: Option<NonZeroU64>,
}

impl Subject for PlanGuards<'_> {
    /// One a block of the plan.
    type Said = Vec<Decided>;

    fn fingerprint(&self) -> String {
        self.plan.fingerprint()
    }

    fn programs(&self) -> Vec<(&Program, &Ready)> {
        self.programs.ready().collect()
    }

    fn say(&self, transcript: &Transcript, cancel: &AtomicBool) -> Result<Self::Said, Interrupted> {
        let record = self
            .programs
            .decide(self.plan, transcript, self.chunks, cancel)?;
        Ok(record.blocks)
    }

    fn is_whole(&self, said: &Self::Said) -> bool {
        said.iter().all(|block| block.error.is_none())
    }

    fn fits(&self, said: &Self::Said) -> bool {
        fits(said, self.plan)
    }

    fn is_slow(&self) -> bool {
        !self.programs.is_empty()
    }

    fn failure(&self) -> Option<String> {
        self.programs.failure()
    }
}

/// The pass over a corpus on which a subject is asked: as [`each`].
///
/// # Errors
/// It was stopped from outside.
pub fn each_for<S: Subject, T: Send>(
    subject: &S,
    corpus: &Corpus,
    watch: &Watch<'_>,
    map: impl Fn(Result<Entry, Problem>, Option<Raw>) -> T + Sync,
    sink: impl FnMut(T) -> ControlFlow<()>,
) -> Result<(), Interrupted> {
    if !subject.is_slow() {
        return each(corpus, watch, map, sink);
    }
    let few = FEW * rayon::current_num_threads();
    each_few(corpus, (few, &|_: &_| true), watch, map, sink)
}
