//! Ctrl-C and SIGTERM end any command within a second, and nothing that is done is lost.
//!
//! While a corpus is read or replayed a flag ends the pass between two records, and the journal is
//! written out. All other work (choosing, scoring, drawing) is done again in less time than it takes
//! to make each of its loops stoppable, and a crate that computes stays free of flags: there the
//! program just ends. That is safe at any moment, since every file is written beside its name and
//! renamed when it is whole, and the journal stays until the report is there.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadloop_corpus::{standstill, sweep};

use crate::exit::{Code, Outcome, number};
use crate::show;

/// Raised to end a pass over a corpus.
static CANCEL: AtomicBool = AtomicBool::new(false);
/// Whether such a pass is under way.
static PASSING: AtomicBool = AtomicBool::new(false);
/// Where unfinished files may lie.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// The function that an interruption calls too.
static TOLD: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// What a pass over a corpus has to end in good order.
const GRACE: Duration = Duration::from_millis(500);

/// From now on Ctrl-C and SIGTERM end the program in good order.
pub(crate) fn heed() -> Outcome {
    let stop = || {
        CANCEL.store(true, Ordering::SeqCst);
        let told = TOLD.get().inspect(|tell| tell());
        if told.is_some() || PASSING.load(Ordering::SeqCst) {
            // Who heeds it has ended the program before this is over.
            std::thread::sleep(GRACE);
        }
        // Held until the process is gone: the other threads work on until then.
        let _still = standstill();
        if let Some(folder) = FOLDER.get() {
            sweep_up(folder, true);
        }
        show::remark(format_args!(
            "deadloop: interrupted; what was finished stays"
        ));
        std::process::exit(i32::from(number(Code::Interrupted)));
    };
    Ok(ctrlc::set_handler(stop)?)
}

/// What a command has ended with. While the program is being interrupted an error may be that of a file
/// which was swept away under it: then the interruption is what ends it.
pub(crate) fn outlasted(outcome: Outcome) -> Outcome {
    let error = outcome
        .as_ref()
        .is_err_and(|failure| failure.code() == Code::Unexpected);
    if error && CANCEL.load(Ordering::SeqCst) {
        std::thread::sleep(2 * GRACE);
    }
    outcome
}

/// An interruption also calls `tell`, on a thread of its own, and leaves the command a moment to end
/// by itself. One command, one caller.
pub(crate) fn also(tell: impl Fn() + Send + Sync + 'static) {
    TOLD.get_or_init(|| Box::new(tell));
}

/// The flag that is raised to end a pass.
pub(crate) fn cancel() -> &'static AtomicBool {
    &CANCEL
}

/// A pass is under way that ends soon after the flag is raised: until this is dropped the program waits for it.
pub(crate) struct Passing;

impl Passing {
    pub(crate) fn begin() -> Self {
        PASSING.store(true, Ordering::SeqCst);
        Self
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        PASSING.store(false, Ordering::SeqCst);
    }
}

/// Unfinished files in `folder` are removed when the program is interrupted, and at once those that
/// others left there. A program writes to one folder: the first that is named.
pub(crate) fn sweeps(folder: &Path) {
    sweep_up(FOLDER.get_or_init(|| folder.to_path_buf()), false);
}

/// Sweeps a folder and those in it that files are written to.
fn sweep_up(folder: &Path, own: bool) {
    for part in [folder, &folder.join("charts"), &folder.join("transcripts")] {
        sweep(part, own);
    }
}
