//! deadloop: replay recorded LLM output through loop detectors at every setting at once, and choose
//! one per model. Each command is a file in `commands/`.

mod args;
mod commands;
mod corpus;
mod evidence;
mod exit;
mod findings;
mod folder;
mod interrupt;
mod left_out;
mod manifest;
mod noticing;
mod opening;
mod outputs;
mod pinning;
mod programs;
mod progress;
mod rendering;
mod replaying;
mod settings;
mod sharding;
mod show;
mod stamps;
mod units;
mod visible;

use clap::Parser;

fn main() -> std::process::ExitCode {
    let cli = args::Cli::parse();
    exit::report(interrupt::outlasted(commands::run(&cli)))
}
