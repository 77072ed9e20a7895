//! The command line, and the options that several commands share.
//!
//! The options of one command are beside its code (`commands/`). The help texts are the reference of the program.

use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;

use clap::{Args, Parser, ValueEnum};
use deadloop_corpus::{ModelGlob, SampleSize, Selection, Shard, parse_where};
use deadloop_detect::Unit;
use deadloop_detect::harness::TextScope;
use deadloop_run::{JudgingOptions, ShardParts};
use deadloop_score::{JudgeOptions, Transient};
use serde::{Deserialize, Serialize};

use crate::commands::Command;
use crate::exit::{Code, Outcome};
use crate::show;
use crate::words::{PER, TRANSIENT, UNITS, word};

/// Offline evaluation and tuning harness for LLM dead-loop detectors.
#[derive(Debug, Parser)]
#[command(
    version,
    propagate_version = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct GlobalArgs {
    /// The number of threads [default: one per core]
    #[arg(long, short = 'j', global = true, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Print errors only
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Print a machine-readable result on stdout, everything else on stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// The filters that select transcripts, and the handling of bad ones.
#[derive(Debug, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Selecting")]
pub(crate) struct SelectArgs {
    /// Only models whose names match; may be repeated
    #[arg(long = "model", value_name = "GLOB")]
    pub(crate) models: Vec<String>,
    /// Only this split
    #[arg(long, value_name = "NAME")]
    pub(crate) split: Option<String>,
    /// Only transcripts whose field has this value, as lang=en or meta.source=mine; may be repeated
    #[arg(long = "where", value_name = "KEY=VALUE")]
    pub(crate) wheres: Vec<String>,
    /// Only the first N transcripts that match
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Only N of these, drawn at random
    #[arg(long, hide_short_help = true, value_name = "N")]
    pub(crate) sample: Option<usize>,
    /// The seed of all random draws
    #[arg(long, hide_short_help = true, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The handling of a bad line: stop, or leave it out, count it, and list it in rejected.jsonl of the results
    #[arg(long, hide_short_help = true, value_enum, default_value_t = OnBad::Fail)]
    pub(crate) on_bad: OnBad,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum OnBad {
    /// Stop if a line is bad, and list every problem
    Fail,
    /// Leave bad lines out, and count and list them
    Skip,
}

/// The options for judging alarms (reports/METHOD.md).
#[derive(Debug, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Judging")]
pub(crate) struct JudgeArgs {
    /// Change a parameter of the settings, as guard.params.NAME=VALUE; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Replay all text in chunks of N chars, instead of as it was recorded
    #[arg(long, hide_short_help = true, value_name = "N")]
    pub(crate) chunks: Option<NonZeroU64>,
    /// The unit in which loops and healthy output are counted and settings are chosen [default: that of the labels]
    #[arg(long, value_name = "UNIT", value_parser = word::<Unit>(UNITS))]
    pub(crate) unit: Option<Unit>,
    /// The extent of one text for detectors of text in a run of an agent, whatever their settings say [default: as
    /// the settings say, else a turn]
    #[arg(long, hide_short_help = true, value_name = "WHAT", value_parser = word::<TextScope>(PER))]
    pub(crate) per: Option<TextScope>,
    /// The judgement of repetitions that end by themselves
    #[arg(long, hide_short_help = true, default_value = "ignore", value_parser = word::<Transient>(TRANSIENT))]
    pub(crate) transient: Transient,
    /// The share of responses that loop in production, as 0.003 or 1/333: says what the guard spares or costs there
    /// [default: that of the settings; without one no share is assumed]
    #[arg(long, value_name = "SHARE", value_parser = loop_rate)]
    pub(crate) loop_rate: Option<f64>,
}

/// Parses a share above 0 and below 1, as a number or as `1/333`.
pub(crate) fn loop_rate(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let share = match text.split_once('/') {
        Some((part, of)) => number(part).zip(number(of)).map(|(part, of)| part / of),
        None => number(text),
    };
    let share = share.filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "expected a share above 0 and below 1, as 0.003 or 1/333".into())
}

/// The options for the output.
#[derive(Debug, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Writing")]
pub(crate) struct OutputArgs {
    /// Break the scores down by this field too, as meta.source; may be repeated
    #[arg(long = "by", value_name = "FIELD")]
    pub(crate) by: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) folder: FolderArgs,
    /// Keep no text of the transcripts in the folder, for private corpora
    #[arg(long)]
    pub(crate) no_excerpts: bool,
}

