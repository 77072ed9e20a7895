//! `--agreement`: how far two labellings agree, in words, and where a labelling comes from. `--merge` says it too.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use deadloop_corpus::{Entry, Problem};
use deadloop_replay::{Interrupted, Seen, each};
use deadloop_score::{Agreement, Class, LabelRow, Timeline, agreement, write_labels};

use super::Label;
use super::rows::main_of;
use crate::args::Global;
use crate::exit::{Code, Failure, Outcome};
use crate::progress::watched;
use crate::show;
use deadloop_run::open;

/// `--agreement`: prints how far two labellings agree, and writes the rows that differ.
pub(super) fn compare(args: &Label, global: Global, (a, b): (&Path, &Path)) -> Outcome {
    let Two {
        first,
        second,
        lengths,
    } = Two::read(args, global, (a, b))?;
    let found = agreement(&first, &second, &lengths);
    if found.both == 0 {
        return Err(Code::NothingSelected.error("no transcript is labelled by both"));
    }
    if let Some(out) = &args.out {
        show::refuse_over(out, args.force)?;
        write_labels(out, &differing(&first, &second))?;
    }
    if global.json {
        return show::print(&serde_json::to_string(&found)?);
    }
    let names = (a.display().to_string(), b.display().to_string());
    if global.quiet {
        Ok(())
    } else {
        show::print(show::prose(&words(&found, (&names.0, &names.1))).trim_end())
    }
}

/// Two labellings of one corpus.
pub(super) struct Two {
    pub(super) first: Vec<LabelRow>,
    pub(super) second: Vec<LabelRow>,
    /// The lengths of the channels that they are about, as far as known.
    pub(super) lengths: BTreeMap<String, Seen>,
}

impl Two {
    /// Reads both, and the lengths from the corpus too, where one was named.
    pub(super) fn read(args: &Label, global: Global, (a, b): (&Path, &Path)) -> Outcome<Self> {
        let (first, second) = (
            Labelled::read(a, global.quiet)?,
            Labelled::read(b, global.quiet)?,
        );
        let mut lengths = first.lengths;
        lengths.extend(second.lengths);
        if let Some(corpus) = &args.corpus {
            lengths.extend(Labelled::read(corpus, global.quiet)?.lengths);
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
pub(crate) struct Labelled {
    pub(crate) rows: Vec<LabelRow>,
    pub(crate) lengths: BTreeMap<String, Seen>,
}

impl Labelled {
    /// Reads a labels.csv, or a corpus that has labels.
    pub(crate) fn read(path: &Path, quiet: bool) -> Outcome<Self> {
        let csv = path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("csv"));
        if !csv {
            return Self::of_corpus(path, quiet);
        }
        Ok(Self {
            rows: LabelRow::read(path).map_err(refused)?,
            lengths: BTreeMap::new(),
        })
    }

    fn of_corpus(path: &Path, quiet: bool) -> Outcome<Self> {
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
        watched("reading", quiet, |watch| {
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
pub(crate) fn differing(first: &[LabelRow], second: &[LabelRow]) -> Vec<LabelRow> {
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

/// The agreement, for people.
pub(crate) fn words(found: &Agreement, (first, second): (&str, &str)) -> String {
    let mut text = format!(
        "{} transcripts labelled by both ({} by {first} alone, {} by {second} alone)\n\n",
        show::count(found.both),
        show::count(found.only_first),
        show::count(found.only_second)
    );
    text.push_str(&classes(found));
    let alpha = show::number(found.alpha, 3);
    text.push_str(&format!(
        "\n\nsame class: {}   Krippendorff's alpha: {alpha}   same kind: {} of {}\n",
        show::percent(found.agree),
        show::count(found.kinds.0),
        show::count(found.kinds.1)
    ));
    let onsets = &found.onsets;
    let chars = |n: Option<u64>| n.map_or("n/a".into(), show::count);
    let unit = onsets.unit;
    text.push_str(&format!(
        "onsets of {} loops (in another channel: {}): same {} {}, median {} {unit} apart, p75 {}, p90 {}\n",
        show::count(onsets.count),
        show::count(onsets.elsewhere),
        unit.trim_end_matches('s'),
        show::count(onsets.exact),
        chars(onsets.median),
        chars(onsets.p75),
        chars(onsets.p90)
    ));
    let overlaps = &found.overlaps;
    text.push_str(&format!(
        "spans: {} compared, {unit} shared: median {}, mean {}\n",
        show::count(overlaps.count),
        show::percent(overlaps.median),
        show::percent(overlaps.mean)
    ));
    if let Some(p75) = onsets.p75 {
        text.push_str(&format!(
            "tolerance: --early {p75}: a smaller one measures the labels, not the detector\n"
        ));
    }
    text
}

/// A row for each class of the first, a column for each of the second.
fn classes(found: &Agreement) -> String {
    let mut header = vec!["class"];
    header.extend(Class::ALL.map(Class::name));
    header.extend(["total", "agree"]);
    let row = |(class, counts): (Class, &[u64; Class::ALL.len()])| {
        let total: u64 = counts.iter().sum();
        let same = Class::ALL.iter().zip(counts).find(|(c, _)| **c == class);
        let share = same
            .filter(|_| total > 0)
            .map(|(_, n)| *n as f64 / total as f64);
        let mut cells = vec![class.name().to_owned()];
        cells.extend(counts.iter().map(|n| show::count(*n)));
        cells.extend([show::count(total), show::percent(share)]);
        cells
    };
    let rows: Vec<Vec<String>> = Class::ALL.into_iter().zip(&found.table).map(row).collect();
    show::table(&header, &rows, 1)
}
