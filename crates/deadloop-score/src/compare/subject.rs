//! What is compared of guards: the measures, and what of them a gate looks at.

use deadloop_replay::detect::Unit;

use super::Noise;
use super::gates::{GateName, Inferior};
use crate::measure::{
    DELAY, ENDED, FPR, MeasureUnit, Metric, RECALL, SAVED, Worth, transient_rate, wrong_rate,
};
use crate::tally::{Count, Tally};

/// What a measure is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// What a setting is for.
    Primary,
    /// What it must not cost.
    Guard,
    /// It is told, and decides nothing.
    Told,
    /// It stands beside another measure, and more of it is neither better nor worse.
    Beside,
}

/// A measure of tallies, as it is compared.
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    pub(crate) unit: MeasureUnit,
    pub(crate) more_is_better: bool,
    pub(crate) role: Role,
    /// A difference up to this is noise.
    pub(crate) noise: f64,
    /// The gate that holds it to a margin, where one does.
    pub(crate) inferior: Option<Inferior>,
    /// Whether each piece is right by it or not: its test is that of flips.
    pub(crate) exact: bool,
    /// Its value; `None`: n/a.
    pub(crate) value: Of<Option<f64>>,
    /// Whether a piece is right by it; `None`: it does not count.
    pub(crate) right: Of<Option<bool>>,
    /// What above the line it is made of.
    pub(crate) made_of: Of<Vec<i64>>,
}

/// Something that a tally comes to.
type Of<T> = Box<dyn Fn(&Tally) -> T>;

/// The measures, where things are counted in `unit`: what a detector is for (loops ended), and what it must not cost (wrong
/// alarms). The others are told and decide nothing.
pub(crate) fn measured(unit: Unit, noise: &Noise) -> Vec<Measured> {
    let (wrong, transient) = (wrong_rate(unit), transient_rate(unit));
    let all = [&ENDED, &RECALL, &FPR, wrong, transient, &DELAY, &SAVED];
    all.into_iter()
        .map(|metric| of_guards(metric, noise))
        .collect()
}

/// Loops count for what is about loops, clean transcripts for `fpr`, both for the rate of wrong alarms.
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
        noise: noise.of(metric.name),
        inferior: rate.then_some(Inferior {
            gate: GateName::WrongAlarms,
            per: match metric.name {
                "fa_per_kcall" => "thousand calls",
                "fa_per_kturn" => "thousand turns",
                _ => "million chars",
            },
            scale: 1.0,
            unknown: "no healthy char was watched, so no rate is known",
            needs: Some((
                FPR.name,
                "no transcript is clean, so no wrong alarm could have been seen",
            )),
        }),
        exact: rate || [&ENDED, &RECALL, &FPR].contains(&metric),
        // Of the metrics that are compared none depends on what errors cost.
        value: Box::new(|tally| metric.value(tally, &Worth::default())),
        right: Box::new(right),
        made_of: Box::new(|tally| {
            let terms = metric.formula.ratios.iter().flat_map(|ratio| ratio.num);
            terms.map(|term| tally[term.0]).collect()
        }),
    }
}
