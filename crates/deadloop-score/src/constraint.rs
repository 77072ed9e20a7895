//! [`Constraint`]: a limit that a setting has to keep, and how sure it is that it does.
//!
//! A setting is within a limit *at assurance a* where P(within) >= a: shares by Beta(k + 1/2, n - k + 1/2), counts
//! per exposure by Gamma(k + 1/2, exposure) (Jeffreys' priors; Brown, Cai, DasGupta 2001), other means by their
//! error. The rule that this replaces let a setting in only where a 95 % bound met the limit: a bound on each of
//! ten thousand settings selects luck (`reports/METHOD.md`).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use statrs::function::erf::erfc;
use statrs::function::gamma::checked_gamma_lr;

use crate::choose::blend::Blend;
use crate::intervals::share_within;
use crate::measure::{
    Certainty, FPR, GoalError, Measure, MeasureUnit, Metric, Worth, metric, withins,
};
use crate::tally::{Count, Tally};
use deadloop_replay::detect::Unit;

/// Something that a setting has to keep: `fa_per_mchar<=1`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Constraint {
    /// What is bounded.
    pub metric: Metric,
    /// Whether it must be at most the bound, rather than at least.
    pub at_most: bool,
    /// The bound.
    pub bound: f64,
}

deadloop_replay::detect::words! {
    /// How sure a candidate has to be within the limits: the levels that are tried, from the least on.
    pub enum Assurance {
        /// As likely as not.
        Likely = "likely",
        /// Four times in five.
        Probable = "probable",
        /// Nineteen times in twenty.
        Sure = "sure",
    }
}

impl Assurance {
    /// The probability that it asks for.
    pub fn probability(self) -> f64 {
        match self {
            Self::Likely => 0.5,
            Self::Probable => 0.8,
            Self::Sure => 0.95,
        }
    }
    /// The highest level that a probability reaches.
    pub fn of(probability: f64) -> Option<Self> {
        let reached = |a: &Self| probability >= a.probability();
        Self::ALL.into_iter().rev().find(reached)
    }
}

impl Constraint {
    /// Whether a value meets it.
    pub fn admits(&self, value: f64) -> bool {
        if self.at_most {
            value <= self.bound
        } else {
            value >= self.bound
        }
    }

    /// Whether it limits wrong alarms.
    pub fn limits_wrong(&self) -> bool {
        self.at_most && (self.metric.is_wrong_rate() || self.metric == &FPR)
    }

    /// Returns how many wrong alarms it allows on the text of `quiet`, the tally of a setting that never
    /// alarms. `None`: it does not limit wrong alarms.
    pub fn expected_wrong(&self, quiet: &Tally) -> Option<f64> {
        let per = match self.metric.unit {
            MeasureUnit::PerMillion => quiet.get(Count::Exposure) as f64 / self.metric.scale(),
            _ => quiet.clean() as f64,
        };
        self.limits_wrong().then_some(self.bound * per)
    }

    /// P(within): the probability that the true value meets the limit, given these counts. 0 where the metric
    /// is n/a. `None`: the metric has no closed form, and its error decides (`normal`, or the
    /// bootstrap).
    pub fn probability(&self, tally: &Tally) -> Option<f64> {
        self.smoothed(&Blend::whole(tally))
    }

    /// The same from smoothed counts.
    pub(crate) fn smoothed(&self, blend: &Blend) -> Option<f64> {
        let (k, n) = self.metric.smoothed_counts(blend)?;
        if n <= 0.0 {
            return Some(0.0);
        }
        let below = match self.metric.certainty {
            Certainty::Share => share_within(k, n, self.bound)?,
            Certainty::Rate if self.bound <= 0.0 => 0.0,
            Certainty::Rate => {
                checked_gamma_lr(k + 0.5, self.bound / self.metric.scale() * n).ok()?
            }
            Certainty::Resampled => return None,
        };
        Some(if self.at_most { below } else { 1.0 - below })
    }

