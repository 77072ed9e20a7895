//! The two halves of a detector: a [`Meter`](crate::harness::Meter) turns events into [`Fact`]s, a [`Rule`] decides which of
//! them is an alarm. The live [`Guard`](crate::Guard), a replay and a sweep all join these same two
//! halves, so they cannot disagree.

use crate::settings::param::Threshold;
use crate::stream::{Chars, EventPlace, Kind, Units};

/// One thing that a meter saw, with all that a rule needs to decide about it: something at one
/// position, or a stretch that grows while the text goes on.
///
/// A meter counts in steps of its own (chars, lines, samples, events); `at` and `until` are steps, and
/// [`position`](Fact::position) says how many units of the fact's channel had arrived at one of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The step at which it was known.
    pub at: u64,
    /// The last step of the stretch; `at` for what does not grow.
    pub until: u64,
    /// Where the steps `at..=until` lie.
    pub clock: Clock,
    /// What kind of loop it would be.
    pub kind: Kind,
    /// The bounds of thresholds; a setting accepts the fact from the first step on at which each of its thresholds
    /// accepts its bound.
    pub bounds: Bounds,
    /// The conditions of structural parameters that it met, if there are any.
    pub asked: Vec<Asked>,
    /// The check that saw it.
    pub check: &'static str,
    /// Where the second copy begins, as far as the meter can see, in units of the fact's channel.
    pub onset: Units,
    /// Length of one copy, in the same unit.
    pub period: Units,
    /// Whole copies in a row, the first included.
    pub copies: Bound,
    /// The repeated unit, cut to [`UNIT_CHARS`].
    pub unit: String,
}

/// The bounds of a fact by the names of thresholds. A threshold without one accepts the fact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds(Vec<(&'static str, Bound)>);

impl Bounds {
    /// The bound of a threshold; `None`: it accepts the fact, whatever its value is.
    pub fn get(&self, param: &str) -> Option<Bound> {
        self.iter()
            .find_map(|(name, bound)| (name == param).then_some(bound))
    }

