//! `deadloop check`: counts and checks a corpus, and judges claims on it.

pub(super) use deadloop_run::check::CheckOptions;
use deadloop_run::check::check;

use crate::args::GlobalArgs;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::show;

pub(crate) const HELP: &str = "Examples:\n  deadloop check recordings/\n  deadloop check datasets/starter --strict --json\n  deadloop check recordings/ --claims claims.txt --settings settings.toml\n\nIt prints the counts first, and what the labels can prove. With an error, printed with its file and line, a corpus cannot be scored: exit code 2. Warnings name what would make scores wrong: near-duplicates across splits or groups, labels that the text contradicts, too few labels. They fail only with --strict. Notes name what the scores cannot say.\n\nA file of claims has one a line, as ended>=0.9 or fa_per_mchar<=1. `where` keeps it to a part: ended>=0.95 where kind = \"short-sequence\" and channel = \"reasoning\"; kind and channel are those of the label, other fields those of the transcript. The settings are replayed on the corpus. A claim holds if all of its 95 % interval (Wilson for a share, exact Poisson for a rate) is within it, and is refuted if none is. Else the table says how many labels more would decide at the same rate.\n\nExit codes: 0 fine, 2 the corpus is not whole, 4 it is empty, 5 it cannot tell whether a claim holds, 100 a claim is refuted.";

pub(super) fn run(args: &CheckOptions, global: GlobalArgs) -> Outcome {
    let found = check(args, &Terminal::new(global))?;
    if let (Some(what), false) = (&found.foreign, global.json) {
        return Err(Code::Usage.error(what));
    }
    show::print_answer(&found, global)?;
    // With --quiet or --json the errors are printed on stderr.
    found.whole(global.quiet || global.json)?;
    let corpus = show::typed(&args.corpus);
    let next = if found.labelled {
        format!("deadloop tune {corpus} --out tuned")
    } else {
        format!("deadloop label {corpus}")
    };
    show::print_next(&[next, format!("deadloop show {corpus}")], global)?;
    found.unproven().map_or(Ok(()), Err)
}