    /// P(within) of a value with a standard error, by the normal approximation.
    pub(crate) fn normal(&self, value: Option<f64>, error: f64) -> f64 {
        let Some(value) = value else {
            return 0.0;
        };
        let sign = if self.at_most { 1.0 } else { -1.0 };
        let margin = sign * (self.bound - value);
        if error > 0.0 {
            0.5 * erfc(-margin / error / std::f64::consts::SQRT_2)
        } else {
            f64::from(u8::from(margin >= 0.0))
        }
    }

    /// Its value by estimate, and whether that meets the limit; what is n/a does not.
    pub fn estimate(&self, tally: &Tally, worth: &Worth) -> (Option<f64>, bool) {
        let value = self.metric.value(tally, worth);
        (value, value.is_some_and(|x| self.admits(x)))
    }

    /// Refuses what no value can meet.
    fn possible(self, text: &str) -> Result<Self, GoalError> {
        let Measure { name, unit, .. } = self.metric;
        let nothing = match (unit, self.at_most) {
            (MeasureUnit::Share, false) if self.bound > 1.0 => "never above 1",
            (MeasureUnit::PerMillion, false) if self.bound > 1e6 => "never above a million",
            (MeasureUnit::Share | MeasureUnit::PerMillion | MeasureUnit::Chars, true)
                if self.bound < 0.0 =>
            {
                "never below 0"
            }
            _ => return Ok(self),
        };
        let why = format!("no setting can keep it, since {name} is {nothing}");
        Err(GoalError::Impossible(text.trim().into(), why))
    }
}

/// `metric<=number` or `metric>=number`, in the columns' units; `latency_p90<=1000` is `within_1000>=0.9`.
impl FromStr for Constraint {
    type Err = GoalError;
    fn from_str(text: &str) -> Result<Self, GoalError> {
        let bad = || GoalError::Constraint(text.into());
        let at = text.find(['<', '>']).ok_or_else(bad)?;
        let (name, rest) = text.split_at(at);
        let bound = rest
            .get(2..)
            .filter(|_| rest[1..].starts_with('='))
            .ok_or_else(bad)?;
        let bound: f64 = bound.trim().parse().map_err(|_| bad())?;
        if !bound.is_finite() {
            return Err(bad());
        }
        let at_most = rest.starts_with('<');
        let constraint = match quantile(name.trim()) {
            Some(share) => latency(text, share, at_most, bound)?,
            None => Self {
                metric: metric(name)?,
                at_most,
                bound,
            },
        };
        constraint.possible(text)
    }
}

/// The share of loops that a latency quantile speaks of.
fn quantile(name: &str) -> Option<f64> {
    match name {
        "latency_p50" => Some(0.5),
        "latency_p90" => Some(0.9),
        _ => None,
    }
}

fn latency(text: &str, share: f64, at_most: bool, units: f64) -> Result<Constraint, GoalError> {
    let of = |unit| {
        let mut all = Count::withins(unit).iter().zip(withins(unit));
        all.find(|((n, _), _)| *n as f64 == units && at_most)
    };
    let metric = of(Unit::Chars)
        .or_else(|| of(Unit::Calls))
        .map(|(_, metric)| *metric);
    Ok(Constraint {
        metric: metric.ok_or_else(|| GoalError::Latency(text.trim().into()))?,
        at_most: false,
        bound: share,
    })
}

impl TryFrom<String> for Constraint {
    type Error = GoalError;
    fn try_from(text: String) -> Result<Self, GoalError> {
        text.parse()
    }
}

