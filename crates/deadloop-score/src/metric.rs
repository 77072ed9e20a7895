//! [`Metric`]: a score by its name: its value, which way is better, and what one transcript adds.

use std::str::FromStr;

use crate::blend::{Blend, Weights};
use crate::scores::{self, Worth};
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

/// The counts near which a score is linear in what transcripts contribute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At([Part; 2]);

/// What one transcript adds to the numerators and the denominators of a score's ratios, n, d, n, d:
/// the score's linear form is a sum of these, each times its slope.
pub(crate) type Terms = [f64; TERMS];

/// How many there are.
pub(crate) const TERMS: usize = 4;

/// What a ratio is of: it says how far other models may speak for one.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Loops,
    Clean,
}

impl Kind {
    fn of(self, weights: Weights) -> f64 {
        match self {
            Self::Loops => weights.loops,
            Self::Clean => weights.clean,
        }
    }
}

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
            Self::Ppv => scores::ppv(tally, worth),
            Self::F1 => scores::f_beta(tally, 1.0),
            Self::FaPerMchar => scores::fa_per_mchar(tally),
            Self::Saved => scores::saved(tally),
            Self::Lost => scores::lost(tally),
            Self::Delay => scores::delay(tally),
            Self::Utility => scores::utility(tally, worth),
            _ => self
                .proportion(tally)
                .filter(|(_, n)| *n > 0)
                .map(|(k, n)| k as f64 / n as f64),
        }
    }

    /// Its value with more always better; nothing is worse than n/a.
    pub(crate) fn merit(self, blend: &Blend, worth: &Worth) -> f64 {
        let sign = if self.more_is_better() { 1.0 } else { -1.0 };
        self.smoothed(blend, worth)
            .map_or(f64::NEG_INFINITY, |value| sign * value)
    }

    /// Its value from smoothed counts; `None` where it is n/a.
    pub(crate) fn smoothed(self, blend: &Blend, worth: &Worth) -> Option<f64> {
        match self {
            _ if blend.is_whole() => self.value(&blend.own, worth),
            Self::Ppv => scores::smoothed_ppv(blend, worth),
            _ => {
                let parts = self.at(blend, worth).0.into_iter();
                let used = parts.zip(self.kinds()).filter(|(_, kind)| kind.is_some());
                used.map(|((n, d), _)| (d > 0.0).then(|| n / d)).sum()
            }
        }
    }

    /// `k` of `n` likewise.
    pub(crate) fn smoothed_proportion(self, blend: &Blend) -> Option<(f64, f64)> {
        let own = self.proportion(&blend.own)?;
        let rest = self.proportion(&blend.rest)?;
        let weight = self.kinds()[0].map_or(0.0, |kind| kind.of(blend.weights));
        let sum = |own: u64, rest: u64| own as f64 + weight * rest as f64;
        Some((sum(own.0, rest.0), sum(own.1, rest.1)))
    }

    /// What each of its parts counts; `None`: it has no such part.
    fn kinds(self) -> [Option<Kind>; 2] {
        match self {
            Self::Fpr | Self::FaPerMchar | Self::Lost => [Some(Kind::Clean), None],
            Self::Utility => [Some(Kind::Loops), Some(Kind::Clean)],
            _ => [Some(Kind::Loops), None],
        }
    }

    /// What another model's transcript counts, if its tally under a setting that never alarms is
    /// `quiet`.
    pub(crate) fn weight(self, quiet: &Tally, weights: Weights) -> f64 {
        match self.kinds() {
            [Some(kind), None] => kind.of(weights),
            _ if quiet.loops() > 0 => weights.loops,
            _ => weights.clean,
        }
    }

    /// `k` of `n`, where it is a proportion of things that were counted one by one.
    pub(crate) fn proportion(self, tally: &Tally) -> Option<(u64, u64)> {
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

    /// Where influences are taken: near these counts.
    pub(crate) fn at(self, blend: &Blend, worth: &Worth) -> At {
        let own = self.parts(&blend.own, worth);
        if blend.is_whole() {
            return At(own);
        }
        let rest = self.parts(&blend.rest, worth);
        let part = |i: usize| {
            let weight = self.kinds()[i].map_or(0.0, |kind| kind.of(blend.weights));
            (own[i].0 + weight * rest[i].0, own[i].1 + weight * rest[i].1)
        };
        At([part(0), part(1)])
    }

    /// What one transcript adds.
    pub(crate) fn terms(self, one: &Tally, worth: &Worth) -> Terms {
        let [(a, b), (c, d)] = self.parts(one, worth);
        [a, b, c, d]
    }

    /// How much one more of each term changes the score near `at`: for a ratio N/D, 1/D of n and
    /// -N/D² of d. More is always better.
    pub(crate) fn slopes(self, at: &At) -> Terms {
        let sign = if self.more_is_better() { 1.0 } else { -1.0 };
        let of = |(num, den): Part| match den > 0.0 {
            true => [sign / den, -sign * (num / den) / den],
            false => [0.0; 2],
        };
        let [[a, b], [c, d]] = at.0.map(of);
        [a, b, c, d]
    }

    /// What one transcript contributes to the score near `at` (the infinitesimal jackknife): for a
    /// ratio N/D, (n - (N/D)·d) / D. Differences of these sums are differences of the score, to
    /// first order; their variance is the score's. More is always better.
    pub(crate) fn influence(self, one: &Tally, at: &At, worth: &Worth) -> f64 {
        linear(&self.terms(one, worth), &self.slopes(at))
    }
}

