//! [`Scores`]: every number of a row of scores.parquet, from a [`Tally`] and the latencies.
//!
//! A ratio with a denominator of 0 is `None`, never 0 and never 1. The examples below all speak of
//! one tally: 10 loops of 2000 chars each (6 hits, each after 400 chars; 1 late, after 1500; 1
//! premature; 2 misses), 20 clean transcripts of 5000 chars (1 false alarm, at char 2000).

use serde::{Deserialize, Serialize};

use crate::blend::Blend;
use crate::intervals::{Interval, PoissonCache, wilson};
use crate::latency::Quantiles;
use crate::tally::{Count, SHARE, Tally, WITHIN};
use deadloop_replay::detect::DEPLOYMENT_LOOP_RATE;

/// What an error costs, and how often production loops.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Worth {
    /// `deployment_loop_rate`: the share of production's transcripts that loop, above 0 and below 1.
    pub pi: f64,
    /// What a cut healthy transcript costs, in looping ones saved whole.
    pub lambda: f64,
}

impl Worth {
    /// Named profiles of [`lambda`](Self::lambda): someone is waiting, nobody is, a test run.
    pub const PROFILES: [(&'static str, f64); 3] =
        [("interactive", 10.0), ("batch", 3.0), ("ci", 1.0)];

    /// The lambda of a named profile.
    pub fn profile(name: &str) -> Option<f64> {
        Self::PROFILES
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, lambda)| *lambda)
    }
}

/// One loop in a hundred, between ordinary traffic (0.03 to 0.3 %) and long chains of thought (0.6
/// to 6 %); profile `interactive`.
impl Default for Worth {
    fn default() -> Self {
        Self {
            pi: DEPLOYMENT_LOOP_RATE,
            lambda: 10.0,
        }
    }
}

/// Every score of some transcripts under one setting. Counts stand in [`tally`](Self::tally).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores {
    /// What all of it is computed from.
    pub tally: Tally,
    /// hit / (hit + false-alarm + premature + stale).
    pub precision: Option<f64>,
    /// Its Wilson interval.
    pub precision_interval: Option<Interval>,
    /// hit / loops.
    pub recall: Option<f64>,
    /// Its Wilson interval.
    pub recall_interval: Option<Interval>,
    /// false-alarm / clean transcripts.
    pub fpr: Option<f64>,
    /// Its Wilson interval.
    pub fpr_interval: Option<Interval>,
    /// See [`f_beta`], beta = 1.
    pub f1: Option<f64>,
    /// Wrong alarms per million healthy chars watched.
    pub fa_per_mchar: Option<f64>,
    /// Its exact Poisson interval.
    pub fa_interval: Option<Interval>,
    /// See [`ppv`].
    pub ppv: Option<f64>,
    /// Mean chars of a loop that were generated: see [`delay`].
    pub delay: Option<f64>,
    /// Latencies over all loops, what was not hit as infinite.
    pub latency: Quantiles,
    /// Latencies over the hits alone.
    pub hit_latency: Quantiles,
    /// Share of all loops that were hit within [`WITHIN`]`[i]` chars.
    pub within: [Option<f64>; 6],
    /// Share of all chars of loops that were not generated.
    pub saved: Option<f64>,
    /// Healthy chars thrown away per million of them: see [`lost`].
    pub lost: Option<f64>,
    /// Of the hits whose label names a kind, those whose alarm names the same.
    pub kind_accuracy: Option<f64>,
    /// See [`utility`].
    pub utility: Option<f64>,
}

