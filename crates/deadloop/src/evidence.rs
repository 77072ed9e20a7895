//! What labels can show: how many there are, and the best that a perfect detector could claim.

use deadloop_score::{Case, Class, poisson_upper, proportion_lower};

use crate::show;

/// A claim is wrong with this probability.
const ALPHA: f64 = 0.05;
/// With fewer loops, all of them found, a recall of three in four is not shown.
const LEAST_LOOPS: u64 = 11;
/// With fewer clean chars and no false alarm, ten in a million are not ruled out.
const LEAST_CLEAN_CHARS: u64 = 300_000;

/// Labels, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Evidence {
    /// Transcripts that loop.
    pub(crate) loops: u64,
    /// Clean transcripts.
    pub(crate) clean: u64,
    /// Their chars.
    pub(crate) clean_chars: u64,
}

impl Evidence {
    /// Of these cases.
    pub(crate) fn of(cases: &[Case]) -> Self {
        let mut evidence = Self::default();
        cases.iter().for_each(|case| evidence.add(case));
        evidence
    }

    /// One more case.
    pub(crate) fn add(&mut self, case: &Case) {
        match case.class() {
            Some(Class::Loop) => self.loops += 1,
            Some(Class::Clean) => {
                let length = case.timeline.length();
                self.clean += 1;
                self.clean_chars += length.reasoning.0 + length.answer.0;
            }
            _ => {}
        }
    }

    /// All that another one counted.
    pub(crate) fn merge(&mut self, other: Self) {
        self.loops += other.loops;
        self.clean += other.clean;
        self.clean_chars += other.clean_chars;
    }

    /// Transcripts that a rate can be made of.
    pub(crate) fn labelled(self) -> u64 {
        self.loops + self.clean
    }

    /// The greatest recall that can be shown at 95 %, where every loop is found.
    pub(crate) fn recall(self) -> Option<f64> {
        proportion_lower(self.loops, self.loops, ALPHA)
    }

    /// The smallest rate of false alarms per million chars that can be shown at 95 %, where there is
    /// none.
    pub(crate) fn fa_per_mchar(self) -> Option<f64> {
        let chars = self.clean_chars as f64;
        (self.clean_chars > 0).then(|| 1e6 * poisson_upper(0, ALPHA) / chars)
    }

    /// What too few loops cannot show.
    pub(crate) fn few_loops(self) -> Option<String> {
        let found = match self.recall() {
            None => "no loop: recall and delay cannot be told".to_owned(),
            Some(recall) => format!(
                "{}: even if every one is found, a recall of {} is the most that can be shown at 95 %",
                several(self.loops, "loop"),
                show::percent(Some(recall)),
            ),
        };
        (self.loops < LEAST_LOOPS).then_some(found)
    }

    /// What too little clean text cannot show.
    pub(crate) fn few_clean(self) -> Option<String> {
        let found = match self.fa_per_mchar() {
            None => "no clean text: false alarms cannot be told".to_owned(),
            Some(rate) => format!(
                "{} clean chars in {}: even without a false alarm, {rate:.1} per million is the least that can be shown at 95 %",
                show::count(self.clean_chars),
                several(self.clean, "transcript"),
            ),
        };
        (self.clean_chars < LEAST_CLEAN_CHARS).then_some(found)
    }
}

fn several(n: u64, what: &str) -> String {
    format!("{} {what}{}", show::count(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_numbers_support() {
        let enough = Evidence {
            loops: 29,
            clean: 10,
            clean_chars: 3_000_000,
        };
        assert!(
            enough
                .recall()
                .is_some_and(|recall| (0.90..0.91).contains(&recall))
        );
        assert!(
            enough
                .fa_per_mchar()
                .is_some_and(|rate| (0.99..1.0).contains(&rate))
        );
        assert_eq!((enough.few_loops(), enough.few_clean()), (None, None));
        let few = Evidence {
            loops: 7,
            clean: 1,
            clean_chars: 30_000,
        };
        let (loops, clean) = (few.few_loops(), few.few_clean());
        assert!(loops.is_some_and(|text| text.starts_with("7 loops: ") && text.contains("65.2 %")));
        assert!(clean.is_some_and(|text| text.contains("99.9 per million")));
        let nothing = Evidence::default();
        assert_eq!((nothing.recall(), nothing.fa_per_mchar()), (None, None));
    }
}
