//! What a setting is chosen for: [`Constraint`]s that it has to meet, and a [`Metric`] to be best in.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use crate::intervals::{poisson_upper, proportion_lower, proportion_upper};
use crate::metrics::{self, Worth};
use crate::tally::{Count, SHARE, Tally, WITHIN};

/// A score that a tally alone decides. The quantiles of the latency are not among them: `latency_p90
/// <= 1000` is `within_1000 >= 0.9`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// hit / loops.
    Recall,
    /// hit / alarms.
    Precision,
    /// F1.
    F1,
    /// false-alarm / clean transcripts.
    Fpr,
    /// Wrong alarms per million healthy chars.
    FaPerMchar,
    /// Share of looping chars spared.
    Saved,
    /// Healthy chars thrown away per million.
    Lost,
    /// Mean chars of a loop that were generated.
    Delay,
    /// Share of loops hit within [`WITHIN`]`[i]` chars.
    Within(usize),
    /// Precision at the prevalence of production.
    Ppv,
    /// Share of hits of the right kind.
    KindAccuracy,
    /// What it is worth.
    Utility,
}

/// One ratio of a score that is a sum of ratios.
type Part = (f64, f64);

impl Metric {
    /// All of them, named as the columns of scores.parquet.
    pub const ALL: [Self; 17] = [
        Self::Recall,
        Self::Precision,
        Self::F1,
        Self::Fpr,
        Self::FaPerMchar,
        Self::Saved,
        Self::Lost,
        Self::Delay,
        Self::Within(0),
        Self::Within(1),
        Self::Within(2),
        Self::Within(3),
        Self::Within(4),
        Self::Within(5),
        Self::Ppv,
        Self::KindAccuracy,
        Self::Utility,
    ];

    /// The name of its column.
    pub fn name(self) -> String {
        match self {
            Self::Recall => "recall".into(),
            Self::Precision => "precision".into(),
            Self::F1 => "f1".into(),
            Self::Fpr => "fpr".into(),
            Self::FaPerMchar => "fa_per_mchar".into(),
            Self::Saved => "saved".into(),
            Self::Lost => "lost".into(),
            Self::Delay => "delay".into(),
            Self::Within(i) => format!("within_{}", WITHIN[i]),
            Self::Ppv => "ppv".into(),
            Self::KindAccuracy => "kind_accuracy".into(),
            Self::Utility => "utility".into(),
        }
    }

    /// Whether more of it is better.
    pub fn more_is_better(self) -> bool {
        !matches!(
            self,
            Self::Fpr | Self::FaPerMchar | Self::Lost | Self::Delay
        )
    }

    /// Its value; `None` where it is n/a.
    pub fn value(self, tally: &Tally, worth: &Worth) -> Option<f64> {
        match self {
            Self::Ppv => metrics::ppv(tally, worth),
            Self::F1 => metrics::f_beta(tally, 1.0),
            Self::FaPerMchar => metrics::fa_per_mchar(tally),
            Self::Saved => metrics::saved(tally),
            Self::Lost => metrics::lost(tally),
            Self::Delay => metrics::delay(tally),
            Self::Utility => metrics::utility(tally, worth),
            _ => self
                .proportion(tally)
                .filter(|(_, n)| *n > 0)
                .map(|(k, n)| k as f64 / n as f64),
        }
    }

    /// Its value with more always better; nothing is worse than n/a.
    pub(crate) fn merit(self, tally: &Tally, worth: &Worth) -> f64 {
        let sign = if self.more_is_better() { 1.0 } else { -1.0 };
        self.value(tally, worth)
            .map_or(f64::NEG_INFINITY, |value| sign * value)
    }

    /// `k` of `n`, where it is a proportion of things that were counted one by one.
    fn proportion(self, tally: &Tally) -> Option<(u64, u64)> {
        let get = |count| tally.get(count);
        match self {
            Self::Recall => Some((get(Count::Hit), tally.loops())),
            Self::Precision => Some((get(Count::Hit), get(Count::Hit) + tally.wrong())),
            Self::Fpr => Some((get(Count::FalseAlarm), tally.clean())),
            Self::Within(i) => Some((tally.within(i), tally.loops())),
            Self::KindAccuracy => Some((get(Count::KindRight), get(Count::KindKnown))),
            _ => None,
        }
    }

    /// Whether it can be an objective: `ppv` cannot, since it has no linear form.
    pub fn can_be_objective(self) -> bool {
        self != Self::Ppv
    }

