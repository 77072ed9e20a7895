//! The registry of commands.
//!
//! A new command needs a file or folder beside this one with its arguments, its `HELP` and its `run`. It also needs a
//! `mod` line, a line of `commands!`, and its name in a family of `families`.

use clap::Subcommand;

use crate::args::{Cli, GlobalArgs};
use crate::exit::{Code, Outcome};
use crate::interrupt;

mod budget;
mod cases;
mod check;
mod compare;
mod detectors;
mod explain;
mod export;
pub(crate) mod families;
mod generate;
mod import;
mod init;
mod label;
mod merge;
mod proxy;
mod repair;
pub(crate) mod replacements;
mod replay;
mod report;
mod show;
mod sweep;
mod synth;
mod tune;
mod watch;

/// Returns the examples at the start of a help text, which `-h` shows. `--help` shows the whole text.
fn examples(help: &'static str) -> &'static str {
    help.split("\n\n").next().unwrap_or(help)
}

/// Declares [`Command`] and its `run` from the arguments of each command. Each module has its `HELP` and its `run`.
macro_rules! commands {
    ($($(#[$about:meta])* $command:ident($module:ident::$args:ident),)*) => {
        /// The commands, in the order of the help.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($(#[$about])*
            #[command(after_help = examples($module::HELP), after_long_help = $module::HELP)]
            $command($module::$args),)*
        }

        impl Command {
            fn run(&self, global: GlobalArgs) -> Outcome {
                match self {
                    $(Self::$command(args) => $module::run(args, global),)*
                }
            }
        }
    };
}

commands! {
    /// The main job: choose a setting for each model, with the evidence
    Tune(tune::TuneOptions),
    /// Score every cell of a grid, and choose none
    Sweep(sweep::SweepOptions),
    /// Replay settings: what fires where, and how good that is
    Replay(replay::ReplayOptions),
    /// Put the guard between any client and any server of LLM streams
    Proxy(proxy::ProxyArgs),
    /// Merge the parts that --shard wrote into one result
    Merge(merge::MergeOptions),
    /// Write a setting as the configuration of another guard
    Export(export::ExportArgs),
    /// Explain one transcript: which threshold decided, and where
    Explain(explain::ExplainOptions),
    /// Watch a stream on stdin: exit code 10 when the guard stops it
    Watch(watch::WatchArgs),
    /// Make a corpus from recordings in other formats
    Import(import::ImportRunOptions),
    /// Measure repairers of faulty streams
    Repair(repair::RepairOptions),
    /// Render the report of a result folder again; runs nothing
    Report(report::ReportArgs),
    /// Propose labels, review them, compare them
    Label(label::LabelOptions),
    /// Count a corpus, what its labels can prove, and what misleads
    Check(check::CheckOptions),
    /// Make a labelled corpus from a spec and a seed
    Synth(synth::SynthArgs),
    /// Compare two settings: what moved, which verdicts changed; a gate
    Compare(compare::ComparisonOptions),
    /// Measure context budgets on recorded runs of agents
    Budget(budget::BudgetOptions),
    /// Check settings against pinned cases, or write one from a recording
    Cases(cases::CasesOptions),
    /// List the detectors, or describe a single one
    Detectors(detectors::DetectorsArgs),
    /// Write a folder to start from: settings, a grid, a small corpus
    Init(init::InitArgs),
    /// Show transcripts as a person reads them
    Show(show::ShowArgs),
    /// Write man pages, completions, JSON Schemas and the site's reference
    #[command(hide = true)]
    Generate(generate::GenerateArgs),
}

/// The maximum number of threads. More threads would mostly wait for each other.
const MAX_THREADS: usize = 256;

/// Runs the command of a command line.
pub(crate) fn run(cli: &Cli) -> Outcome {
    interrupt::install_handlers()?;
    let threads = cli.global.jobs.map_or(0, usize::from).min(MAX_THREADS);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build_global()
        .map_err(|e| Code::Unexpected.because(e))?;
    cli.command.run(cli.global)
}
