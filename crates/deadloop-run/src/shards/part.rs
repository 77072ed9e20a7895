//! [`PartManifest`]: the content of `part.json`, which describes a part.
//!
//! The file is written last, so a folder that has it is complete.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use deadloop_corpus::{Corpus, Shard, read_file};
use deadloop_detect::harness::DETECTORS;
use deadloop_replay::Subject;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::corpus::survey::side_files_hash;
use crate::failure::{Code, RunResult};
use crate::folder::fingerprint;
use crate::option::{FORCE, OUT, SHARD};
use crate::replay::programs::ProgramIdentity;
use crate::replay::request::Request;

/// The name of the file that describes a part.
pub(super) const PART_FILE: &str = "part.json";
/// The name of the file with one line for each record.
pub(super) const RECORDS: &str = "records.jsonl.zst";
/// The name of the file with the ids in labels.csv and splits.csv.
pub(super) const NAMES: &str = "names.jsonl.zst";

/// The description of a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartManifest {
    /// The fields that must be equal in all parts of one corpus.
    pub(super) whole: SharedFields,
    /// The shard as `I/N`.
    pub(super) shard: String,
    /// The number of lines in `records.jsonl.zst`.
    pub(super) records: u64,
    /// The sizes in bytes of the other files of the part.
    pub(super) bytes: BTreeMap<String, u64>,
}

/// The fields that must be equal in all parts of one corpus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SharedFields {
    /// The version of deadloop that wrote the part.
    pub(super) deadloop: String,
    /// The versions of the detectors.
    pub(super) detectors: BTreeMap<String, u64>,
    /// The command with its options: `{"sweep": {…}}`.
    pub(super) request: Value,
    /// The texts of the files that the command read: grid and settings.
    pub(super) read: BTreeMap<PathBuf, String>,
    /// A hash of all settings of the plan.
    pub(super) plan: String,
    /// The unit of the default grids and limits, if defaults were used.
    pub(super) unit: Option<String>,
    /// The identity of the programs in the plan.
    pub(super) programs: ProgramIdentity,
    /// The corpus as the shard found it.
    pub(super) corpus: ShardCorpus,
}

/// The files of a corpus as a shard found them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShardCorpus {
    /// The path of the corpus.
    pub(super) path: PathBuf,
    /// The name from its card.
    pub(super) name: Option<String>,
    /// All transcript files with their sizes in bytes, in order.
    pub(super) files: Vec<(PathBuf, u64)>,
    /// A hash of dataset.toml, which determines how texts are split.
    pub(super) card: String,
    /// The paths of labels.csv and splits.csv.
    pub(super) sides: (Option<PathBuf>, Option<PathBuf>),
    /// The part of the corpus hash from labels and splits.
    pub(super) side: String,
}

impl ShardCorpus {
    pub(super) fn from_corpus(path: &Path, corpus: &Corpus) -> RunResult<Self> {
        let size = |file: &PathBuf| {
            let about = file.metadata();
            let about = about.map_err(|e| Code::Usage.error(format!("{}: {e}", file.display())))?;
            Ok((file.clone(), about.len()))
        };
        let card = match corpus.card() {
            Some(_) => read_file(&path.join("dataset.toml"))?,
            None => Vec::new(),
        };
        Ok(Self {
            path: path.into(),
            name: corpus.card().and_then(|card| card.name.clone()),
            files: corpus.files().iter().map(size).collect::<RunResult<_>>()?,
            card: fingerprint(&[String::from_utf8_lossy(&card).into_owned()]),
            sides: (
                corpus.labels_csv().map(Path::to_path_buf),
                corpus.splits_csv().map(Path::to_path_buf),
            ),
            side: side_files_hash(corpus)?,
        })
    }

    /// Describes the first difference between two corpora. `None` if they are the same.
    pub(super) fn describe_difference(&self, first: &Self) -> Option<String> {
        if self.side != first.side {
            return Some(
                "other labels: labels.csv or splits.csv changed between the shards".into(),
            );
        }
        if self.card != first.card {
            return Some("another dataset.toml, which says how texts are split".into());
        }
        if self.files.len() != first.files.len() {
            let (n, of) = (self.files.len(), first.files.len());
            return Some(format!("a corpus of {n} files, not {of}"));
        }
        let name = |file: &Path| file.file_name().map(ToOwned::to_owned);
        let mut both = self.files.iter().zip(&first.files);
        let parted = both.find(|((a, n), (b, m))| name(a) != name(b) || n != m)?;
        let ((a, n), (b, m)) = parted;
        let (a, b) = (a.display(), b.display());
        Some(format!(
            "another corpus: {a} ({n} bytes) stands for {b} ({m} bytes)"
        ))
    }
}

impl SharedFields {
    pub(super) fn new(
        request: &Request<'_>,
        subject: &impl Subject,
        corpus: &Corpus,
    ) -> RunResult<Self> {
        let text = |path: &&Path| {
            let text = std::fs::read_to_string(path).map_err(|e| Code::Usage.error(e))?;
            Ok((path.to_path_buf(), text))
        };
        let read = request.read.iter().filter(|path| path.exists());
        Ok(Self {
            deadloop: env!("CARGO_PKG_VERSION").into(),
            detectors: detector_versions(),
            request: request.asked.clone(),
            read: read.map(text).collect::<RunResult<_>>()?,
            plan: subject_hash(&subject.fingerprint()),
            unit: request.unit.map(|unit| unit.name().into()),
            programs: ProgramIdentity::from_subject(subject),
            corpus: ShardCorpus::from_corpus(request.corpus, corpus)?,
        })
    }

