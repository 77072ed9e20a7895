//! Two labellings of one corpus, and the transcripts on which they differ.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use deadloop_corpus::{Entry, Problem};
use deadloop_replay::{Interrupted, Seen, each};
use deadloop_score::{Class, LabelRow, Timeline};

use super::rows::main_of;
use crate::failure::{Code, Failure, RunResult};
use crate::host::{Host, watched};
use crate::survey::open;

/// Two labellings of one corpus.
pub struct Two {
    /// The rows of the first.
    pub first: Vec<LabelRow>,
    /// Those of the second.
    pub second: Vec<LabelRow>,
    /// The lengths of the channels that they are about, as far as known.
    pub lengths: BTreeMap<String, Seen>,
}

impl Two {
    /// Reads both, and the lengths from the corpus too, where one was named.
    ///
    /// # Errors
    /// A file or a corpus cannot be read, or its labels are bad, or the host stopped it.
    pub fn read(a: &Path, b: &Path, corpus: Option<&Path>, host: &dyn Host) -> RunResult<Self> {
        let (first, second) = (Labelled::read(a, host)?, Labelled::read(b, host)?);
        let mut lengths = first.lengths;
        lengths.extend(second.lengths);
        if let Some(corpus) = corpus {
            lengths.extend(Labelled::read(corpus, host)?.lengths);
        }
        Ok(Self {
            first: first.rows,
            second: second.rows,
            lengths,
        })
    }
}

/// Labels, and the lengths of the channels that they are about, if known.
#[derive(Default)]
struct Labelled {
    rows: Vec<LabelRow>,
    lengths: BTreeMap<String, Seen>,
}

impl Labelled {
    /// Reads a labels.csv, or a corpus that has labels.
    fn read(path: &Path, host: &dyn Host) -> RunResult<Self> {
        let csv = path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("csv"));
        if !csv {
            return Self::of_corpus(path, host);
        }
        Ok(Self {
            rows: LabelRow::read(path).map_err(refused)?,
            lengths: BTreeMap::new(),
        })
    }

    fn of_corpus(path: &Path, host: &dyn Host) -> RunResult<Self> {
        let corpus = open(path)?;
        let beside = corpus.labels_csv().map(LabelRow::read).transpose();
        let beside = beside.map_err(refused)?.unwrap_or_default();
        let mut found = Self::default();
        let mut inside: BTreeMap<String, Vec<LabelRow>> = BTreeMap::new();
        let mut problems = Vec::new();
        let look = |entry: Result<Entry, Problem>, _| -> Result<_, Vec<Problem>> {
            let entry = entry.map_err(|problem| vec![problem])?;
            let length = Timeline::of(&entry.transcript.events).length();
            let rows = LabelRow::inside(&entry)?;
            Ok((entry.transcript.id, length, rows))
        };
        watched(host, "reading", |watch| {
            each(&corpus, watch, look, |looked| {
                match looked {
                    Ok((id, length, rows)) => {
                        found.lengths.insert(id.clone(), length);
                        inside.insert(id, rows);
                    }
                    Err(more) => problems.extend(more),
                }
                ControlFlow::Continue(())
            })
        })
        .map_err(|Interrupted| Code::Interrupted.error("interrupted while labels were read"))?;
        if !problems.is_empty() {
            return Err(refused(problems));
        }
        // As in scoring: a labels.csv replaces the labels inside the transcripts that it names.
        for row in &beside {
            inside.remove(&row.transcript);
        }
        found.rows = beside;
        found.rows.extend(inside.into_values().flatten());
        Ok(found)
    }
}

fn refused(problems: Vec<Problem>) -> Failure {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Code::Usage.error(format!(
        "labels that cannot be compared\n{}",
        lines.join("\n")
    ))
}

/// Chars between the beginnings of a loop from which on two labels are listed as different.
const APART: u64 = 1_000;

/// The rows of both for each transcript that both label and on which they differ: in its class, or in where its loop
/// begins (`earliest`, else `onset`) by more than 1,000 chars. The first's rows come first.
pub fn differing(first: &[LabelRow], second: &[LabelRow]) -> Vec<LabelRow> {
    let by_id = |rows: &[LabelRow]| {
        let mut all: BTreeMap<String, Vec<LabelRow>> = BTreeMap::new();
        for row in rows {
            all.entry(row.transcript.clone())
                .or_default()
                .push(row.clone());
        }
        all
    };
    let mut others = by_id(second);
    let pairs = by_id(first).into_iter().filter_map(|(id, ours)| {
        let theirs = others.remove(&id)?;
        differ(&ours, &theirs).then(|| ours.into_iter().chain(theirs))
    });
    pairs.flatten().collect()
}

pub(super) fn differ(ours: &[LabelRow], theirs: &[LabelRow]) -> bool {
    let (Some(a), Some(b)) = (main_of(ours), main_of(theirs)) else {
        return false;
    };
    let begins = |row: &LabelRow| row.earliest.or(row.onset).unwrap_or(0);
    let apart = a.channel != b.channel || begins(a).abs_diff(begins(b)) > APART;
    a.class != b.class || a.class == Class::Loop && apart
}
