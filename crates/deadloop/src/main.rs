//! deadloop: replay recorded LLM output through loop detectors at every setting at once, and choose
//! one per model. Each command is a file in `commands/`.

mod args;
mod commands;
mod corpus;
mod exit;
mod explaining;
mod folder;
mod interrupt;
mod opening;
mod programs;
mod progress;
mod replaying;
mod settings;
mod show;
mod watching;

use clap::Parser;

fn main() -> std::process::ExitCode {
    let cli = args::Cli::parse();
    exit::report(commands::run(&cli))
}
