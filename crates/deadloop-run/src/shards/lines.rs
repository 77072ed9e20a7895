//! The lines of the files of a part, with their reader and writer.
//!
//! `records.jsonl.zst` has one line for each record of the corpus, in its order. `names.jsonl.zst` has one line for
//! each id in labels.csv or splits.csv. Only the first shard writes it, if there are labels or splits.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deadloop_corpus::{Cost, Place, Problem, RecordDigest, UnfinishedFile, unpack_zstd};
use deadloop_score::{Case, FileError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::corpus::findings::FoundRecord;
use crate::failure::{Code, Failure, RunResult};

/// The compression level. It is fast, and packs the JSON to a twentieth.
const ZSTD_LEVEL: i32 = 3;

/// The maximum number of bytes read as one line.
const MAX_LINE_BYTES: u64 = 1 << 30;

/// A line of `records.jsonl.zst`: the result for one record of the corpus.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShardLine<S> {
    /// The index of the record's file in the whole corpus, from 0, and the line in this file.
    pub(super) at: (usize, u64),
    /// The digest of the record's bytes, as 64 hexadecimal digits.
    digest: Option<String>,
    /// The case for scoring. `None` if the record cannot be read.
    case: Option<Case>,
    /// The reason why the record cannot be read.
    unreadable: Option<StoredProblem>,
    /// The problems of the record's labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    problems: Vec<StoredProblem>,
    /// Whether the labels are invalid, in the record or in labels.csv.
    bad: bool,
    /// Whether the filters select the record.
    meant: bool,
    /// The answer of the subject. `None` if the record is invalid, not selected or sealed.
    decided: Option<S>,
}

/// A [`Problem`] in stored form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredProblem {
    file: PathBuf,
    line: u64,
    what: String,
    expected: String,
    cost: String,
}

/// A line of `names.jsonl.zst`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum NamesLine {
    /// An invalid row of labels.csv.
    BadLabel(StoredProblem),
    /// An invalid row of splits.csv.
    BadSplit(StoredProblem),
    /// An id in labels.csv, and the first line that names it.
    Label(String, u64),
    /// An id in splits.csv, and the first line that names it.
    Split(String, u64),
}

/// The costs of problems, with their stored names.
const COSTS: [(Cost, &str); 3] = [
    (Cost::Itself, "itself"),
    (Cost::Unread, "unread"),
    (Cost::Machine, "machine"),
];

impl StoredProblem {
    pub(super) fn from_problem(problem: &Problem) -> Self {
        let cost = COSTS.iter().find(|(cost, _)| *cost == problem.cost);
        Self {
            file: problem.place.file.to_path_buf(),
            line: problem.place.line,
            what: problem.what.clone(),
            expected: problem.expected.clone(),
            cost: cost.map_or("itself", |(_, name)| name).into(),
        }
    }

    pub(super) fn into_problem(self) -> Problem {
        let cost = COSTS.iter().find(|(_, name)| *name == self.cost);
        Problem {
            place: Place::new(Arc::new(self.file), self.line),
            what: self.what,
            expected: self.expected,
            cost: cost.map_or(Cost::Itself, |(cost, _)| *cost),
        }
    }
}

impl<S> ShardLine<S> {
    /// Converts a checked record of the file with index `file`.
    pub(super) fn from_found(file: usize, found: FoundRecord<Option<S>>) -> Self {
        let (case, unreadable, line) = match found.case {
            Ok((case, place)) => (Some(case), None, place.line),
            Err(problem) => (
                None,
                Some(StoredProblem::from_problem(&problem)),
                problem.place.line,
            ),
        };
        Self {
            at: (file, line),
            digest: found.digest.map(|digest| digest.to_string()),
            case,
            unreadable,
            problems: found
                .problems
                .iter()
                .map(StoredProblem::from_problem)
                .collect(),
            bad: found.bad,
            meant: found.is_selected,
            decided: found.look_result.flatten(),
        }
    }

    /// Converts the line back into a checked record, with the current path of its file. `None` if the line contradicts
    /// itself.
    pub(super) fn into_found(self, file: &Arc<PathBuf>) -> Option<FoundRecord<Option<S>>> {
        let place = Place::new(Arc::clone(file), self.at.1);
        let digest = self.digest.as_deref().map(str::parse::<RecordDigest>);
        Some(FoundRecord {
            case: match (self.case, self.unreadable) {
                (Some(case), None) => Ok((case, place)),
                (None, Some(wrong)) => Err(wrong.into_problem()),
                _ => return None,
            },
            is_selected: self.meant,
            look_result: (self.meant && !self.bad).then_some(self.decided),
            problems: self
                .problems
                .into_iter()
                .map(StoredProblem::into_problem)
                .collect(),
            bad: self.bad,
            digest: digest.transpose().ok()?,
            entry: None,
        })
    }
}

/// A writer of compressed lines. The file gets its final name by [`finish`](Self::finish).
pub(super) struct LineWriter {
    path: PathBuf,
    packed: zstd::Encoder<'static, UnfinishedFile>,
    /// The number of lines written so far.
    pub(super) lines: u64,
}

impl LineWriter {
    pub(super) fn create(path: &Path) -> RunResult<Self> {
        let file = UnfinishedFile::create(path, true).map_err(FileError::from)?;
        let packed = zstd::Encoder::new(file, ZSTD_LEVEL).map_err(|e| FileError::at(path, e))?;
        Ok(Self {
            path: path.into(),
            packed,
            lines: 0,
        })
    }

    /// Writes a line of JSON.
    pub(super) fn push_line(&mut self, line: &str) -> RunResult {
        self.lines += 1;
        let written = writeln!(self.packed, "{line}");
        Ok(written.map_err(|e| FileError::at(&self.path, e))?)
    }

    /// Moves the file to its final name.
    pub(super) fn finish(self) -> RunResult {
        let file = self.packed.finish();
        let file = file.map_err(|e| FileError::at(&self.path, e))?;
        Ok(file.finish().map_err(FileError::from)?)
    }
}

/// A reader of compressed lines, which holds one line in memory.
pub(super) struct LineReader {
    path: PathBuf,
    lines: Box<dyn BufRead>,
    line_number: u64,
    text: String,
}

impl LineReader {
    pub(super) fn open(path: &Path) -> RunResult<Self> {
        let opened = File::open(path).and_then(unpack_zstd);
        let packed = opened.map_err(|e| Code::Usage.because(FileError::at(path, e)))?;
        Ok(Self {
            path: path.into(),
            lines: Box::new(BufReader::new(packed)),
            line_number: 0,
            text: String::new(),
        })
    }

    /// Parses and returns the next line. `None` at the end of the file.
    pub(super) fn next_line<T: DeserializeOwned>(&mut self) -> RunResult<Option<T>> {
        self.text.clear();
        self.line_number += 1;
        let mut line = std::io::Read::take(&mut self.lines, MAX_LINE_BYTES);
        let read = line.read_line(&mut self.text);
        if read.map_err(|e| self.line_failure(e))? == 0 {
            return Ok(None);
        }
        let value = serde_json::from_str(&self.text);
        value.map(Some).map_err(|e| self.line_failure(e))
    }

    /// Returns an error about the line that was read last.
    pub(super) fn line_failure(&self, what: impl std::fmt::Display) -> Failure {
        Code::Usage.error(format!(
            "{}:{}: not what a shard writes ({what}); copy the part again, or make it anew",
            self.path.display(),
            self.line_number
        ))
    }
}
