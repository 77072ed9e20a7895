//! The table of a comparison: each metric of each model, how much it moved, and whether that is more
//! than chance and more than noise.

use std::collections::BTreeMap;

use serde::Serialize;

use super::pairs::Pair;
use super::resample::{Spread, clusters, difference, resample};
use super::significance::{FEWEST, holm, mcnemar, student};
use super::{Bearing, CompareOptions};
use crate::metric::Metric;
use crate::scores::Worth;
use crate::tally::{Count, Tally};
use crate::verdict::Verdict;

/// The metrics that are compared: what a detector is for, and what it must not cost.
pub(crate) const METRICS: [Metric; 5] = [
    Metric::Recall,
    Metric::Fpr,
    Metric::FaPerMchar,
    Metric::Delay,
    Metric::Saved,
];

/// Which test a p comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Test {
    /// Exact McNemar, transcript by transcript.
    Mcnemar,
    /// Student's t with the standard error of the paired cluster bootstrap, and as many degrees of
    /// freedom as there are clusters that differ, less one.
    Bootstrap,
}

/// One metric of one model, or of all models together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The model; `*`: all.
    pub model: String,
    /// The metric, as its column is called.
    pub metric: String,
    /// Its value on BASE; `None`: n/a.
    pub base: Option<f64>,
    /// On NEW.
    pub new: Option<f64>,
    /// NEW - BASE.
    pub difference: Option<f64>,
    /// The 95 % interval of the difference, by paired cluster bootstrap.
    pub lo: Option<f64>,
    /// See `lo`.
    pub hi: Option<f64>,
    /// The test.
    pub test: Test,
    /// Transcripts that count: loops, or clean ones.
    pub n: u64,
    /// Transcripts that BASE has right and NEW wrong.
    pub b: u64,
    /// The other way round.
    pub c: u64,
    /// Clusters in which the two sides differ in this metric.
    pub differ: usize,
    /// The p of the test; `None`: too few differ to tell, or n/a.
    pub p: Option<f64>,
    /// The same after Holm's correction over the rows that have one: those of `*`, or of the models.
    pub p_adjusted: Option<f64>,
    /// Standard error of the difference, by the bootstrap.
    pub error: Option<f64>,
    /// Whether more of it is better.
    pub more_is_better: bool,
    /// A difference up to this is noise.
    pub noise: f64,
    /// What that comes to; `None`: n/a on a side.
    pub verdict: Option<Bearing>,
    #[serde(skip)]
    pub(crate) of: Metric,
}

