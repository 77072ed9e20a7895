//! [`feedback_rows`]: rules of feedback held against runs: shares with intervals over groups, by source.

use std::collections::BTreeMap;
use std::sync::Arc;

use deadloop_corpus::DisorderKind;
use deadloop_score::{Interval, POISSON_1, Resampling, Weights, poisson, rank, wilson};

use super::guide::Guided;
use super::run::RunFeedback;
use super::task::TYPES;
use super::words::{Reading, WEIGHTS};

/// A run with what the rules say of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct FeedbackCase {
    /// Its group.
    pub(crate) group: Arc<str>,
    /// Its source.
    pub(crate) source: Arc<str>,
    /// Whether errors of its results were recorded, or told by return codes, and not guessed from text.
    pub(crate) recorded: bool,
    /// What its source calls its task, where it does.
    pub(crate) env: Option<Arc<str>>,
    /// What the rules say.
    pub(crate) feedback: RunFeedback,
}

/// A share, or a rate, with its interval.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FeedbackRow {
    /// The source; `*`: all.
    pub(crate) source: String,
    /// `G1` to `G4`.
    pub(crate) rule: &'static str,
    /// Its parameters.
    pub(crate) variant: String,
    /// What is measured.
    pub(crate) measure: &'static str,
    /// The number that was counted.
    pub(crate) count: u64,
    /// The number of which `count` is a part.
    pub(crate) of: u64,
    /// The share or rate, in the unit of the measure.
    pub(crate) value: Option<f64>,
    /// The interval of `value`, at 95 %.
    pub(crate) interval: Option<Interval>,
}

/// A source with its runs.
struct Part<'a> {
    source: &'a str,
    cases: Vec<&'a FeedbackCase>,
    resampling: Resampling,
}

/// Every figure, all sources together first. Of errors, all together are those whose errors were recorded.
pub(crate) fn feedback_rows(cases: &[FeedbackCase], resampling: Resampling) -> Vec<FeedbackRow> {
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

/// The table as CSV.
///
/// # Errors
/// A field cannot be written.
pub(crate) fn written(rows: &[FeedbackRow]) -> Result<String, csv::Error> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(COLUMNS)?;
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for row in rows {
        table.write_record([
            row.source.as_str(),
            row.rule,
            &row.variant,
            row.measure,
            &row.count.to_string(),
            &row.of.to_string(),
            &number(row.value),
            &number(row.interval.map(|i| i.lo)),
            &number(row.interval.map(|i| i.hi)),
        ])?;
    }
    let bytes = table.into_inner().map_err(|e| e.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

const COLUMNS: [&str; 9] = [
    "source", "rule", "variant", "measure", "count", "of", "value", "lo", "hi",
];

/// The sums of `N` numbers over all groups in each replicate, and over all groups once.
fn drawn<'a, const N: usize>(
    runs: impl Iterator<Item = (&'a str, [u64; N])>,
    resampling: Resampling,
) -> (Vec<[u64; N]>, [u64; N]) {
    let mut groups: BTreeMap<&str, [u64; N]> = BTreeMap::new();
    for (group, numbers) in runs {
        let sums = groups.entry(group).or_insert([0; N]);
        sums.iter_mut().zip(numbers).for_each(|(sum, n)| *sum += n);
    }
    let mut all = vec![[0; N]; resampling.replicates];
    let mut once = [0; N];
    for (group, numbers) in groups {
        once.iter_mut().zip(numbers).for_each(|(sum, n)| *sum += n);
        let weights = Weights::of(resampling.seed, group, &POISSON_1);
        for (sums, weight) in all.iter_mut().zip(weights) {
            let weighted = numbers.map(|n| n * u64::from(weight));
            sums.iter_mut().zip(weighted).for_each(|(sum, n)| *sum += n);
        }
    }
    (all, once)
}

/// The 2.5th and the 97.5th percentile, nearest rank.
fn percentile(values: &mut [f64]) -> Option<Interval> {
    values.sort_unstable_by(f64::total_cmp);
    let at = |q: f64| {
        let rank = rank(q, values.len() as u64)?;
        values
            .get(usize::try_from(rank).ok()?.checked_sub(1)?)
            .copied()
    };
    Some(Interval {
        lo: at(0.025)?,
        hi: at(0.975)?,
    })
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
