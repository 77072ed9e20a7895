//! deadloop: replay recorded LLM output through loop detectors at every setting at once, and choose
//! one per model. Each command is a file in `commands/`.

#![deny(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "they panic where nobody reads any more"
)]

mod args;
mod commands;
mod comparing;
mod exit;
mod fitting;
mod host;
mod interrupt;
mod naming;
mod paint;
mod progress;
mod proposing;
mod rendering;
mod replaying;
mod settings;
mod show;
mod words;

use clap::{CommandFactory, FromArgMatches};
use deadloop_run::visible;

fn main() -> std::process::ExitCode {
    let asked = commands::families::grouped(args::Cli::command()).get_matches();
    let cli = args::Cli::from_arg_matches(&asked).unwrap_or_else(|error| error.exit());
    exit::report(interrupt::outlasted(commands::run(&cli)))
}
