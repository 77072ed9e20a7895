//! [`Host`]: the caller of a run, which shows progress and can stop it.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use deadloop_corpus::{Corpus, Entry, Problem};
use deadloop_replay::{Interruption, Watcher, map_corpus};
use deadloop_score::choose::Ruling;

use crate::failure::{Code, RunResult};
use crate::options::{JudgingOptions, SelectionOptions};

/// The caller of a run.
pub trait Host: Sync {
    /// Returns the flag that ends the run soon. The run then fails with
    /// [`Code::Interrupted`], and its replayed part stays in the folder's journal.
    fn cancel(&self) -> &AtomicBool;

    /// Begins cancellable work. The returned guard is dropped when the work ends. If the work is a pass over a
    /// corpus, `what` names it and the guard receives its progress.
    fn begin(&self, what: Option<&'static str>) -> Box<dyn Progress + '_>;

    /// Shows a message to the user, for example about transcripts that were left out.
    fn notify(&self, line: &str);

    /// Announces that files will be written to this folder. A host that ends the process may remove unfinished files
    /// there.
    fn writes(&self, folder: &Path);

    /// Returns the command line, for the manifest of results.
    fn command_line(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the commands that may follow a choice, with CORPUS and DIR in place of the paths. None by default, since
    /// only a program has commands.
    fn next_commands(&self, _chosen: &Chosen<'_>) -> Vec<String> {
        Vec::new()
    }
}

/// A choice that was made, for the commands that may follow it.
pub struct Chosen<'a> {
    /// The verdict.
    pub verdict: Ruling,
    /// Whether the settings file can guard a single live stream.
    pub is_live: bool,
    /// The filters that selected the transcripts.
    pub select: &'a SelectionOptions,
    /// The options for judging alarms.
    pub judge: &'a JudgingOptions,
}

/// The progress of a pass.
pub trait Progress: Sync {
    /// Reports that `read` of `total` bytes have been read.
    fn at(&self, read: u64, total: u64);
}

/// A host without a user interface: it drops messages and never stops the run.
#[derive(Debug, Default)]
pub struct SilentHost(AtomicBool);

impl Host for SilentHost {
    fn cancel(&self) -> &AtomicBool {
        &self.0
    }

    fn begin(&self, _: Option<&'static str>) -> Box<dyn Progress + '_> {
        Box::new(())
    }

    fn notify(&self, _: &str) {}

    fn writes(&self, _: &Path) {}
}

/// Shows no progress.
impl Progress for () {
    fn at(&self, _: u64, _: u64) {}
}

/// Runs a pass over a corpus with its host's progress and stop flag.
pub fn watched<T>(host: &dyn Host, what: &'static str, pass: impl FnOnce(&Watcher<'_>) -> T) -> T {
    let progress = host.begin(Some(what));
    pass(&Watcher {
        cancel: host.cancel(),
        progress: &|read, total| progress.at(read, total),
    })
}

/// Reads every record of a corpus and returns what `look` finds, in the order of the corpus. `what` names the pass, and
/// `interrupted` is the message of one that the host stopped.
pub(crate) fn find_in<T: Send>(
    corpus: &Corpus,
    host: &dyn Host,
    (what, interrupted): (&'static str, &'static str),
    look: impl Fn(Result<Entry, Problem>) -> Option<T> + Sync,
) -> RunResult<Vec<T>> {
    let mut all = Vec::new();
    let keep = |found| {
        all.extend(found);
        ControlFlow::Continue(())
    };
    watched(host, what, |watch| {
        map_corpus(corpus, watch, |entry, _| look(entry), keep)
    })
    .map_err(|Interruption| Code::Interrupted.error(interrupted))?;
    Ok(all)
}
