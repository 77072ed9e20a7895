//! The registry of commands. To add one: a file beside this one, a variant of
//! [`Command`], and its line here.

use crate::args::{Cli, Command};
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
pub(crate) mod repair;
mod replay;
mod report;
mod schema;
mod show;
mod stats;
mod sweep;
pub(crate) mod synth;
mod tune;
mod watch;

pub(crate) use bless::Bless;
pub(crate) use budget::{Budget as BudgetArgs, HELP as BUDGET_HELP};
pub(crate) use case::WriteCase;
pub(crate) use check::Check;
pub(crate) use check_cases::CheckCases;
pub(crate) use compare::{Compare, Write as CompareWrite};
pub(crate) use completions::Completions;
pub(crate) use detectors::Detectors;
pub(crate) use export::{Export, HELP as EXPORT_HELP};
pub(crate) use import::Import;
pub(crate) use init::{HELP as INIT_HELP, Init};
pub(crate) use label::Label;
pub(crate) use man::Man;
pub(crate) use merge::{HELP as MERGE_HELP, Merge};
pub(crate) use power::Power;
pub(crate) use proxy::{HELP as PROXY_HELP, Proxy};
pub(crate) use repair::Repair;
pub(crate) use replay::Named;
pub(crate) use schema::Schema;
pub(crate) use show::{HELP as SHOW_HELP, Show};
pub(crate) use stats::Stats;
pub(crate) use tune::Tune;

/// More would wait for each other longer than they work.
const MOST_THREADS: usize = 256;

/// Runs the command that was asked for.
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
