//! The registry of commands.
//!
//! A new command needs a file or folder beside this one with its arguments, its `HELP` and its `run`. It also needs a
//! `mod` line, a variant of [`Command`], a line in [`run`], and its name in a family of `families`.

use clap::Subcommand;
use serde::Deserialize;

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

/// Returns the examples of a help text, which `-h` shows. `--help` shows all of it.
fn examples(help: &'static str) -> &'static str {
    help.split("\n\n").next().unwrap_or(help)
}

/// The commands, in the order of the help.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The main job: choose a setting for each model, with the evidence
    #[command(after_help = examples(tune::HELP), after_long_help = tune::HELP)]
    Tune(tune::TuneArgs),
    /// Score every cell of a grid, and choose none
    #[command(after_help = examples(sweep::HELP), after_long_help = sweep::HELP)]
    Sweep(sweep::SweepArgs),
    /// Replay settings: what fires where, and how good that is
    #[command(after_help = examples(replay::HELP), after_long_help = replay::HELP)]
    Replay(replay::ReplayArgs),
    /// Put the guard between any client and any server of LLM streams
    #[command(after_help = examples(proxy::HELP), after_long_help = proxy::HELP)]
    Proxy(proxy::ProxyArgs),
    /// Merge the parts that --shard wrote into one result
    #[command(after_help = examples(merge::HELP), after_long_help = merge::HELP)]
    Merge(merge::MergeArgs),
    /// Write a setting as the configuration of another guard
    #[command(after_help = examples(export::HELP), after_long_help = export::HELP)]
    Export(export::ExportArgs),
    /// Explain one transcript: which threshold decided, and where
    #[command(after_help = examples(explain::HELP), after_long_help = explain::HELP)]
    Explain(explain::ExplainArgs),
    /// Watch a stream on stdin: exit code 10 when the guard stops it
    #[command(after_help = examples(watch::HELP), after_long_help = watch::HELP)]
    Watch(watch::WatchArgs),
    /// Make a corpus from recordings in other formats
    #[command(after_help = examples(import::HELP), after_long_help = import::HELP)]
    Import(import::ImportArgs),
    /// Measure repairers of faulty streams
    #[command(after_help = examples(repair::HELP), after_long_help = repair::HELP)]
    Repair(repair::RepairArgs),
    /// Render the report of a result folder again; runs nothing
    #[command(after_help = examples(report::HELP), after_long_help = report::HELP)]
    Report(report::ReportArgs),
    /// Propose labels, review them, compare them
    #[command(after_help = examples(label::HELP), after_long_help = label::HELP)]
    Label(label::LabelArgs),
    /// Count a corpus, what its labels can prove, and what misleads
    #[command(after_help = examples(check::HELP), after_long_help = check::HELP)]
    Check(check::CheckArgs),
    /// Make a labelled corpus from a spec and a seed
    #[command(after_help = examples(synth::HELP), after_long_help = synth::HELP)]
    Synth(synth::SynthArgs),
    /// Compare two settings: what moved, which verdicts changed; a gate
    #[command(after_help = examples(compare::HELP), after_long_help = compare::HELP)]
    Compare(compare::CompareArgs),
    /// Measure context budgets on recorded runs of agents
    #[command(after_help = examples(budget::HELP), after_long_help = budget::HELP)]
    Budget(budget::BudgetArgs),
    /// Check settings against pinned cases, or write one from a recording
    #[command(after_help = examples(cases::HELP), after_long_help = cases::HELP)]
    Cases(cases::CasesArgs),
    /// List the detectors, or describe a single one
    #[command(after_help = examples(detectors::HELP), after_long_help = detectors::HELP)]
    Detectors(detectors::DetectorsArgs),
    /// Write a folder to start from: settings, a grid, a small corpus
    #[command(after_help = examples(init::HELP), after_long_help = init::HELP)]
    Init(init::InitArgs),
    /// Show transcripts as a person reads them
    #[command(after_help = examples(show::HELP), after_long_help = show::HELP)]
    Show(show::ShowArgs),
    /// Write man pages, completions, JSON Schemas and the site's reference
    #[command(hide = true, after_help = examples(generate::HELP), after_long_help = generate::HELP)]
    Generate(generate::GenerateArgs),
}

