//! [`Constraint`]: a limit on a measure of a setting.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::intervals::{binomial_at_least, poisson_at_least};
use crate::measure::{FPR, GoalError, Measure, MeasureUnit, Metric, Stakes, metric, withins};
use crate::tally::{Count, Tally};
use deadloop_replay::detect::Unit;

/// A limit on a measure, such as `fa_per_mchar<=1`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Constraint {
    /// The limited measure.
    pub metric: Metric,
    /// Whether the bound is an upper bound.
    pub at_most: bool,
    /// The bound, in the unit of the measure.
    pub bound: f64,
}

impl Constraint {
    /// Returns whether a value meets the limit.
    pub fn admits(&self, value: f64) -> bool {
        if self.at_most {
            value <= self.bound
        } else {
            value >= self.bound
        }
    }

    /// Returns whether the limit is on wrong alarms.
    pub fn limits_wrong(&self) -> bool {
        self.at_most && (self.metric.is_wrong_rate() || self.metric == &FPR)
    }

    /// Returns the number of wrong alarms that the limit allows. `quiet` is the tally of a setting without alarms on
    /// the same text. `None` if the limit is not on wrong alarms.
    pub(crate) fn expected_wrong(&self, quiet: &Tally) -> Option<f64> {
        let per = match self.metric.unit {
            MeasureUnit::PerMillion => quiet.get(Count::Exposure) as f64 / self.metric.scale(),
            _ => quiet.clean() as f64,
        };
        self.limits_wrong().then_some(self.bound * per)
    }

    /// Returns whether the limit is surely broken: at the limit, so many wrong alarms have a probability below 10 %.
    ///
    /// A limit on another measure is broken by estimate.
    pub(crate) fn is_surely_broken(&self, tally: &Tally, worth: &Stakes) -> bool {
        match self.at_least(tally, tally.wrong()) {
            Some(chance) => chance < 0.1,
            None => self.is_broken(tally, worth),
        }
    }

    /// Returns whether wrong alarms are below the limit with 80 % confidence: at the limit, so few have a probability
    /// of at most 20 %.
    pub(crate) fn is_surely_kept(&self, tally: &Tally) -> bool {
        let more = self.at_least(tally, tally.wrong() + 1);
        more.is_some_and(|more| 1.0 - more <= 0.2)
    }

    /// Returns the probability of at least `k` wrong alarms if the true value is the limit.
    ///
    /// A rate is Poisson, and a share of clean transcripts is binomial. `None` if the limit is not on wrong alarms.
    pub fn at_least(&self, tally: &Tally, k: u64) -> Option<f64> {
        if !self.limits_wrong() {
            return None;
        }
        Some(match self.metric.unit {
            MeasureUnit::PerMillion => {
                let mean = self.bound / self.metric.scale() * tally.get(Count::Exposure) as f64;
                poisson_at_least(k, mean)
            }
            _ => binomial_at_least(k, tally.clean(), self.bound),
        })
    }

    /// Returns whether the limit is broken by estimate. A measure that is n/a breaks no limit.
    pub(crate) fn is_broken(&self, tally: &Tally, worth: &Stakes) -> bool {
        let (value, met) = self.estimate(tally, worth);
        value.is_some() && !met
    }

    /// Returns the estimated value of the measure, and whether it meets the limit. A measure that is n/a does not meet
    /// it.
    pub fn estimate(&self, tally: &Tally, worth: &Stakes) -> (Option<f64>, bool) {
        let value = self.metric.value(tally, worth);
        (value, value.is_some_and(|x| self.admits(x)))
    }

    /// Rejects a limit that no value can meet.
    fn check_possible(self, text: &str) -> Result<Self, GoalError> {
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

/// Parses `metric<=number` or `metric>=number`, in the units of the metric's column. `latency_p90<=1000` is read as
/// `within_1000>=0.9`.
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
        let constraint = match parse_quantile_name(name.trim()) {
            Some(share) => to_within(text, share, at_most, bound)?,
            None => Self {
                metric: metric(name)?,
                at_most,
                bound,
            },
        };
        constraint.check_possible(text)
    }
}

/// Parses the name of a latency quantile, and returns its share of the loops.
fn parse_quantile_name(name: &str) -> Option<f64> {
    match name {
        "latency_p50" => Some(0.5),
        "latency_p90" => Some(0.9),
        _ => None,
    }
}

/// Converts a limit on a latency quantile to a limit on the share of loops that are ended within so many units.
fn to_within(text: &str, share: f64, at_most: bool, units: f64) -> Result<Constraint, GoalError> {
    let measure_in = |unit| {
        let mut all = Count::withins(unit).iter().zip(withins(unit));
        all.find(|((n, _), _)| *n as f64 == units && at_most)
    };
    let metric = measure_in(Unit::Chars)
        .or_else(|| measure_in(Unit::Calls))
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

    /// At one per million: so many in 3 million chars are surely over, and so few surely below.
    #[test]
    fn wrong_alarms_are_surely_over_or_below_a_limit() {
        let limit: Constraint = "fa_per_mchar<=1".parse().unwrap();
        let of =
            |wrong, exposure| tally(&[(Count::FalseAlarm, wrong), (Count::Exposure, exposure)]);
        let over = |wrong| limit.is_surely_broken(&of(wrong, 3_000_000), &Stakes::default());
        // P(X >= 6 | 3) = 0.084, P(X >= 5 | 3) = 0.185.
        assert_eq!([over(0), over(5), over(6)], [false, false, true]);
        // P(X <= 1 | 3) = 0.199, P(X <= 2 | 3) = 0.423; P(X = 0 | 1.6) = 0.202, P(X = 0 | 1.61) = 0.1999.
        let below = |wrong, exposure| limit.is_surely_kept(&of(wrong, exposure));
        assert_eq!([below(1, 3_000_000), below(2, 3_000_000)], [true, false]);
        assert_eq!([below(0, 1_600_000), below(0, 1_610_000)], [false, true]);
        let share: Constraint = "fpr<=0.1".parse().unwrap();
        let of = |wrong, quiet| tally(&[(Count::FalseAlarm, wrong), (Count::Quiet, quiet)]);
        // P(X >= 4 | 10, 0.1) = 0.013, P(X >= 3 | 10, 0.1) = 0.070, P(X >= 2 | 10, 0.1) = 0.264.
        assert!(share.is_surely_broken(&of(3, 7), &Stakes::default()));
        assert!(!share.is_surely_broken(&of(2, 8), &Stakes::default()));
        let recall: Constraint = "recall>=0.5".parse().unwrap();
        assert!(recall.is_surely_broken(
            &tally(&[(Count::Miss, 2), (Count::Hit, 1)]),
            &Stakes::default()
        ));
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
