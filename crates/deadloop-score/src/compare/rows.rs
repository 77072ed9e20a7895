//! The table of a comparison: each metric of each model, how much it moved, and whether that is more
//! than chance and more than noise.

use std::collections::BTreeMap;

use serde::Serialize;

use super::gates::Inferior;
use super::pairs::Pair;
use super::resample::{Spread, clusters, difference, resample};
use super::significance::{FEWEST, holm, mcnemar, sign_flips, student};
use super::subject::{Measured, Role, measured};
use super::{Bearing, CompareOptions};
use crate::intervals::ByGroup;
use crate::measure::MeasureUnit;
use crate::tally::Tally;

deadloop_replay::detect::words! {
    /// Which test a p comes from.
    pub enum Test {
        /// Exact McNemar: every group has one flip at most.
        Mcnemar = "mcnemar",
        /// The exact permutation of the signs of the groups' net flips: transcripts of one group flip together, so
        /// twelve flips in one group are one observation.
        SignFlip = "sign-flip",
        /// Student's t with the standard error of the paired cluster bootstrap, and as many degrees of
        /// freedom as there are clusters that differ, less one.
        Bootstrap = "bootstrap",
    }
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
    pub(crate) unit: MeasureUnit,
    #[serde(skip)]
    pub(crate) role: Role,
    #[serde(skip)]
    pub(crate) exact: bool,
    #[serde(skip)]
    pub(crate) inferior: Option<Inferior>,
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
    let measured = measured(options.unit, &options.noise);
    let clusters = clusters(pairs);
    let spreads = resample(&clusters, &measured, options.resampling);
    let each = measured.iter().zip(spreads);
    each.map(|(metric, spread)| Row {
        model: model.into(),
        ..of_metric(metric, spread, pairs, &clusters)
    })
    .collect()
}

fn of_metric(
    metric: &Measured,
    spread: Option<Spread>,
    pairs: &[Pair<'_>],
    clusters: &ByGroup<'_, 2>,
) -> Row {
    let mut sides = [Tally::default(); 2];
    for pair in pairs {
        sides[0] += pair.base.adds;
        sides[1] += pair.new.adds;
    }
    let difference = difference(metric, &sides);
    let touched = |[base, new]: &&[Tally; 2]| (metric.made_of)(base) != (metric.made_of)(new);
    let Discordant { n, b, c, nets } = discordant(metric, pairs);
    let single = nets.iter().all(|(flips, _)| *flips == 1);
    let test = match (metric.exact, single) {
        (true, true) => Test::Mcnemar,
        (true, false) => Test::SignFlip,
        (false, _) => Test::Bootstrap,
    };
    let differ = match test {
        Test::Bootstrap => clusters.each().filter(touched).count(),
        _ => nets.len(),
    };
    let p = difference
        .filter(|_| differ >= FEWEST)
        .and_then(|d| match test {
            Test::Mcnemar => Some(mcnemar(b, c)),
            Test::SignFlip => {
                let nets: Vec<i64> = nets.iter().map(|(_, net)| *net).collect();
                Some(sign_flips(&nets))
            }
            Test::Bootstrap => Some(student(d, spread?.error, differ - 1)),
        });
    Row {
        model: String::new(),
        metric: metric.name.into(),
        base: (metric.value)(&sides[0]),
        new: (metric.value)(&sides[1]),
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
        noise: metric.noise,
        verdict: None,
        unit: metric.unit,
        role: metric.role,
        exact: metric.exact,
        inferior: metric.inferior,
    }
}

struct Discordant {
    n: u64,
    b: u64,
    c: u64,
    /// Of each group with a flip: how many, and those for the better less those for the worse.
    nets: Vec<(u64, i64)>,
}

fn discordant(metric: &Measured, pairs: &[Pair<'_>]) -> Discordant {
    let (mut n, mut b, mut c) = (0, 0, 0);
    let mut groups: BTreeMap<&str, (u64, i64)> = BTreeMap::new();
    for pair in pairs.iter().filter(|pair| pair.first) {
        let [base, new] = &pair.adds();
        // A repetition that ends by itself may be stopped on one side alone: it counts on neither.
        let Some((base, new)) = (metric.right)(base).zip((metric.right)(new)) else {
            continue;
        };
        n += 1;
        let net = i64::from(new) - i64::from(base);
        b += u64::from(net < 0);
        c += u64::from(net > 0);
        if net != 0 {
            let group = groups.entry(&pair.base.cluster).or_default();
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
