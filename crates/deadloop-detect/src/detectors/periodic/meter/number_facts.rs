//! Facts that depend on the numbers of a tail, and facts of elements that recur in no order.

use super::super::conditions::{TailTest, steps};
use super::super::counting::{counters::Pattern, element_reuse::ReuseStretch};
use super::super::runs::Tail;
use super::PeriodicMeter;
use crate::measure::fact::{Bound, Bounds, Clock, Fact, UNIT_CHARS};
use crate::stream::{Chars, Kind};

impl PeriodicMeter {
    /// Emits the facts of recycled stretches.
    pub(super) fn emit_recycled(&mut self, until: u64) {
        let Some(recycled) = &mut self.folded.recycled else {
            return;
        };
        let going_on = recycled.current_stretch().map(|stretch| (stretch, until));
        let all = recycled.take_ended().into_iter().chain(going_on);
        for (stretch, until) in all.collect::<Vec<_>>() {
            let ReuseStretch { first, before, at } = stretch;
            let [oldest, onset, start] = at.map(Chars);
            let from = start.0 + self.look.min_recycled;
            let told = ((first + 1).max(self.told + 1), until);
            let Some((at, clock)) = self.clock_from(from, told) else {
                continue;
            };
            // The average distance between the first three occurrences.
            let per = ((first - before[0]) / 2).max(1);
            let fact = Fact {
                at,
                until,
                clock,
                check: "recycled",
                onset: onset.into(),
                period: Chars((start - oldest).0 / 2).into(),
                copies: steps(before[0], per),
                unit: self.first_of(stretch).chars().take(UNIT_CHARS).collect(),
                ..recycled_from(start)
            };
            self.found.push((u32::MAX, fact));
        }
    }

    /// Emits the facts of stretches of few different characters, with this piece of text read.
    pub(super) fn emit_few_kinds(&mut self, piece: &str) {
        let Some(few) = &mut self.few else {
            return;
        };
        few.read(piece);
        for stretch in few.take() {
            let fact = Fact {
                at: stretch.at,
                until: stretch.until,
                unit: stretch.unit,
                ..recycled_from(Chars(stretch.start))
            };
            self.found.push((u32::MAX, fact));
        }
    }

    /// Returns the first element of a recycled stretch.
    pub(super) fn first_of(&self, stretch: ReuseStretch) -> String {
        let kept = stretch.first.checked_sub(self.runs.base());
        let lines = self.look.symbols.are_lines();
        match kept.and_then(|index| usize::try_from(index).ok()) {
            Some(index) => self.folded.elements.unit((index, index + 1), lines),
            None if self.folded.first.0 == stretch.first => self.folded.first.1.clone(),
            None => String::new(),
        }
    }

    /// Reports a tail. If its numbers are compared, also reports the parts in which they are equal or count on
    /// evenly.
    pub(super) fn tell_parts(&mut self, run: Tail, until: u64, fenced: bool) {
        let base = self.runs.base();
        match &mut self.folded.counters {
            None => self.emit_facts(Pattern::Any, (run, until), fenced),
            Some(counters) => {
                let parts = counters.parts(run, base, until);
                for (part, run, until) in parts {
                    self.emit_facts(part, (run, until), fenced);
                }
            }
        }
    }

    /// Returns the steps from `first` to `until` at which a tail can be accepted in this way. If its numbers may differ
    /// in any way, enough of them have to return.
    pub(super) fn stretches(&self, ask: TailTest, steps: (u64, u64)) -> Vec<(u64, u64)> {
        match &self.folded.returning {
            Some(returning) if matches!(ask, TailTest::Numbers(_)) => {
                returning.stretches(self.runs.base(), steps)
            }
            _ => vec![steps],
        }
    }
}

/// Returns the fact of a stretch of few different characters that begins after `start`, without its end and its text.
fn recycled_from(start: Chars) -> Fact {
    Fact {
        at: 0,
        until: 0,
        clock: Clock::Chars,
        kind: Kind::NearRepeat,
        bounds: Bounds::from([("min_recycled", Bound::Units { from: start.into() })]),
        asked: Vec::new(),
        check: "few kinds",
        onset: Chars(start.0 + 1).into(),
        period: Chars(1).into(),
        copies: steps(start.0, 1_u64),
        unit: String::new(),
    }
}
