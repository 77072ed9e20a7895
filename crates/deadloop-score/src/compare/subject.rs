//! The compared measures.

use deadloop_replay::detect::Unit;

use super::Noise;
use crate::measure::{
    DELAY, ENDED, FPR, Metric, RECALL, SAVED, Stakes, transient_rate, wrong_rate,
};
use crate::tally::{Count, Tally};

/// The role of a measure in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MeasureRole {
    /// The purpose of a guard.
    Primary,
    /// The cost that must not rise.
    Guard,
    /// Printed, without effect on the verdict.
    Told,
    /// Printed beside another measure. More is neither better nor worse.
    Beside,
}

/// A measure in a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ComparedMeasure {
    pub(crate) metric: Metric,
    pub(crate) role: MeasureRole,
    /// The largest difference that is noise.
    pub(crate) noise: f64,
}

/// Returns the measures for a unit. The primary one is loops ended, the guard is the rate of wrong alarms. The others
/// have no effect on the verdict.
pub(crate) fn compared_measures(unit: Unit, noise: &Noise) -> [ComparedMeasure; 7] {
    use MeasureRole::{Beside, Guard, Primary, Told};
    let all: [(Metric, MeasureRole); 7] = [
        (&ENDED, Primary),
        (&RECALL, Told),
        (&FPR, Told),
        (wrong_rate(unit), Guard),
        (transient_rate(unit), Beside),
        (&DELAY, Told),
        (&SAVED, Told),
    ];
    all.map(|(metric, role)| ComparedMeasure {
        metric,
        role,
        noise: noise.tolerance(metric.name),
    })
}

impl ComparedMeasure {
    /// Returns the value. `None` if n/a. No compared measure depends on the costs of errors.
    pub(crate) fn value(&self, tally: &Tally) -> Option<f64> {
        self.metric.value(tally, &Stakes::default())
    }

    /// Returns NEW - BASE. `None` if the measure is n/a on a side.
    pub(crate) fn difference(&self, [base, new]: &[Tally; 2]) -> Option<f64> {
        Some(self.value(new)? - self.value(base)?)
    }

    /// Returns whether each transcript is either right or wrong by the measure, so that the test of flips applies.
    pub(crate) fn is_exact(&self) -> bool {
        self.role == MeasureRole::Guard || [&ENDED, &RECALL, &FPR].contains(&self.metric)
    }

    /// Returns whether a transcript is right by the measure. `None` if it does not count: loops count for measures of
    /// loops, clean transcripts for `fpr`, both for the rate of wrong alarms.
    pub(crate) fn right(&self, tally: &Tally) -> Option<bool> {
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

    /// Returns the terms of the numerator.
    pub(crate) fn terms(&self, tally: &Tally) -> Vec<i64> {
        let terms = self.metric.formula.ratios().flat_map(|r| r.num);
        terms.map(|term| tally[term.0]).collect()
    }
}