/// The rows of all models together, then of each model that has anything to score.
pub(crate) fn rows(pairs: &[Pair<'_>], options: &CompareOptions) -> Vec<Row> {
    let mut models: BTreeMap<&str, Vec<Pair<'_>>> = BTreeMap::new();
    for pair in pairs {
        models.entry(&pair.base.model).or_default().push(*pair);
    }
    let mut rows = of_model("*", pairs, options);
    // One model: its rows would be those of `*` again, and count twice in Holm's correction.
    if models.len() > 1 {
        for (model, pairs) in &models {
            let own = of_model(model, pairs, options);
            if own.iter().any(|row| row.difference.is_some()) {
                rows.extend(own);
            }
        }
    }
    adjust(rows.iter_mut().filter(|row| row.model == "*").collect());
    adjust(rows.iter_mut().filter(|row| row.model != "*").collect());
    for row in &mut rows {
        row.verdict = bearing(row, options.alpha);
    }
    rows
}

/// Holm's correction over one family. The metrics of all models together are one, metrics x models
/// another: what a gate rests on first must not get weaker with every model that a corpus has.
fn adjust(rows: Vec<&mut Row>) {
    let tested: Vec<f64> = rows.iter().filter_map(|row| row.p).collect();
    let mut adjusted = holm(&tested).into_iter();
    for row in rows {
        row.p_adjusted = row.p.and_then(|_| adjusted.next());
    }
}

fn of_model(model: &str, pairs: &[Pair<'_>], options: &CompareOptions) -> Vec<Row> {
    let clusters = clusters(pairs);
    let spreads = resample(&clusters, &METRICS, options.resampling, model);
    let row = |(metric, spread): (Metric, Option<Spread>)| {
        of_metric(model, metric, spread, (pairs, &clusters), options)
    };
    METRICS.into_iter().zip(spreads).map(row).collect()
}

fn of_metric(
    model: &str,
    metric: Metric,
    spread: Option<Spread>,
    (pairs, clusters): (&[Pair<'_>], &[(Tally, Tally)]),
    options: &CompareOptions,
) -> Row {
    let sum = |side: fn(&(Tally, Tally)) -> Tally| clusters.iter().map(side).sum::<Tally>();
    let (base, new) = (sum(|c| c.0), sum(|c| c.1));
    let value = |tally| metric.value(tally, &Worth::default());
    let difference = difference(metric, &base, &new);
    let differ = clusters
        .iter()
        .filter(|(a, b)| touched(metric, a, b))
        .count();
    let Discordant { n, b, c } = discordant(metric, pairs);
    let test = match metric {
        Metric::Recall | Metric::Fpr => Test::Mcnemar,
        _ => Test::Bootstrap,
    };
    let p = difference.and_then(|d| match test {
        Test::Mcnemar => (b + c >= FEWEST as u64).then(|| mcnemar(b, c)),
        Test::Bootstrap if differ >= FEWEST => Some(student(d, spread?.error, differ - 1)),
        Test::Bootstrap => None,
    });
    Row {
        model: model.into(),
        metric: metric.name(),
        base: value(&base),
        new: value(&new),
        difference,
        lo: spread.map(|s| s.interval.lo),
        hi: spread.map(|s| s.interval.hi),
        test,
        n,
        b,
        c,
        differ,
        p,
        p_adjusted: None,
        error: spread.map(|s| s.error),
        more_is_better: metric.more_is_better(),
        noise: options.noise.of(metric),
        verdict: None,
        of: metric,
    }
}

/// Whether two tallies differ in what a metric is made of.
fn touched(metric: Metric, a: &Tally, b: &Tally) -> bool {
    let counts: &[Count] = match metric {
        Metric::Recall => &[Count::Hit],
        Metric::Fpr => &[Count::FalseAlarm],
        Metric::FaPerMchar => &[Count::FalseAlarm, Count::Premature, Count::Stale],
        Metric::Delay => &[Count::Delay],
        _ => &[Count::Saved],
    };
    counts.iter().any(|count| a[*count] != b[*count])
}

struct Discordant {
    n: u64,
    b: u64,
    c: u64,
}

/// Loops for what is about loops, clean transcripts for `fpr`, both for `fa_per_mchar`.
fn discordant(metric: Metric, pairs: &[Pair<'_>]) -> Discordant {
    let clean = |v: Verdict| matches!(v, Verdict::Quiet | Verdict::FalseAlarm);
    let counts = |v: Verdict| match metric {
        Metric::Fpr => clean(v),
        Metric::FaPerMchar => clean(v) || v.is_loop(),
        _ => v.is_loop(),
    };
    let right = |v: Verdict| match metric {
        Metric::Fpr | Metric::FaPerMchar => !v.is_false(),
        _ => v == Verdict::Hit,
    };
    let mut found = Discordant { n: 0, b: 0, c: 0 };
    for Pair { base, new } in pairs {
        let (base, new) = (base.seen.verdict, new.seen.verdict);
        // A repetition that ends by itself may be stopped on one side alone: it counts on neither.
        if counts(base) && counts(new) {
            found.n += 1;
            found.b += u64::from(right(base) && !right(new));
            found.c += u64::from(!right(base) && right(new));
        }
    }
    found
}

/// Significance and an effect beyond the noise; or an interval inside it.
fn bearing(row: &Row, alpha: f64) -> Option<Bearing> {
    let d = row.difference?;
    if row.p_adjusted.is_some_and(|p| p <= alpha) && d.abs() > row.noise {
        return Some(if (d > 0.0) == row.more_is_better {
            Bearing::Improved
        } else {
            Bearing::Regressed
        });
    }
    let inside = row.lo? >= -row.noise && row.hi? <= row.noise;
    Some(if inside {
        Bearing::Equivalent
    } else {
        Bearing::Inconclusive
    })
}
