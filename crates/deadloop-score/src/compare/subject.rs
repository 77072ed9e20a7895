//! The measures that a comparison compares.

use deadloop_replay::detect::Unit;

use super::Noise;
use crate::measure::{
    DELAY, ENDED, FPR, Metric, RECALL, SAVED, Stakes, transient_rate, wrong_rate,
};
use crate::tally::{Count, Tally};

/// The role of a measure in the verdict of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MeasureRole {
    /// The measure that a guard is meant to improve.
    Primary,
    /// The measure that must not get worse.
    Guard,
    /// A measure without effect on the verdict.
    Informative,
    /// A measure whose values are neither good nor bad.
    Neutral,
}

/// A measure with its role in a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ComparedMeasure {
    pub(crate) metric: Metric,
    pub(crate) role: MeasureRole,
    /// The largest difference that counts as noise.
    pub(crate) noise: f64,
}

/// Returns the compared measures for a unit. The primary measure is loops ended, and the guard is the rate of wrong
/// alarms.
pub(crate) fn compared_measures(unit: Unit, noise: &Noise) -> [ComparedMeasure; 7] {
    use MeasureRole::{Guard, Informative, Neutral, Primary};
    let all: [(Metric, MeasureRole); 7] = [
        (&ENDED, Primary),
        (&RECALL, Informative),
        (&FPR, Informative),
        (wrong_rate(unit), Guard),
        (transient_rate(unit), Neutral),
        (&DELAY, Informative),
        (&SAVED, Informative),
    ];
    all.map(|(metric, role)| ComparedMeasure {
        metric,
        role,
        noise: noise.floor_of(metric.name),
    })
}

impl ComparedMeasure {
    /// Returns the value of the measure. `None` if n/a.
    pub(crate) fn value(&self, tally: &Tally) -> Option<f64> {
        // No compared measure depends on the costs of errors.
        self.metric.value(tally, &Stakes::default())
    }

    /// Returns NEW - BASE. `None` if the measure is n/a on a side.
    pub(crate) fn difference(&self, [base, new]: &[Tally; 2]) -> Option<f64> {
        Some(self.value(new)? - self.value(base)?)
    }

    /// Returns whether each transcript is either right or wrong by the measure, so that the test of signs applies.
    pub(crate) fn is_exact(&self) -> bool {
        self.role == MeasureRole::Guard || [&ENDED, &RECALL, &FPR].contains(&self.metric)
    }

    /// Returns whether the outcome of a transcript is right by the measure.
    ///
    /// `None` if the transcript does not count. Measures of loops count loops, and `fpr` counts clean transcripts. The
    /// rate of wrong alarms counts loops and clean transcripts.
    pub(crate) fn is_right(&self, tally: &Tally) -> Option<bool> {
        let (fpr, rate) = (self.metric == &FPR, self.role == MeasureRole::Guard);
        let counts = ((fpr || rate) && tally.clean() > 0) || (!fpr && tally.loops() > 0);
        counts.then(|| {
            if fpr || rate {
                tally.wrong() == 0
            } else {
                let earlier = self.metric == &ENDED && tally.get(Count::Earlier) > 0;
                tally.get(Count::Hit) > 0 || earlier
            }
        })
    }

    /// Returns the counts in the numerator of the measure.
    pub(crate) fn numerator(&self, tally: &Tally) -> Vec<i64> {
        let terms = self.metric.formula.ratios().flat_map(|r| r.num);
        terms.map(|term| tally[term.0]).collect()
    }
}
