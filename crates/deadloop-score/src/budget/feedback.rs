//! [`feedback_rows`]: rules of feedback held against runs: shares with intervals over groups, by source.

use std::path::Path;
use std::sync::Arc;

use deadloop_replay::feedback::{DisorderKind, Guided, Reading, RunFeedback, TYPES, WEIGHTS, Word};

use super::sure::drawn;
use crate::files::store::{FileError, write_csv};
use crate::files::table::{Schema, TableCell, Type};
use crate::intervals::{Interval, Resampling, percentile, poisson, wilson};

/// A run with what the rules say of it.
#[derive(Clone, Debug, Default)]
pub struct FeedbackCase {
    /// Its group.
    pub group: Arc<str>,
    /// Its source.
    pub source: Arc<str>,
    /// Whether errors of its results were recorded, or told by return codes, and not guessed from text.
    pub recorded: bool,
    /// What its source calls its task, where it does.
    pub env: Option<Arc<str>>,
    /// What the rules say.
    pub feedback: RunFeedback,
}

/// A share, or a rate, with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedbackRow {
    /// The source; `*`: all.
    pub source: String,
    /// `G1` to `G4`.
    pub rule: &'static str,
    /// Its parameters.
    pub variant: String,
    /// What is measured.
    pub measure: &'static str,
    /// The number that was counted.
    pub count: u64,
    /// The number of which `count` is a part.
    pub of: u64,
    /// The share or rate, in the unit of the measure.
    pub value: Option<f64>,
    /// The interval of `value`, at 95 %.
    pub interval: Option<Interval>,
}

/// A source with its runs.
struct Part<'a> {
    source: &'a str,
    cases: Vec<&'a FeedbackCase>,
    resampling: Resampling,
}

/// Every figure, all sources together first. Of errors, all together are those whose errors were recorded.
pub fn feedback_rows(cases: &[FeedbackCase], resampling: Resampling) -> Vec<FeedbackRow> {
    let mut sources: Vec<&str> = cases.iter().map(|case| &*case.source).collect();
    sources.sort_unstable();
    sources.dedup();
    let parts = std::iter::once("*").chain(sources).map(|source| Part {
        source,
        cases: cases
            .iter()
            .filter(|case| source == "*" || *case.source == *source)
            .collect(),
        resampling,
    });
    let mut rows = Vec::new();
    for part in parts {
        part.flags(&mut rows);
        part.scores(&mut rows);
        part.guidance(&mut rows);
        part.tasks(&mut rows);
        part.orders(&mut rows);
    }
    rows.retain(|row| row.of > 0);
    rows
}

