//! [`Request`]: the options of a run.

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

use deadloop_corpus::{Selection, Shard};
use deadloop_detect::{Settings, Unit};
use deadloop_score::{CaseSet, JudgeOptions, Stakes, mean_clean, units};

use crate::failure::{Code, RunResult};
use crate::folder::Folder;
use crate::host::Host;
use crate::merge::ShardParts;
use crate::option::{SPLIT, UNIT};

/// The split on which choices are scored but never made.
pub const SEALED: &str = "test";

/// A corpus, the command to run on it, and the folder for the results.
pub struct Request<'a> {
    /// The command, as the manifest names it: `replay`, `sweep`, `tune`.
    pub command: &'static str,
    /// The command-line arguments, for the manifest.
    pub args: Vec<String>,
    /// The corpus: a folder or one file.
    pub corpus: &'a Path,
    /// The folder of the results.
    pub out: &'a Path,
    /// The filters that select transcripts.
    pub selection: Selection,
    /// Whether bad lines are left out and listed. Otherwise nothing is scored on a corpus that is not whole.
    pub skip_bad: bool,
    /// The seed of every random draw.
    pub seed: u64,
    /// The options for judging alarms.
    pub judging: JudgingOptions,
    /// The fields of a further breakdown.
    pub by: &'a [String],
    /// Whether these are the default fields. Then transcripts without them cause no warning.
    pub by_default: bool,
    /// Whether scores and outcomes are also written as CSV.
    pub csv: bool,
    /// Whether the folder keeps text of transcripts.
    pub excerpts: bool,
    /// Whether the caller opens transcripts again after the run, to show them.
    pub opens: bool,
    /// Whether a folder with another result is overwritten.
    pub force: bool,
    /// The only shard to run, if there is one. The folder then gets a part.
    pub shard: Option<Shard>,
    /// The parts to merge, in place of reading a corpus.
    pub parts: Option<Arc<ShardParts>>,
    /// The files that are read besides the corpus.
    pub read: Vec<&'a Path>,
    /// Further inputs that the result depends on.
    pub inputs: Vec<String>,
    /// The text of the grid, if there is one.
    pub grid: Option<String>,
    /// The split that must not be read, if there is one.
    pub sealed: Option<&'static str>,
    /// The unit of the default grids and limits, if defaults are used.
    pub unit: Option<Unit>,
    /// The command with its options, for the parts of shards.
    pub asked: serde_json::Value,
    /// The host of the run.
    pub host: &'a dyn Host,
    /// The exit code of each kind of failure, for the manifest.
    pub numbered: fn(Code) -> u8,
}

impl<'a> Request<'a> {
    /// Creates the default request: replay all of `corpus` into `out`. Fields may be changed.
    pub fn new(corpus: &'a Path, out: &'a Path, host: &'a dyn Host) -> Self {
        Self {
            command: "replay",
            args: Vec::new(),
            corpus,
            out,
            selection: Selection::default(),
            skip_bad: false,
            seed: 1,
            judging: JudgingOptions::default(),
            by: &[],
            by_default: false,
            csv: false,
            excerpts: true,
            opens: true,
            force: false,
            shard: None,
            parts: None,
            read: Vec::new(),
            inputs: Vec::new(),
            grid: None,
            sealed: None,
            unit: None,
            asked: serde_json::Value::Null,
            host,
            numbered: |_| 1,
        }
    }

    /// Creates the folder and checks that it is writable.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be created or written to, or if an output would overwrite an input.
    pub fn folder(&self) -> RunResult<Folder> {
        let read = std::iter::once(self.corpus).chain(self.read.iter().copied());
        let read: Vec<&Path> = read.collect();
        Folder::prepare(self.out, self.force, &read, self.host)
    }

    /// Returns the filters that select transcripts.
    ///
    /// # Errors
    /// Returns an error if they select the sealed split.
    pub(crate) fn selection(&self) -> RunResult<Selection> {
        let split = self.selection.split.as_deref();
        if let Some(sealed) = self.sealed.filter(|sealed| split == Some(*sealed)) {
            let what = format!(
                "{} never looks at the split {sealed}; score the choice on it by a replay of {SPLIT} {sealed}",
                self.command
            );
            return Err(Code::Usage.error(what));
        }
        Ok(self.selection.clone())
    }
}

/// The options for judging alarms (`reports/METHOD.md`).
#[derive(Clone, Debug, Default)]
pub struct JudgingOptions {
    /// The unit of loops and healthy output. `None` for the unit of the labels.
    pub unit: Option<Unit>,
    /// All other options. Their unit is [`unit`](Self::unit), if it is set.
    pub options: JudgeOptions,
    /// The share of production's responses that loop. `None` for that of the settings, if they state one.
    pub loop_rate: Option<f64>,
    /// The chunk size of the replay, in chars. `None` for the recorded chunks.
    pub chunks: Option<NonZeroU64>,
}

impl JudgingOptions {
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
            ..self.options
        })
    }
}