impl From<Constraint> for String {
    fn from(constraint: Constraint) -> Self {
        constraint.to_string()
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.at_most { "<=" } else { ">=" };
        write!(f, "{}{sign}{}", self.metric.name, self.bound)
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

    fn close(got: Option<f64>, want: f64) {
        let got = got.unwrap();
        assert!((got - want).abs() < 1e-9, "{got} is not {want}");
    }

    /// Reference values from scipy 1.14: stats.gamma.cdf(x, k + 0.5), stats.beta.cdf(x, k + 0.5, n - k + 0.5).
    #[test]
    fn probabilities_agree_with_scipy() {
        let fa = |bound: &str, k, exposure| {
            let c: Constraint = bound.parse().unwrap();
            c.probability(&tally(&[
                (Count::FalseAlarm, k),
                (Count::Exposure, exposure),
            ]))
        };
        close(fa("fa_per_mchar<=1", 0, 1_000_000), 0.842_700_792_949_714_9);
        close(fa("fa_per_mchar<=1", 1, 3_000_000), 0.888_389_774_905_287_8);
        close(
            fa("fa_per_mchar>=1", 1, 3_000_000),
            1.0 - 0.888_389_774_905_287_8,
        );
        close(fa("fa_per_mchar<=0", 0, 3_000_000), 0.0);
        close(fa("fa_per_mchar<=1", 0, 0), 0.0);
        let recall = |bound: &str, hit, miss| {
            let c: Constraint = bound.parse().unwrap();
            c.probability(&tally(&[(Count::Hit, hit), (Count::Miss, miss)]))
        };
        close(recall("recall>=0.7", 9, 1), 0.926_363_248_051_629_2);
        close(recall("recall>=0.7", 0, 0), 0.0);
        assert_eq!(recall("delay<=100", 9, 1), None);
    }

    #[test]
    fn levels_are_reached_from_below() {
        let of = |p| Assurance::of(p).map(Assurance::name);
        assert_eq!(of(0.499), None);
        assert_eq!(of(0.5), Some("likely"));
        assert_eq!(of(0.7999), Some("likely"));
        assert_eq!(of(0.8), Some("probable"));
        assert_eq!(of(0.95), Some("sure"));
    }

    #[test]
    fn a_value_with_an_error_is_within_by_the_normal_distribution() {
        let c: Constraint = "delay<=1000".parse().unwrap();
        assert!((c.normal(Some(900.0), 100.0) - 0.841_344_746_068_542_9).abs() < 1e-9);
        assert_eq!(c.normal(Some(1000.0), 0.0), 1.0);
        assert_eq!(c.normal(Some(1001.0), 0.0), 0.0);
        assert_eq!(c.normal(None, 1.0), 0.0);
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
        let read = |text: &str| text.parse::<Constraint>().map(|c| c.to_string());
        assert_eq!(read(" recall >= 0.5").unwrap(), "recall>=0.5");
        assert_eq!(read("latency_p90<=1000").unwrap(), "within_1000>=0.9");
        for text in [
            "recall",
            "recall>0.5",
            "recall>=",
            "recall>=x",
            "recall<=NaN",
            "speed<=1",
            "<=1",
            "latency_p90<=1100",
            "latency_p90>=1000",
        ] {
            assert!(text.parse::<Constraint>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_no_setting_can_keep_is_refused() {
        let error = |text: &str| text.parse::<Constraint>().unwrap_err().to_string();
        assert_eq!(
            error("recall>=2"),
            "recall>=2: no setting can keep it, since recall is never above 1"
        );
        assert!(error("fa_per_mchar<=-1").contains("never below 0"));
    }

    #[test]
    fn a_limit_says_how_many_wrong_alarms_it_allows() {
        let quiet = tally(&[(Count::Exposure, 3_000_000), (Count::Quiet, 200)]);
        let expected = |text: &str| text.parse::<Constraint>().unwrap().expected_wrong(&quiet);
        assert_eq!(expected("fa_per_mchar<=0.5"), Some(1.5));
        assert_eq!(expected("fpr<=0.01"), Some(2.0));
        assert_eq!(expected("recall>=0.5"), None);
        assert_eq!(expected("fa_per_mchar>=0.5"), None);
    }
}
