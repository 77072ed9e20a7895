//! `manifest.json`: the request of a run, a summary of its results, and the machine.
//!
//! The manifest is enough to repeat the run, and to describe the run in a report. No other file of a run depends on the
//! time or the machine.

use std::collections::BTreeMap;
use std::path::Path;

use deadloop_replay::corpus::read_text;
use serde::{Deserialize, Serialize};

use super::store::{FileError, write_text};
use crate::choose::Advice;
use crate::judge::JudgeOptions;
use crate::measure::Stakes;

/// The request of a run, a summary of its results, and the machine on which it ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of deadloop.
    pub deadloop: String,
    /// The version of the format of the result files, [`FORMAT`].
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
    /// A short hash of everything on which the other files depend. A request with the same hash need not run again.
    pub inputs: String,
    /// The programs of `command` detectors, in the order in which settings name them.
    #[serde(default)]
    pub programs: Vec<ProgramInfo>,
    /// The corpus that was replayed.
    pub corpus: CorpusInfo,
    /// The text of the grid. `None` if no grid was given.
    pub grid: Option<String>,
    /// The seed of every random draw.
    pub seed: u64,
    /// The options by which alarms were judged.
    pub judge: JudgeOptions,
    /// The number of chars of the chunks that recordings were cut into. `None` if they are as recorded.
    #[serde(default)]
    pub chunks: Option<u64>,
    /// The costs of errors, and the share of production responses that loop.
    pub worth: Stakes,
    /// The limits of the choice, each as text.
    pub constraints: Vec<String>,
    /// The measure that the choice maximizes or minimizes.
    pub objective: Option<String>,
    /// The advice. `None` if no choice was made.
    #[serde(default)]
    pub advice: Option<Advice>,
    /// The failure that ended the run without a choice or scores. The same request fails in the same way again.
    #[serde(default)]
    pub ended: Option<ResultFailure>,
    /// The summary that the command printed with `--json`. If the same request is repeated, this summary is printed
    /// again.
    #[serde(default)]
    pub summary: serde_json::Map<String, serde_json::Value>,
    /// The sizes in bytes of the result files, by name. The report is not among them.
    #[serde(default)]
    pub files: BTreeMap<String, u64>,
    /// The names of each setting, by its id. A name is `document`, `current`, `chosen`, …
    pub settings: BTreeMap<String, Vec<String>>,
    /// The number of cells that were replayed.
    pub cells: u64,
    /// The number of cells that were left out, by reason.
    pub refused: BTreeMap<String, u64>,
    /// The models without rows in a very large scores.parquet. The row `*` counts their transcripts.
    pub models_left_out: Vec<String>,
    /// The mean over models of each score, by setting and metric. A model in which the metric is n/a is left out.
    pub macro_means: BTreeMap<String, BTreeMap<String, f64>>,
    /// The time of the run, as RFC 3339.
    pub time: String,
    /// The duration of the run in seconds.
    pub seconds: f64,
    /// The number of cores of the machine.
    pub cores: u64,
    /// The number of threads used.
    pub threads: u64,
}

/// A failure of a run that counts as its result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultFailure {
    /// The exit code of the command.
    pub exit: u8,
    /// The reason, as printed.
    pub reason: String,
}

/// The corpus that was replayed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CorpusInfo {
    /// The path of the corpus.
    pub path: String,
    /// The name of the corpus on its card.
    pub name: Option<String>,
    /// The hash of the corpus.
    pub hash: String,
    /// The number of transcripts that were replayed.
    pub transcripts: u64,
    /// The chars of the replayed transcripts.
    pub chars: u64,
    /// The number of transcripts that filters left out.
    pub filtered: u64,
    /// The number of invalid records that were skipped.
    pub rejected: u64,
    /// The fields named by `--by`.
    pub by: Vec<String>,
}

/// A program used as a detector, with the name and version that it reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramInfo {
    /// The command line of the program.
    pub command: Vec<String>,
    /// The parameters of the program, as TOML.
    pub params: String,
    /// The name that the program reported.
    pub name: String,
    /// The version that the program reported.
    pub version: String,
}

/// The version of the format of result files. Results of another version are rejected.
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