    /// The ratios that it is the sum of; both parts of each are linear in the tally.
    fn parts(self, t: &Tally, worth: &Worth) -> [Part; 2] {
        let n = |count| t[count] as f64;
        let (loops, wrong) = (t.loops() as f64, t.wrong() as f64);
        let none = (0.0, 0.0);
        match self {
            Self::F1 => [(2.0 * n(Count::Hit), n(Count::Hit) + loops + wrong), none],
            Self::FaPerMchar => [(1e6 * wrong, n(Count::Exposure)), none],
            Self::Saved => [(n(Count::Saved), n(Count::LoopChars)), none],
            Self::Lost => [
                (1e6 * n(Count::Lost), n(Count::Lost) + n(Count::Exposure)),
                none,
            ],
            Self::Delay => [(n(Count::Delay), loops), none],
            Self::Utility => {
                let cut = n(Count::Premature) + n(Count::Stale);
                let gain = n(Count::Share) / SHARE as f64 - worth.lambda * cut;
                let odds = worth.lambda * (1.0 - worth.pi) / worth.pi;
                let clean = t.clean() as f64;
                [
                    (100.0 * gain, loops),
                    (-100.0 * odds * n(Count::FalseAlarm), clean),
                ]
            }
            _ => {
                let (k, n) = self.proportion(t).unwrap_or((0, 0));
                [(k as f64, n as f64), none]
            }
        }
    }

    /// What one transcript contributes to the score near `at` (the infinitesimal jackknife): for a
    /// ratio N/D, (n - (N/D)·d) / D. Differences of these sums are differences of the score, to
    /// first order; their variance is the score's. More is always better.
    pub(crate) fn influence(self, one: &Tally, at: &Tally, worth: &Worth) -> f64 {
        let own = self.parts(one, worth);
        let whole = self.parts(at, worth);
        let part = |((n, d), (num, den)): (Part, Part)| {
            if den > 0.0 {
                (n - num / den * d) / den
            } else {
                0.0
            }
        };
        let sum: f64 = own.into_iter().zip(whole).map(part).sum();
        if self.more_is_better() { sum } else { -sum }
    }
}

impl FromStr for Metric {
    type Err = GoalError;
    fn from_str(text: &str) -> Result<Self, GoalError> {
        let found = Self::ALL.into_iter().find(|m| m.name() == text.trim());
        found.ok_or_else(|| GoalError::Metric(text.trim().into()))
    }
}

/// Something that a setting has to meet: `fa_per_mchar<=1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constraint {
    /// What is bounded.
    pub metric: Metric,
    /// Whether it must be at most the bound, rather than at least.
    pub at_most: bool,
    /// The bound.
    pub bound: f64,
}

impl Constraint {
    /// Whether it can be decided by a confidence bound at all, given data enough.
    pub fn has_bound(&self) -> bool {
        match self.metric {
            Metric::FaPerMchar => self.at_most,
            Metric::Recall | Metric::Precision | Metric::Fpr => true,
            Metric::Within(_) | Metric::KindAccuracy => true,
            _ => false,
        }
    }
}

/// `metric<=number` or `metric>=number`, in the columns' units.
impl FromStr for Constraint {
    type Err = GoalError;
    fn from_str(text: &str) -> Result<Self, GoalError> {
        let bad = || GoalError::Constraint(text.into());
        let at = text.find(['<', '>']).ok_or_else(bad)?;
        let (metric, rest) = text.split_at(at);
        let bound = rest
            .get(2..)
            .filter(|_| rest[1..].starts_with('='))
            .ok_or_else(bad)?;
        let bound: f64 = bound.trim().parse().map_err(|_| bad())?;
        if !bound.is_finite() {
            return Err(bad());
        }
        Ok(Self {
            metric: metric.parse()?,
            at_most: rest.starts_with('<'),
            bound,
        })
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.at_most { "<=" } else { ">=" };
        write!(f, "{}{sign}{}", self.metric.name(), self.bound)
    }
}

/// What is asked for that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GoalError {
    /// Not a metric.
    #[error("unknown metric {0:?}; expected one of {names}", names = names())]
    Metric(String),
    /// Not a constraint.
    #[error("{0:?} is no constraint; expected metric<=number or metric>=number")]
    Constraint(String),
}

fn names() -> String {
    Metric::ALL.map(Metric::name).join(", ")
}

/// How a constraint stands for one setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// What was compared with the bound: a confidence bound, or the point estimate.
    pub compared: Option<f64>,
    /// Whether a confidence bound decided.
    pub by_bound: bool,
    /// Whether it is met. What is n/a is not.
    pub met: bool,
}

