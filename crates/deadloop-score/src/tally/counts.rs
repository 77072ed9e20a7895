//! [`Tally`]: the counts and integer sums from which every score is computed.

use std::collections::BTreeSet;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Index, IndexMut, Sub};

use deadloop_replay::detect::Unit;

use crate::judge::{Outcome, Verdict};

/// Defines [`Count`] from a list with the meaning, the name and the unit of each count. The default unit is
/// transcripts.
macro_rules! counts {
    ($($(#[doc = $about:literal])+ $count:ident = $name:literal $([$unit:literal])?,)*) => {
        /// A count or an integer sum in a [`Tally`].
        ///
        /// The sum of tallies does not depend on the order in which threads, shards or machines add them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Count {
            $($(#[doc = $about])+ $count,)*
        }

        impl Count {
            /// All counts, in the order of their numbers.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$count),*];

            /// Returns the name of the count and of its column in scores.parquet. The bins of `within_N` have no
            /// column.
            pub fn name(self) -> &'static str {
                match self { $(Self::$count => $name,)* }
            }

            /// Returns the meaning of the count in a sentence.
            pub fn about(self) -> &'static str {
                match self { $(Self::$count => concat!($($about),+).trim_ascii(),)* }
            }

            /// Returns the unit of the count. `unit` is the unit of the row.
            pub fn unit(self) -> &'static str {
                match self { $(Self::$count => counts!(@unit $($unit)?),)* }
            }
        }
    };
    (@unit) => { "transcripts" };
    (@unit $unit:literal) => { $unit };
}

counts! {
    /// All transcripts.
    Transcripts = "transcripts",
    /// Verdicts `hit`.
    Hit = "hit",
    /// Verdicts `premature`.
    Premature = "premature",
    /// Verdicts `stale`.
    Stale = "stale",
    /// Verdicts `miss`.
    Miss = "miss",
    /// Verdicts `false-alarm`.
    FalseAlarm = "false_alarm",
    /// Verdicts `quiet`.
    Quiet = "quiet",
    /// Verdicts `transient-stop`, in transcripts with a loop too.
    TransientStop = "transient_stop",
    /// Verdicts `transient-stop` in transcripts that loop later: the loop counts, and never came.
    Earlier = "earlier",
    /// Verdicts `transient-pass`.
    TransientPass = "transient_pass",
    /// Verdicts `unlabelled`.
    Unlabelled = "unlabelled",
    /// Verdicts `error`.
    Errors = "errors",
    /// Healthy output watched.
    Exposure = "exposure"["unit"],
    /// Healthy output thrown away.
    Lost = "lost_chars"["unit"],
    /// Output of loops that was not generated thanks to hits and alarms in an earlier repetition.
    Saved = "saved_chars"["unit"],
    /// The length of all loops, onset to end.
    LoopChars = "loop_chars"["unit"],
    /// Output of loops that was generated.
    Delay = "delay_chars"["unit"],
    /// Output watched up to premature and stale alarms, which is generated again.
    CutAt = "cut_chars"["unit"],
    /// Output watched up to false alarms on clean transcripts, which is generated again.
    FalseAt = "false_chars"["unit"],
    /// Loops that still ran when the recording stopped.
    Censored = "censored",
    /// Loops that were ended by the end of their second whole copy, or within 1,000 units.
    InPeriods = "in_periods_loops",
    /// Loops that were ended with a delay of at most 100 chars.
    Within100 = "in_100",
    /// … above 100 and at most 200 chars: each of these is in one count, so it costs one addition.
    Within200 = "in_200",
    /// … above 200 and at most 500 chars.
    Within500 = "in_500",
    /// … above 500 and at most 1000 chars.
    Within1000 = "in_1000",
    /// … above 1000 and at most 2000 chars.
    Within2000 = "in_2000",
    /// … above 2000 and at most 5000 chars.
    Within5000 = "in_5000",
    /// Loops that were ended with a delay of at most 2 calls or turns.
    Within2 = "in_2",
    /// … above 2 and at most 5 calls or turns.
    Within5 = "in_5",
    /// … above 5 and at most 10 calls or turns.
    Within10 = "in_10",
    /// … above 10 and at most 20 calls or turns.
    Within20 = "in_20",
}

/// The delays N of `within_N` in chars, with the count of loops ended within N, but not within the previous N.
const WITHIN_CHARS: [(u64, Count); 6] = [
    (100, Count::Within100),
    (200, Count::Within200),
    (500, Count::Within500),
    (1000, Count::Within1000),
    (2000, Count::Within2000),
    (5000, Count::Within5000),
];

/// The delays N of `within_N` in calls and turns, with the count of loops ended within N, but not within the previous
/// N.
const WITHIN_STEPS: [(u64, Count); 4] = [
    (2, Count::Within2),
    (5, Count::Within5),
    (10, Count::Within10),
    (20, Count::Within20),
];

impl Count {
    /// Number of counts.
    pub const N: usize = Self::ALL.len();

    /// The counts whose sum is the number of loops.
    pub const LOOPS: [Self; 5] = [
        Self::Hit,
        Self::Premature,
        Self::Stale,
        Self::Miss,
        Self::Earlier,
    ];

    /// The counts whose sum is the number of clean transcripts.
    pub const CLEAN: [Self; 2] = [Self::FalseAlarm, Self::Quiet];

