//! `deadloop merge`: the parts that shards left, put together. It is the command of the shards once more, with records
//! that are known; how alarms are judged may be said anew. Which command that is, `merged` in `commands/mod.rs` asks.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use crate::args::{Judge, Output};
use crate::exit::{Code, Outcome};
use crate::settings;
use crate::words::{TRANSIENT, UNITS, word};
use deadloop_detect::Unit;
use deadloop_run::Parts;
use deadloop_score::Transient;

/// What its help ends with.
pub(crate) const HELP: &str = "Examples:\n  deadloop sweep recordings --grid grid.toml --shard 1/2 --out part-1\n  deadloop sweep recordings --grid grid.toml --shard 2/2 --out part-2\n  deadloop merge part-1 part-2 --out swept\n\nEvery file except manifest.json has the same bytes as that of a single run. Parts of another command, plan, version or corpus, other labels, and a shard that is missing or given twice are refused. --limit, --sample, labels without a transcript and repeated ids are applied here. The report of tune and replay shows texts only if the corpus is there (--corpus).\n\nIt takes the memory of the same command without the texts: the cases and records of all transcripts.";

#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// All folders that --shard wrote, in any order
    #[arg(required = true, value_name = "PART")]
    parts: Vec<PathBuf>,
    /// Where the results go
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Where the corpus is now, for the texts in the report [default: where the shards read it]
    #[arg(long, value_name = "CORPUS")]
    corpus: Option<PathBuf>,
    #[command(flatten)]
    judge: Anew,
    /// Also write scores.csv, if it has at most 200,000 rows, and, except for a sweep, outcomes.csv
    #[arg(long, help_heading = "Writing")]
    pub(super) csv: bool,
    /// Keep no text of the transcripts in the folder, for private corpora
    #[arg(long, help_heading = "Writing")]
    pub(super) no_excerpts: bool,
    /// Overwrite what is in the folder
    #[arg(long, help_heading = "Writing")]
    pub(super) force: bool,
}

/// How alarms are judged, where it differs from what the shards were made with.
#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Judging")]
struct Anew {
    /// The unit in which loops and healthy output are counted
    #[arg(long, value_name = "UNIT", value_parser = word::<Unit>(UNITS))]
    unit: Option<Unit>,
    /// How repetitions that end by themselves count
    #[arg(long, value_parser = word::<Transient>(TRANSIENT))]
    transient: Option<Transient>,
    /// The share of responses that loop in production, as 0.003 or 1/333
    #[arg(long, value_name = "SHARE", value_parser = crate::args::loop_rate)]
    loop_rate: Option<f64>,
}

impl Anew {
    fn put(&self, judge: &mut Judge) {
        judge.unit = self.unit.or(judge.unit);
        judge.transient = self.transient.unwrap_or(judge.transient);
        judge.loop_rate = self.loop_rate.or(judge.loop_rate);
    }
}

impl Merge {
    /// The parts.
    pub(super) fn parts(&self) -> Outcome<Arc<Parts>> {
        let parts = Arc::new(Parts::open(&self.parts)?);
        settings::keep(parts.read());
        Ok(parts)
    }

    /// Where the corpus is, and where the results go.
    pub(super) fn place(&self, parts: &Parts, corpus: &mut PathBuf, out: &mut PathBuf) {
        let path = self.corpus.as_deref().unwrap_or(parts.corpus());
        *corpus = path.to_path_buf();
        out.clone_from(&self.out);
    }

    /// Overrides the options of the shards with what is given here.
    pub(super) fn put(&self, parts: &Arc<Parts>, judge: &mut Judge, output: &mut Output) {
        self.judge.put(judge);
        output.csv |= self.csv;
        output.no_excerpts |= self.no_excerpts;
        output.force = self.force;
        output.sharded.parts = Some(Arc::clone(parts));
    }

    /// Refuses options of judging where no alarm is judged.
    pub(super) fn only_where(&self, command: &str) -> Outcome {
        if self.judge == Anew::default() {
            return Ok(());
        }
        let what = format!(
            "the parts are of deadloop {command}, which judges no alarm; leave out the options of judging"
        );
        Err(Code::Usage.error(what))
    }
}