impl Standing {
    /// How far inside the constraint it is, in the metric's units; negative: violated.
    pub fn margin(&self, constraint: &Constraint) -> Option<f64> {
        let sign = if constraint.at_most { 1.0 } else { -1.0 };
        self.compared.map(|value| sign * (constraint.bound - value))
    }
}

/// The chance with which a one-sided bound is wrong. With 5 % a claim of at most 1 per million takes
/// 3.0 million chars without a false alarm, as scoring.md has it.
const ALPHA: f64 = 0.05;

/// Decides constraints, and remembers the bounds that it computed.
#[derive(Debug, Default)]
pub struct Judge {
    poisson: HashMap<u64, f64>,
    proportion: HashMap<(u64, u64, bool), Option<f64>>,
}

impl Judge {
    /// Whether `tally` meets `constraint`. `quiet` is the tally of a setting that never alarms on
    /// the same transcripts: it says how much text there is. Were that asked of each setting's own
    /// exposure, one that cuts more text would be let off with the point estimate.
    ///
    /// A bound decides for `fa_per_mchar` and for proportions, where the data could meet it at best
    /// (no false alarm, all loops hit); else, and for the other metrics, the point estimate.
    pub fn standing(
        &mut self,
        constraint: &Constraint,
        tally: &Tally,
        quiet: &Tally,
        worth: &Worth,
    ) -> Standing {
        let bound = self
            .bound(constraint, tally)
            .filter(|_| self.can_decide(constraint, quiet));
        let point = constraint.metric.value(tally, worth);
        let compared = if point.is_some() {
            bound.or(point)
        } else {
            None
        };
        let fits = |value: f64| {
            if constraint.at_most {
                value <= constraint.bound
            } else {
                value >= constraint.bound
            }
        };
        Standing {
            compared,
            by_bound: bound.is_some(),
            met: compared.is_some_and(fits),
        }
    }

    /// Whether the data would be enough for the bound to meet the constraint at best.
    pub fn can_decide(&mut self, constraint: &Constraint, quiet: &Tally) -> bool {
        let best = match constraint.metric {
            Metric::FaPerMchar => {
                let exposure = quiet.get(Count::Exposure) as f64;
                let events = if constraint.at_most {
                    self.events(0)
                } else {
                    0.0
                };
                return constraint.at_most && 1e6 * events <= constraint.bound * exposure;
            }
            Metric::Fpr => quiet.clean(),
            Metric::Recall | Metric::Within(_) => quiet.loops(),
            // Precision is of alarms and kind_accuracy of hits; at best each loop has one.
            Metric::Precision | Metric::KindAccuracy => quiet.loops(),
            _ => return false,
        };
        let k = if constraint.at_most { 0 } else { best };
        let reached = self.share(k, best, constraint.at_most);
        reached.is_some_and(|b| {
            if constraint.at_most {
                b <= constraint.bound
            } else {
                b >= constraint.bound
            }
        })
    }

    /// The confidence bound on the side of the constraint.
    fn bound(&mut self, constraint: &Constraint, tally: &Tally) -> Option<f64> {
        if constraint.metric == Metric::FaPerMchar && constraint.at_most {
            let exposure = tally.get(Count::Exposure) as f64;
            return (exposure > 0.0).then(|| 1e6 * self.events(tally.wrong()) / exposure);
        }
        let (k, n) = constraint.metric.proportion(tally)?;
        self.share(k, n, constraint.at_most)
    }

    fn events(&mut self, k: u64) -> f64 {
        *self
            .poisson
            .entry(k)
            .or_insert_with(|| poisson_upper(k, ALPHA))
    }

