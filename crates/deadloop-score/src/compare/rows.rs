//! The table of a comparison: each metric of each model, how much it moved, and whether that is more
//! than chance and more than noise.

use std::collections::BTreeMap;

use deadloop_replay::detect::Unit;
use serde::Serialize;

use super::pairs::Pair;
use super::resample::{Cluster, Spread, clusters, difference, resample};
use super::side::Judged;
use super::significance::{FEWEST, holm, mcnemar, sign_flips, student};
use super::{Bearing, CompareOptions};
use crate::judge::Verdict;
use crate::measure::{DELAY, ENDED, FPR, Metric, RECALL, SAVED, Worth, wrong_rate};
use crate::tally::{Count, Tally};

/// The metrics that are compared, where things are counted in `unit`: what a detector is for, and what it must not cost.
pub(crate) fn metrics(unit: Unit) -> [Metric; 6] {
    [&ENDED, &RECALL, &FPR, wrong_rate(unit), &DELAY, &SAVED]
}

/// Which test a p comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// Exact McNemar: every group has one flip at most.
    Mcnemar,
    /// The exact permutation of the signs of the groups' net flips: transcripts of one group flip together, so
    /// twelve flips in one group are one observation.
    SignFlip,
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
    /// Transcripts that count: loops, or clean ones; copies once, here and in `b`, `c` and `differ`.
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
    let spreads = resample(&clusters, &metrics(options.unit), options.resampling);
    let row = |(metric, spread): (Metric, Option<Spread>)| {
        of_metric(model, metric, spread, (pairs, &clusters), options)
    };
    metrics(options.unit)
        .into_iter()
        .zip(spreads)
        .map(row)
        .collect()
}

fn of_metric(
    model: &str,
    metric: Metric,
    spread: Option<Spread>,
    (pairs, clusters): (&[Pair<'_>], &[Cluster<'_>]),
    options: &CompareOptions,
) -> Row {
    let base: Tally = pairs.iter().map(|pair| pair.base.tally).sum();
    let new: Tally = pairs.iter().map(|pair| pair.new.tally).sum();
    let value = |tally| metric.value(tally, &Worth::default());
    let difference = difference(metric, &base, &new);
    let differ = clusters
        .iter()
        .filter(|c| touched(metric, &c.sides[0], &c.sides[1]))
        .count();
    let Discordant { n, b, c, nets } = discordant(metric, pairs);
    let flipped = nets.len();
    let single = nets.iter().all(|(flips, _)| *flips == 1);
    let test = match [&ENDED, &RECALL, &FPR].contains(&metric) {
        true if single => Test::Mcnemar,
        true => Test::SignFlip,
        false => Test::Bootstrap,
    };
    let differ = match test {
        Test::Bootstrap => differ,
        _ => flipped,
    };
    let p = difference.and_then(|d| match test {
        Test::Mcnemar => (flipped >= FEWEST).then(|| mcnemar(b, c)),
        Test::SignFlip => (flipped >= FEWEST).then(|| {
            let nets: Vec<i64> = nets.iter().map(|(_, net)| *net).collect();
            sign_flips(&nets)
        }),
        Test::Bootstrap if differ >= FEWEST => Some(student(d, spread?.error, differ - 1)),
        Test::Bootstrap => None,
    });
    Row {
        model: model.into(),
        metric: metric.name.into(),
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
        more_is_better: metric.more_is_better,
        noise: options.noise.of(metric),
        verdict: None,
        of: metric,
    }
}

/// Whether two tallies differ in what a metric is made of.
fn touched(metric: Metric, a: &Tally, b: &Tally) -> bool {
    let mut terms = metric.formula.ratios.iter().flat_map(|ratio| ratio.num);
    terms.any(|term| a[term.0] != b[term.0])
}

struct Discordant {
    n: u64,
    b: u64,
    c: u64,
    /// Of each group with a flip: how many, and those for the better less those for the worse.
    nets: Vec<(u64, i64)>,
}

/// Loops for what is about loops, clean transcripts for `fpr`, both for `fa_per_mchar`.
fn discordant(metric: Metric, pairs: &[Pair<'_>]) -> Discordant {
    let (fpr, wrong) = (metric == &FPR, metric == &FPR || metric.is_wrong_rate());
    let clean = |v: Verdict| matches!(v, Verdict::Quiet | Verdict::FalseAlarm);
    let counts = |tally: &Tally, v: Verdict| (wrong && clean(v)) || (!fpr && tally.loops() > 0);
    let right = |tally: &Tally, v: Verdict| {
        if wrong {
            !v.is_false()
        } else {
            v == Verdict::Hit || (metric == &ENDED && tally.get(Count::Earlier) > 0)
        }
    };
    let (mut n, mut b, mut c) = (0, 0, 0);
    let mut groups: BTreeMap<&str, (u64, i64)> = BTreeMap::new();
    for Pair { base, new, .. } in pairs.iter().filter(|pair| pair.first) {
        let both = counts(&base.tally, base.seen.verdict) && counts(&new.tally, new.seen.verdict);
        // A repetition that ends by itself may be stopped on one side alone: it counts on neither.
        if !both {
            continue;
        }
        n += 1;
        let right = |side: &Judged| i64::from(right(&side.tally, side.seen.verdict));
        let net = right(new) - right(base);
        b += u64::from(net < 0);
        c += u64::from(net > 0);
        if net != 0 {
            let group = groups.entry(&base.cluster).or_default();
            *group = (group.0 + 1, group.1 + net);
        }
    }
    Discordant {
        n,
        b,
        c,
        nets: groups.into_values().collect(),
    }
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