/// The sum of the terms, each times its slope.
pub(crate) fn linear(terms: &Terms, slopes: &Terms) -> f64 {
    terms.iter().zip(slopes).map(|(x, slope)| x * slope).sum()
}

impl FromStr for Metric {
    type Err = GoalError;
    fn from_str(text: &str) -> Result<Self, GoalError> {
        let found = Self::ALL.into_iter().find(|m| m.name() == text.trim());
        found.ok_or_else(|| GoalError::Metric(text.trim().into()))
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
            let merit = |t: &Tally| metric.merit(&Blend::whole(t), &worth);
            let real = merit(&(big + one)) - merit(&big);
            let at = metric.at(&Blend::whole(&big), &worth);
            let linear = metric.influence(&one, &at, &worth);
            assert!(
                (real - linear).abs() <= 0.01 * real.abs(),
                "{metric:?}: {real} {linear}"
            );
        }
    }

    /// The rest with a weight of 1 is the sum, of 0 nothing, of 1/2 a corpus with half of it.
    #[test]
    fn a_blend_is_the_weighted_sum() {
        let worth = Worth::default();
        let rest = tally(&[
            (Count::Hit, 10),
            (Count::Miss, 10),
            (Count::FalseAlarm, 4),
            (Count::Quiet, 16),
            (Count::Exposure, 200_000),
            (Count::Saved, 8000),
            (Count::LoopChars, 40_000),
            (Count::Delay, 32_000),
            (Count::Share, SHARE * 4),
        ]);
        for metric in Metric::ALL {
            let at = |weight: f64, own: Tally| {
                let weights = Weights {
                    loops: weight,
                    clean: weight,
                };
                let blend = Blend { own, rest, weights };
                metric.smoothed(&blend, &worth)
            };
            let value = |t: Tally| metric.value(&t, &worth);
            let same = |a: Option<f64>, b: Option<f64>| {
                let (a, b) = (a.unwrap(), b.unwrap());
                assert!(
                    (a - b).abs() < 1e-9 * b.abs().max(1.0),
                    "{metric:?}: {a} {b}"
                );
            };
            same(at(0.0, some()), value(some()));
            same(at(1.0, some()), value(some() + rest));
            same(
                at(0.5, some() + some()),
                value(some() + some() + some() + some() + rest),
            );
        }
    }
}
