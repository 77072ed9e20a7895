//! The registry of commands. To add one: a file or folder beside this one with its arguments, its `HELP` and its `run`, its
//! `mod` line, a variant of [`Command`], and a line in [`run`].

use clap::Subcommand;

use crate::args::Cli;
use crate::exit::{Code, Outcome};
use crate::interrupt;

mod bless;
mod budget;
mod case;
mod check;
mod check_cases;
mod compare;
mod completions;
mod detectors;
pub(crate) mod explain;
mod export;
mod import;
mod init;
pub(crate) mod label;
mod man;
mod merge;
mod power;
mod proxy;
mod repair;
pub(crate) mod replay;
mod report;
mod schema;
mod show;
mod stats;
mod sweep;
mod synth;
mod tune;
mod watch;

/// The commands, in the order of the help.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The main job: sweep a grid, cross-validate, choose a setting per model, write the evidence
    #[command(after_help = tune::HELP)]
    Tune(tune::Tune),
    /// Scores of every cell of a grid, no choice; resumes where it stopped
    #[command(after_help = sweep::HELP)]
    Sweep(sweep::Sweep),
    /// One setting, or several files of settings: what fires where, and how good that is
    #[command(after_help = replay::HELP)]
    Replay(replay::Replay),
    /// The guard between any client and any server of LLM streams
    #[command(after_help = proxy::HELP)]
    Proxy(proxy::Proxy),
    /// Parts that shards left, put together: what one machine would have left
    #[command(after_help = merge::HELP)]
    Merge(merge::Merge),
    /// A setting as the configuration of a guard that people already run, and what is lost by that
    #[command(after_help = export::HELP)]
    Export(export::Export),
    /// One transcript: what each check saw, where, and which threshold decided
    #[command(after_help = explain::HELP)]
    Explain(explain::Explain),
    /// Reads a live stream on stdin and says when it would abort: exit code 10 on an alarm
    #[command(after_help = watch::HELP)]
    Watch(watch::Watch),
    /// Brings recordings in other formats in as a corpus
    #[command(after_help = import::HELP)]
    Import(import::Import),
    /// Repairers of faulty streams: how many they recover, how often wrongly, which to take
    #[command(after_help = repair::HELP)]
    Repair(repair::Repair),
    /// How many loops and how much clean text a claim, or a difference, takes
    #[command(after_help = power::HELP)]
    Power(power::Power),
    /// Renders the report of a result folder again; runs nothing
    #[command(after_help = report::HELP)]
    Report(report::Report),
    /// Labels: proposed by the offline loop finder, reviewed on a terminal, compared
    #[command(after_help = label::HELP)]
    Label(label::Label),
    /// Whether a corpus is whole, and what in it makes numbers lie
    #[command(after_help = check::HELP)]
    Check(check::Check),
    /// What is in a corpus: models, loops, lengths, and what its labels can prove
    #[command(after_help = stats::HELP)]
    Stats(stats::Stats),
    /// A labelled corpus from a spec and a seed: loops planted into clean text, hard negatives
    #[command(after_help = synth::HELP)]
    Synth(synth::Synth),
    /// Two settings on the same transcripts: what moved, which transcripts flipped, and a gate
    #[command(after_help = compare::HELP)]
    Compare(compare::Compare),
    /// Budgets of context: how often, when and how much recorded runs of agents would be summarised
    #[command(after_help = budget::HELP)]
    Budget(budget::Budget),
    /// Makes a result the baseline, after showing what that changes
    #[command(after_help = bless::HELP)]
    Bless(bless::Bless),
    /// Writes a pinned case from a recording, on stdout
    #[command(after_help = case::HELP)]
    Case(case::WriteCase),
    /// Pinned cases: texts with the answer beside them, held against settings
    #[command(after_help = check_cases::HELP)]
    CheckCases(check_cases::CheckCases),
    /// Detectors; one of them with its parameters (S structural, T threshold), bounds, defaults and presets
    #[command(after_help = detectors::HELP)]
    Detectors(detectors::Detectors),
    /// A folder to start from: settings, a grid, a small corpus and a job for CI
    #[command(after_help = init::HELP)]
    Init(init::Init),
    /// Reads a corpus as a person does: all transcripts in a list, or one of them
    #[command(after_help = show::HELP)]
    Show(show::Show),
    /// Completions for a shell, on stdout
    #[command(after_help = completions::HELP)]
    Completions(completions::Completions),
    /// Man pages: one on stdout, or all of them in a folder
    #[command(after_help = man::HELP)]
    Man(man::Man),
    /// JSON Schema of a kind of file that people write, for editors
    #[command(after_help = schema::HELP)]
    Schema(schema::Schema),
}

/// More would wait for each other longer than they work.
const MOST_THREADS: usize = 256;

/// Runs the command.
pub(crate) fn run(cli: &Cli) -> Outcome {
    interrupt::heed()?;
    let threads = cli.global.jobs.map_or(0, usize::from).min(MOST_THREADS);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build_global()
        .map_err(|e| Code::Unexpected.because(e))?;
    match &cli.command {
        Command::Tune(args) => tune::run(args, cli.global),
        Command::Sweep(args) => sweep::run(args, cli.global),
        Command::Replay(args) => replay::run(args, cli.global),
        Command::Merge(args) => merge::run(args, cli.global),
        Command::Export(args) => export::run(args, cli.global),
        Command::Explain(args) => explain::run(args, cli.global),
        Command::Watch(args) => watch::run(args, cli.global),
        Command::Proxy(args) => proxy::run(args, cli.global),
        Command::Import(args) => import::run(args, cli.global),
        Command::Repair(args) => repair::run(args, cli.global),
        Command::Power(args) => power::run(args, cli.global),
        Command::Report(args) => report::run(args, cli.global),
        Command::Label(args) => label::run(args, cli.global),
        Command::Check(args) => check::run(args, cli.global),
        Command::Stats(args) => stats::run(args, cli.global),
        Command::Synth(args) => synth::run(args, cli.global),
        Command::Compare(args) => compare::run(args, cli.global),
        Command::Budget(args) => budget::run(args, cli.global),
        Command::Bless(args) => bless::run(args, cli.global),
        Command::Case(args) => case::run(args, cli.global),
        Command::CheckCases(args) => check_cases::run(args, cli.global),
        Command::Detectors(args) => detectors::run(args, cli.global),
        Command::Init(args) => init::run(args, cli.global),
        Command::Show(args) => show::run(args, cli.global),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args, cli.global),
        Command::Schema(args) => schema::run(args, cli.global),
    }
}
