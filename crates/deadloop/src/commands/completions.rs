//! `deadloop completions`: what a shell needs to complete words, made from the arguments themselves.

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use crate::args::Cli;
use crate::exit::Outcome;
use crate::show;

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(args: &Completions) -> Outcome {
    let mut script = Vec::new();
    generate(args.shell, &mut Cli::command(), "deadloop", &mut script);
    show::print(String::from_utf8_lossy(&script).trim_end())
}
