//! Facts of tails. A fact has the steps from which the loosest setting accepts it, with their
//! positions.

use std::sync::Arc;

use super::super::conditions::{UnitClass, steps};
use super::super::counting::counters::Pattern;
use super::super::runs::Tail;
use super::super::symbols::places::{SymbolPlaces, TailOrigin};
use super::PeriodicMeter;
use crate::measure::fact::{Clock, Fact, UNIT_CHARS};
use crate::stream::Chars;

/// The maximum number of remembered tails without a letter. Fewer can continue at the same time.
const LEFT: usize = 32;

impl PeriodicMeter {
    pub(super) fn emit_ended(&mut self, fenced: bool) {
        let until = self.runs.seen() - 1;
        for run in self.runs.take_ended() {
            self.tell_parts(run, until, fenced);
        }
    }

    pub(super) fn tell_going_on(&mut self, fenced: bool) {
        let until = self.runs.known();
        let all: Vec<Tail> = self.runs.current().collect();
        for run in all {
            self.tell_parts(run, until, fenced);
        }
        self.emit_recycled(until);
        self.told = until;
    }

    /// Emits the facts of a tail whose last symbol is number `until`, from the last emitted step on.
    pub(super) fn emit_facts(&mut self, part: Pattern, (run, until): (Tail, u64), fenced: bool) {
        let look = Arc::clone(&self.look);
        if run.start + look.min_symbols(run.lag) > until {
            return;
        }
        if self.without_letter.contains(&(run.lag, run.start)) {
            return;
        }
        let unit = self.unit(run, until);
        if look.unit_holds.is_some_and(|held| !held.is_match(&unit)) {
            self.leave(run);
            return;
        }
        let origin = self.origin(run);
        let holds = self.holds(run, until, (&unit, origin.marked));
        let fenced = look.fenced_copies.filter(|_| fenced).unwrap_or(0);
        for ask in look.asks_of(part, run.lag, &holds) {
            let tall = if ask.is_for(UnitClass::Bare) {
                self.tall(run, &unit)
            } else {
                0
            };
            let need = look
                .need(run.lag, ask)
                .max(fenced.max(tall) * u64::from(run.lag));
            let first = (run.start + need).max(self.told + 1);
            for (first, until) in self.stretches(ask, (first, until)) {
                let Some((at, clock)) = self.clock(run, (first, until), look.chars(ask)) else {
                    continue;
                };
                let fact = Fact {
                    at,
                    until,
                    clock,
                    kind: self.kind(run, &unit, origin),
                    bounds: look.bounds(part, (run, origin), (ask, &holds)),
                    asked: look.requirements(run, origin.start, (ask, fenced, tall)),
                    check: "periodic",
                    onset: origin.onset.into(),
                    period: (origin.onset - origin.start).into(),
                    copies: steps(run.start, run.lag),
                    unit: unit.chars().take(UNIT_CHARS).collect(),
                };
                self.found.push((run.lag, fact));
            }
        }
    }

    /// Remembers a tail whose unit has no letter. All its copies are alike, and a long copy takes long to read.
    fn leave(&mut self, run: Tail) {
        if self.without_letter.len() == LEFT {
            self.without_letter.remove(0);
        }
        self.without_letter.push((run.lag, run.start));
    }

    /// Returns the steps from `first` to `until` that the loosest setting accepts, with their positions.
    fn clock(&self, run: Tail, (first, until): (u64, u64), chars: u64) -> Option<(u64, Clock)> {
        let from = if self.look.symbols.are_elements() {
            self.origin(run).start.0 + chars
        } else {
            0
        };
        self.clock_from(from, (first, until))
    }

    /// Returns the steps from `first` to `until` at which `from` characters had been read, with their positions.
    pub(super) fn clock_from(&self, from: u64, (first, until): (u64, u64)) -> Option<(u64, Clock)> {
        let Some(places) = &self.folded.places else {
            let first = first.max(from);
            return (first <= until).then_some((first, Clock::Chars));
        };
        let base = self.runs.base();
        let index = |step: u64| usize::try_from(step.saturating_sub(base)).unwrap_or(0);
        // Step n is complete with symbol number n-1.
        let ends = places.ends.get(index(first) - 1..index(until))?;
        let skip = ends.partition_point(|end| *end < from);
        let at: Vec<Chars> = ends[skip..].iter().map(|end| Chars(*end)).collect();
        (!at.is_empty()).then(|| (first + skip as u64, Clock::At(at)))
    }

    /// Returns the beginning of a tail.
    pub(super) fn origin(&self, run: Tail) -> TailOrigin {
        let known = |places: &SymbolPlaces| {
            let mut origins = places.origins.iter();
            let same = |(r, _): &&(Tail, TailOrigin)| (r.lag, r.start) == (run.lag, run.start);
            origins.find(same).map(|(_, origin)| *origin)
        };
        let places = self.folded.places.as_ref();
        places.and_then(known).unwrap_or_else(|| {
            let start = self.end_of(run.start);
            let onset = self.end_of(run.start + u64::from(run.lag));
            let marked = |places: &SymbolPlaces| places.is_marked(start, onset);
            TailOrigin {
                start,
                onset,
                marked: places.is_some_and(marked),
            }
        })
    }

    /// Returns the number of characters read with the first `count` symbols.
    fn end_of(&self, count: u64) -> Chars {
        let end_of = |places: &SymbolPlaces| places.end_of(self.runs.base(), count);
        Chars(self.folded.places.as_ref().map_or(count, end_of))
    }
}
