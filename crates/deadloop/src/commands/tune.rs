//! `deadloop tune`: chooses a setting for each model of a corpus.

pub(super) use deadloop_run::tune::TuneOptions;
use deadloop_run::tune::tune;

use crate::args::GlobalArgs;
use crate::exit::Outcome;
use crate::host::Terminal;
use crate::show;

pub(crate) const HELP: &str = "Examples:\n  deadloop tune datasets/starter\n  deadloop tune recordings.jsonl.zst --grid grid.toml --out tuned --constraint 'fa_per_mchar<=0.5'\n  deadloop tune recordings.jsonl.zst --settings mine.toml --also theirs.toml --loop-rate 1/2000\n\nThe folder holds report.html, settings.toml (for production), choice.csv and every table. If the command was interrupted, the same command continues where it stopped.";

pub(super) fn run(args: &TuneOptions, global: GlobalArgs) -> Outcome {
    let done = tune(args, &Terminal::new(global))?;
    show::print_folder(done, &[], global)
}
