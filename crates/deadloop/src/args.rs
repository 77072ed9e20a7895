//! The command line, and the options that several commands share.
//!
//! The options of one command are beside its code (`commands/`). The help texts are the reference of the program.

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

/// Options that a next command repeats.
pub(crate) trait Typed {
    /// Returns the given options as typed behind a corpus, each with a blank before it.
    fn typed(&self) -> String;
}

impl Typed for SelectionOptions {
    fn typed(&self) -> String {
        let some = |name, value: &Option<String>| value.iter().map(|v| (name, v.clone())).collect();
        let each = |name, values: &[String]| values.iter().map(|v| (name, v.clone())).collect();
        let count = |name, n: Option<usize>| n.iter().map(|n| (name, n.to_string())).collect();
        let drawn = self.sample.map(|_| self.seed.to_string());
        let given: [Vec<(&str, String)>; 6] = [
            each("model", &self.models),
            some("split", &self.split),
            each("where", &self.wheres),
            count("limit", self.limit),
            count("sample", self.sample),
            some("seed", &drawn),
        ];
        let option = |(name, value): &(&str, String)| format!(" --{name} {}", show::typed(value));
        let skips = if self.skips() { " --on-bad skip" } else { "" };
        let given: String = given.iter().flatten().map(option).collect();
        given + skips
    }
}

/// Only options that change what a replay counts are repeated.
impl Typed for JudgingOptions {
    fn typed(&self) -> String {
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
