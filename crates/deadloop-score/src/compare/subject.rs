//! What is compared of a subject: its measures, and what of them a gate looks at. Guards, repairers and budgets go through one
//! comparison.

use deadloop_replay::detect::Unit;

use super::gates::{GateName, Inferior};
use super::{HealthyAlarms, Noise};
use crate::judge::Mended;
use crate::measure::{
    DELAY, ENDED, FPR, MeasureUnit, Metric, RECALL, SAVED, Worth, transient_rate, wrong_rate,
};
use crate::repairs::RepairTally;
use crate::tally::{Count, Counts, Sums, Tally};

deadloop_replay::detect::words! {
    /// Whose settings are compared.
    pub enum ComparedSubject {
        /// Guards, of `replay`, `tune` and `sweep`.
        Guards = "guards",
        /// Repairers.
        Repairs = "repairers",
        /// Budgets of context.
        Budgets = "budgets",
    }
}

impl ComparedSubject {
    /// By what rows are given beside those of all together.
    pub fn by(self) -> &'static str {
        match self {
            Self::Guards => "model",
            Self::Repairs => "repairer",
            Self::Budgets => "window",
        }
    }
}

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

/// A measure of counts, as it is compared.
pub(crate) struct Measured<A> {
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
    pub(crate) value: Of<A, Option<f64>>,
    /// Whether a piece is right by it; `None`: it does not count.
    pub(crate) right: Of<A, Option<bool>>,
    /// What above the line it is made of.
    pub(crate) made_of: Of<A, Vec<i64>>,
}

/// Something that counts come to.
type Of<A, T> = Box<dyn Fn(&A) -> T>;

/// Counts of a subject whose settings can be compared.
pub(crate) trait Comparable: Counts {
    /// Whose counts they are.
    const SUBJECT: ComparedSubject;
    /// Why nothing can be said, where no piece counts for what settings are for.
    const NOTHING: &'static str;

    /// The measures, where things are counted in `unit`.
    fn measured(unit: Unit, noise: &Noise) -> Vec<Measured<Self>>;

    /// What there is of each kind of piece.
    fn counted(&self) -> Vec<(&'static str, u64)>;

    /// Its alarms in healthy text, where it has any.
    fn healthy(&self) -> Option<HealthyAlarms> {
        None
    }

    /// What the two sides of a piece add: where one cannot be held against the other, nothing.
    fn pair(base: Self, new: Self) -> [Self; 2] {
        [base, new]
    }
}

impl Comparable for Tally {
    const SUBJECT: ComparedSubject = ComparedSubject::Guards;
    const NOTHING: &'static str =
        "no transcript is labelled a loop or clean, so nothing can be said";

    /// What a detector is for (loops ended), and what it must not cost (wrong alarms). The others are told and decide
    /// nothing.
    fn measured(unit: Unit, noise: &Noise) -> Vec<Measured<Self>> {
        let (wrong, transient) = (wrong_rate(unit), transient_rate(unit));
        let all = [&ENDED, &RECALL, &FPR, wrong, transient, &DELAY, &SAVED];
        all.into_iter()
            .map(|metric| of_guards(metric, noise))
            .collect()
    }

    fn counted(&self) -> Vec<(&'static str, u64)> {
        vec![("loops", self.loops()), ("clean", self.clean())]
    }

