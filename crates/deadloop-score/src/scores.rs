//! [`Scores`]: the numbers of a row of scores.parquet.
//!
//! Scores are computed from a [`Tally`] and the latencies. A ratio with a denominator of 0 is `None`.

use crate::intervals::{Interval, PoissonCache};
use crate::measure::{MEASURES, Measure, Stakes};
use crate::tally::{Quantiles, Tally};

/// Every score of one setting on some transcripts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scores {
    /// The counts from which the scores are computed.
    pub tally: Tally,
    /// The quantiles of the latency over all loops. The latency of a loop without a hit is infinite.
    pub latency: Quantiles,
    /// The value of each measure.
    pub(crate) values: [Option<f64>; MEASURES.len()],
    /// The 95 % interval of each measure.
    pub(crate) intervals: [Option<Interval>; MEASURES.len()],
}

impl Scores {
    /// Computes the scores of a tally.
    ///
    /// `latency` comes from the latencies, since no sum gives a quantile. Intervals are computed for the measures that
    /// have columns for them.
    pub fn new(
        tally: &Tally,
        latency: Quantiles,
        worth: &Stakes,
        cache: &mut PoissonCache,
    ) -> Self {
        let interval = |m: &Measure| m.bounds.and_then(|_| m.interval(tally, cache));
        Self {
            tally: *tally,
            latency,
            intervals: MEASURES.map(interval),
            values: MEASURES.map(|m| m.value(tally, worth)),
        }
    }

    /// Returns the value of a measure. `None` if it is n/a.
    pub fn value(&self, measure: &Measure) -> Option<f64> {
        self.values[index_of(measure)?]
    }

    /// Returns the 95 % interval of a measure. `None` if it is n/a or has no columns for an interval.
    pub fn interval(&self, measure: &Measure) -> Option<Interval> {
        self.intervals[index_of(measure)?]
    }

    /// Sets the intervals of the measures that have columns for them. `interval_of` returns the interval of a measure.
    #[must_use]
    pub fn with(mut self, interval_of: impl Fn(&Measure) -> Option<Interval>) -> Self {
        for (interval, measure) in self.intervals.iter_mut().zip(MEASURES) {
            if measure.bounds.is_some() {
                *interval = interval_of(measure);
            }
        }
        self
    }
}

fn index_of(measure: &Measure) -> Option<usize> {
    MEASURES.iter().position(|m| std::ptr::eq(*m, measure))
}

