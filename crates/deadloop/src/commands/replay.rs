//! `deadloop replay`: replays settings over a corpus.

pub(super) use deadloop_run::replay::ReplayOptions;
use deadloop_run::replay::replay;

use crate::args::GlobalArgs;
use crate::exit::Outcome;
use crate::host::Terminal;
use crate::show;

pub(crate) const HELP: &str = "Examples:\n  deadloop replay datasets/starter --settings tuned/settings.toml --split test --out tested\n  deadloop replay recordings.jsonl --out seen --set guard.params.min_copies=8";

pub(super) fn run(args: &ReplayOptions, global: GlobalArgs) -> Outcome {
    let mut done = replay(args, &Terminal::new(global))?;
    let out = show::typed(&args.out);
    let worth = done.worth_explaining.take().into_iter();
    let explain = worth.map(|id| format!("deadloop explain {out} {}", show::typed(id)));
    let next = explain.chain([format!("deadloop report {out} --open")]);
    show::print_folder(done, &next.collect::<Vec<_>>(), global)
}