    fn healthy(&self) -> Option<HealthyAlarms> {
        Some(HealthyAlarms {
            wrong_alarms: self.wrong(),
            transient_stops: self.get(Count::TransientStop),
        })
    }
}

/// Loops count for what is about loops, clean transcripts for `fpr`, both for the rate of wrong alarms.
fn of_guards(metric: Metric, noise: &Noise) -> Measured<Tally> {
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

impl Comparable for RepairTally {
    const SUBJECT: ComparedSubject = ComparedSubject::Repairs;
    const NOTHING: &'static str = "no stream is damaged or intact, so nothing can be said";

    fn measured(_: Unit, noise: &Noise) -> Vec<Measured<Self>> {
        use Mended::{FalseRepair, Leaked, Lost, Recovered, Wrong};
        let of = |name, verdict, role| of_repairs(name, verdict, role, noise);
        vec![
            of("recovered", Recovered, Role::Primary),
            of("wrong", Wrong, Role::Guard),
            of("false_repair", FalseRepair, Role::Guard),
            of("lost", Lost, Role::Told),
            of("leaked", Leaked, Role::Told),
        ]
    }

    fn counted(&self) -> Vec<(&'static str, u64)> {
        vec![("damaged", self.damaged()), ("intact", self.intact())]
    }
}

/// The share of a verdict: of the damaged streams, or of the intact ones.
fn of_repairs(
    name: &'static str,
    verdict: Mended,
    role: Role,
    noise: &Noise,
) -> Measured<RepairTally> {
    let good = verdict == Mended::Recovered;
    let all = move |tally: &RepairTally| {
        if verdict.is_of_damaged() {
            tally.damaged()
        } else {
            tally.intact()
        }
    };
    let inferior = match verdict {
        Mended::Wrong => Some(Inferior {
            gate: GateName::Wrong,
            per: "hundred damaged streams",
            scale: 100.0,
            unknown: "no stream is damaged, so none could have come out wrong",
            needs: None,
        }),
        Mended::FalseRepair => Some(Inferior {
            gate: GateName::FalseRepair,
            per: "hundred intact streams",
            scale: 100.0,
            unknown: "no stream is intact, so none could have been changed",
            needs: None,
        }),
        _ => None,
    };
    Measured {
        name,
        unit: MeasureUnit::Share,
        more_is_better: good,
        role,
        noise: noise.of(name),
        inferior,
        exact: true,
        value: Box::new(move |tally| {
            let n = all(tally);
            (n > 0).then(|| tally.of(verdict) as f64 / n as f64)
        }),
        right: Box::new(move |tally| (all(tally) > 0).then(|| (tally.of(verdict) > 0) == good)),
        made_of: Box::new(move |tally| vec![tally.numbers()[verdict as usize]]),
    }
}

/// What a run spends under a budget: itself, whether it overflows, and what it costs in thousandths of a token that is not
/// cached: with forgetting, without, and without a guard.
pub(crate) type Spent = Sums<5>;

impl Comparable for Spent {
    const SUBJECT: ComparedSubject = ComparedSubject::Budgets;
    const NOTHING: &'static str = "there is no run, so nothing can be said";

    fn measured(_: Unit, noise: &Noise) -> Vec<Measured<Self>> {
        let share = |name, role, exact: bool, at: usize, of: usize| Measured {
            name,
            unit: MeasureUnit::Share,
            more_is_better: false,
            role,
            noise: noise.of(name),
            inferior: exact.then_some(Inferior {
                gate: GateName::Overflow,
                per: "hundred runs",
                scale: 100.0,
                unknown: "there is no run, so none could have overflowed",
                needs: None,
            }),
            exact,
            value: Box::new(move |Sums(n): &Spent| {
                (n[of] > 0).then(|| n[at] as f64 / n[of] as f64)
            }),
            right: Box::new(move |Sums(n): &Spent| Some(n[1] == 0)),
            made_of: Box::new(move |Sums(n): &Spent| vec![n[at]]),
        };
        vec![
            share("overflow", Role::Guard, true, 1, 0),
            share("price", Role::Primary, false, 2, 4),
            share("cost", Role::Told, false, 3, 4),
        ]
    }

    fn counted(&self) -> Vec<(&'static str, u64)> {
        let overflow = u64::try_from(self.0[1]).unwrap_or(0);
        vec![("overflow", overflow)]
    }

    /// What is spent in runs that neither side kills.
    fn pair(base: Self, new: Self) -> [Self; 2] {
        let alive = base.0[1] == 0 && new.0[1] == 0;
        [base, new].map(|Sums([runs, overflow, price, cost, free])| {
            if alive {
                Sums([runs, overflow, price, cost, free])
            } else {
                Sums([runs, overflow, 0, 0, 0])
            }
        })
    }
}
