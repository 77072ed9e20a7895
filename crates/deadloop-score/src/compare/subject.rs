//! The compared measures of guards, and their gates.

use deadloop_replay::detect::Unit;

use super::Noise;
use super::gates::{GateName, Inferior};
use crate::measure::{
    DELAY, ENDED, FPR, MeasureUnit, Metric, RECALL, SAVED, Worth, transient_rate, wrong_rate,
};
use crate::tally::{Count, Tally};
use crate::words::exposure;

/// The role of a measure in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The purpose of a guard.
    Primary,
    /// The cost that must not rise.
    Guard,
    /// Printed, without effect on the verdict.
    Told,
    /// Printed beside another measure. More is neither better nor worse.
    Beside,
}

/// A measure of tallies in a comparison.
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    pub(crate) unit: MeasureUnit,
    pub(crate) more_is_better: bool,
    pub(crate) role: Role,
    /// The largest difference that is noise.
    pub(crate) noise: f64,
    /// The gate that holds the measure to a margin, if any.
    pub(crate) inferior: Option<Inferior>,
    /// Whether each transcript is either right or wrong by the measure, so that the test of flips applies.
    pub(crate) exact: bool,
    /// The value. `None` if n/a.
    pub(crate) value: Of<Option<f64>>,
    /// Whether a transcript is right by the measure. `None` if it does not count.
    pub(crate) right: Of<Option<bool>>,
    /// The terms of the numerator.
    pub(crate) made_of: Of<Vec<i64>>,
}

/// A function of a tally.
type Of<T> = Box<dyn Fn(&Tally) -> T>;

/// Returns the measures for a unit. The primary one is loops ended, the guard is the rate of wrong alarms. The others
/// have no effect on the verdict.
pub(crate) fn measured(unit: Unit, noise: &Noise) -> Vec<Measured> {
    let (wrong, transient) = (wrong_rate(unit), transient_rate(unit));
    let all = [&ENDED, &RECALL, &FPR, wrong, transient, &DELAY, &SAVED];
    all.into_iter()
        .map(|metric| of_guards(metric, noise))
        .collect()
}

/// Makes the comparison of one metric. Loops count for measures of loops, clean transcripts for `fpr`, both for the
/// rate of wrong alarms.
fn of_guards(metric: Metric, noise: &Noise) -> Measured {
    let (fpr, rate) = (metric == &FPR, metric.is_wrong_rate());
    let beside = Unit::ALL
        .into_iter()
        .any(|unit| transient_rate(unit) == metric);
    let right = move |tally: &Tally| {
        let counts = ((fpr || rate) && tally.clean() > 0) || (!fpr && tally.loops() > 0);
        counts.then(|| {
            if fpr || rate {
                tally.wrong() == 0
            } else {
                let earlier = metric == &ENDED && tally.get(Count::Earlier) > 0;
                tally.get(Count::Hit) > 0 || earlier
            }
        })
    };
    Measured {
        name: metric.name,
        unit: metric.unit,
        more_is_better: metric.more_is_better,
        role: match () {
            () if rate => Role::Guard,
            () if metric == &ENDED => Role::Primary,
            () if beside => Role::Beside,
            () => Role::Told,
        },
        noise: noise.tolerance(metric.name),
        inferior: rate.then_some(Inferior {
            gate: GateName::WrongAlarms,
            per: exposure(metric.counted_in[0]),
            scale: 1.0,
            unknown: "no healthy char was watched, so no rate is known",
            needs: Some((
                FPR.name,
                "no transcript is clean, so no wrong alarm could have been seen",
            )),
        }),
        exact: rate || [&ENDED, &RECALL, &FPR].contains(&metric),
        // None of the compared metrics depends on the costs of errors.
        value: Box::new(|tally| metric.value(tally, &Worth::default())),
        right: Box::new(right),
        made_of: Box::new(|tally| {
            let terms = metric.formula.ratios.iter().flat_map(|ratio| ratio.num);
            terms.map(|term| tally[term.0]).collect()
        }),
    }
}
