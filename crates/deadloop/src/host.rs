//! [`Terminal`]: the program as the host of a run.
//!
//! Progress is a bar, a stop is Ctrl-C, and messages go to stderr.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use deadloop_run::{Host, Progress};
use indicatif::ProgressBar;

use crate::args::Global;
use crate::interrupt::{self, Passing};
use crate::progress::bar;
use crate::show;

/// The terminal that a command was typed at.
pub(crate) struct Terminal {
    /// Whether only errors are printed.
    pub(crate) quiet: bool,
}

impl Terminal {
    /// Creates the terminal with the options of every command.
    pub(crate) fn new(global: Global) -> Self {
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
        Box::new(Pass {
            bar: what.map_or_else(ProgressBar::hidden, |what| bar(what, self.quiet)),
            _passing: Passing::begin(),
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
}

/// A pass under way, with its progress bar.
struct Pass {
    bar: ProgressBar,
    _passing: Passing,
}

impl Progress for Pass {
    fn at(&self, read: u64, total: u64) {
        self.bar.set_length(total.max(read));
        self.bar.set_position(read);
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
