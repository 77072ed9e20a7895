//! The options that several commands share.
//!
//! With the feature `clap` they are options of a command line, and their documentation is its help.

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

use deadloop_corpus::{ModelGlob, SampleSize, Selection, Shard, parse_where};
use deadloop_detect::harness::TextScope;
use deadloop_detect::{Settings, Unit};
use deadloop_score::{CaseSet, JudgeOptions, Stakes, Transient, mean_clean, units};
use serde::{Deserialize, Serialize};

use crate::failure::{Code, RunResult};
use crate::host::Host;
use crate::option::{MODEL, UNIT, WHERE};
#[cfg(feature = "clap")]
use crate::option_words::{PER, TRANSIENT, UNITS, word};
use crate::settings::SettingsReader;
use crate::shards::ShardParts;

/// Declares the options of a command: a struct that serde reads with defaults, and with the feature `clap` the command
/// line by the attributes `command` and `arg`, with its documentation as help. A field may name its default, as in
/// `pub seed: u64 = 1`.
macro_rules! options {
    (
        $(#[doc = $about:tt])*
        $(#[command($($head:tt)*)])*
        $(#[serde($($strict:tt)*)])?
        pub struct $name:ident { $(
            $(#[doc = $doc:tt])*
            $(#[arg($($arg:tt)*)])?
            $(#[command($($command:tt)*)])?
            $(#[serde($($serde:tt)*)])?
            pub $field:ident: $type:ty $(= $default:expr)?,
        )* }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(default, $($($strict)*)?)]
        #[cfg_attr(feature = "clap", derive(clap::Args))]
        $(#[cfg_attr(feature = "clap", command($($head)*))])*
        pub struct $name { $(
            $(#[doc = $doc])*
            $(#[cfg_attr(feature = "clap", arg($($arg)*))])?
            $(#[cfg_attr(feature = "clap", command($($command)*))])?
            $(#[serde($($serde)*)])?
            pub $field: $type,
        )* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: options!(@default $($default)?),)* }
            }
        }
    };
    (@default) => { Default::default() };
    (@default $default:expr) => { $default };
}

/// Serializes a type as a JSON value.
macro_rules! serialize_as_json {
    ($type:ty, $this:ident => $json:expr) => {
        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let $this = self;
                ::serde::Serialize::serialize(&$json, serializer)
            }
        }
    };
}

/// The default seed.
const SEED: u64 = 1;

options! {
    /// The filters that select transcripts, and the handling of bad ones.
    #[command(next_help_heading = "Selecting")]
    #[serde(deny_unknown_fields)]
    pub struct SelectionOptions {
        /// Only models whose names match; may be repeated
        #[arg(long = "model", value_name = "GLOB")]
        pub models: Vec<String>,
        /// Only this split
        #[arg(long, value_name = "NAME")]
        pub split: Option<String>,
        /// Only transcripts whose field has this value, as lang=en or meta.source=mine; may be repeated
        #[arg(long = "where", value_name = "KEY=VALUE")]
        pub wheres: Vec<String>,
        /// Only the first N transcripts that match
        #[arg(long, value_name = "N")]
        pub limit: Option<usize>,
        /// Only N of these, drawn at random
        #[arg(long, hide_short_help = true, value_name = "N")]
        pub sample: Option<usize>,
        /// The seed of all random draws
        #[arg(long, hide_short_help = true, value_name = "S", default_value_t = SEED)]
        pub seed: u64 = SEED,
        /// The handling of a bad line: stop, or leave it out, count it, and list it in rejected.jsonl of the results
        #[arg(long, hide_short_help = true, value_enum, default_value_t = OnBad::Fail)]
        pub on_bad: OnBad,
    }
}

/// The handling of bad lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum OnBad {
    /// Stop if a line is bad, and list every problem
    #[default]
    Fail,
    /// Leave bad lines out, and count and list them
    Skip,
}

options! {
    /// The options for judging alarms (reports/METHOD.md).
    #[command(next_help_heading = "Judging")]
    #[serde(deny_unknown_fields)]
    pub struct JudgingOptions {
        /// Change a parameter of the settings, as guard.params.NAME=VALUE; may be repeated
        #[arg(long = "set", value_name = "KEY=VALUE")]
        pub set: Vec<String>,
        /// Replay all text in chunks of N chars, instead of as it was recorded
        #[arg(long, hide_short_help = true, value_name = "N")]
        pub chunks: Option<NonZeroU64>,
        /// The unit in which loops and healthy output are counted and settings are chosen [default: that of the labels]
        #[arg(long, value_name = "UNIT", value_parser = word::<Unit>(UNITS))]
        pub unit: Option<Unit>,
        /// The extent of one text for detectors of text in a run of an agent, whatever their settings say [default: as
        /// the settings say, else a turn]
        #[arg(long, hide_short_help = true, value_name = "WHAT", value_parser = word::<TextScope>(PER))]
        pub per: Option<TextScope>,
        /// The judgement of repetitions that end by themselves
        #[arg(long, hide_short_help = true, default_value = "ignore", value_parser = word::<Transient>(TRANSIENT))]
        pub transient: Transient,
        /// The share of responses that loop in production, as 0.003 or 1/333: says what the guard spares or costs there
        /// [default: that of the settings; without one no share is assumed]
        #[arg(long, value_name = "SHARE", value_parser = loop_rate)]
        pub loop_rate: Option<f64>,
    }
}

/// Parses a share above 0 and below 1, as a number or as `1/333`.
#[cfg(feature = "clap")]
fn loop_rate(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let share = match text.split_once('/') {
        Some((part, of)) => number(part).zip(number(of)).map(|(part, of)| part / of),
        None => number(text),
    };
    let share = share.filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "expected a share above 0 and below 1, as 0.003 or 1/333".into())
}

options! {
    /// The options for the output.
    #[command(next_help_heading = "Writing")]
    pub struct OutputOptions {
        /// Break the scores down by this field too, as meta.source; may be repeated
        #[arg(long = "by", value_name = "FIELD")]
        pub by: Vec<String>,
        /// The options for the folder.
        #[command(flatten)]
        #[serde(flatten)]
        pub folder: FolderOptions,
        /// Keep no text of the transcripts in the folder, for private corpora
        #[arg(long)]
        pub no_excerpts: bool,
    }
}

options! {
    /// The options for a folder of results.
    #[command(next_help_heading = "Writing")]
    pub struct FolderOptions {
        /// Also write the tables as CSV; scores.csv only with at most 200,000 rows
        #[arg(long)]
        pub csv: bool,
        /// Overwrite what is in the folder
        #[arg(long)]
        #[serde(skip)]
        pub force: bool,
        /// Read only shard I of N, which is every N-th file of the corpus, and write a part without scores. deadloop merge
        /// makes the result of a single run from all parts. A part that already exists is skipped
        #[arg(long, value_name = "I/N")]
        #[serde(skip)]
        pub shard: Option<Shard>,
        /// The parts to merge, in place of reading a corpus
        #[arg(skip)]
        #[serde(skip)]
        pub parts: Option<Arc<ShardParts>>,
    }
}

impl FolderOptions {
    /// Returns the text of a grid of repairers or budgets and its name in messages. Without a file, returns the default.
    /// In a merge, returns the text that the shards read.
    pub(crate) fn grid_text(
        &self,
        path: Option<&Path>,
        default: &str,
        host: &dyn Host,
    ) -> RunResult<(String, String)> {
        match path {
            None => Ok((default.to_owned(), "the default grid".to_owned())),
            Some(path) => {
                let text = SettingsReader::of_folder(self, host).text(path)?;
                Ok((text, path.display().to_string()))
            }
        }
    }
}

impl SelectionOptions {
    /// Returns the filters.
    ///
    /// # Errors
    /// Returns an error if a glob is malformed, or a field has no value.
    pub fn selection(&self) -> RunResult<Selection> {
        let glob = |text: &String| {
            text.parse::<ModelGlob>()
                .map_err(|e| Code::Usage.at(MODEL, format!("{text}: {e}")))
        };
        let pair = |text: &String| {
            parse_where(text).map_err(|e| Code::Usage.error(format!("{WHERE}: {e}")))
        };
        Ok(Selection {
            models: self.models.iter().map(glob).collect::<RunResult<_>>()?,
            split: self.split.clone(),
            wheres: self.wheres.iter().map(pair).collect::<RunResult<_>>()?,
            limit: self.limit,
            sample: self.sample.map(|count| SampleSize {
                count,
                seed: self.seed,
            }),
        })
    }

    /// Returns whether bad lines are left out.
    pub fn skips(&self) -> bool {
        self.on_bad == OnBad::Skip
    }
}

impl JudgingOptions {
    /// Returns the options for judging alarms, in the given unit.
    pub fn options(&self) -> JudgeOptions {
        JudgeOptions {
            unit: self.unit.unwrap_or_default(),
            transient: self.transient,
        }
    }

    /// Returns the cost of a wrong alarm in `unit`, and production's loop rate.
    pub fn worth(
        &self,
        settings: &Settings,
        cases: &(impl CaseSet + ?Sized),
        unit: Unit,
    ) -> Stakes {
        Stakes {
            loop_rate: self.loop_rate.or(settings.deployment_loop_rate),
            response: mean_clean(cases, unit),
        }
    }

    /// Returns the options for judging alarms on a corpus, in the unit of its labels.
    ///
    /// # Errors
    /// Returns an error if the labels have several units and none is set.
    pub fn options_for(&self, cases: &(impl CaseSet + ?Sized)) -> RunResult<JudgeOptions> {
        let found = units(cases);
        let unit = match (self.unit, found.as_slice()) {
            (Some(unit), _) => unit,
            (None, [only]) => *only,
            (None, several) => {
                let names: Vec<&str> = several.iter().map(|unit| unit.name()).collect();
                let what = format!(
                    "labels count in {}, and nothing is added up across units; say which with {UNIT} {}",
                    names.join(" and in "),
                    names.join("|")
                );
                return Err(Code::Usage.error(what));
            }
        };
        Ok(JudgeOptions {
            unit,
            ..self.options()
        })
    }
}
