//! [`Fact`]: a measurement of a meter. [`Rule`]: the thresholds that accept facts.
//!
//! A [`Meter`](crate::harness::Meter) turns events into [`Fact`]s, and a [`Rule`] decides which facts are alarms. The
//! live [`Guard`](crate::Guard), a replay and a sweep all use these two parts, so that their results agree.

use crate::settings::param::Threshold;
use crate::stream::{Chars, EventPlace, Kind, Units};

/// A measurement of a meter, for the decision of a rule. A fact is about one position, or about a stretch that grows as
/// the text continues.
///
/// A meter counts in its own steps: chars, lines, samples, events. `at` and `until` are steps.
/// [`position`](Fact::position) converts a step to units of the channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The step at which the fact became known.
    pub at: u64,
    /// The last step of the stretch, or `at` for a fact that does not grow.
    pub until: u64,
    /// The clock of the steps `at..=until`.
    pub clock: Clock,
    /// The kind of loop for an alarm.
    pub kind: Kind,
    /// The bounds for thresholds. A setting accepts the fact from the first step at which all of its thresholds accept
    /// their bounds.
    pub bounds: Bounds,
    /// The conditions of structural parameters that the fact meets.
    pub asked: Vec<StructuralCondition>,
    /// The check that found the fact.
    pub check: &'static str,
    /// The start of the second copy, as far as the meter found it, in units of the channel.
    pub onset: Units,
    /// The length of one copy, in the same unit.
    pub period: Units,
    /// The number of consecutive complete copies, including the first.
    pub copies: Bound,
    /// The repeated unit, cut to [`UNIT_CHARS`].
    pub unit: String,
}

/// The bounds of a fact by the name of the threshold. A threshold without a bound accepts the fact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds(Vec<(&'static str, Bound)>);

impl Bounds {
    /// Returns the bound of a threshold. `None` if the threshold accepts the fact with any value.
    pub fn get(&self, param: &str) -> Option<Bound> {
        self.iter()
            .find_map(|(name, bound)| (name == param).then_some(bound))
    }

    /// Returns each name and bound.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Bound)> {
        self.0.iter().copied()
    }

    /// Adds the bound of a threshold.
    pub(crate) fn add(&mut self, param: &'static str, bound: Bound) {
        self.0.push((param, bound));
    }

    fn change_each(&mut self, mut change: impl FnMut(Bound) -> Bound) {
        self.0
            .iter_mut()
            .for_each(|(_, bound)| *bound = change(*bound));
    }
}

