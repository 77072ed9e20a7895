//! [`Constraint`]: what a setting has to meet, decided by confidence bounds where it can be.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::blend::Blend;
use crate::intervals::{events_upper, poisson_lower, share_lower};
use crate::metric::{GoalError, Metric};
use crate::scores::Worth;
use crate::tally::Tally;

/// Something that a setting has to meet: `fa_per_mchar<=1`.
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

impl Constraint {
    /// Whether a value meets it.
    pub(crate) fn admits(&self, value: f64) -> bool {
        if self.at_most {
            value <= self.bound
        } else {
            value >= self.bound
        }
    }

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
        write!(f, "{}{sign}{}", self.metric.name(), self.bound)
    }
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
    /// By the bits of the counts.
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
        self.stands(
            constraint,
            &Blend::whole(tally),
            &Blend::whole(quiet),
            worth,
        )
    }

    /// The same from smoothed counts.
    pub(crate) fn stands(
        &mut self,
        constraint: &Constraint,
        blend: &Blend,
        quiet: &Blend,
        worth: &Worth,
    ) -> Standing {
        let bound = self
            .bound(constraint, blend)
            .filter(|_| self.could_decide(constraint, quiet));
        let point = constraint.metric.smoothed(blend, worth);
        let compared = if point.is_some() {
            bound.or(point)
        } else {
            None
        };
        Standing {
            compared,
            by_bound: bound.is_some(),
            met: compared.is_some_and(|value| constraint.admits(value)),
        }
    }

    /// Whether a model's own `tally` speaks against a setting with which all models together meet
    /// `constraint`. Where its text is enough for a bound to decide, that does, as always. Where it is
    /// thin, the bound on the *other* side has to violate the constraint: one false alarm in 0.3 million
    /// chars is 3 per million by the point estimate, and no sign of more than one per million.
    pub(crate) fn refutes(
        &mut self,
        constraint: &Constraint,
        tally: &Tally,
        quiet: &Tally,
        worth: &Worth,
    ) -> bool {
        let standing = self.standing(constraint, tally, quiet, worth);
        if standing.met || standing.by_bound || !constraint.has_bound() {
            return !standing.met;
        }
        let best = self.other_bound(constraint, tally);
        best.is_some_and(|bound| !constraint.admits(bound))
    }

    /// The confidence bound on the side away from the constraint.
    fn other_bound(&mut self, constraint: &Constraint, tally: &Tally) -> Option<f64> {
        let counts = Blend::whole(tally);
        if constraint.metric == Metric::FaPerMchar {
            let exposure = counts.exposure();
            return (exposure > 0.0).then(|| 1e6 * poisson_lower(tally.wrong(), ALPHA) / exposure);
        }
        let (k, n) = constraint.metric.smoothed_proportion(&counts)?;
        self.share(k, n, !constraint.at_most)
    }

    /// Whether the data would be enough for the bound to meet the constraint at best.
    fn could_decide(&mut self, constraint: &Constraint, quiet: &Blend) -> bool {
        let best = match constraint.metric {
            Metric::FaPerMchar => {
                let reached = 1e6 * self.events(0.0) <= constraint.bound * quiet.exposure();
                return constraint.at_most && reached;
            }
            Metric::Fpr => quiet.of_clean(Tally::clean),
            Metric::Recall | Metric::Within(_) => quiet.of_loops(Tally::loops),
            // Precision is of alarms and kind_accuracy of hits; at best each loop has one.
            Metric::Precision | Metric::KindAccuracy => quiet.of_loops(Tally::loops),
            _ => return false,
        };
        let k = if constraint.at_most { 0.0 } else { best };
        let reached = self.share(k, best, constraint.at_most);
        reached.is_some_and(|bound| constraint.admits(bound))
    }

    /// The confidence bound on the side of the constraint.
    fn bound(&mut self, constraint: &Constraint, blend: &Blend) -> Option<f64> {
        if constraint.metric == Metric::FaPerMchar && constraint.at_most {
            let exposure = blend.exposure();
            return (exposure > 0.0).then(|| 1e6 * self.events(blend.wrong()) / exposure);
        }
        let (k, n) = constraint.metric.smoothed_proportion(blend)?;
        self.share(k, n, constraint.at_most)
    }

    fn events(&mut self, k: f64) -> f64 {
        *self
            .poisson
            .entry(k.to_bits())
            .or_insert_with(|| events_upper(k, ALPHA))
    }

    fn share(&mut self, k: f64, n: f64, upper: bool) -> Option<f64> {
        // An upper bound is that of the complement: the small tail is never 1 - tiny.
        let bound = || {
            if upper {
                share_lower(n - k, k, ALPHA).map(|lo| 1.0 - lo)
            } else {
                share_lower(k, n - k, ALPHA)
            }
        };
        let key = (k.to_bits(), n.to_bits(), upper);
        *self.proportion.entry(key).or_insert_with(bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Count;

    fn tally(counts: &[(Count, i64)]) -> Tally {
        let mut tally = Tally::default();
        counts.iter().for_each(|(count, n)| tally[*count] = *n);
        tally
    }

    #[test]
    fn thin_text_speaks_against_a_setting_only_beyond_chance() {
        let one: Constraint = "fa_per_mchar<=1".parse().unwrap();
        let half: Constraint = "recall>=0.5".parse().unwrap();
        let worth = Worth::default();
        let mut judge = Judge::default();
        let text = |alarms, chars| tally(&[(Count::FalseAlarm, alarms), (Count::Exposure, chars)]);
        // The 5 % lower bound of one event is 0.0513, of three 0.818, of twelve 6.92.
        for (alarms, chars, against) in [
            (1, 300_000, false),
            (1, 51_000, true),
            (3, 800_000, true),
            (3, 830_000, false),
            (0, 0, false),
            // Text enough to decide: the upper bound does.
            (12, 12_000_000, true),
            (5, 12_000_000, false),
        ] {
            let tally = text(alarms, chars);
            let refuted = judge.refutes(&one, &tally, &text(0, chars), &worth);
            assert_eq!(refuted, against, "{alarms} in {chars}");
        }
        // 4 loops could not show a recall of a half; none of them hit is no more than bad luck, of 5 it is.
        let loops = |hit, miss| tally(&[(Count::Hit, hit), (Count::Miss, miss)]);
        assert!(!judge.refutes(&half, &loops(0, 4), &loops(0, 4), &worth));
        assert!(judge.refutes(&half, &loops(0, 5), &loops(0, 5), &worth));
        assert!(judge.refutes(
            &"delay>=10".parse().unwrap(),
            &loops(0, 5),
            &loops(0, 5),
            &worth
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
