//! deadloop: evaluates loop detectors on recorded LLM output.
//!
//! It replays recordings at every setting at once and chooses a setting for each model. Each command is a file in
//! `commands/`.

// These macros panic where nobody reads any more.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod args;
mod commands;
mod exit;
mod host;
mod interrupt;
mod progress;
mod show;

use clap::{CommandFactory, FromArgMatches};

fn main() -> std::process::ExitCode {
    deadloop_run::option::set_option_formatter(exit::option_name);
    let program = commands::families::group_by_family(args::Cli::command());
    let matches = match program.try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            let typed = std::env::args_os().skip(1);
            let typed: Vec<_> = typed
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            match commands::replacements::replacement_for(&error, &typed) {
                Some(how) => return exit::report_outcome(Err(exit::Code::Usage.error(how))),
                None => error.exit(),
            }
        }
    };
    let cli = args::Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    exit::report_outcome(interrupt::wait_if_interrupted(commands::run(&cli)))
}
