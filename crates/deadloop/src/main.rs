//! deadloop: replay recorded LLM output through loop detectors at every setting at once, and choose
//! one per model. Each command is a file in `commands/`.

mod args;
mod budgeting;
mod checking;
mod commands;
mod comparing;
mod contexts;
mod corpus;
mod evidence;
mod exit;
mod explaining;
mod exporting;
mod findings;
mod folder;
mod histogram;
mod interrupt;
mod labelling;
mod left_out;
mod manifest;
mod mending;
mod noticing;
mod opening;
mod outputs;
mod own_limits;
mod paging;
mod pinning;
mod programs;
mod progress;
mod rendering;
mod replaying;
mod schemas;
mod searching;
mod settings;
mod sharding;
mod show;
mod showing;
mod stamps;
mod units;
mod watching;

use clap::Parser;

fn main() -> std::process::ExitCode {
    let cli = args::Cli::parse();
    exit::report(interrupt::outlasted(commands::run(&cli)))
}
