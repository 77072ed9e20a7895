//! [`Figures`]: two ways to run a guard on the same transcripts, and how sure it is which one is better.
//!
//! Transcripts are drawn by group (`intervals/resample.rs`), each text once. Two pseudo-loops of mean length take
//! part, one that the newcomer alone finds and one that the incumbent alone finds, each with weight Poisson(1/2):
//! without them a handful of loops without a flip would be certainty.

use serde::{Deserialize, Serialize};

use super::options::ChooseOptions;
use crate::constraint::Constraint;
use crate::intervals::{ByGroup, POISSON_HALF, Replicates, Resampling, Weights, quantile};
use crate::measure::spared_at;
use crate::tally::{Count, Tally};
use crate::truth::Case;

/// What one transcript adds under the newcomer and under the incumbent.
pub(crate) struct Pair<'a> {
    pub(crate) case: &'a Case,
    /// Whether it is the first with its text.
    pub(crate) first: bool,
    pub(crate) new: Tally,
    pub(crate) old: Tally,
}

/// Two ways to run a guard, transcript by transcript.
pub(crate) struct Duel<'a> {
    pub(crate) pairs: Vec<Pair<'a>>,
    pub(crate) options: &'a ChooseOptions,
}

/// How a duel ended. Differences are in the objective's unit, newcomer less incumbent, the sign turned so that
/// more is better.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The difference on all transcripts; `None` where the objective is n/a.
    pub difference: Option<f64>,
    /// What a point is: 0.01 of a share, else 1 % of the incumbent's value.
    pub point: f64,
    /// P(difference > 0).
    pub better: f64,
    /// P(difference > -1 point).
    pub no_point_worse: f64,
    /// P(difference > -5 points).
    pub not_five_worse: f64,
    /// The 10th and the 90th percentile of the difference.
    pub interval: Option<(f64, f64)>,
    /// P(fewer wrong alarms).
    pub fewer_wrong: f64,
    /// P(no more wrong alarms).
    pub no_more_wrong: f64,
    /// P(the newcomer is within every limit): the product over the limits.
    pub within: f64,
    /// P(the incumbent is within), limit by limit.
    pub incumbent_within: Vec<f64>,
    /// What the newcomer and the incumbent spare in 1,000 responses of production, in the unit of choice
    /// (`net_per_1000`); `None` where it is n/a.
    #[serde(default)]
    pub net: [Option<f64>; 2],
    /// P(what the newcomer spares is below 0).
    #[serde(default)]
    pub net_below_0: f64,
}

impl Figures {
    /// Whether the incumbent spares more than it costs at the rate of loops that was said, and the newcomer does not, as
    /// likely as not. Then the break-even share of loops of the newcomer lies above that rate, and that of the incumbent
    /// below it.
    pub fn turns_net(&self) -> bool {
        let [new, old] = self.net;
        let below = new.is_some_and(|net| net < 0.0) || self.net_below_0 >= 0.5;
        old.is_some_and(|net| net > 0.0) && below
    }

    /// The difference in points.
    pub fn points(&self) -> f64 {
        self.in_points(self.difference.unwrap_or(0.0))
    }

    /// The 80 % interval in points.
    pub fn interval_points(&self) -> Option<(f64, f64)> {
        let (lo, hi) = self.interval?;
        Some((self.in_points(lo), self.in_points(hi)))
    }

    fn in_points(&self, x: f64) -> f64 {
        if self.point > 0.0 {
            x / self.point
        } else {
            0.0
        }
    }
}

/// What the replicates of a duel say, whatever is chosen.
#[derive(Default)]
pub(crate) struct Contrast {
    differences: Vec<f64>,
    fewer: usize,
    no_more: usize,
}

impl Contrast {
    /// One more replicate: the difference, more being better, and the wrong ones of the newcomer and of the incumbent.
    /// Where the objective is n/a nothing is better.
    pub(crate) fn add(&mut self, difference: Option<f64>, wrong: [u64; 2]) {
        self.differences.push(difference.unwrap_or(0.0));
        self.fewer += usize::from(wrong[0] < wrong[1]);
        self.no_more += usize::from(wrong[0] <= wrong[1]);
    }

