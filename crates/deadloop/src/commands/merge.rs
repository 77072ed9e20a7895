//! `deadloop merge`: merges the parts of shards into one result.

use deadloop_run::FolderContent;
pub(super) use deadloop_run::merge::MergeOptions;
use deadloop_run::merge::merge;

use crate::args::GlobalArgs;
use crate::exit::Outcome;
use crate::host::Terminal;
use crate::show;

pub(crate) const HELP: &str = "Examples:\n  deadloop sweep recordings --grid grid.toml --shard 1/2 --out part-1\n  deadloop sweep recordings --grid grid.toml --shard 2/2 --out part-2\n  deadloop merge part-1 part-2 --out swept\n\nEvery file except manifest.json has the same bytes as that of a single run. Parts of another command, plan, version or corpus, other labels, and a shard that is missing or given twice are refused. --limit, --sample, labels without a transcript and repeated ids are applied here. The report of tune and replay shows texts only if the corpus is there (--corpus).\n\nIt takes the memory of the same command without the texts: the cases and records of all transcripts.";

pub(super) fn run(args: &MergeOptions, global: GlobalArgs) -> Outcome {
    let done = merge(args, &Terminal::new(global))?;
    // The text of a choice ends with its next commands.
    let is_choice =
        matches!(&done.content, FolderContent::Result(manifest) if manifest.advice.is_some());
    let report = format!("deadloop report {} --open", show::typed(&args.out));
    let next: &[String] = if is_choice { &[] } else { &[report] };
    show::print_folder(done, next, global)
}
