//! The command line, with the options that several commands share.
//!
//! The options of each command are beside its code in `commands/`. The help texts are the reference of the program.

use std::num::NonZeroUsize;

use clap::{Args, Parser};
use deadloop_run::options::{JudgingOptions, SelectionOptions};
use deadloop_score::Transient;

use crate::commands::Command;
use crate::show;

/// Offline evaluation and tuning harness for LLM dead-loop detectors.
#[derive(Debug, Parser)]
#[command(
    version,
    propagate_version = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct GlobalArgs {
    /// The number of threads [default: one per core]
    #[arg(long, short = 'j', global = true, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Print errors only
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Print a machine-readable result on stdout, everything else on stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Options that a suggested next command repeats.
pub(crate) trait ToCommandLine {
    /// Formats the options that were given, as typed after a corpus, each with a blank before it.
    fn to_command_line(&self) -> String;
}

impl ToCommandLine for SelectionOptions {
    fn to_command_line(&self) -> String {
        let mut line = String::new();
        let mut add =
            |name: &str, value: &str| line += &format!(" --{name} {}", show::typed(value));
        self.models.iter().for_each(|glob| add("model", glob));
        self.split.iter().for_each(|name| add("split", name));
        self.wheres.iter().for_each(|pair| add("where", pair));
        self.limit.iter().for_each(|n| add("limit", &n.to_string()));
        if let Some(n) = self.sample {
            add("sample", &n.to_string());
            add("seed", &self.seed.to_string());
        }
        if self.skips() {
            add("on-bad", "skip");
        }
        line
    }
}

/// Repeats only options that change what a replay counts.
impl ToCommandLine for JudgingOptions {
    fn to_command_line(&self) -> String {
        let transient = Some(self.transient).filter(|how| *how != Transient::default());
        let given = [
            self.unit.map(|unit| format!(" --unit {unit}")),
            self.per.map(|per| format!(" --per {per}")),
            self.chunks.map(|chunks| format!(" --chunks {chunks}")),
            transient.map(|how| format!(" --transient {how}")),
        ];
        given.into_iter().flatten().collect()
    }
}
