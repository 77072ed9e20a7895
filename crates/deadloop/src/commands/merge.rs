//! `deadloop merge`: merges the parts of shards into one result.
//!
//! It repeats the command of the shards, with records from the parts in place of a corpus. `run_merge` in
//! `commands/mod.rs` determines this command.

use std::path::PathBuf;

use clap::Args;

use crate::args::GlobalArgs;
use crate::exit::Outcome;

/// The end of the help text.
pub(crate) const HELP: &str = "Examples:\n  deadloop sweep recordings --grid grid.toml --shard 1/2 --out part-1\n  deadloop sweep recordings --grid grid.toml --shard 2/2 --out part-2\n  deadloop merge part-1 part-2 --out swept\n\nEvery file except manifest.json has the same bytes as that of a single run. Parts of another command, plan, version or corpus, other labels, and a shard that is missing or given twice are refused. --limit, --sample, labels without a transcript and repeated ids are applied here. The report of tune and replay shows texts only if the corpus is there (--corpus).\n\nIt takes the memory of the same command without the texts: the cases and records of all transcripts.";

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// All folders that --shard wrote, in any order
    #[arg(required = true, value_name = "PART")]
    pub(super) parts: Vec<PathBuf>,
    /// The folder of the results
    #[arg(long, value_name = "DIR")]
    pub(super) out: PathBuf,
    /// The corpus, for the texts in the report [default: the place where the shards read it]
    #[arg(long, value_name = "CORPUS")]
    pub(super) corpus: Option<PathBuf>,
    /// Overwrite what is in the folder
    #[arg(long, help_heading = "Writing")]
    pub(super) force: bool,
}

pub(super) fn run(args: &MergeArgs, global: GlobalArgs) -> Outcome {
    super::run_merge(args, global)
}