impl Scores {
    /// The scores of a tally. `latency` and `hit_latency` come from the latencies themselves: no
    /// sum can tell a quantile.
    pub fn of(
        tally: &Tally,
        latency: Quantiles,
        hit_latency: Quantiles,
        worth: &Worth,
        cache: &mut PoissonCache,
    ) -> Self {
        let hit = tally.get(Count::Hit);
        let alarms = hit + tally.wrong();
        Self {
            tally: *tally,
            precision: ratio(hit, alarms),
            precision_interval: wilson(hit, alarms),
            recall: ratio(hit, tally.loops()),
            recall_interval: wilson(hit, tally.loops()),
            fpr: ratio(tally.get(Count::FalseAlarm), tally.clean()),
            fpr_interval: wilson(tally.get(Count::FalseAlarm), tally.clean()),
            f1: f_beta(tally, 1.0),
            fa_per_mchar: fa_per_mchar(tally),
            fa_interval: fa_interval(tally, cache),
            ppv: ppv(tally, worth),
            delay: delay(tally),
            latency,
            hit_latency,
            within: std::array::from_fn(|i| ratio(tally.within(i), tally.loops())),
            saved: saved(tally),
            lost: lost(tally),
            kind_accuracy: ratio(tally.get(Count::KindRight), tally.get(Count::KindKnown)),
            utility: utility(tally, worth),
        }
    }