impl Part<'_> {
    /// A share over some of its runs: Wilson, or over groups where that is wider.
    fn share(
        &self,
        (rule, variant, measure): (&'static str, &str, &'static str),
        of: impl Fn(&FeedbackCase) -> [u64; 2],
    ) -> FeedbackRow {
        let runs = self.cases.iter().map(|case| (&*case.group, of(case)));
        let (replicates, [count, all]) = drawn(runs, self.resampling);
        #[allow(clippy::cast_precision_loss)]
        let value = |[k, n]: &[u64; 2]| (*n > 0).then(|| *k as f64 / *n as f64);
        let mut values: Vec<f64> = replicates.iter().filter_map(value).collect();
        let resampled = percentile(&mut values);
        let closed = if count <= all {
            wilson(count, all)
        } else {
            None
        };
        let interval = match (resampled, closed) {
            (Some(a), Some(b)) => Some(Interval {
                lo: a.lo.min(b.lo),
                hi: a.hi.max(b.hi),
            }),
            (a, _) => a,
        };
        FeedbackRow {
            source: self.source.to_owned(),
            rule,
            variant: variant.to_owned(),
            measure,
            count,
            of: all,
            value: value(&[count, all]),
            interval,
        }
    }

    /// G1: errors and completion, precision and recall.
    fn flags(&self, rows: &mut Vec<FeedbackRow>) {
        let counts = |case: &FeedbackCase, flag: usize, at: usize| match flag {
            0 if self.source == "*" && !case.recorded => [0; 4],
            0 => case.feedback.error_flag[at].counts(),
            _ => case.feedback.completion_flag[at].counts(),
        };
        for (flag, name) in ["errors", "completion"].into_iter().enumerate() {
            for (at, reading) in Reading::ALL.into_iter().enumerate() {
                let variant = format!("{name}, {}", reading.name());
                rows.push(self.share(("G1", &variant, "precision"), |case| {
                    let [hit, wrong, ..] = counts(case, flag, at);
                    [hit, hit + wrong]
                }));
                rows.push(self.share(("G1", &variant, "recall"), |case| {
                    let [hit, _, missed, _] = counts(case, flag, at);
                    [hit, hit + missed]
                }));
            }
        }
    }

    /// G1: how often a run ended well within two turns, by bins of the score.
    fn scores(&self, rows: &mut Vec<FeedbackRow>) {
        for (at, [data, completion, analysis]) in WEIGHTS.into_iter().enumerate() {
            for bin in 0..5 {
                let (from, to) = (bin as f64 / 5.0, (bin + 1) as f64 / 5.0);
                let variant =
                    format!("score {from} to {to} (weights {data} {completion} {analysis})");
                rows.push(
                    self.share(("G1", &variant, "ended well within 2 turns"), |case| {
                        let [all, well] = case.feedback.bins[at][bin];
                        [well, all]
                    }),
                );
            }
        }
    }

    /// G2: what is said after a turn.
    fn guidance(&self, rows: &mut Vec<FeedbackRow>) {
        let Some(first) = self.cases.first() else {
            return;
        };
        for (at, (finish, hint, _)) in first.feedback.guided.iter().enumerate() {
            let variant = format!("finish from depth {finish}, hint after {hint}");
            let of = |case: &FeedbackCase| case.feedback.guided.get(at).map(|(_, _, g)| g.clone());
            let mut push = |measure, count: fn(&Guided) -> [u64; 2]| {
                rows.push(self.share(("G2", &variant, measure), |case| {
                    of(case).as_ref().map_or([0, 0], count)
                }));
            };
            push("right word", |g| {
                [(0..3).map(|n| g.matrix[n][n]).sum(), total(&g.matrix)]
            });
            push("right word, retry only after an error", |g| {
                [(0..3).map(|n| g.strict[n][n]).sum(), total(&g.strict)]
            });
            push("premature finish", |g| [g.premature, g.finish]);
            push("hints a run", |g| [g.hints, 1]);
            push("tokens of guidance a run", |g| [g.tokens, 1]);
            push("doubled", |g| [g.doubled, total(&g.matrix)]);
        }
    }

    /// G3: how often another order of the lists changes the type; where the source names its task as a type does.
    fn tasks(&self, rows: &mut Vec<FeedbackRow>) {
        let order = "lists in the order of seed 003";
        rows.push(self.share(
            ("G3", order, "another type where the order is turned round"),
            |case| {
                case.feedback
                    .task
                    .map_or([0, 0], |[a, b]| [u64::from(a != b), 1])
            },
        ));
        let labelled = |case: &FeedbackCase| named(case).map(|[is, said]| is == said);
        let accuracy = self.share(
            ("G3", order, "accuracy where the source names the type"),
            |case| labelled(case).map_or([0, 0], |right| [u64::from(right), 1]),
        );
        let counts = self.cases.iter().map(|case| (&*case.group, types(case)));
        let (replicates, all) = drawn(counts, self.resampling);
        let mut values: Vec<f64> = replicates.iter().filter_map(macro_f1).collect();
        rows.push(FeedbackRow {
            measure: "macro F1 where the source names the type",
            value: macro_f1(&all),
            interval: percentile(&mut values),
            ..accuracy.clone()
        });
        rows.push(accuracy);
    }

    /// G4: what is out of order, in 1,000 turns.
    #[allow(clippy::cast_precision_loss)]
    fn orders(&self, rows: &mut Vec<FeedbackRow>) {
        let turns: u64 = self.cases.iter().map(|case| case.feedback.turns).sum();
        for (at, kind) in DisorderKind::ALL.into_iter().enumerate() {
            let count = self
                .cases
                .iter()
                .map(|case| case.feedback.disorders[at])
                .sum();
            let Interval { lo, hi } = poisson(count);
            let rate = |n: f64| 1000.0 * n / turns.max(1) as f64;
            rows.push(FeedbackRow {
                source: self.source.to_owned(),
                rule: "G4",
                variant: kind.name().to_owned(),
                measure: "per 1,000 turns",
                count,
                of: turns,
                value: (turns > 0).then(|| rate(count as f64)),
                interval: (turns > 0).then(|| Interval {
                    lo: rate(lo),
                    hi: rate(hi),
                }),
            });
        }
    }
}

