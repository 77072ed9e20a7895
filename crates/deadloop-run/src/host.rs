//! [`Host`]: who asked for a run. It sees how far the run is, may stop it, and hears what a person should know.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use deadloop_replay::Watch;

/// Who asked for a run.
pub trait Host: Sync {
    /// Raised where the run has to end soon: it then ends with [`Code::Interrupted`](crate::Code::Interrupted), and what was replayed
    /// stays in the folder's journal.
    fn cancel(&self) -> &AtomicBool;

    /// Called when cancellable work begins. The returned guard is dropped when it ends. If the work is a pass over a
    /// corpus, `what` names it and the guard receives its progress.
    fn begin(&self, what: Option<&'static str>) -> Box<dyn Progress + '_>;

    /// A line for a person: what was left out, and why.
    fn tell(&self, line: &str);

    /// Files are written to this folder from now on. Whoever ends the process may sweep up what is unfinished there.
    fn writes(&self, folder: &Path);
}

/// How far a pass is.
pub trait Progress: Sync {
    /// `read` of `total` bytes have been read.
    fn at(&self, read: u64, total: u64);
}

/// Nobody looks on: nothing is told, and nothing stops the run.
#[derive(Debug, Default)]
pub struct Alone(AtomicBool);

impl Host for Alone {
    fn cancel(&self) -> &AtomicBool {
        &self.0
    }

    fn begin(&self, _: Option<&'static str>) -> Box<dyn Progress + '_> {
        Box::new(Unseen)
    }

    fn tell(&self, _: &str) {}

    fn writes(&self, _: &Path) {}
}

struct Unseen;

impl Progress for Unseen {
    fn at(&self, _: u64, _: u64) {}
}

/// A pass over a corpus, watched by its host.
pub fn watched<T>(host: &dyn Host, what: &'static str, pass: impl FnOnce(&Watch<'_>) -> T) -> T {
    let progress = host.begin(Some(what));
    pass(&Watch {
        cancel: host.cancel(),
        progress: &|read, total| progress.at(read, total),
    })
}