    /// The name of the `i`-th of [`within`](Self::within).
    pub fn within_name(i: usize) -> String {
        format!("within_{}", WITHIN[i])
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// F-beta from counts: (1+b²)·hit / ((1+b²)·hit + b²·FN + FP), where FN is every loop that is not a
/// hit and FP every wrong alarm. That is 2PR/(P+R) for beta = 1, and defined where P or R is n/a but
/// not both: a detector that never alarms has F1 = 0 on loops.
///
/// 6 hits, 4 other loops, 2 wrong alarms: 12 / (12 + 4 + 2) = 0.667.
pub fn f_beta(tally: &Tally, beta: f64) -> Option<f64> {
    let (hit, b2) = (tally.get(Count::Hit) as f64, beta * beta);
    let missed = (tally.loops() - tally.get(Count::Hit)) as f64;
    let whole = (1.0 + b2) * hit + b2 * missed + tally.wrong() as f64;
    (whole > 0.0).then(|| (1.0 + b2) * hit / whole)
}

/// Wrong alarms per million healthy chars that were watched.
///
/// 2 wrong alarms; 19 x 5000 + 2000 clean chars and, say, 9 x 1000 + 900 before the loops:
/// 1e6 x 2 / 106900 = 18.7.
pub fn fa_per_mchar(tally: &Tally) -> Option<f64> {
    ratio(tally.wrong(), tally.get(Count::Exposure)).map(|rate| 1e6 * rate)
}

/// The exact Poisson interval of [`fa_per_mchar`], 95 %.
pub(crate) fn fa_interval(tally: &Tally, cache: &mut PoissonCache) -> Option<Interval> {
    let exposure = tally.get(Count::Exposure);
    let per_mchar = |events: f64| 1e6 * events / exposure as f64;
    let Interval { lo, hi } = cache.get(tally.wrong());
    (exposure > 0).then(|| Interval {
        lo: per_mchar(lo),
        hi: per_mchar(hi),
    })
}

/// How often an alarm would be right in production, where loops are rarer than in a labelled set:
/// pi·h / (pi·h + pi·q + (1-pi)·f) with h = (hit + late)/loops, q = (premature + stale)/loops, f =
/// the false-positive rate.
///
/// h = 0.7, q = 0.1, f = 0.05; pi = 0.01: 0.007 / (0.007 + 0.001 + 0.0495) = 0.122, where the raw
/// precision is 0.75.
pub fn ppv(tally: &Tally, worth: &Worth) -> Option<f64> {
    let of_loops = |a, b| ratio(tally.get(a) + tally.get(b), tally.loops());
    let h = worth.pi * of_loops(Count::Hit, Count::Late)?;
    let q = worth.pi * of_loops(Count::Premature, Count::Stale)?;
    let f = (1.0 - worth.pi) * ratio(tally.get(Count::FalseAlarm), tally.clean())?;
    (h + q + f > 0.0).then(|| h / (h + q + f))
}

/// [`ppv`] from smoothed counts.
pub(crate) fn smoothed_ppv(blend: &Blend, worth: &Worth) -> Option<f64> {
    let ratio = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
    let loops = blend.of_loops(Tally::loops);
    let of_loops = |a, b| ratio(blend.of_loops(|t| t.get(a) + t.get(b)), loops);
    let h = worth.pi * of_loops(Count::Hit, Count::Late)?;
    let q = worth.pi * of_loops(Count::Premature, Count::Stale)?;
    let wrong = blend.of_clean(|t| t.get(Count::FalseAlarm));
    let f = (1.0 - worth.pi) * ratio(wrong, blend.of_clean(Tally::clean))?;
    (h + q + f > 0.0).then(|| h / (h + q + f))
}

/// The restricted mean delay, chars: how much of a loop was generated, over all loops; a miss, a
/// premature and a stale one cost the whole loop.
///
/// (6 x 400 + 1500 + 3 x 2000) / 10 = 990, where the mean over the hits alone says 400.
pub fn delay(tally: &Tally) -> Option<f64> {
    ratio(tally.get(Count::Delay), tally.loops())
}

/// The share of looping chars that the setting spares.
///
/// (6 x 1600 + 500) / (10 x 2000) = 0.505.
pub fn saved(tally: &Tally) -> Option<f64> {
    ratio(tally.get(Count::Saved), tally.get(Count::LoopChars))
}

/// Healthy chars thrown away, per million healthy chars: those that were watched and those that an
/// alarm threw away, so it never exceeds a million.
///
/// 3000 after the false alarm and 100 before the premature one's loop: 1e6 x 3100 / (106900 + 3100)
/// = 28182.
pub fn lost(tally: &Tally) -> Option<f64> {
    let lost = tally.get(Count::Lost);
    ratio(lost, lost + tally.get(Count::Exposure)).map(|share| 1e6 * share)
}

/// What a setting is worth: 0 is no detector, 100 an alarm exactly at every onset and no other;
/// below 0 it does harm. pi x mean over loops of v - (1-pi) x lambda x fpr, divided by pi / 100,
/// with v = the saved share of this loop for hit and late, 0 for a miss, -lambda for premature and
/// stale.
///
/// lambda = 10, pi = 0.5: 100 x ((6 x 0.8 + 0.25 - 10) / 10 - 1 x 10 x 0.05) = -99.5; with lambda =
/// 1, 35.5.
pub fn utility(tally: &Tally, worth: &Worth) -> Option<f64> {
    let loops = tally.loops();
    let fpr = ratio(tally.get(Count::FalseAlarm), tally.clean())?;
    let cut = (tally.get(Count::Premature) + tally.get(Count::Stale)) as f64;
    let gain = tally[Count::Share] as f64 / SHARE as f64 - worth.lambda * cut;
    let odds = (1.0 - worth.pi) / worth.pi;
    (loops > 0).then(|| 100.0 * (gain / loops as f64 - odds * worth.lambda * fpr))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tally of the module's examples.
    fn example() -> Tally {
        let mut tally = Tally::default();
        let counts = [
            (Count::Transcripts, 30),
            (Count::Hit, 6),
            (Count::Late, 1),
            (Count::Premature, 1),
            (Count::Miss, 2),
            (Count::FalseAlarm, 1),
            (Count::Quiet, 19),
            (Count::Exposure, 106_900),
            (Count::Lost, 3100),
            (Count::Saved, 6 * 1600 + 500),
            (Count::LoopChars, 20_000),
            (Count::Delay, 9900),
            (Count::Share, SHARE / 10 * 48 + SHARE / 4),
            (Count::KindKnown, 6),
            (Count::KindRight, 5),
            (Count::Within500, 6),
        ];
        counts.into_iter().for_each(|(count, n)| tally[count] = n);
        tally
    }

    fn scores(tally: &Tally) -> Scores {
        let none = Quantiles::default();
        Scores::of(
            tally,
            none,
            none,
            &Worth {
                pi: 0.01,
                lambda: 10.0,
            },
            &mut PoissonCache::default(),
        )
    }

    fn close(got: Option<f64>, want: f64) {
        let got = got.unwrap();
        assert!(
            (got - want).abs() < 1e-9 * want.abs().max(1.0),
            "{got} is not {want}"
        );
    }

    #[test]
    fn the_examples_of_the_documentation_hold() {
        let s = scores(&example());
        close(s.precision, 6.0 / 8.0);
        close(s.recall, 0.6);
        close(s.fpr, 0.05);
        close(s.f1, 12.0 / 18.0);
        close(s.fa_per_mchar, 2e6 / 106_900.0);
        close(s.ppv, 0.007 / 0.0575);
        close(s.delay, 990.0);
        close(s.saved, 0.505);
        close(s.lost, 1e6 * 3100.0 / 110_000.0);
        close(s.kind_accuracy, 5.0 / 6.0);
        assert_eq!(s.within, [0.0, 0.0, 0.6, 0.6, 0.6, 0.6].map(Some));
        close(
            utility(
                &example(),
                &Worth {
                    pi: 0.5,
                    lambda: 10.0,
                },
            ),
            -99.5,
        );
        close(
            utility(
                &example(),
                &Worth {
                    pi: 0.5,
                    lambda: 1.0,
                },
            ),
            35.5,
        );
        let fa = s.fa_interval.unwrap();
        close(Some(fa.hi), 7.22468766772396e6 / 106_900.0);
    }

    #[test]
    fn f_beta_is_the_weighted_harmonic_mean() {
        let (p, r): (f64, f64) = (0.75, 0.6);
        for beta in [0.5, 1.0, 2.0] {
            let b2 = beta * beta;
            close(f_beta(&example(), beta), (1.0 + b2) * p * r / (b2 * p + r));
        }
    }

    #[test]
    fn a_denominator_of_0_is_not_a_number() {
        let s = scores(&Tally::default());
        let all = [
            s.precision,
            s.recall,
            s.fpr,
            s.f1,
            s.fa_per_mchar,
            s.ppv,
            s.delay,
            s.saved,
            s.lost,
            s.kind_accuracy,
            s.utility,
            s.within[0],
        ];
        assert_eq!(all, [None; 12]);
        assert_eq!((s.recall_interval, s.fa_interval), (None, None));
    }

    #[test]
    fn no_alarm_at_all_has_no_precision_but_a_recall_of_0() {
        let mut quiet = Tally::default();
        (
            quiet[Count::Miss],
            quiet[Count::Quiet],
            quiet[Count::Exposure],
        ) = (3, 4, 100);
        let s = scores(&quiet);
        assert_eq!((s.precision, s.recall, s.f1), (None, Some(0.0), Some(0.0)));
        assert_eq!(
            (s.ppv, s.utility, s.fa_per_mchar),
            (None, Some(0.0), Some(0.0))
        );
    }

    #[test]
    fn utility_is_100_for_an_alarm_at_every_onset() {
        let mut best = Tally::default();
        (best[Count::Hit], best[Count::Quiet], best[Count::Share]) = (5, 5, 5 * SHARE);
        close(utility(&best, &Worth::default()), 100.0);
    }

    #[test]
    fn twice_the_corpus_has_the_same_rates() {
        let (once, twice) = (scores(&example()), scores(&(example() + example())));
        let rates = |s: &Scores| {
            [
                s.precision,
                s.recall,
                s.fpr,
                s.f1,
                s.fa_per_mchar,
                s.ppv,
                s.delay,
                s.saved,
                s.lost,
                s.utility,
            ]
        };
        assert_eq!(rates(&once), rates(&twice));
        let width = |s: &Scores| s.recall_interval.map(|i| i.hi - i.lo).unwrap();
        assert!(
            width(&twice) < width(&once),
            "more data, a narrower interval"
        );
    }
}
