//! `deadloop completions`: what a shell needs to complete words, made from the arguments themselves.

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use crate::args::Cli;
use crate::exit::Outcome;
use crate::show;

pub(crate) const HELP: &str = "Examples:\n  deadloop completions bash > ~/.local/share/bash-completion/completions/deadloop\n  deadloop completions zsh > ~/.zfunc/_deadloop\n  deadloop completions fish > ~/.config/fish/completions/deadloop.fish";

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
