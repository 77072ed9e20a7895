//! [`Terminal`]: the program as the host of a run.
//!
//! Progress is a bar, a stop is Ctrl-C, and messages go to stderr.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use deadloop_run::{Host, Progress};
use indicatif::ProgressBar;

use crate::args::GlobalArgs;
use crate::interrupt::{self, PassGuard};
use crate::progress::bar;
use crate::show;

/// The terminal that a command was typed at.
pub(crate) struct Terminal {
    /// Whether only errors are printed.
    pub(crate) quiet: bool,
}

impl Terminal {
    /// Creates the terminal with the options of every command.
    pub(crate) fn new(global: GlobalArgs) -> Self {
        Self {
            quiet: global.quiet,
        }
    }

    /// Creates a terminal that prints only errors.
    pub(crate) fn silent() -> Self {
        Self { quiet: true }
    }
}

impl Host for Terminal {
    fn cancel(&self) -> &AtomicBool {
        interrupt::cancel()
    }

    fn begin(&self, what: Option<&'static str>) -> Box<dyn Progress + '_> {
        Box::new(ShownPass {
            bar: what.map_or_else(ProgressBar::hidden, |what| bar(what, self.quiet)),
            _passing: PassGuard::begin(),
        })
    }

    fn notify(&self, line: &str) {
        if !self.quiet {
            show::remark(line);
        }
    }

    fn writes(&self, folder: &Path) {
        interrupt::sweeps(folder);
    }

    fn command_line(&self) -> Vec<String> {
        let args = std::env::args_os();
        args.map(|arg| arg.to_string_lossy().into_owned()).collect()
    }
}

/// A pass under way, with its progress bar.
struct ShownPass {
    bar: ProgressBar,
    _passing: PassGuard,
}

impl Progress for ShownPass {
    fn at(&self, read: u64, total: u64) {
        self.bar.set_length(total.max(read));
        self.bar.set_position(read);
    }
}

impl Drop for ShownPass {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
