//! `deadloop budget`: simulates context budgets and turn limits on recorded runs.

pub(super) use deadloop_run::budget::BudgetOptions;
use deadloop_run::budget::budget;

use crate::args::GlobalArgs;
use crate::exit::Outcome;
use crate::host::Terminal;
use crate::show;

pub(crate) const HELP: &str = "Examples:\n  deadloop budget recordings/ --out budgets\n  deadloop budget recordings/ --grid windows.toml --where meta.source=mine --out budgets\n\nThe command asks no model. It counts how often, when and how much is summarised, and not how good a summary is. A grid:\n  [[budget]]\n  [budget.params]\n  window    = [16000, 32000]\n  threshold = [0.5, 0.85]       # of the window; also keep, summary, reserve\n  cache     = [1, 0.1]          # the price of a prompt token that was at the same place before\n  policy    = \"summary\"         # or drop\n\nIt prints two tables and chooses nothing: how many runs overflow under each threshold and policy, and what the prompts of the others cost; how many healthy runs an iteration limit cuts, and how many loops it ends. budgets.parquet and limits.csv have each source.\n\nExit codes: 0, 2 wrong usage, 4 nothing selected.";

pub(super) fn run(args: &BudgetOptions, global: GlobalArgs) -> Outcome {
    show::print_folder(budget(args, &Terminal::new(global))?, &[], global)
}