/// The examples of the table: 10 loops and 20 clean transcripts.
///
/// The loops have 2000 chars each: 6 hits, each after 400 chars; 1 stopped in an earlier repetition; 1 premature, at
/// 900; 2 misses. The clean transcripts have 5000 chars each, with 1 false alarm, at char 2000.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::*;
    use crate::tally::Count;

    fn example() -> Tally {
        let mut tally = Tally::default();
        let counts = [
            (Count::Transcripts, 30),
            (Count::Hit, 6),
            (Count::Earlier, 1),
            (Count::TransientStop, 1),
            (Count::Premature, 1),
            (Count::Miss, 2),
            (Count::FalseAlarm, 1),
            (Count::Quiet, 19),
            (Count::Exposure, 106_900),
            (Count::Lost, 3100),
            (Count::Saved, 6 * 1600 + 2000),
            (Count::LoopChars, 20_000),
            (Count::Delay, 8400),
            (Count::CutAt, 900),
            (Count::FalseAt, 2000),
            (Count::InPeriods, 5),
            (Count::Within100, 1),
            (Count::Within500, 6),
        ];
        counts.into_iter().for_each(|(count, n)| tally[count] = n);
        tally
    }

    fn scores(tally: &Tally, worth: &Stakes) -> Scores {
        let none = Quantiles::default();
        Scores::new(tally, none, worth, &mut PoissonCache::default())
    }

    fn close(got: Option<f64>, want: f64) {
        let got = got.unwrap();
        assert!(
            (got - want).abs() < 1e-9 * want.abs().max(1.0),
            "{got} is not {want}"
        );
    }

    const WORTH: Stakes = Stakes {
        loop_rate: Some(0.01),
        response: 5000.0,
    };

    #[test]
    fn the_examples_of_the_documentation_hold() {
        let s = scores(&example(), &WORTH);
        for (measure, want) in [
            (&PRECISION, 6.0 / 8.0),
            (&RECALL, 0.6),
            (&FPR, 0.05),
            (&ENDED, 0.7),
            (&F1, 12.0 / 18.0),
            (&FA_PER_MCHAR, 2e6 / 106_900.0),
            (&TRANSIENT_PER_MCHAR, 1e6 / 106_900.0),
            (&DELAY, 840.0),
            (&SAVED, 0.58),
            (&LOST, 1e6 * 3100.0 / 110_000.0),
            (&IN_PERIODS, 0.5),
            (&WITHIN_200, 0.1),
            (&WITHIN_500, 0.7),
            (&WITHIN_5000, 0.7),
        ] {
            close(s.value(measure), want);
        }
        close(
            s.interval(&FA_PER_MCHAR).map(|i| i.hi),
            7.22468766772396e6 / 106_900.0,
        );
        assert_eq!(s.interval(&DELAY), None);
    }

    /// S = (11600 - 900 - 5000) / 10 = 570 chars a loop, W = (2000 + 5000) / 20 = 350 a clean transcript.
    #[test]
    fn what_a_guard_spares_and_from_where_on_it_pays() {
        let s = scores(&example(), &WORTH);
        let spared = |rate| spared_at(rate, &example(), &WORTH);
        close(spared(0.01), 1000.0 * (0.01 * 570.0 - 0.99 * 350.0));
        close(s.value(&BREAK_EVEN), 350.0 / 920.0);
        // Where it pays nothing is won and nothing lost.
        assert!(spared(350.0 / 920.0).unwrap().abs() < 1e-6);
        let mut harm = example();
        harm[Count::Saved] = 5000;
        assert_eq!(
            scores(&harm, &WORTH).value(&BREAK_EVEN),
            None,
            "S is below 0"
        );
        let mut quiet = example();
        (
            quiet[Count::FalseAlarm],
            quiet[Count::FalseAt],
            quiet[Count::Quiet],
        ) = (0, 0, 20);
        close(scores(&quiet, &WORTH).value(&BREAK_EVEN), 0.0);
    }

    #[test]
    fn a_denominator_of_0_is_not_a_number() {
        let s = scores(&Tally::default(), &WORTH);
        for measure in MEASURES {
            assert_eq!(s.value(measure), None, "{measure:?}");
            assert_eq!(s.interval(measure), None, "{measure:?}");
        }
    }

    #[test]
    fn no_alarm_at_all_has_no_precision_but_a_recall_of_0() {
        let mut quiet = Tally::default();
        (
            quiet[Count::Miss],
            quiet[Count::Quiet],
            quiet[Count::Exposure],
        ) = (3, 4, 100);
        let s = scores(&quiet, &WORTH);
        let of = |measure| s.value(measure);
        assert_eq!(
            (of(&PRECISION), of(&RECALL), of(&F1)),
            (None, Some(0.0), Some(0.0))
        );
        assert_eq!(
            (spared_at(0.01, &quiet, &WORTH), of(&FA_PER_MCHAR)),
            (Some(0.0), Some(0.0))
        );
    }

    #[test]
    fn twice_the_corpus_has_the_same_scores() {
        let (one, two) = (example(), example() + example());
        for measure in MEASURES {
            assert_eq!(
                measure.value(&one, &WORTH),
                measure.value(&two, &WORTH),
                "{measure:?}"
            );
        }
    }

    #[test]
    fn the_table_is_sound() {
        for (i, measure) in MEASURES.into_iter().enumerate() {
            assert_eq!(Measure::named(measure.name), Some(measure));
            assert!(MEASURES[..i].iter().all(|m| m.name != measure.name));
            let is_ratio = matches!(measure.formula, Formula::Ratio(_));
            assert!(
                measure.certainty == UncertaintyMethod::Resampled || is_ratio,
                "{measure:?}"
            );
        }
    }
}