    /// The counts whose sum is the number of wrong alarms.
    pub const WRONG: [Self; 3] = [Self::FalseAlarm, Self::Premature, Self::Stale];

    /// Returns the delays N of `within_N` in a unit, in ascending order, each with its count.
    ///
    /// The count has the loops ended within N, but not within the previous N.
    pub fn withins(unit: Unit) -> &'static [(u64, Self)] {
        match unit {
            Unit::Chars => &WITHIN_CHARS,
            Unit::Calls | Unit::Turns => &WITHIN_STEPS,
        }
    }

    /// Returns the count of the smallest `within_N` that includes a delay.
    pub(crate) fn of_delay(unit: Unit, delay: u64) -> Option<Self> {
        let mut rising = Self::withins(unit).iter();
        let (_, count) = rising.find(|(n, _)| delay <= *n)?;
        Some(*count)
    }
}

impl From<Verdict> for Count {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Hit => Self::Hit,
            Verdict::Premature => Self::Premature,
            Verdict::Stale => Self::Stale,
            Verdict::Miss => Self::Miss,
            Verdict::FalseAlarm => Self::FalseAlarm,
            Verdict::Quiet => Self::Quiet,
            Verdict::TransientStop => Self::TransientStop,
            Verdict::TransientPass => Self::TransientPass,
            Verdict::Unlabelled => Self::Unlabelled,
            Verdict::Error => Self::Errors,
        }
    }
}

/// Counts and sums over some transcripts under one setting. A count is read as `tally[Count::Hit]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([i64; Count::N]);

impl Tally {
    /// Creates the tally of one outcome.
    pub fn from_outcome(outcome: &Outcome) -> Self {
        let mut tally = Self::default();
        tally[Count::Transcripts] = 1;
        tally[Count::from(outcome.verdict)] = 1;
        tally[Count::Exposure] = to_signed(outcome.exposure);
        tally[Count::Lost] = to_signed(outcome.lost);
        tally[Count::Saved] = to_signed(outcome.saved);
        tally[Count::LoopChars] = to_signed(outcome.loop_chars);
        tally[Count::Delay] = to_signed(outcome.delay);
        tally[Count::Earlier] = outcome.is_earlier().into();
        let at = match outcome.verdict {
            Verdict::Premature | Verdict::Stale => Some(Count::CutAt),
            Verdict::FalseAlarm => Some(Count::FalseAt),
            _ => None,
        };
        if let Some(count) = at {
            tally[count] = to_signed(outcome.generated);
        }
        tally[Count::Censored] = outcome.censored.into();
        tally[Count::InPeriods] = outcome.in_periods.into();
        if let Some(count) = outcome.within {
            tally[count] = 1;
        }
        tally
    }

    /// Returns the number of scored loops: `hit`, `premature`, `stale`, `miss` and `earlier`.
    ///
    /// All settings that fail on no transcript have the same number of loops.
    pub fn loops(&self) -> u64 {
        self.sum(&Count::LOOPS)
    }

    /// Returns the number of scored clean transcripts.
    pub fn clean(&self) -> u64 {
        self.sum(&Count::CLEAN)
    }

    /// Returns the number of transcripts with a transient repetition and no loop.
    pub fn transient(&self) -> u64 {
        let stopped = self
            .get(Count::TransientStop)
            .saturating_sub(self.get(Count::Earlier));
        stopped + self.get(Count::TransientPass)
    }

    /// Returns the number of wrong alarms: `false-alarm`, `premature` and `stale`.
    pub fn wrong(&self) -> u64 {
        self.sum(&Count::WRONG)
    }

    /// Returns a count, or 0 if the count is negative after a subtraction.
    pub fn get(&self, count: Count) -> u64 {
        u64::try_from(self[count]).unwrap_or(0)
    }

    /// Returns a tally with only some of the counts. All other counts are 0.
    pub(crate) fn only(&self, counts: &BTreeSet<Count>) -> Self {
        let mut some = Self::default();
        for count in counts {
            some[*count] = self[*count];
        }
        some
    }

    /// Returns the count with this index in [`Count::ALL`].
    pub(crate) fn count_at(&mut self, index: usize) -> &mut i64 {
        &mut self.0[index]
    }

    /// Returns the counts that are not 0, with their indices in [`Count::ALL`].
    pub(crate) fn nonzero(&self) -> impl Iterator<Item = (usize, i64)> {
        let counts = self.0.iter().copied().enumerate();
        counts.filter(|(_, n)| *n != 0)
    }

    fn sum(&self, counts: &[Count]) -> u64 {
        counts.iter().map(|c| self.get(*c)).sum()
    }
}

/// Converts a sum to a signed number. Corpora are far below 2^63 chars.
fn to_signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

impl Index<Count> for Tally {
    type Output = i64;
    fn index(&self, count: Count) -> &i64 {
        &self.0[count as usize]
    }
}

impl IndexMut<Count> for Tally {
    fn index_mut(&mut self, count: Count) -> &mut i64 {
        &mut self.0[count as usize]
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a += b);
    }
}

impl Add for Tally {
    type Output = Self;
    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl Sub for Tally {
    type Output = Self;
    fn sub(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a -= b);
        self
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(tallies: I) -> Self {
        tallies.fold(Self::default(), Add::add)
    }
}