    /// What it comes to, with the difference on all pieces and what a point is.
    pub(crate) fn figures(mut self, difference: Option<f64>, point: f64) -> Figures {
        let n = self.differences.len().max(1) as f64;
        let share = |more_than: f64| {
            let above = self.differences.iter().filter(|d| **d > more_than);
            above.count() as f64 / n
        };
        Figures {
            difference,
            point,
            better: share(0.0),
            no_point_worse: share(-point),
            not_five_worse: share(-5.0 * point),
            fewer_wrong: self.fewer as f64 / n,
            no_more_wrong: self.no_more as f64 / n,
            interval: quantile(&mut self.differences, 0.1)
                .zip(quantile(&mut self.differences, 0.9)),
            ..Figures::default()
        }
    }
}

/// Counts over the replicates.
#[derive(Default)]
struct Counted {
    contrast: Contrast,
    /// Replicates in which the newcomer costs more than it spares.
    net_below_0: usize,
    /// Limits without a closed form that are met: the newcomer's, the incumbent's.
    met: [Vec<usize>; 2],
}

impl<'a> Duel<'a> {
    /// The tally of the newcomer, and of the incumbent: on all transcripts, or each text once.
    pub(crate) fn tallies(&self, once: bool) -> [Tally; 2] {
        let counted = self.pairs.iter().filter(|pair| pair.first || !once);
        let mut sums = [Tally::default(); 2];
        for pair in counted {
            sums[0] += pair.new;
            sums[1] += pair.old;
        }
        sums
    }

    /// How it ended.
    pub(crate) fn figures(&self) -> Figures {
        let options = self.options;
        let [new, old] = self.tallies(false);
        let once = self.tallies(true);
        let value = |tally: &Tally| options.objective.value(tally, &options.worth);
        let sign = options.objective.sign();
        let point = options.objective.point(value(&old).unwrap_or(0.0));
        let counted = self.count();
        let n = options.replicates as f64;
        let within = |side: usize| {
            let each = options.constraints.iter().enumerate();
            let one = |(i, c): (usize, &Constraint)| {
                let resampled = || counted.met[side][i] as f64 / n;
                c.probability(&once[side]).unwrap_or_else(resampled)
            };
            each.map(one).collect::<Vec<f64>>()
        };
        let (within, incumbent_within) = (within(0).into_iter().product(), within(1));
        let difference = value(&new).zip(value(&old)).map(|(a, b)| sign * (a - b));
        Figures {
            within,
            incumbent_within,
            net: [&new, &old].map(|tally| spared_at(options.assumed_rate(), tally, &options.worth)),
            net_below_0: counted.net_below_0 as f64 / n,
            ..counted.contrast.figures(difference, point)
        }
    }

    fn count(&self) -> Counted {
        let ChooseOptions {
            constraints,
            objective,
            worth,
            ..
        } = self.options;
        let mut counted = Counted {
            met: [vec![0; constraints.len()], vec![0; constraints.len()]],
            ..Counted::default()
        };
        let resampled: Vec<(usize, &Constraint)> = constraints
            .iter()
            .enumerate()
            .filter(|(_, c)| c.probability(&Tally::default()).is_none())
            .collect();
        for sums in self.replicates().tallies() {
            let [new, old] = &sums;
            let net = spared_at(self.options.assumed_rate(), new, worth);
            counted.net_below_0 += usize::from(net.is_some_and(|net| net < 0.0));
            let [a, b] = [new, old].map(|tally| objective.value(tally, worth));
            let difference = a.zip(b).map(|(a, b)| objective.sign() * (a - b));
            counted.contrast.add(difference, [new.wrong(), old.wrong()]);
            for (i, c) in &resampled {
                for (met, tally) in counted.met.iter_mut().zip(&sums) {
                    met[*i] += usize::from(c.estimate(tally, worth).1);
                }
            }
        }
        counted
    }

    /// The groups, each text once, and the two pseudo-loops, drawn.
    fn replicates(&self) -> Replicates<2> {
        let pairs = self.pairs.iter().filter(|pair| pair.first);
        let groups = ByGroup::of(pairs.map(|pair| (pair.case.cluster(), [pair.new, pair.old])));
        let ChooseOptions {
            seed, replicates, ..
        } = *self.options;
        let mut drawn = groups.draw(Resampling { replicates, seed });
        let [found, missed] = self.pseudo_loop();
        // No group is called so: names from files hold no NUL.
        for (name, tallies) in [("\0won", [found, missed]), ("\0lost", [missed, found])] {
            drawn.draw(Weights::of(seed, name, &POISSON_HALF), &tallies);
        }
        drawn
    }

