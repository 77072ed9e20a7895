//! [`Request`]: what a run is asked for.

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

use deadloop_corpus::{Selection, Shard};
use deadloop_detect::{Settings, Unit};
use deadloop_score::{Cases, JudgeOptions, Worth, mean_clean, units};

use crate::failure::{Code, RunResult};
use crate::folder::Folder;
use crate::host::Host;
use crate::sharding::Parts;

/// The transcripts that a choice is scored on afterwards, and never chosen on.
pub const SEALED: &str = "test";

/// A corpus, and what is made of it where.
pub struct Request<'a> {
    /// The command, as the manifest names it: `replay`, `sweep`, `tune`.
    pub command: &'static str,
    /// The words that it was asked with, for the manifest.
    pub args: Vec<String>,
    /// A folder, or one file.
    pub corpus: &'a Path,
    /// Where the results go.
    pub out: &'a Path,
    /// Which transcripts are meant.
    pub selection: Selection,
    /// Whether bad lines are left out and listed; else nothing is scored on a corpus that is not whole.
    pub skip_bad: bool,
    /// The seed of every random draw.
    pub seed: u64,
    /// How alarms are judged.
    pub judging: Judging,
    /// Fields of a further breakdown.
    pub by: &'a [String],
    /// Whether nobody named them: then nothing is said where no transcript has them.
    pub by_default: bool,
    /// Whether scores and outcomes go out as CSV too.
    pub csv: bool,
    /// Whether the folder keeps text of transcripts.
    pub excerpts: bool,
    /// Whether whoever asked opens transcripts again when all are answered for, to show them.
    pub opens: bool,
    /// Whether a folder that holds something else is written over.
    pub force: bool,
    /// Only this shard: the folder gets a part.
    pub shard: Option<Shard>,
    /// What is merged, where it is no corpus that is read.
    pub parts: Option<Arc<Parts>>,
    /// The files that are read besides the corpus.
    pub read: Vec<&'a Path>,
    /// Whatever else the result depends on.
    pub inputs: Vec<String>,
    /// The text of the grid, where there is one.
    pub grid: Option<String>,
    /// Splits that must not be looked at.
    pub sealed: Option<&'static str>,
    /// The unit for which grids and limits were made, where they were made by default.
    pub unit: Option<Unit>,
    /// The command with its options, for the parts of shards.
    pub asked: serde_json::Value,
    /// Who asked.
    pub host: &'a dyn Host,
    /// The number by which the manifest says each kind of failure: the exit codes of whoever asks.
    pub numbered: fn(Code) -> u8,
}

impl<'a> Request<'a> {
    /// A replay of all transcripts of `corpus` into `out`, with nobody's wishes but these; fields may be changed.
    pub fn of(corpus: &'a Path, out: &'a Path, host: &'a dyn Host) -> Self {
        Self {
            command: "replay",
            args: Vec::new(),
            corpus,
            out,
            selection: Selection::default(),
            skip_bad: false,
            seed: 1,
            judging: Judging::default(),
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

    /// The folder, proven writable.
    ///
    /// # Errors
    /// It cannot be made or written to, or something that is read would be written over.
    pub fn folder(&self) -> RunResult<Folder> {
        let read = std::iter::once(self.corpus).chain(self.read.iter().copied());
        let read: Vec<&Path> = read.collect();
        Folder::prepare(self.out, self.force, &read, self.host)
    }

    /// Which transcripts are meant.
    ///
    /// # Errors
    /// It is the split that must not be looked at.
    pub(crate) fn selection(&self) -> RunResult<Selection> {
        let split = self.selection.split.as_deref();
        if let Some(sealed) = self.sealed.filter(|sealed| split == Some(*sealed)) {
            let what = format!(
                "{} never looks at the split {sealed}; score the choice on it by a replay of `split` {sealed}",
                self.command
            );
            return Err(Code::Usage.error(what));
        }
        Ok(self.selection.clone())
    }
}

/// How alarms are judged (scoring.md).
#[derive(Clone, Debug, Default)]
pub struct Judging {
    /// In what loops and healthy output are counted; none: as the labels.
    pub unit: Option<Unit>,
    /// All else; its unit is [`unit`](Self::unit), where there is one.
    pub options: JudgeOptions,
    /// The share of production's responses that loop; none: as the settings say, where they do.
    pub loop_rate: Option<f64>,
    /// Replay all text in chunks of this many chars; `None`: as it was recorded.
    pub chunks: Option<NonZeroU64>,
}

impl Judging {
    /// What a wrong alarm costs in `unit`, and how often production loops.
    pub fn worth(&self, settings: &Settings, cases: &(impl Cases + ?Sized), unit: Unit) -> Worth {
        Worth {
            loop_rate: self.loop_rate.or(settings.deployment_loop_rate),
            response: mean_clean(cases, unit),
        }
    }

    /// How alarms are judged on a corpus: in the unit that its labels speak of.
    ///
    /// # Errors
    /// They speak of several, and none was asked for.
    pub fn options_for(&self, cases: &(impl Cases + ?Sized)) -> RunResult<JudgeOptions> {
        let found = units(cases);
        let unit = match (self.unit, found.as_slice()) {
            (Some(unit), _) => unit,
            (None, [only]) => *only,
            (None, several) => {
                let names: Vec<&str> = several.iter().map(|unit| unit.name()).collect();
                let what = format!(
                    "labels count in {}, and nothing is added up across units; say which with `unit` {}",
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
