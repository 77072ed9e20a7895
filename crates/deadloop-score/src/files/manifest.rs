//! `manifest.json`: the request of a run, its results in short, and its machine.
//!
//! It has all that is needed to repeat the run, and all that the report prints about its making. No other file of a run
//! depends on the time or the machine.

use std::collections::BTreeMap;
use std::path::Path;

use deadloop_replay::corpus::read_text;
use serde::{Deserialize, Serialize};

use super::store::{FileError, write_text};
use crate::choose::Advice;
use crate::judge::JudgeOptions;
use crate::measure::Stakes;

/// The request of a run, its results in short, and the machine that it ran on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of deadloop.
    pub deadloop: String,
    /// The version of the files of the result, [`FORMAT`].
    #[serde(default)]
    pub format: u64,
    /// The versions of the detectors, by name.
    pub detectors: BTreeMap<String, u64>,
    /// The command: `tune`, `sweep` or `replay`.
    pub command: String,
    /// The arguments of the command as given.
    pub args: Vec<String>,
    /// The working folder of the command. Paths in the arguments are relative to it.
    #[serde(default)]
    pub started_in: String,
    /// A short hash of everything that the other files depend on. If a folder has the hash of a request, the request is
    /// done already.
    pub inputs: String,
    /// The programs behind `command` detectors, in the order in which settings name them.
    #[serde(default)]
    pub programs: Vec<ProgramInfo>,
    /// The corpus that was replayed.
    pub corpus: CorpusInfo,
    /// The text of the grid, if one was given.
    pub grid: Option<String>,
    /// The seed of every random draw.
    pub seed: u64,
    /// The options by which alarms were judged.
    pub judge: JudgeOptions,
    /// Chars of the chunks that recordings were cut into. `None` if the recorded chunks are used.
    #[serde(default)]
    pub chunks: Option<u64>,
    /// The costs of errors, and the share of production responses that loop.
    pub worth: Stakes,
    /// The limits of the choice, as text.
    pub constraints: Vec<String>,
    /// The measure that the choice maximizes or minimizes.
    pub objective: Option<String>,
    /// The advice, if a choice was made.
    #[serde(default)]
    pub advice: Option<Advice>,
    /// The failure that ended the run without a choice or scores. The same request ends the same way again.
    #[serde(default)]
    pub ended: Option<ResultFailure>,
    /// The summary that the command printed with `--json`. The same request prints it again.
    #[serde(default)]
    pub summary: serde_json::Map<String, serde_json::Value>,
    /// The files of the result with their sizes in bytes, without the report.
    #[serde(default)]
    pub files: BTreeMap<String, u64>,
    /// The names of settings, by id: `document`, `current`, `chosen`, … A setting can have several.
    pub settings: BTreeMap<String, Vec<String>>,
    /// The number of cells that were replayed.
    pub cells: u64,
    /// The numbers of cells that were left out, by reason.
    pub refused: BTreeMap<String, u64>,
    /// The models whose rows were left out of a very large scores.parquet. The row `*` counts them.
    pub models_left_out: Vec<String>,
    /// The scores' means over models, by setting and metric. A model without a value for a metric does not count
    /// in it.
    pub macro_means: BTreeMap<String, BTreeMap<String, f64>>,
    /// The time of the run, RFC 3339.
    pub time: String,
    /// The duration of the run in seconds.
    pub seconds: f64,
    /// The number of cores of the machine.
    pub cores: u64,
    /// The number of threads used.
    pub threads: u64,
}

/// A failure that is also a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultFailure {
    /// The exit code.
    pub exit: u8,
    /// The reason, as printed.
    pub reason: String,
}

/// The corpus that was replayed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CorpusInfo {
    /// The path of the corpus.
    pub path: String,
    /// The name of the corpus, from its card.
    pub name: Option<String>,
    /// The hash of the corpus.
    pub hash: String,
    /// The number of transcripts that were replayed.
    pub transcripts: u64,
    /// The chars of the replayed transcripts.
    pub chars: u64,
    /// The number of transcripts that filters left out.
    pub filtered: u64,
    /// The number of problems that were skipped.
    pub rejected: u64,
    /// The fields of `--by`.
    pub by: Vec<String>,
}

/// A detector that is a program, with the name and version that it reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramInfo {
    /// The command line.
    pub command: Vec<String>,
    /// The parameters of the program, as TOML.
    pub params: String,
    /// The name that the program reported.
    pub name: String,
    /// The version that the program reported.
    pub version: String,
}

/// The version of the files of a result. Other versions are rejected.
pub const FORMAT: u64 = 2;

impl Manifest {
    /// Writes `manifest.json`.
    pub fn write(&self, dir: &Path) -> Result<(), FileError> {
        let path = dir.join("manifest.json");
        let json = serde_json::to_string_pretty(self).map_err(|e| FileError::at(&path, e))?;
        write_text(&path, &(json + "\n"))
    }

    /// Reads `manifest.json`.
    ///
    /// # Errors
    /// The file cannot be read, or the files of the result are of another version.
    pub fn read(dir: &Path) -> Result<Self, FileError> {
        let path = dir.join("manifest.json");
        let text = read_text(&path).map_err(|e| FileError::at(&path, e))?;
        let manifest: Self = serde_json::from_str(&text).map_err(|e| FileError::at(&path, e))?;
        if manifest.format == FORMAT {
            return Ok(manifest);
        }
        let args = manifest.args.join(" ");
        let what = format!(
            "results in version {} of their files; expected version {FORMAT}: run `deadloop {args} --force` again",
            manifest.format
        );
        Err(FileError::at(&path, what))
    }
}
