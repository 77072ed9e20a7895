//! `deadloop sweep`: scores every cell of a grid.

pub(super) use deadloop_run::sweep::SweepOptions;
use deadloop_run::sweep::sweep;

use crate::args::{GlobalArgs, ToCommandLine};
use crate::exit::Outcome;
use crate::host::Terminal;
use crate::show;

pub(crate) const HELP: &str =
    "Example:\n  deadloop sweep datasets/starter --grid grid.toml --out swept";

pub(super) fn run(args: &SweepOptions, global: GlobalArgs) -> Outcome {
    let done = sweep(args, &Terminal::new(global))?;
    let [corpus, grid, out] = [&args.corpus, &args.grid, &args.out].map(show::typed);
    let asked = args.select.to_command_line() + &args.judge.to_command_line();
    let next = [
        format!("deadloop report {out} --open"),
        format!("deadloop tune {corpus}{asked} --grid {grid} --out tuned"),
    ];
    show::print_folder(done, &next, global)
}
