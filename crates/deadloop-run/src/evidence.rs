//! What labels can show: how many there are, and the best that a perfect detector could claim.

use deadloop_detect::Unit;
use deadloop_score::{Case, Class, poisson_upper, proportion_lower};

use crate::words::{self, several};

/// A claim is wrong with this probability.
const ALPHA: f64 = 0.05;
/// With fewer loops, all of them found, a recall of three in four is not shown.
const LEAST_LOOPS: u64 = 11;

/// With fewer clean units and no wrong alarm, ten times the limit that `tune` has by default is not ruled out.
fn least_clean(unit: Unit) -> u64 {
    match unit {
        Unit::Chars => 300_000,
        _ => 1_500,
    }
}

/// The exposure of a rate of wrong alarms: a million chars, a thousand calls or turns.
fn many(unit: Unit) -> f64 {
    match unit {
        Unit::Chars => 1e6,
        _ => 1e3,
    }
}

/// Labels that speak of one unit, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LabelEvidence {
    /// In what they count.
    pub(crate) unit: Unit,
    /// Transcripts that loop.
    pub(crate) loops: u64,
    /// Clean transcripts.
    pub(crate) clean: u64,
    /// Units of those.
    pub(crate) exposure: u64,
}

impl LabelEvidence {
    /// Nothing yet.
    pub(crate) fn new(unit: Unit) -> Self {
        Self {
            unit,
            ..Self::default()
        }
    }

    /// Of these cases.
    pub(crate) fn of(cases: &[Case], unit: Unit) -> Self {
        let mut evidence = Self::new(unit);
        cases.iter().for_each(|case| evidence.add(case));
        evidence
    }

    /// One more case.
    pub(crate) fn add(&mut self, case: &Case) {
        match case.class_in(self.unit) {
            Some(Class::Loop) => self.loops += 1,
            Some(Class::Clean) => {
                self.clean += 1;
                self.exposure += case.timeline.in_unit(self.unit);
            }
            _ => {}
        }
    }

    /// The unit in which its clean transcripts are counted: millions of chars, thousands of calls
    /// or turns.
    pub(crate) fn clean_many(self) -> f64 {
        self.exposure as f64 / many(self.unit)
    }

    /// Transcripts that a rate can be made of.
    pub(crate) fn labelled(self) -> u64 {
        self.loops + self.clean
    }

    /// The greatest recall that can be shown at 95 % if every loop is found.
    pub(crate) fn recall(self) -> Option<f64> {
        proportion_lower(self.loops, self.loops, ALPHA)
    }

    /// The smallest rate of wrong alarms per million chars, or per thousand calls or turns, that can be shown at
    /// 95 % if no alarm is false. `None` without clean text.
    pub(crate) fn rate(self) -> Option<f64> {
        (self.exposure > 0).then(|| poisson_upper(0, ALPHA) / self.clean_many())
    }

    /// What too few loops cannot show.
    pub(crate) fn few_loops(self) -> Option<String> {
        let found = match self.recall() {
            None => "no loop: recall and delay cannot be told".to_owned(),
            Some(recall) => format!(
                "{}: even if every one is found, a recall of {} is the most that can be shown at 95 %",
                several(self.loops, "loop"),
                words::percent(Some(recall)),
            ),
        };
        (self.loops < LEAST_LOOPS).then_some(found)
    }

    /// What too little clean text cannot show.
    pub(crate) fn few_clean(self) -> Option<String> {
        let unit = self.unit;
        let found = match self.rate() {
            None => format!("no clean {unit}: wrong alarms cannot be told"),
            Some(rate) => format!(
                "{} clean {unit} in {}: even without a wrong alarm, {rate:.1} {} is the least that can be shown at 95 %",
                words::count(self.exposure),
                several(self.clean, "transcript"),
                words::per(unit),
            ),
        };
        (self.exposure < least_clean(unit)).then_some(found)
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
                .recall()
                .is_some_and(|recall| (0.90..0.91).contains(&recall))
        );
        assert!(
            enough
                .rate()
                .is_some_and(|rate| (0.99..1.0).contains(&rate))
        );
        assert_eq!((enough.few_loops(), enough.few_clean()), (None, None));
        let few = LabelEvidence {
            loops: 7,
            clean: 1,
            exposure: 30_000,
            unit: Unit::Chars,
        };
        let (loops, clean) = (few.few_loops(), few.few_clean());
        assert!(loops.is_some_and(|text| text.starts_with("7 loops: ") && text.contains("65.2 %")));
        assert!(clean.is_some_and(|text| text.contains("99.9 per Mchar")));
        let calls = LabelEvidence {
            unit: Unit::Calls,
            exposure: 1_400,
            ..few
        };
        let lacks = calls.few_clean().unwrap_or_default();
        assert!(
            lacks.contains("1,400 clean calls") && lacks.contains("2.1 per kcall"),
            "{lacks}"
        );
        let nothing = LabelEvidence::default();
        assert_eq!((nothing.recall(), nothing.rate()), (None, None));
    }
}
