//! `deadloop repair`: measures repairers on streams with known truth.

pub(super) use deadloop_run::repair::RepairOptions;
use deadloop_run::repair::repair;

use crate::args::GlobalArgs;
use crate::exit::Outcome;
use crate::host::Terminal;
use crate::show;

pub(crate) const HELP: &str = "Examples:\n  deadloop synth --spec datasets/faults/spec.toml --out faults\n  deadloop repair faults --out repaired\n  deadloop repair faults --grid grid.toml --csv --out repaired\n\nA grid:\n  [[repairer]]\n  name = \"tags\"            # think, tags, json, names, filter, replay, or command: a program\n  presets = true\n  [repairer.params]\n  edits = [0, 1, 2]\n\nIt prints two tables: what becomes of the streams under each preset and program, and under the best variant of each repairer fault by fault. Two things do harm: a damaged stream that comes out wrong, with an action that the truth does not have or with other arguments; and an intact stream that is changed. The best variant of a repairer does no harm and recovers most. repairs.parquet has every stream under every variant, and arguments.csv real arguments that are not JSON.";

pub(super) fn run(args: &RepairOptions, global: GlobalArgs) -> Outcome {
    let done = repair(args, &Terminal::new(global))?;
    let corpus = show::typed(&args.corpus);
    let next = format!("deadloop explain {corpus} TRANSCRIPT --repair GRID");
    show::print_folder(done, &[next], global)
}
