//! [`merge`]: the parts that shards wrote, as the result of a single run.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;

use crate::budget::{BudgetOptions, budget};
use crate::failure::{Code, RunResult};
use crate::folder::answer::FolderAnswer;
use crate::host::Host;
use crate::repair::{RepairOptions, repair};
use crate::replay::{ReplayOptions, replay};
use crate::shards::ShardParts;
use crate::sweep::{SweepOptions, sweep};
use crate::tune::{TuneOptions, tune};

options! {
    /// The options of a merge.
    pub struct MergeOptions {
        /// All folders that --shard wrote, in any order
        #[arg(required = true, value_name = "PART")]
        pub parts: Vec<PathBuf>,
        /// The folder of the results
        #[arg(long, value_name = "DIR")]
        pub out: PathBuf,
        /// The corpus, for the texts in the report [default: the place where the shards read it]
        #[arg(long, value_name = "CORPUS")]
        pub corpus: Option<PathBuf>,
        /// Overwrite what is in the folder
        #[arg(long, help_heading = "Writing")]
        pub force: bool,
    }
}

/// A command that can be sharded, in the form stored in its parts.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ShardedCommand {
    Tune(Box<TuneOptions>),
    Sweep(Box<SweepOptions>),
    Replay(Box<ReplayOptions>),
    Repair(Box<RepairOptions>),
    Budget(Box<BudgetOptions>),
}

/// Repeats the command of the shards, with the records of the parts in place of a corpus.
///
/// # Errors
/// Returns an error if a part is missing or does not belong to the others, and the errors of the command.
pub fn merge(options: &MergeOptions, host: &dyn Host) -> RunResult<FolderAnswer> {
    let parts = Arc::new(ShardParts::open(&options.parts)?);
    let command = serde_json::from_value(parts.request().clone()).map_err(|e| {
        Code::Usage.error(format!(
            "part.json: no command that is sharded ({e}); make the parts anew"
        ))
    })?;
    macro_rules! run {
        ($command:ident, $options:ident.$($folder:ident).+) => {{
            $options.corpus = options.corpus.as_deref().unwrap_or(parts.corpus()).to_path_buf();
            $options.out.clone_from(&options.out);
            $options.$($folder).+.force = options.force;
            $options.$($folder).+.parts = Some(parts);
            $command(&$options, host)
        }};
    }
    match command {
        ShardedCommand::Tune(mut command) => run!(tune, command.output.folder),
        ShardedCommand::Sweep(mut command) => run!(sweep, command.output.folder),
        ShardedCommand::Replay(mut command) => run!(replay, command.output.folder),
        ShardedCommand::Repair(mut command) => run!(repair, command.folder),
        ShardedCommand::Budget(mut command) => run!(budget, command.folder),
    }
}
