//! The table of a comparison: each metric of each model, how much it moved, and whether that is more
//! than chance and more than noise.

use std::collections::BTreeMap;

use serde::Serialize;

use super::gates::Inferior;
use super::pairs::{Pair, sum};
use super::resample::{clusters, difference, resample};
use super::significance::{FEWEST, sign_flips};
use super::subject::{Measured, Role, measured};
use super::{Bearing, CompareOptions};
use crate::intervals::{ByGroup, Interval};
use crate::measure::MeasureUnit;
use crate::tally::Tally;

deadloop_replay::detect::words! {
    /// By what a difference is told from chance.
    pub enum Test {
        /// The exact permutation of the signs of the groups' net flips: transcripts of one group flip together, so
        /// twelve flips in one group are one observation.
        SignFlip = "sign-flip",
        /// The interval of the paired bootstrap over groups: it has no p.
        Interval = "interval",
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
    /// How the difference is told from chance.
    pub test: Test,
    /// Transcripts that count: loops, or clean ones; equal texts once, here and everywhere in this row.
    pub n: u64,
    /// Transcripts that BASE has right and NEW wrong.
    pub b: u64,
    /// The other way round.
    pub c: u64,
    /// Clusters in which the two sides differ in this metric.
    pub differ: usize,
    /// The p of the test of flips; `None`: too few differ to tell, or there is no such test.
    pub p: Option<f64>,
    /// Whether more of it is better.
    pub more_is_better: bool,
    /// A difference up to this is noise.
    pub noise: f64,
    /// What that comes to; `None`: n/a on a side, or neither better nor worse.
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
pub(crate) fn rows(pairs: &[&Pair], options: &CompareOptions) -> Vec<Row> {
    let mut models: BTreeMap<&str, Vec<&Pair>> = BTreeMap::new();
    for pair in pairs {
        let model = pair.base.model.as_deref().unwrap_or_default();
        models.entry(model).or_default().push(*pair);
    }
    let mut rows = of_model("*", pairs, options);
    // One model: its rows would be those of `*` again.
    if models.len() > 1 {
        for (model, pairs) in &models {
            let own = of_model(model, pairs, options);
            if own.iter().any(|row| row.difference.is_some()) {
                rows.extend(own);
            }
        }
    }
    for row in &mut rows {
        row.verdict = bearing(row, options.alpha);
    }
    rows
}

fn of_model(model: &str, pairs: &[&Pair], options: &CompareOptions) -> Vec<Row> {
    let measured = measured(options.unit, &options.noise);
    let clusters = clusters(pairs);
    let intervals = resample(&clusters, &measured, options.resampling);
    let each = measured.iter().zip(intervals);
    each.map(|(metric, interval)| Row {
        model: model.into(),
        ..of_metric(metric, interval, pairs, &clusters)
    })
    .collect()
}

fn of_metric(
    metric: &Measured,
    interval: Option<Interval>,
    pairs: &[&Pair],
    clusters: &ByGroup<'_, 2>,
) -> Row {
    let sides = sum(pairs);
    let difference = difference(metric, &sides);
    let touched = |[base, new]: &&[Tally; 2]| (metric.made_of)(base) != (metric.made_of)(new);
    let Discordant { n, b, c, nets } = discordant(metric, pairs);
    let (test, differ) = if metric.exact {
        (Test::SignFlip, nets.len())
    } else {
        (Test::Interval, clusters.each().filter(touched).count())
    };
    let tested = difference.filter(|_| metric.exact && differ >= FEWEST);
    let p = tested.map(|_| sign_flips(&nets));
    Row {
        model: String::new(),
        metric: metric.name.into(),
        base: (metric.value)(&sides[0]),
        new: (metric.value)(&sides[1]),
        difference,
        lo: interval.map(|ends| ends.lo),
        hi: interval.map(|ends| ends.hi),
        test,
        n,
        b,
        c,
        differ,
        p,
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
    /// Of each group with a flip those for the better less those for the worse.
    nets: Vec<i64>,
}

fn discordant(metric: &Measured, pairs: &[&Pair]) -> Discordant {
    let (mut n, mut b, mut c) = (0, 0, 0);
    let mut groups: BTreeMap<&str, i64> = BTreeMap::new();
    for pair in pairs {
        let [base, new] = &pair.adds;
        // A repetition that ends by itself may be stopped on one side alone: it counts on neither.
        let Some((base, new)) = (metric.right)(base).zip((metric.right)(new)) else {
            continue;
        };
        n += 1;
        let net = i64::from(new) - i64::from(base);
        b += u64::from(net < 0);
        c += u64::from(net > 0);
        if net != 0 {
            *groups.entry(pair.base.cluster()).or_default() += net;
        }
    }
    Discordant {
        n,
        b,
        c,
        nets: groups.into_values().collect(),
    }
}

/// More than chance and an effect beyond the noise; or an interval inside the noise. More than chance is what the test of flips
/// says, or where there is none an interval on one side of 0.
fn bearing(row: &Row, alpha: f64) -> Option<Bearing> {
    let d = row.difference.filter(|_| row.role != Role::Beside)?;
    let sure = match row.test {
        Test::SignFlip => row.p.is_some_and(|p| p <= alpha),
        Test::Interval => row
            .lo
            .zip(row.hi)
            .is_some_and(|(lo, hi)| lo > 0.0 || hi < 0.0),
    };
    if sure && d.abs() > row.noise {
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