/// The options for a folder of results.
#[derive(Debug, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Writing")]
pub(crate) struct FolderArgs {
    /// Also write the tables as CSV; scores.csv only with at most 200,000 rows
    #[arg(long)]
    pub(crate) csv: bool,
    /// Overwrite what is in the folder
    #[arg(long)]
    #[serde(skip)]
    pub(crate) force: bool,
    #[command(flatten)]
    #[serde(skip)]
    pub(crate) sharded: ShardArgs,
}

/// The shard of a corpus to read, or the parts to merge.
#[derive(Debug, Default, Args)]
pub(crate) struct ShardArgs {
    /// Read only shard I of N, which is every N-th file of the corpus, and write a part without scores. deadloop merge
    /// makes the result of a single run from all parts. A part that already exists is skipped
    #[arg(long, value_name = "I/N", help_heading = "Writing")]
    pub(crate) shard: Option<Shard>,
    /// The parts to merge, in place of reading a corpus
    #[arg(skip)]
    pub(crate) parts: Option<Arc<ShardParts>>,
}

impl SelectArgs {
    /// Returns the filter that the options set.
    pub(crate) fn selection(&self) -> Outcome<Selection> {
        let usage = |e: String| Code::Usage.error(e);
        let glob = |text: &String| {
            text.parse::<ModelGlob>()
                .map_err(|e| usage(format!("--model {text}: {e}")))
        };
        let pair = |text: &String| parse_where(text).map_err(|e| usage(format!("--where: {e}")));
        Ok(Selection {
            models: self.models.iter().map(glob).collect::<Outcome<_>>()?,
            split: self.split.clone(),
            wheres: self.wheres.iter().map(pair).collect::<Outcome<_>>()?,
            limit: self.limit,
            sample: self.sample.map(|count| SampleSize {
                count,
                seed: self.seed,
            }),
        })
    }

    /// Returns the given options as typed behind a corpus, each with a blank before it.
    pub(crate) fn typed_options(&self) -> String {
        let some = |name, value: &Option<String>| value.iter().map(|v| (name, v.clone())).collect();
        let each = |name, values: &[String]| values.iter().map(|v| (name, v.clone())).collect();
        let count = |name, n: Option<usize>| n.iter().map(|n| (name, n.to_string())).collect();
        let drawn = self.sample.map(|_| self.seed.to_string());
        let given: [Vec<(&str, String)>; 6] = [
            each("model", &self.models),
            some("split", &self.split),
            each("where", &self.wheres),
            count("limit", self.limit),
            count("sample", self.sample),
            some("seed", &drawn),
        ];
        let option = |(name, value): &(&str, String)| format!(" --{name} {}", show::typed(value));
        let skips = if self.skips() { " --on-bad skip" } else { "" };
        let given: String = given.iter().flatten().map(option).collect();
        given + skips
    }

    /// Returns whether bad lines are left out.
    pub(crate) fn skips(&self) -> bool {
        self.on_bad == OnBad::Skip
    }
}

impl JudgeArgs {
    /// Returns the given options that change what a replay counts, as typed, each with a blank before it.
    pub(crate) fn typed_counting_options(&self) -> String {
        let transient = Some(self.transient).filter(|how| *how != Transient::default());
        let given = [
            self.unit.map(|unit| format!(" --unit {unit}")),
            self.per.map(|per| format!(" --per {per}")),
            self.chunks.map(|chunks| format!(" --chunks {chunks}")),
            transient.map(|how| format!(" --transient {how}")),
        ];
        given.into_iter().flatten().collect()
    }

    /// Returns the options for judging alarms.
    pub(crate) fn judging_options(&self) -> JudgingOptions {
        JudgingOptions {
            unit: self.unit,
            options: JudgeOptions {
                unit: self.unit.unwrap_or_default(),
                transient: self.transient,
            },
            loop_rate: self.loop_rate,
            chunks: self.chunks,
        }
    }

    /// Returns the options for judging alarms, in the given unit.
    pub(crate) fn options(&self) -> JudgeOptions {
        self.judging_options().options
    }
}