    /// Each name and bound.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Bound)> {
        self.0.iter().copied()
    }

    /// Adds the bound of a threshold.
    pub(crate) fn add(&mut self, param: &'static str, bound: Bound) {
        self.0.push((param, bound));
    }

    fn each(&mut self, mut change: impl FnMut(Bound) -> Bound) {
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

/// Fixed ones.
impl<const N: usize> From<[(&'static str, i64); N]> for Bounds {
    fn from(bounds: [(&'static str, i64); N]) -> Self {
        bounds
            .map(|(param, bound)| (param, Bound::Fixed(bound)))
            .into()
    }
}

/// The condition of a structural parameter on a fact: a row of `rules`, or the copies wanted in a code fence. The
/// meter emits the fact only where it is met; an alarm names it beside the thresholds.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The parameter, and where in it: `rules[0].min_copies`.
    pub param: String,
    /// The least that it wants.
    pub least: i64,
    /// What there is.
    pub bound: Bound,
}

/// Where the steps of a fact lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clock {
    /// A step is a char: step n is known when n chars have been read.
    Chars,
    /// The chars that had been read at each step from `at` on; rising.
    At(Vec<Chars>),
    /// The one step is an event of a stream, by its number from 0.
    Event(EventPlace),
}

/// What a fact asks of one threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// The same all along; see [`Threshold::accepts`].
    Fixed(i64),
    /// Only this (effective) value will do.
    Exactly(i64),
    /// Grows with the steps, by one each `per` steps after step `from`; for thresholds that accept
    /// what is at most their bound.
    Steps {
        /// Where it is 0.
        from: u64,
        /// Steps for one more; at least 1.
        per: u64,
    },
    /// Grows with the channel: the units that have arrived since `from`.
    Units {
        /// Where it is 0, in the unit of the fact's channel.
        from: Units,
    },
}

impl Fact {
    /// How many units of the fact's channel had arrived at `step`, one of `at..=until`.
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

    /// The event at which it was known; `None`: it is a fact of a text.
    pub fn place(&self) -> Option<EventPlace> {
        match self.clock {
            Clock::Event(place) => Some(place),
            Clock::Chars | Clock::At(_) => None,
        }
    }

    /// The value of a bound at `step`.
    pub fn value(&self, bound: Bound, step: u64) -> i64 {
        let number = match bound {
            Bound::Fixed(n) | Bound::Exactly(n) => return n,
            Bound::Steps { from, per } => step.saturating_sub(from) / per.max(1),
            Bound::Units { from } => self.position(step).since(from),
        };
        i64::try_from(number).unwrap_or(i64::MAX)
    }

    /// The first step at which `threshold`, set to the effective `value`, accepts its bound.
    pub fn accepted(&self, threshold: Threshold, value: i64, bound: Bound) -> Option<u64> {
        let needed = value.max(0).unsigned_abs();
        let step = match bound {
            Bound::Fixed(b) => threshold.accepts(value, b).then_some(self.at)?,
            Bound::Exactly(b) => (value == b).then_some(self.at)?,
            Bound::Steps { from, per } => from.saturating_add(needed.saturating_mul(per)),
            Bound::Units { from } => self.first_at(from.count().saturating_add(needed)),
        };
        (step <= self.until).then_some(step.max(self.at))
    }

    /// The first step at which `count` units of the channel have arrived; a step after `until` if there is no such step.
    fn first_at(&self, count: u64) -> u64 {
        match &self.clock {
            Clock::Chars => count,
            Clock::At(at) => self.at + at.partition_point(|c| c.0 < count) as u64,
            Clock::Event(_) if self.position(self.at).count() < count => u64::MAX,
            Clock::Event(_) => self.at,
        }
    }

    /// The same fact of a text that begins `base` chars into its channel: positions move, and what
    /// thresholds are held against counts from there as before.
    pub(crate) fn moved(mut self, base: Chars) -> Self {
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
        self.bounds.each(moved);
        self.asked.iter_mut().for_each(|a| a.bound = moved(a.bound));
        self.copies = moved(self.copies);
        self.onset = Chars(self.onset.count() + base.0).into();
        self
    }

    /// The part of the fact behind the first `chars` chars. `None`: the fact ends before.
    pub(crate) fn beyond(mut self, chars: Chars) -> Option<Self> {
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

    /// The same fact of a text whose last line became known as a whole: all of it at one char, as it is at its last step.
    pub(crate) fn known_at(self, at: Chars, onset: Chars) -> Self {
        let until = self.until;
        let last = self.seen_at(until);
        Self {
            clock: Clock::At(vec![at]),
            onset: onset.into(),
            ..last
        }
    }

    /// Returns the fact as a setting sees it that accepts it at `step`: nothing of what came later.
    #[must_use]
    pub fn seen_at(mut self, step: u64) -> Self {
        let freeze = |fact: &Self, bound| match bound {
            Bound::Exactly(_) => bound,
            _ => Bound::Fixed(fact.value(bound, step)),
        };
        let mut bounds = std::mem::take(&mut self.bounds);
        bounds.each(|bound| freeze(&self, bound));
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

/// How much of a repeated unit a fact keeps, in chars.
pub const UNIT_CHARS: usize = 80;

/// The deciding half: the thresholds of one setting.
#[derive(Clone, Debug)]
pub struct Rule {
    thresholds: Vec<(&'static str, Threshold, i64)>,
}

impl Rule {
    /// A rule from the name of each threshold, and the [number](Threshold::number) that it is compared as.
    pub fn new(thresholds: impl IntoIterator<Item = (&'static str, Threshold, i64)>) -> Self {
        Self {
            thresholds: thresholds.into_iter().collect(),
        }
    }

    /// The step at which `fact` becomes an alarm; `None`: never.
    pub fn alarm(&self, fact: &Fact) -> Option<u64> {
        self.alarm_but_for(fact, |_| false)
    }

    /// Takes the stricter of both values for each threshold: a fact that it then accepts, both accept, unless a bound
    /// must be met exactly. Both are rules of one detector.
    pub fn tighten(&mut self, other: &Self) {
        for ((_, threshold, own), (.., its)) in self.thresholds.iter_mut().zip(&other.thresholds) {
            if threshold.looser(*own, *its) {
                *own = *its;
            }
        }
    }

    /// The first step at which the thresholds other than those that `varies` names
    /// accept `fact`: a sweep asks these once and answers the others for all their values together.
    pub fn alarm_but_for(&self, fact: &Fact, varies: impl Fn(&str) -> bool) -> Option<u64> {
        let mut asked = fact.bounds.iter();
        asked.try_fold(fact.at, |step, (param, bound)| {
            let mut thresholds = self.thresholds.iter();
            let next = match thresholds.find(|(name, ..)| *name == param) {
                Some((_, threshold, value)) if !varies(param) => {
                    fact.accepted(*threshold, *value, bound)?
                }
                _ => fact.at,
            };
            Some(step.max(next))
        })
    }
}
