//! [`Terminal`]: the terminal as the host of a run.
//!
//! Progress is shown as a bar, Ctrl-C stops the run, and messages go to stderr.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use deadloop_run::{Chosen, Host, Progress};
use deadloop_score::choose::Ruling;
use indicatif::ProgressBar;

use crate::args::{GlobalArgs, ToCommandLine};
use crate::interrupt::{self, PassGuard};
use crate::progress::bytes_bar;
use crate::show;

/// The terminal in which a command was typed.
pub(crate) struct Terminal {
    /// Whether only errors are printed.
    pub(crate) quiet: bool,
}

impl Terminal {
    /// Creates the terminal from the options of every command.
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
        interrupt::cancel_flag()
    }

    fn begin(&self, what: Option<&'static str>) -> Box<dyn Progress + '_> {
        Box::new(PassProgress {
            bar: what.map_or_else(ProgressBar::hidden, |what| bytes_bar(what, self.quiet)),
            _guard: PassGuard::begin(),
        })
    }

    fn notify(&self, line: &str) {
        if !self.quiet {
            show::eprint(line);
        }
    }

    fn writes(&self, folder: &Path) {
        interrupt::register_folder(folder);
    }

    fn command_line(&self) -> Vec<String> {
        let args = std::env::args_os();
        args.map(|arg| arg.to_string_lossy().into_owned()).collect()
    }

    fn next_commands(&self, chosen: &Chosen<'_>) -> Vec<String> {
        let options = chosen.select.to_command_line() + &chosen.judge.to_command_line();
        let commands: &[&str] = match chosen.verdict {
            Ruling::Ship if chosen.is_live => &[REPLAY, WATCH],
            Ruling::Ship => &[REPLAY],
            Ruling::Collect => &["deadloop check CORPUS", "deadloop label CORPUS --review"],
            Ruling::Keep => &["deadloop report DIR --open"],
        };
        let commands = commands.iter();
        commands
            .map(|line| line.replace("{options}", &options))
            .collect()
    }
}

/// The command that checks a setting which ships.
const REPLAY: &str = "deadloop replay CORPUS{options} --settings DIR/settings.toml --out DIR-check";
/// The command that guards a live stream by a setting which ships.
const WATCH: &str = "deadloop watch --settings DIR/settings.toml < stream.jsonl";

/// A pass in progress, with its progress bar.
struct PassProgress {
    bar: ProgressBar,
    _guard: PassGuard,
}

impl Progress for PassProgress {
    fn at(&self, read: u64, total: u64) {
        self.bar.set_length(total.max(read));
        self.bar.set_position(read);
    }
}

impl Drop for PassProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
