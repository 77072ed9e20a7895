//! Ends a command within a second of Ctrl-C or SIGTERM, without loss.
//!
//! While a corpus is read or replayed, a flag ends the pass between two records, and the journal is written out.
//! Other work (choosing, scoring, drawing) has no flag: the program just exits, and the next run repeats that work
//! quickly. An exit is safe at any moment, since every file is written under a temporary name and renamed when it is
//! whole, and the journal stays until the report is written.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadloop_corpus::{block_file_changes, sweep};

use crate::exit::{Code, Outcome};
use crate::show;

/// The flag that ends a pass over a corpus.
static CANCEL: AtomicBool = AtomicBool::new(false);
/// The flag that is set during a pass over a corpus.
static PASSING: AtomicBool = AtomicBool::new(false);
/// The folder that may hold unfinished files.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// The function that an interruption also calls.
static TOLD: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// The time that an interrupted pass has to end in good order.
const GRACE: Duration = Duration::from_millis(500);

/// Installs handlers of Ctrl-C and SIGTERM that end the program in good order.
pub(crate) fn install_handlers() -> Outcome {
    let stop = || {
        CANCEL.store(true, Ordering::SeqCst);
        let told = TOLD.get().inspect(|tell| tell());
        if told.is_some() || PASSING.load(Ordering::SeqCst) {
            // A pass that heeds the flag ends the program before this is over.
            std::thread::sleep(GRACE);
        }
        // Held until the process is gone, since the other threads work on until then.
        let _still = block_file_changes();
        if let Some(folder) = FOLDER.get() {
            sweep_up(folder, true);
        }
        show::remark(format_args!(
            "deadloop: interrupted; what was finished stays"
        ));
        std::process::exit(i32::from(Code::Interrupted.exit()));
    };
    Ok(ctrlc::set_handler(stop)?)
}

/// Returns the outcome of a command. If the program is being interrupted, an error may be due to a removed unfinished
/// file, so this waits for the interruption to end the program.
pub(crate) fn wait_if_interrupted(outcome: Outcome) -> Outcome {
    let error = outcome
        .as_ref()
        .is_err_and(|failure| failure.code() == Code::Unexpected);
    if error && CANCEL.load(Ordering::SeqCst) {
        std::thread::sleep(2 * GRACE);
    }
    outcome
}

/// Makes an interruption also call `tell`, on a separate thread, and gives the command a moment to end by itself. A
/// command may call it once.
pub(crate) fn also(tell: impl Fn() + Send + Sync + 'static) {
    TOLD.get_or_init(|| Box::new(tell));
}

/// Returns the flag that ends a pass.
pub(crate) fn cancel() -> &'static AtomicBool {
    &CANCEL
}

/// A guard that marks a pass as under way. An interruption waits for the pass until this is dropped.
pub(crate) struct PassGuard;

impl PassGuard {
    pub(crate) fn begin() -> Self {
        PASSING.store(true, Ordering::SeqCst);
        Self
    }
}

impl Drop for PassGuard {
    fn drop(&mut self) {
        PASSING.store(false, Ordering::SeqCst);
    }
}

/// Sets the folder whose unfinished files an interruption removes. Files that other processes left in it are removed
/// now. Only the first call has an effect.
pub(crate) fn sweeps(folder: &Path) {
    sweep_up(FOLDER.get_or_init(|| folder.to_path_buf()), false);
}

/// Removes the unfinished files of a folder, and of its folders that hold output files.
fn sweep_up(folder: &Path, own: bool) {
    for part in [folder, &folder.join("charts"), &folder.join("transcripts")] {
        sweep(part, own);
    }
}