impl<const N: usize> From<[(&'static str, Bound); N]> for Bounds {
    fn from(bounds: [(&'static str, Bound); N]) -> Self {
        Self(bounds.to_vec())
    }
}

/// Converts numbers into fixed bounds.
impl<const N: usize> From<[(&'static str, i64); N]> for Bounds {
    fn from(bounds: [(&'static str, i64); N]) -> Self {
        bounds
            .map(|(param, bound)| (param, Bound::Fixed(bound)))
            .into()
    }
}

/// A condition of a structural parameter on a fact: a row of `rules`, or the copies required in a code fence. The meter
/// emits only facts that meet it. Alarms list it after the thresholds.
#[derive(Clone, Debug, PartialEq)]
pub struct StructuralCondition {
    /// The path of the parameter: `rules[0].min_copies`.
    pub param: String,
    /// The minimum that the condition requires.
    pub least: i64,
    /// The measured number.
    pub bound: Bound,
}

/// The clock of a fact's steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clock {
    /// A step is a char. Step n is reached when n chars have been read.
    Chars,
    /// The number of chars read at each step, from `at` on. The numbers rise.
    At(Vec<Chars>),
    /// The only step is an event of a run.
    Event(EventPlace),
}

/// The bound of a fact for a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// A bound that does not change. See [`Threshold::accepts`].
    Fixed(i64),
    /// A bound that accepts exactly this (effective) value.
    Exactly(i64),
    /// A bound that grows by one every `per` steps after step `from`. Thresholds accept values up to it.
    Steps {
        /// The step at which the bound is 0.
        from: u64,
        /// The number of steps by which the bound grows by one, at least 1.
        per: u64,
    },
    /// A bound that grows with the channel: the number of units since `from`.
    Units {
        /// The position at which the bound is 0, in the unit of the fact's channel.
        from: Units,
    },
}

impl Fact {
    /// Returns the length of the channel at `step`, one of `at..=until`.
    pub fn position(&self, step: u64) -> Units {
        let chars = match &self.clock {
            Clock::Chars => Chars(step),
            Clock::At(at) => {
                let i = usize::try_from(step.saturating_sub(self.at)).unwrap_or(usize::MAX);
                at.get(i).or(at.last()).copied().unwrap_or_default()
            }
            Clock::Event(place) => {
                return match self.onset {
                    Units::Turns(_) => place.turns.into(),
                    Units::Calls(_) => place.calls.into(),
                    Units::Chars(_) => place.answer.into(),
                };
            }
        };
        chars.into()
    }

    /// Returns the event at which the fact became known. `None` for a fact about a text.
    pub fn place(&self) -> Option<EventPlace> {
        match self.clock {
            Clock::Event(place) => Some(place),
            Clock::Chars | Clock::At(_) => None,
        }
    }

    /// Returns the value of a bound at `step`.
    pub fn value(&self, bound: Bound, step: u64) -> i64 {
        let number = match bound {
            Bound::Fixed(n) | Bound::Exactly(n) => return n,
            Bound::Steps { from, per } => step.saturating_sub(from) / per.max(1),
            Bound::Units { from } => self.position(step).since(from),
        };
        i64::try_from(number).unwrap_or(i64::MAX)
    }

    /// Returns the first step at which `threshold`, set to the effective `value`, accepts its bound.
    pub fn first_accepted(&self, threshold: Threshold, value: i64, bound: Bound) -> Option<u64> {
        let needed = value.max(0).unsigned_abs();
        let step = match bound {
            Bound::Fixed(b) => threshold.accepts(value, b).then_some(self.at)?,
            Bound::Exactly(b) => (value == b).then_some(self.at)?,
            Bound::Steps { from, per } => from.saturating_add(needed.saturating_mul(per)),
            Bound::Units { from } => self.first_at(from.count().saturating_add(needed)),
        };
        (step <= self.until).then_some(step.max(self.at))
    }

    /// Returns the first step at which the channel has `count` units. If there is none, returns a step after `until`.
    fn first_at(&self, count: u64) -> u64 {
        match &self.clock {
            Clock::Chars => count,
            Clock::At(at) => self.at + at.partition_point(|c| c.0 < count) as u64,
            Clock::Event(_) if self.position(self.at).count() < count => u64::MAX,
            Clock::Event(_) => self.at,
        }
    }

    /// Moves a fact about a text that begins at `base` to positions in the channel. Lengths for thresholds still count
    /// from the start of the text.
    pub(crate) fn shifted(mut self, base: Chars) -> Self {
        if base == Chars(0) {
            return self;
        }
        let steps = match &mut self.clock {
            Clock::Chars => base.0,
            Clock::At(at) => {
                at.iter_mut().for_each(|chars| *chars = *chars + base);
                0
            }
            Clock::Event(_) => return self,
        };
        let moved = |bound: Bound| match bound {
            Bound::Fixed(_) | Bound::Exactly(_) => bound,
            Bound::Steps { from, per } => Bound::Steps {
                from: from + steps,
                per,
            },
            Bound::Units { from } => Bound::Units {
                from: Chars(from.count() + base.0).into(),
            },
        };
        (self.at, self.until) = (self.at + steps, self.until + steps);
        self.bounds.change_each(moved);
        self.asked.iter_mut().for_each(|a| a.bound = moved(a.bound));
        self.copies = moved(self.copies);
        self.onset = Chars(self.onset.count() + base.0).into();
        self
    }

    /// Returns the part of the fact after the first `chars` chars. `None` if the fact ends before.
    pub(crate) fn after_chars(mut self, chars: Chars) -> Option<Self> {
        let step = self.first_at(chars.0 + 1).max(self.at);
        if step > self.until {
            return None;
        }
        if let Clock::At(at) = &mut self.clock {
            let gone = usize::try_from(step - self.at).unwrap_or(usize::MAX);
            at.drain(..gone.min(at.len()));
        }
        self.at = step;
        Some(self)
    }

    /// Returns the fact reduced to its last step, at char `at`, for a line that was held back.
    pub(crate) fn last_step_at(self, at: Chars, onset: Chars) -> Self {
        let until = self.until;
        let last = self.frozen_at(until);
        Self {
            clock: Clock::At(vec![at]),
            onset: onset.into(),
            ..last
        }
    }

    /// Returns the fact with the values at `step`, at which a setting accepts it.
    #[must_use]
    pub(crate) fn frozen_at(mut self, step: u64) -> Self {
        let freeze = |fact: &Self, bound| match bound {
            Bound::Exactly(_) => bound,
            _ => Bound::Fixed(fact.value(bound, step)),
        };
        let mut bounds = std::mem::take(&mut self.bounds);
        bounds.change_each(|bound| freeze(&self, bound));
        self.bounds = bounds;
        let asked = self.asked.iter().map(|asked| freeze(&self, asked.bound));
        let asked: Vec<Bound> = asked.collect();
        self.asked
            .iter_mut()
            .zip(asked)
            .for_each(|(asked, bound)| asked.bound = bound);
        self.copies = freeze(&self, self.copies);
        self.clock = match self.clock {
            Clock::Event(_) => self.clock,
            _ => Clock::At(vec![Chars(self.position(step).count())]),
        };
        (self.at, self.until) = (step, step);
        self
    }
}

/// The maximum number of chars of a repeated unit that a fact keeps.
pub const UNIT_CHARS: usize = 80;

/// The thresholds of a setting, which decide about facts.
#[derive(Clone, Debug)]
pub struct Rule {
    thresholds: Vec<(&'static str, Threshold, i64)>,
}

impl Rule {
    /// Returns a rule from the name of each threshold and the [number](Threshold::number) that it is compared as.
    pub fn new(thresholds: impl IntoIterator<Item = (&'static str, Threshold, i64)>) -> Self {
        Self {
            thresholds: thresholds.into_iter().collect(),
        }
    }

    /// Returns the step at which `fact` becomes an alarm. `None` if it never does.
    pub fn alarm(&self, fact: &Fact) -> Option<u64> {
        self.alarm_except(fact, |_| false)
    }

    /// Sets each threshold to the stricter value of both rules, which must be of one detector. Both rules accept every
    /// fact that the result accepts, except for exact bounds.
    pub fn tighten(&mut self, other: &Self) {
        for ((_, threshold, own), (.., its)) in self.thresholds.iter_mut().zip(&other.thresholds) {
            if threshold.looser(*own, *its) {
                *own = *its;
            }
        }
    }

    /// Returns the first step at which all thresholds accept `fact`, except those for which `varies` returns true. A
    /// sweep decides about these for all values at once.
    pub fn alarm_except(&self, fact: &Fact, varies: impl Fn(&str) -> bool) -> Option<u64> {
        let mut asked = fact.bounds.iter();
        asked.try_fold(fact.at, |step, (param, bound)| {
            let mut thresholds = self.thresholds.iter();
            let next = match thresholds.find(|(name, ..)| *name == param) {
                Some((_, threshold, value)) if !varies(param) => {
                    fact.first_accepted(*threshold, *value, bound)?
                }
                _ => fact.at,
            };
            Some(step.max(next))
        })
    }
}
