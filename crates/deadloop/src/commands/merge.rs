//! `deadloop merge`: the parts that shards left, put together. It is the command of the shards once more, with records
//! that are known; how alarms are judged may be said anew.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde::Deserialize;

use super::budget::Budget;
use super::repair::Repair;
use super::replay::Replay;
use super::sweep::Sweep;
use super::tune::Tune;
use super::{budget, repair, replay, sweep, tune};
use crate::args::{At, Global, Judge, Output, Transient, Unit};
use crate::exit::{Code, Outcome};
use crate::settings;
use deadloop_run::Parts;

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
    csv: bool,
    /// Keep no text of the transcripts in the folder, for private corpora
    #[arg(long, help_heading = "Writing")]
    no_excerpts: bool,
    /// Overwrite what is in the folder
    #[arg(long, help_heading = "Writing")]
    force: bool,
}

/// How alarms are judged, where it differs from what the shards were made with.
#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Judging")]
struct Anew {
    /// The unit in which loops and healthy output are counted
    #[arg(long, value_enum, value_name = "UNIT")]
    unit: Option<Unit>,
    /// Which position of an alarm counts
    #[arg(long, value_enum)]
    at: Option<At>,
    /// How many units before the onset an alarm is already right
    #[arg(long, value_name = "UNITS")]
    early: Option<u64>,
    /// How many units after the onset an alarm is still in time
    #[arg(long, value_name = "UNITS")]
    deadline: Option<u64>,
    /// How many units after the end of a loop an alarm is still right
    #[arg(long, value_name = "UNITS")]
    grace: Option<u64>,
    /// How repetitions that end by themselves count
    #[arg(long, value_enum)]
    transient: Option<Transient>,
    /// The most units that a miss costs in `delay`
    #[arg(long, value_name = "UNITS")]
    horizon: Option<u64>,
    /// What a wrong alarm costs in addition to the text that is generated again
    #[arg(long, value_name = "UNITS")]
    annoyance: Option<u64>,
    /// The share of responses that loop in production, as 0.003 or 1/333
    #[arg(long, value_name = "SHARE", value_parser = crate::args::loop_rate)]
    loop_rate: Option<f64>,
    /// The price of a million generated tokens
    #[arg(long, value_name = "PER_MILLION_TOKENS", value_parser = crate::args::price)]
    price: Option<f64>,
}

impl Anew {
    fn put(&self, judge: &mut Judge) {
        judge.unit = self.unit.or(judge.unit);
        judge.at = self.at.unwrap_or(judge.at);
        judge.early = self.early.unwrap_or(judge.early);
        judge.deadline = self.deadline.or(judge.deadline);
        judge.grace = self.grace.unwrap_or(judge.grace);
        judge.transient = self.transient.unwrap_or(judge.transient);
        judge.horizon = self.horizon.or(judge.horizon);
        judge.annoyance = self.annoyance.or(judge.annoyance);
        judge.loop_rate = self.loop_rate.or(judge.loop_rate);
        judge.price = self.price.or(judge.price);
    }
}

/// The command of the shards.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Asked {
    Tune(Box<Tune>),
    Sweep(Box<Sweep>),
    Replay(Box<Replay>),
    Repair(Box<Repair>),
    Budget(Box<Budget>),
}

pub(super) fn run(args: &Merge, global: Global) -> Outcome {
    let parts = Arc::new(Parts::open(&args.parts)?);
    let asked: Asked = serde_json::from_value(parts.request().clone()).map_err(|e| {
        Code::Usage.error(format!(
            "part.json: no command that is sharded ({e}); make the parts anew"
        ))
    })?;
    settings::keep(parts.read());
    match asked {
        Asked::Tune(mut tune) => {
            args.place(&parts, &mut tune.corpus, &mut tune.out);
            args.put(&parts, &mut tune.judge, &mut tune.output);
            tune::run(&tune, global)
        }
        Asked::Sweep(mut sweep) => {
            args.place(&parts, &mut sweep.corpus, &mut sweep.out);
            args.put(&parts, &mut sweep.judge, &mut sweep.output);
            sweep::run(&sweep, global)
        }
        Asked::Replay(mut replay) => {
            args.place(&parts, &mut replay.corpus, &mut replay.out);
            args.put(&parts, &mut replay.judge, &mut replay.output);
            replay::run(&replay, global)
        }
        Asked::Repair(mut repair) => {
            args.place(&parts, &mut repair.corpus, &mut repair.out);
            args.only_where("repair")?;
            repair.csv |= args.csv;
            repair.no_excerpts |= args.no_excerpts;
            repair.force = args.force;
            repair.sharded.parts = Some(parts);
            repair::run(&repair, global)
        }
        Asked::Budget(mut budget) => {
            args.place(&parts, &mut budget.corpus, &mut budget.out);
            args.only_where("budget")?;
            budget.csv |= args.csv;
            budget.force = args.force;
            budget.sharded.parts = Some(parts);
            budget::run(&budget, global)
        }
    }
}

impl Merge {
    /// Where the corpus is, and where the results go.
    fn place(&self, parts: &Parts, corpus: &mut PathBuf, out: &mut PathBuf) {
        let path = self.corpus.as_deref().unwrap_or(parts.corpus());
        *corpus = path.to_path_buf();
        out.clone_from(&self.out);
    }

    /// Overrides the options of the shards with what is given here.
    fn put(&self, parts: &Arc<Parts>, judge: &mut Judge, output: &mut Output) {
        self.judge.put(judge);
        output.csv |= self.csv;
        output.no_excerpts |= self.no_excerpts;
        output.force = self.force;
        output.sharded.parts = Some(Arc::clone(parts));
    }

    /// Refuses options of judging where no alarm is judged.
    fn only_where(&self, command: &str) -> Outcome {
        if self.judge == Anew::default() {
            return Ok(());
        }
        let what = format!(
            "the parts are of deadloop {command}, which judges no alarm; leave out the options of judging"
        );
        Err(Code::Usage.error(what))
    }
}
