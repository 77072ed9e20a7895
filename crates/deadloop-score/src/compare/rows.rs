//! The rows of a comparison: each metric of each model, with its difference.
//!
//! The verdict of a row is whether the difference exceeds chance and noise.

use std::collections::BTreeMap;

use serde::Serialize;

use super::pairs::{TranscriptPair, sum_tallies};
use super::significance::{MIN_GROUPS, sign_flips};
use super::subject::{ComparedMeasure, MeasureRole, compared_measures};
use super::{CompareOptions, Effect};
use crate::intervals::{GroupSums, Interval, percentile};
use crate::tally::Tally;

deadloop_replay::detect::words! {
    /// The test that separates a difference from chance.
    pub enum SignificanceTest {
        /// The exact permutation test of the signs of the groups' net flips. Transcripts of one group flip together, so
        /// twelve flips in one group are one observation.
        SignFlip = "sign-flip",
        /// The interval of the paired bootstrap over groups. It has no p value.
        Interval = "interval",
    }
}

/// A metric of one model, or of all models together, on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The model, or `*` for all models.
    pub model: String,
    /// The metric's column name.
    pub metric: String,
    /// The metric's value on BASE. `None` if n/a.
    pub base: Option<f64>,
    /// The metric's value on NEW. `None` if n/a.
    pub new: Option<f64>,
    /// The value on NEW minus the value on BASE.
    pub difference: Option<f64>,
    /// The lower end of the 95 % interval of the difference, by the paired bootstrap over groups.
    pub lo: Option<f64>,
    /// The upper end of the 95 % interval of the difference.
    pub hi: Option<f64>,
    /// The test of the difference.
    pub test: SignificanceTest,
    /// The number of transcripts that the metric judges. The whole row counts equal texts once.
    pub n: u64,
    /// The number of transcripts that are right on BASE and wrong on NEW.
    pub b: u64,
    /// The number of transcripts that are wrong on BASE and right on NEW.
    pub c: u64,
    /// The number of groups in which the two sides differ in this metric.
    pub differ: usize,
    /// The p value of the test of signs. `None` if too few groups differ, or the metric has no such test.
    pub p: Option<f64>,
    /// Whether a larger value is better.
    pub more_is_better: bool,
    /// The largest difference that counts as noise.
    pub noise: f64,
    /// The verdict. `None` if the metric is n/a on a side, or if more of it is neither better nor worse.
    pub verdict: Option<Effect>,
    #[serde(skip)]
    pub(crate) measured: ComparedMeasure,
}

/// Compares all models together, then each model that has a difference.
pub(crate) fn compare_models(pairs: &[&TranscriptPair], options: &CompareOptions) -> Vec<Row> {
    let mut models: BTreeMap<&str, Vec<&TranscriptPair>> = BTreeMap::new();
    for pair in pairs {
        let model = pair.base.model.as_deref().unwrap_or_default();
        models.entry(model).or_default().push(*pair);
    }
    let mut rows = compare_model("*", pairs, options);
    // With one model its rows would repeat those of `*`.
    if models.len() > 1 {
        for (model, pairs) in &models {
            let own = compare_model(model, pairs, options);
            if own.iter().any(|row| row.difference.is_some()) {
                rows.extend(own);
            }
        }
    }
    for row in &mut rows {
        row.verdict = decide_effect(row, options.alpha);
    }
    rows
}

/// Returns the rows of one model.
///
/// Intervals are those of the paired bootstrap over groups. A drawn group counts on both sides. A replicate in which
/// the difference is n/a is left out.
fn compare_model(model: &str, pairs: &[&TranscriptPair], options: &CompareOptions) -> Vec<Row> {
    let measured = compared_measures(options.unit, &options.noise);
    let clusters = GroupSums::new(pairs.iter().map(|pair| (pair.base.cluster(), pair.tallies)));
    let mut drawn: [Vec<f64>; 7] = Default::default();
    for sides in clusters.draw(options.resampling).tallies() {
        for (values, measured) in drawn.iter_mut().zip(&measured) {
            values.extend(measured.difference(&sides));
        }
    }
    let each = measured.into_iter().zip(&mut drawn);
    each.map(|(measured, drawn)| Row {
        model: model.into(),
        ..compare_measure(measured, percentile(drawn), pairs, &clusters)
    })
    .collect()
}

fn compare_measure(
    measured: ComparedMeasure,
    interval: Option<Interval>,
    pairs: &[&TranscriptPair],
    clusters: &GroupSums<'_, 2>,
) -> Row {
    let sides = sum_tallies(pairs);
    let difference = measured.difference(&sides);
    let differs = |[base, new]: &&[Tally; 2]| measured.numerator(base) != measured.numerator(new);
    let ([n, b, c], nets) = count_discordant(&measured, pairs);
    let (test, differ) = if measured.is_exact() {
        (SignificanceTest::SignFlip, nets.len())
    } else {
        (
            SignificanceTest::Interval,
            clusters.sums().filter(differs).count(),
        )
    };
    let tested = difference.filter(|_| measured.is_exact() && differ >= MIN_GROUPS);
    let [base, new] = sides.each_ref().map(|side| measured.value(side));
    Row {
        model: String::new(),
        metric: measured.metric.name.into(),
        base,
        new,
        difference,
        lo: interval.map(|ends| ends.lo),
        hi: interval.map(|ends| ends.hi),
        test,
        n,
        b,
        c,
        differ,
        p: tested.map(|_| sign_flips(&nets)),
        more_is_better: measured.metric.more_is_better,
        noise: measured.noise,
        verdict: None,
        measured,
    }
}

/// Counts the pairs that the measure judges, those right on BASE alone, and those right on NEW alone. The second part
/// is the net number of flips to the better of each group with a flip.
fn count_discordant(measured: &ComparedMeasure, pairs: &[&TranscriptPair]) -> ([u64; 3], Vec<i64>) {
    let (mut n, mut b, mut c) = (0, 0, 0);
    let mut groups: BTreeMap<&str, i64> = BTreeMap::new();
    for pair in pairs {
        let [base, new] = &pair.tallies;
        // A transient repetition may be stopped on one side alone. It counts on neither.
        let Some((base, new)) = measured.is_right(base).zip(measured.is_right(new)) else {
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
    ([n, b, c], groups.into_values().collect())
}

/// Returns the verdict of a row.
///
/// A difference beyond chance and noise is an improvement or a regression. An interval inside the noise is equivalence.
/// The test of signs decides on chance, or else an interval on one side of 0.
fn decide_effect(row: &Row, alpha: f64) -> Option<Effect> {
    let is_judged = row.measured.role != MeasureRole::Neutral;
    let d = row.difference.filter(|_| is_judged)?;
    let sure = match row.test {
        SignificanceTest::SignFlip => row.p.is_some_and(|p| p <= alpha),
        SignificanceTest::Interval => row
            .lo
            .zip(row.hi)
            .is_some_and(|(lo, hi)| lo > 0.0 || hi < 0.0),
    };
    if sure && d.abs() > row.noise {
        return Some(if (d > 0.0) == row.more_is_better {
            Effect::Improved
        } else {
            Effect::Regressed
        });
    }
    let inside = row.lo? >= -row.noise && row.hi? <= row.noise;
    Some(if inside {
        Effect::Equivalent
    } else {
        Effect::Inconclusive
    })
}