/// The type of a task, as its source names it and as the lists find it. `None` if its source names no type of the lists.
fn named(case: &FeedbackCase) -> Option<[&'static str; 2]> {
    let env = case.env.as_deref()?;
    let mut names = TYPES.iter().map(|(name, _)| *name);
    Some([names.find(|name| *name == env)?, case.feedback.task?[0]])
}

/// For each type: right, said where another is right, not said where it is right.
fn types(case: &FeedbackCase) -> [u64; 3 * TYPES.len()] {
    let mut counts = [0; 3 * TYPES.len()];
    if let Some([is, said]) = named(case) {
        for (at, (name, _)) in TYPES.iter().enumerate() {
            let of = match (*name == is, *name == said) {
                (true, true) => 0,
                (false, true) => 1,
                (true, false) => 2,
                (false, false) => continue,
            };
            counts[3 * at + of] += 1;
        }
    }
    counts
}

/// The mean F1 over the types that some task is of.
#[allow(clippy::cast_precision_loss)]
fn macro_f1(counts: &[u64; 3 * TYPES.len()]) -> Option<f64> {
    let (threes, _) = counts.as_chunks::<3>();
    let there = threes
        .iter()
        .filter(|[right, _, missed]| right + missed > 0);
    let f1 = |[right, wrong, missed]: &[u64; 3]| {
        (2 * right) as f64 / (2 * right + wrong + missed) as f64
    };
    let all: Vec<f64> = there.map(f1).collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

fn total(matrix: &[[u64; 3]; 3]) -> u64 {
    matrix.iter().flatten().sum()
}

/// The matrix of what is said after a turn, all runs of some together: by the right word, then by what was said.
/// `strict`: `retry` is right only after an error.
pub fn guidance_matrix<'a>(
    cases: impl Iterator<Item = &'a FeedbackCase>,
    (finish, hint): (u64, u64),
    strict: bool,
) -> [[u64; 3]; 3] {
    let mut sum = [[0; 3]; 3];
    for case in cases {
        let said = case
            .feedback
            .guided
            .iter()
            .find(|(f, h, _)| (*f, *h) == (finish, hint));
        let Some((_, _, guided)) = said else { continue };
        let matrix = if strict {
            &guided.strict
        } else {
            &guided.matrix
        };
        for (to, from) in sum.iter_mut().flatten().zip(matrix.iter().flatten()) {
            *to += from;
        }
    }
    sum
}

/// The names of the words of a matrix.
pub fn guidance_words() -> Vec<String> {
    Word::ALL
        .into_iter()
        .map(|word| word.name().to_owned())
        .collect()
}

const COLUMNS: [(&str, Type); 9] = [
    ("source", Type::Text),
    ("rule", Type::Text),
    ("variant", Type::Text),
    ("measure", Type::Text),
    ("count", Type::Int),
    ("of", Type::Int),
    ("value", Type::Float),
    ("lo", Type::Float),
    ("hi", Type::Float),
];

/// Writes `feedback.csv`.
///
/// # Errors
/// It cannot be written.
pub fn write_feedback(dir: &Path, rows: &[FeedbackRow]) -> Result<(), FileError> {
    let schema: Schema = COLUMNS.map(|(name, of)| (name.to_owned(), of)).to_vec();
    let cells = |row: &FeedbackRow| {
        vec![
            TableCell::text(row.source.as_str()),
            TableCell::text(row.rule),
            TableCell::text(row.variant.as_str()),
            TableCell::text(row.measure),
            TableCell::count(row.count),
            TableCell::count(row.of),
            TableCell::Float(row.value),
            TableCell::Float(row.interval.map(|i| i.lo)),
            TableCell::Float(row.interval.map(|i| i.hi)),
        ]
    };
    write_csv(dir, "feedback", &schema, rows.iter().map(cells))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macro_f1_is_the_mean_over_the_types_that_there_are() {
        let mut counts = [0; 3 * TYPES.len()];
        assert_eq!(macro_f1(&counts), None);
        // Three of the first: two found, and one wrongly said; one of the second, not found.
        counts[..6].copy_from_slice(&[2, 1, 1, 0, 0, 1]);
        // The third is said once and never right: it is no type that there is.
        counts[7] = 1;
        assert_eq!(macro_f1(&counts), Some((4.0 / 6.0 + 0.0) / 2.0));
    }
}