    /// A loop of mean length, stopped at its onset and not at all.
    fn pseudo_loop(&self) -> [Tally; 2] {
        let [_, old] = self.tallies(true);
        let loops = i64::try_from(old.loops().max(1)).unwrap_or(i64::MAX);
        let length = old[Count::LoopChars] / loops;
        let mut missed = Tally::default();
        (missed[Count::Transcripts], missed[Count::LoopChars]) = (1, length);
        (missed[Count::Miss], missed[Count::Delay]) = (1, length);
        let found = at_onset(&missed);
        [found, missed]
    }
}

/// What a transcript adds under a guard that stops each loop at its onset and nothing else, of what it adds without an
/// alarm. No setting does better by any measure.
pub(crate) fn at_onset(quiet: &Tally) -> Tally {
    let mut tally = *quiet;
    let loops = quiet[Count::Miss];
    (tally[Count::Miss], tally[Count::Delay]) = (0, 0);
    for count in [Count::Hit, Count::Within100, Count::InPeriods] {
        tally[count] = loops;
    }
    tally[Count::Saved] = quiet[Count::LoopChars];
    tally
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::measure::{F1, PRECISION, RECALL, SAVED};
    use crate::truth::{Class, case};

    /// A transcript: without an alarm, and what may become of it.
    #[derive(Clone, Debug)]
    struct Made {
        quiet: Tally,
        new: Tally,
        old: Tally,
    }

    fn tally(counts: &[(Count, i64)]) -> Tally {
        let mut tally = Tally::default();
        tally[Count::Transcripts] = 1;
        counts.iter().for_each(|(count, n)| tally[*count] = *n);
        tally
    }

    /// A loop of 1,000 chars: missed, stopped at some place in it or before it, or in an earlier repetition.
    fn of_loop((which, at): (u8, i64)) -> Tally {
        let of = |counts: &[_]| tally(&[counts, &[(Count::LoopChars, 1000)]].concat());
        match which % 4 {
            0 => of(&[(Count::Miss, 1), (Count::Delay, 1000)]),
            1 => of(&[
                (Count::Hit, 1),
                (Count::Within1000, 1),
                (Count::Delay, at),
                (Count::Saved, 1000 - at),
            ]),
            2 => of(&[
                (Count::Premature, 1),
                (Count::Delay, 1000),
                (Count::CutAt, at),
            ]),
            _ => of(&[
                (Count::Earlier, 1),
                (Count::TransientStop, 1),
                (Count::Saved, 1000),
            ]),
        }
    }

    /// Clean text of 1,000 chars, cut at some place or not.
    fn of_clean((which, at): (u8, i64)) -> Tally {
        match which % 2 {
            0 => tally(&[(Count::Quiet, 1), (Count::Exposure, 1000)]),
            _ => tally(&[
                (Count::FalseAlarm, 1),
                (Count::Exposure, at),
                (Count::Lost, 1000 - at),
            ]),
        }
    }

    fn made() -> impl Strategy<Value = Made> {
        let some = || (0_u8..4, 0_i64..1000);
        (any::<bool>(), some(), some()).prop_map(|(loops, new, old)| {
            let of = if loops { of_loop } else { of_clean };
            Made {
                quiet: of((0, 0)),
                new: of(new),
                old: of(old),
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// What `models.rs` leaves a model out by: every figure that a rule of shipping asks to be high is highest for
        /// a guard that stops each loop at its onset and nothing else.
        #[test]
        fn no_setting_does_better_than_one_that_stops_at_the_onset(
            all in prop::collection::vec(made(), 1..30),
            measure in 0_usize..4,
        ) {
            let options = ChooseOptions {
                objective: [&SAVED, &RECALL, &PRECISION, &F1][measure],
                replicates: 200,
                ..ChooseOptions::default()
            };
            let case = |i: usize| case(&format!("t{i}"), Some(Class::Clean));
            let cases: Vec<Case> = (0..all.len()).map(case).collect();
            let figures = |new: fn(&Made) -> Tally| {
                let pair = |(made, case)| Pair {
                    case,
                    first: true,
                    new: new(made),
                    old: made.old,
                };
                let pairs = all.iter().zip(&cases).map(pair).collect();
                Duel { pairs, options: &options }.figures()
            };
            let (some, best) = (figures(|made| made.new), figures(|made| at_onset(&made.quiet)));
            let asked = |f: &Figures| [
                f.better, f.no_point_worse, f.not_five_worse, f.fewer_wrong, f.no_more_wrong, f.within, f.points(),
                1.0 - f.net_below_0, f.net[0].unwrap_or(f64::NEG_INFINITY),
            ];
            for (some, best) in asked(&some).into_iter().zip(asked(&best)) {
                prop_assert!(some <= best + 1e-12, "{some} is more than {best}");
            }
        }
    }
}