/// The maximum number of threads. With more, they would mostly wait for each other.
const MOST_THREADS: usize = 256;

/// Runs the command.
pub(crate) fn run(cli: &Cli) -> Outcome {
    interrupt::install_handlers()?;
    let threads = cli.global.jobs.map_or(0, usize::from).min(MOST_THREADS);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build_global()
        .map_err(|e| Code::Unexpected.because(e))?;
    match &cli.command {
        Command::Tune(args) => tune::run(args, cli.global),
        Command::Sweep(args) => sweep::run(args, cli.global),
        Command::Replay(args) => replay::run(args, cli.global),
        Command::Merge(args) => run_merge(args, cli.global),
        Command::Export(args) => export::run(args, cli.global),
        Command::Explain(args) => explain::run(args, cli.global),
        Command::Watch(args) => watch::run(args, cli.global),
        Command::Proxy(args) => proxy::run(args, cli.global),
        Command::Import(args) => import::run(args, cli.global),
        Command::Repair(args) => repair::run(args, cli.global),
        Command::Report(args) => report::run(args, cli.global),
        Command::Label(args) => label::run(args, cli.global),
        Command::Check(args) => check::run(args, cli.global),
        Command::Synth(args) => synth::run(args, cli.global),
        Command::Compare(args) => compare::run(args, cli.global),
        Command::Budget(args) => budget::run(args, cli.global),
        Command::Cases(args) => cases::run(args, cli.global),
        Command::Detectors(args) => detectors::run(args, cli.global),
        Command::Init(args) => init::run(args, cli.global),
        Command::Show(args) => show::run(args, cli.global),
        Command::Generate(args) => generate::run(args, cli.global),
    }
}

/// A sharded command, in the form that its parts store.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ShardedCommand {
    Tune(Box<tune::TuneArgs>),
    Sweep(Box<sweep::SweepArgs>),
    Replay(Box<replay::ReplayArgs>),
    Repair(Box<repair::RepairArgs>),
    Budget(Box<budget::BudgetArgs>),
}

/// Runs the command of the shards on their parts.
fn run_merge(args: &merge::MergeArgs, global: GlobalArgs) -> Outcome {
    let parts = args.parts()?;
    let command = serde_json::from_value(parts.request().clone()).map_err(|e| {
        Code::Usage.error(format!(
            "part.json: no command that is sharded ({e}); make the parts anew"
        ))
    })?;
    match command {
        ShardedCommand::Tune(mut tune) => {
            args.place(&parts, &mut tune.corpus, &mut tune.out);
            args.put(parts, &mut tune.output.folder);
            tune::run(&tune, global)
        }
        ShardedCommand::Sweep(mut sweep) => {
            args.place(&parts, &mut sweep.corpus, &mut sweep.out);
            args.put(parts, &mut sweep.output.folder);
            sweep::run(&sweep, global)
        }
        ShardedCommand::Replay(mut replay) => {
            args.place(&parts, &mut replay.corpus, &mut replay.out);
            args.put(parts, &mut replay.output.folder);
            replay::run(&replay, global)
        }
        ShardedCommand::Repair(mut repair) => {
            args.place(&parts, &mut repair.corpus, &mut repair.out);
            args.put(parts, &mut repair.folder);
            repair::run(&repair, global)
        }
        ShardedCommand::Budget(mut budget) => {
            args.place(&parts, &mut budget.corpus, &mut budget.out);
            args.put(parts, &mut budget.folder);
            budget::run(&budget, global)
        }
    }
}
