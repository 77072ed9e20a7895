//! [`LabelEvidence`]: label counts, and the best result that they can prove.

use std::collections::BTreeSet;

use deadloop_detect::Unit;
use deadloop_score::{Case, Class, poisson_upper, proportion_lower};

use crate::words::{self, several};

/// The probability that a proven result is wrong.
const ALPHA: f64 = 0.05;
/// The minimum number of loops that can prove a recall of three in four, if all are found.
const MIN_LOOPS: u64 = 11;

/// Returns the minimum clean length that can, without a wrong alarm, rule out ten times the default limit of `tune`.
fn min_clean_exposure(unit: Unit) -> u64 {
    match unit {
        Unit::Chars => 300_000,
        _ => 1_500,
    }
}

/// Returns the length to which rates of wrong alarms refer: a million chars, or a thousand calls or turns.
fn rate_base(unit: Unit) -> f64 {
    match unit {
        Unit::Chars => 1e6,
        _ => 1e3,
    }
}

/// The counts of the labels in one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LabelEvidence {
    /// The unit of the counts.
    pub(crate) unit: Unit,
    /// Number of transcripts that loop.
    pub(crate) loops: u64,
    /// Number of clean transcripts.
    pub(crate) clean: u64,
    /// The total length of the clean transcripts, in units.
    pub(crate) exposure: u64,
}

impl LabelEvidence {
    /// Counts the labels of cases in a unit. Copies count once.
    pub(crate) fn from_cases<'a>(cases: impl IntoIterator<Item = &'a Case>, unit: Unit) -> Self {
        let mut evidence = Self {
            unit,
            ..Self::default()
        };
        let mut keys = BTreeSet::new();
        for case in cases {
            if keys.insert(case.copy_key(unit)) {
                evidence.add(case);
            }
        }
        evidence
    }

    /// Counts a case by its label.
    fn add(&mut self, case: &Case) {
        match case.class_in(self.unit) {
            Some(Class::Loop) => self.loops += 1,
            Some(Class::Clean) => {
                self.clean += 1;
                self.exposure += case.timeline.in_unit(self.unit);
            }
            _ => {}
        }
    }

    /// Returns the clean length in millions of chars, or in thousands of calls or turns.
    pub(crate) fn clean_rate_units(self) -> f64 {
        self.exposure as f64 / rate_base(self.unit)
    }

    /// Returns the number of loops and clean transcripts.
    pub(crate) fn labelled(self) -> u64 {
        self.loops + self.clean
    }

    /// Returns the greatest recall that can be proven at 95 % if every loop is found. `None` without loops.
    pub(crate) fn provable_recall(self) -> Option<f64> {
        proportion_lower(self.loops, self.loops, ALPHA)
    }

    /// Returns the smallest rate of wrong alarms, per million chars or per thousand calls or turns, that can be proven
    /// at 95 % if there is no wrong alarm. `None` without clean text.
    pub(crate) fn provable_rate(self) -> Option<f64> {
        (self.exposure > 0).then(|| poisson_upper(0, ALPHA) / self.clean_rate_units())
    }

    /// Describes what too few loops cannot prove. `None` if there are enough.
    pub(crate) fn lack_of_loops(self) -> Option<String> {
        let found = match self.provable_recall() {
            None => "no loop: recall and delay cannot be told".to_owned(),
            Some(provable_recall) => format!(
                "{}: even if every one is found, a recall of {} is the most that can be shown at 95 %",
                several(self.loops, "loop"),
                words::percent(Some(provable_recall)),
            ),
        };
        (self.loops < MIN_LOOPS).then_some(found)
    }

    /// Describes what too little clean text cannot prove. `None` if there is enough.
    pub(crate) fn lack_of_clean(self) -> Option<String> {
        let unit = self.unit;
        let found = match self.provable_rate() {
            None => format!("no clean {unit}: wrong alarms cannot be told"),
            Some(provable_rate) => format!(
                "{} clean {unit} in {}: even without a wrong alarm, {provable_rate:.1} {} is the least that can be shown at 95 %",
                words::count(self.exposure),
                several(self.clean, "transcript"),
                words::per(unit),
            ),
        };
        (self.exposure < min_clean_exposure(unit)).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_numbers_support() {
        let enough = LabelEvidence {
            loops: 29,
            clean: 10,
            exposure: 3_000_000,
            unit: Unit::Chars,
        };
        assert!(
            enough
                .provable_recall()
                .is_some_and(|recall| (0.90..0.91).contains(&recall))
        );
        assert!(
            enough
                .provable_rate()
                .is_some_and(|rate| (0.99..1.0).contains(&rate))
        );
        assert_eq!(
            (enough.lack_of_loops(), enough.lack_of_clean()),
            (None, None)
        );
        let few = LabelEvidence {
            loops: 7,
            clean: 1,
            exposure: 30_000,
            unit: Unit::Chars,
        };
        let (loops, clean) = (few.lack_of_loops(), few.lack_of_clean());
        assert!(loops.is_some_and(|text| text.starts_with("7 loops: ") && text.contains("65.2 %")));
        assert!(clean.is_some_and(|text| text.contains("99.9 per Mchar")));
        let calls = LabelEvidence {
            unit: Unit::Calls,
            exposure: 1_400,
            ..few
        };
        let lacks = calls.lack_of_clean().unwrap_or_default();
        assert!(
            lacks.contains("1,400 clean calls") && lacks.contains("2.1 per kcall"),
            "{lacks}"
        );
        let nothing = LabelEvidence::default();
        assert_eq!(
            (nothing.provable_recall(), nothing.provable_rate()),
            (None, None)
        );
    }
}