    fn share(&mut self, k: u64, n: u64, upper: bool) -> Option<f64> {
        let bound = if upper {
            proportion_upper
        } else {
            proportion_lower
        };
        *self
            .proportion
            .entry((k, n, upper))
            .or_insert_with(|| bound(k, n, ALPHA))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(counts: &[(Count, i64)]) -> Tally {
        let mut tally = Tally::default();
        counts.iter().for_each(|(count, n)| tally[*count] = *n);
        tally
    }

    fn some() -> Tally {
        tally(&[
            (Count::Hit, 6),
            (Count::Late, 1),
            (Count::Premature, 1),
            (Count::Miss, 2),
            (Count::FalseAlarm, 1),
            (Count::Quiet, 19),
            (Count::Exposure, 106_900),
            (Count::Lost, 3100),
            (Count::Saved, 10_100),
            (Count::LoopChars, 20_000),
            (Count::Delay, 9900),
            (Count::Share, SHARE * 5),
            (Count::KindKnown, 6),
            (Count::KindRight, 5),
            (Count::Within500, 6),
        ])
    }

    #[test]
    fn the_linear_form_is_the_metric() {
        let worth = Worth::default();
        for metric in Metric::ALL.into_iter().filter(|m| m.can_be_objective()) {
            let of = |(n, d): Part| if d > 0.0 { n / d } else { 0.0 };
            let sum: f64 = metric.parts(&some(), &worth).map(of).iter().sum();
            let value = metric.value(&some(), &worth).unwrap();
            assert!(
                (sum - value).abs() < 1e-9 * value.abs().max(1.0),
                "{metric:?}: {sum} {value}"
            );
        }
    }

    #[test]
    fn influences_predict_the_effect_of_one_transcript() {
        let worth = Worth::default();
        let big = (0..200).fold(Tally::default(), |sum, _| sum + some());
        let one = tally(&[
            (Count::Hit, 1),
            (Count::Saved, 1500),
            (Count::LoopChars, 2000),
            (Count::Exposure, 900),
            (Count::Delay, 500),
            (Count::Share, SHARE / 4 * 3),
        ]);
        for metric in [
            Metric::Recall,
            Metric::F1,
            Metric::Saved,
            Metric::Delay,
            Metric::Utility,
            Metric::FaPerMchar,
        ] {
            let merit = |t: &Tally| metric.merit(t, &worth);
            let real = merit(&(big + one)) - merit(&big);
            let linear = metric.influence(&one, &big, &worth);
            assert!(
                (real - linear).abs() <= 0.01 * real.abs(),
                "{metric:?}: {real} {linear}"
            );
        }
    }

    #[test]
    fn constraints_read_as_they_print() {
        for text in [
            "fa_per_mchar<=1",
            "recall>=0.5",
            "within_1000>=0.9",
            "delay<=1500",
        ] {
            assert_eq!(text.parse::<Constraint>().unwrap().to_string(), text);
        }
        assert_eq!(
            " recall >= 0.5".parse::<Constraint>().unwrap().to_string(),
            "recall>=0.5"
        );
        for text in [
            "recall",
            "recall>0.5",
            "recall>=",
            "recall>=x",
            "recall<=NaN",
            "speed<=1",
            "<=1",
        ] {
            assert!(text.parse::<Constraint>().is_err(), "{text}");
        }
        let error = "latency_p90".parse::<Metric>().unwrap_err().to_string();
        assert!(
            error.contains("unknown metric \"latency_p90\"; expected one of recall,"),
            "{error}"
        );
    }

    #[test]
    fn the_upper_bound_decides_where_there_is_text_enough_for_it() {
        let constraint: Constraint = "fa_per_mchar<=1".parse().unwrap();
        let standing = |wrong: i64, exposure: i64| {
            let quiet = tally(&[(Count::Quiet, 10), (Count::Exposure, exposure)]);
            let t = tally(&[(Count::FalseAlarm, wrong), (Count::Exposure, exposure)]);
            Judge::default().standing(&constraint, &t, &quiet, &Worth::default())
        };
        let three = standing(0, 3_000_000);
        assert!(three.met && three.by_bound);
        assert!((three.compared.unwrap() - 2.995_732_273_554 / 3.0).abs() < 1e-9);
        assert!(
            !standing(1, 3_000_000).met,
            "one alarm: the bound is 4.74 / 3"
        );
        let few = standing(1, 2_900_000);
        assert!(
            few.met && !few.by_bound,
            "too little text: the point estimate, and thin"
        );
        assert!(!standing(3, 2_900_000).met);
        assert!(!standing(0, 0).met, "n/a meets nothing");
    }

    #[test]
    fn cutting_more_text_does_not_soften_the_rule() {
        let constraint: Constraint = "fa_per_mchar<=1".parse().unwrap();
        let quiet = tally(&[(Count::Exposure, 3_100_000)]);
        let t = tally(&[(Count::FalseAlarm, 2), (Count::Exposure, 2_500_000)]);
        let standing = Judge::default().standing(&constraint, &t, &quiet, &Worth::default());
        assert!(standing.by_bound && !standing.met);
    }

    #[test]
    fn a_lower_bound_decides_a_recall() {
        let constraint: Constraint = "recall>=0.7".parse().unwrap();
        let standing = |hit: i64, miss: i64| {
            let quiet = tally(&[(Count::Miss, hit + miss)]);
            let t = tally(&[(Count::Hit, hit), (Count::Miss, miss)]);
            Judge::default().standing(&constraint, &t, &quiet, &Worth::default())
        };
        assert!(standing(10, 0).met, "0.7411");
        assert!(!standing(9, 1).met, "0.6058");
        let few = standing(4, 1);
        assert!(few.met && !few.by_bound, "five loops cannot show 0.7");
    }
}