    /// Describes the first difference between two parts, with the remedy. `None` if they belong together.
    fn describe_difference(&self, first: &Self) -> Option<String> {
        let anew = format!("make all parts by one command, {SHARD} and {OUT} aside");
        if let Some(what) = first_difference(&self.request, &first.request, "") {
            return Some(format!("another command: {what} differs; {anew}"));
        }
        if (&self.plan, &self.read) != (&first.plan, &first.read) {
            let texts = self.read.iter();
            let other = texts.filter(|(path, text)| first.read.get(*path) != Some(text));
            let names: Vec<String> = other.map(|(path, _)| path.display().to_string()).collect();
            let where_ = if names.is_empty() {
                String::new()
            } else {
                format!(" ({} was another text)", names.join(", "))
            };
            return Some(format!("another plan{where_}; {anew}"));
        }
        if (&self.unit, &self.programs) != (&first.unit, &first.programs) {
            return Some(format!("other programs, or another unit; {anew}"));
        }
        let corpus = self.corpus.describe_difference(&first.corpus);
        corpus.map(|what| format!("{what}; make the parts of one corpus anew"))
    }
}

impl PartManifest {
    /// Reads the description of the part in a folder. `None` if the folder has no part.
    ///
    /// # Errors
    /// Returns an error if part.json cannot be read, or if a file does not have its recorded size.
    pub(super) fn read(dir: &Path) -> RunResult<Option<Self>> {
        let path = dir.join(PART_FILE);
        let text = deadloop_score::read_text_if_named(&path).map_err(|e| Code::Usage.error(e))?;
        let Some(text) = text else {
            return Ok(None);
        };
        let version = writing_version(&text);
        if let Some(version) = version.filter(|version| version != env!("CARGO_PKG_VERSION")) {
            let own = env!("CARGO_PKG_VERSION");
            let what = format!(
                "{}: written by deadloop {version}, and this is {own}; merge with {version}, or make the part anew",
                path.display()
            );
            return Err(Code::Usage.error(what));
        }
        let part: Self = serde_json::from_str(&text).map_err(|e| {
            let path = path.display();
            Code::Usage.error(format!(
                "{path}: {e}; expected what a shard writes: make it anew"
            ))
        })?;
        part.check_sizes(dir)?;
        Ok(Some(part))
    }

    fn check_sizes(&self, dir: &Path) -> RunResult {
        for (name, bytes) in &self.bytes {
            let path = dir.join(name);
            let there = path.metadata().map(|about| about.len());
            if there.ok() != Some(*bytes) {
                let what = format!(
                    "{}: not the {bytes} bytes that were written; copy the part again, or make it anew with {FORCE}",
                    path.display()
                );
                return Err(Code::Usage.error(what));
            }
        }
        Ok(())
    }

    pub(super) fn parse_shard(&self) -> RunResult<Shard> {
        self.shard.parse().map_err(|e: String| Code::Usage.error(e))
    }

    /// Describes the first difference between two parts, with the remedy. `None` if they belong together.
    pub(super) fn describe_difference(&self, first: &Self) -> Option<String> {
        let (own, all) = (&self.whole, &first.whole);
        if (&own.deadloop, &own.detectors) != (&all.deadloop, &all.detectors) {
            return Some("detectors of another version; make all parts with one deadloop".into());
        }
        own.describe_difference(all)
    }
}

/// Returns the version of deadloop that wrote a part, for any layout of part.json.
fn writing_version(text: &str) -> Option<String> {
    let json: Value = serde_json::from_str(text).ok()?;
    Some(json.get("whole")?.get("deadloop")?.as_str()?.to_owned())
}

/// Returns the versions of all detectors.
pub(crate) fn detector_versions() -> BTreeMap<String, u64> {
    let detector_versions = DETECTORS.iter();
    detector_versions
        .map(|d| (d.name.into(), u64::from(d.version)))
        .collect()
}

/// Returns a short hash of a subject's fingerprint.
pub(super) fn subject_hash(subject: &str) -> String {
    fingerprint(&[subject.to_owned()])
}

/// Returns the path of the first field in which two requests differ, such as `select.models`. `at` is the path of `a`
/// and `b`.
fn first_difference(a: &Value, b: &Value, at: &str) -> Option<String> {
    if a == b {
        return None;
    }
    let (Value::Object(a), Value::Object(b)) = (a, b) else {
        return Some(at.into());
    };
    let keys = a.keys().chain(b.keys());
    let inner = |key: &String| match (a.get(key), b.get(key)) {
        (Some(a), Some(b)) => {
            let dot = if at.is_empty() { "" } else { "." };
            first_difference(a, b, &format!("{at}{dot}{key}"))
        }
        _ => Some(key.clone()),
    };
    keys.into_iter().find_map(inner)
}
