//! manifest.json: enough to run it again, and all that the report says about how it was made. The
//! only file of a run that knows the time and the machine.

use std::collections::BTreeMap;
use std::path::Path;

use deadloop_replay::corpus::read_text;
use serde::{Deserialize, Serialize};

use super::store::{FileError, write_text};
use crate::choose::Advice;
use crate::judge::JudgeOptions;
use crate::measure::Worth;

/// The request of a run, what it found, and where it ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of deadloop.
    pub deadloop: String,
    /// Version of the files of a result, [`FORMAT`].
    #[serde(default)]
    pub format: u64,
    /// Versions of the detectors, by name.
    pub detectors: BTreeMap<String, u64>,
    /// `tune`, `sweep` or `replay`.
    pub command: String,
    /// Its arguments as they were given.
    pub args: Vec<String>,
    /// The folder that it was started in, to which its paths are relative.
    #[serde(default)]
    pub started_in: String,
    /// A short hash of everything that the other files depend on: the same request into the same
    /// folder is done already.
    pub inputs: String,
    /// The programs behind `command` detectors, in the order in which settings name them.
    #[serde(default)]
    pub programs: Vec<ProgramInfo>,
    /// What was replayed.
    pub corpus: CorpusInfo,
    /// The text of the grid, where there was one.
    pub grid: Option<String>,
    /// The seed of everything that is drawn.
    pub seed: u64,
    /// How alarms were judged.
    pub judge: JudgeOptions,
    /// Chars of the chunks that recordings were cut into. `None`: as they were recorded.
    #[serde(default)]
    pub chunks: Option<u64>,
    /// What errors cost, and how often production loops.
    pub worth: Worth,
    /// What a choice had to meet, as text.
    pub constraints: Vec<String>,
    /// What a choice was best in.
    pub objective: Option<String>,
    /// What the choice comes to, where one was made.
    #[serde(default)]
    pub advice: Option<Advice>,
    /// How it ended, where nothing was chosen or scored: the same request again ends the same way.
    #[serde(default)]
    pub ended: Option<Ended>,
    /// What the command said of it with `--json`; the same request again says the same.
    #[serde(default)]
    pub summary: serde_json::Map<String, serde_json::Value>,
    /// The files of the result with their sizes in bytes, those of the report aside.
    #[serde(default)]
    pub files: BTreeMap<String, u64>,
    /// Names for settings: `document`, `current`, `chosen`, … A setting may have several.
    pub settings: BTreeMap<String, Vec<String>>,
    /// Cells that were replayed.
    pub cells: u64,
    /// Cells that were left out, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Models whose rows were left out of a very large scores.parquet; they are in `*`.
    pub models_left_out: Vec<String>,
    /// Mean over models of a setting's scores: setting, then metric; a model for which the score is
    /// n/a does not count.
    pub macro_means: BTreeMap<String, BTreeMap<String, f64>>,
    /// When it was made, RFC 3339.
    pub time: String,
    /// How long it took, seconds.
    pub seconds: f64,
    /// The host's cores, and the threads that were used.
    pub cores: u64,
    /// See `cores`.
    pub threads: u64,
}

/// A failure that is also a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The exit code.
    pub exit: u8,
    /// What was said.
    pub reason: String,
}

/// What was replayed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CorpusInfo {
    /// Where it was.
    pub path: String,
    /// Its name, from its card.
    pub name: Option<String>,
    /// Its hash.
    pub hash: String,
    /// Transcripts that were replayed.
    pub transcripts: u64,
    /// Their chars.
    pub chars: u64,
    /// Transcripts that filters left out.
    pub filtered: u64,
    /// Problems that were skipped.
    pub rejected: u64,
    /// The fields of `--by`.
    pub by: Vec<String>,
}

/// A detector that is a program, with the name and version that it reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramInfo {
    /// What was run.
    pub command: Vec<String>,
    /// Its own parameters, as TOML.
    pub params: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The version of the files of a result. Others are refused.
pub const FORMAT: u64 = 2;

impl Manifest {
    /// Writes `manifest.json`.
    pub fn write(&self, dir: &Path) -> Result<(), FileError> {
        let path = dir.join("manifest.json");
        let json = serde_json::to_string_pretty(self).map_err(|e| FileError::at(&path, e))?;
        write_text(&path, &(json + "\n"))
    }

    /// Reads it.
    ///
    /// # Errors
    /// It cannot be read, or the files of the result are of another version.
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
