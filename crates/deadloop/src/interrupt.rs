//! Ends a command within a second of Ctrl-C or SIGTERM, without loss of results.
//!
//! While a corpus is read or replayed, a flag ends the pass between two records, and the journal is written out. Other
//! work (choosing, scoring, drawing) has no flag: the program exits, and the next run quickly repeats that work. An
//! exit is safe at any moment, since every file is written under a temporary name and renamed when it is complete, and
//! the journal stays until the report is written.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadloop_corpus::{block_file_changes, sweep};

use crate::exit::{Code, Outcome};
use crate::show;

/// Set by an interruption to end a pass over a corpus.
static CANCEL: AtomicBool = AtomicBool::new(false);
/// Set during a pass over a corpus.
static IS_PASS_RUNNING: AtomicBool = AtomicBool::new(false);
/// The folder that may hold unfinished files.
static OUTPUT_FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// A function of the command that an interruption also calls.
static EXTRA_HANDLER: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// The time that an interrupted pass has to end by itself.
const GRACE_PERIOD: Duration = Duration::from_millis(500);

/// Installs handlers of Ctrl-C and SIGTERM that end the program without loss.
pub(crate) fn install_handlers() -> Outcome {
    let stop = || {
        CANCEL.store(true, Ordering::SeqCst);
        let extra = EXTRA_HANDLER.get().inspect(|handler| handler());
        if extra.is_some() || IS_PASS_RUNNING.load(Ordering::SeqCst) {
            // A pass that ends by the flag ends the program before this sleep is over.
            std::thread::sleep(GRACE_PERIOD);
        }
        // The block lasts until the process is gone, since other threads work on until then.
        let _block = block_file_changes();
        if let Some(folder) = OUTPUT_FOLDER.get() {
            remove_unfinished(folder, true);
        }
        show::eprint(format_args!(
            "deadloop: interrupted; what was finished stays"
        ));
        std::process::exit(i32::from(Code::Interrupted.exit()));
    };
    Ok(ctrlc::set_handler(stop)?)
}

/// Returns the outcome of a command. During an interruption an error may be due to a removed unfinished file, so this
/// function then waits until the interruption ends the program.
pub(crate) fn wait_if_interrupted(outcome: Outcome) -> Outcome {
    let error = outcome
        .as_ref()
        .is_err_and(|failure| failure.code() == Code::Unexpected);
    if error && CANCEL.load(Ordering::SeqCst) {
        std::thread::sleep(2 * GRACE_PERIOD);
    }
    outcome
}

/// Makes an interruption also call `handler`, on a separate thread, and wait a moment for the command to end. A command
/// may call this once.
pub(crate) fn add_handler(handler: impl Fn() + Send + Sync + 'static) {
    EXTRA_HANDLER.get_or_init(|| Box::new(handler));
}

/// Returns the flag that ends a pass.
pub(crate) fn cancel_flag() -> &'static AtomicBool {
    &CANCEL
}

/// A guard for a pass in progress. An interruption waits until it is dropped.
pub(crate) struct PassGuard;

impl PassGuard {
    pub(crate) fn begin() -> Self {
        IS_PASS_RUNNING.store(true, Ordering::SeqCst);
        Self
    }
}

impl Drop for PassGuard {
    fn drop(&mut self) {
        IS_PASS_RUNNING.store(false, Ordering::SeqCst);
    }
}

/// Registers the folder whose unfinished files an interruption removes. Unfinished files of earlier processes are
/// removed now. Only the first call has an effect.
pub(crate) fn register_folder(folder: &Path) {
    remove_unfinished(OUTPUT_FOLDER.get_or_init(|| folder.to_path_buf()), false);
}

/// Removes the unfinished files of a folder and of its subfolders for output. `is_own` is whether the files of this
/// process are removed, or those of earlier ones.
fn remove_unfinished(folder: &Path, is_own: bool) {
    for part in [folder, &folder.join("charts"), &folder.join("transcripts")] {
        sweep(part, is_own);
    }
}
