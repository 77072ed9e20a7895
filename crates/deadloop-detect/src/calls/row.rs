//! [`ItemRow`] and [`RowCounter`]: counters of consecutive equal items.

use std::ops::RangeInclusive;

use super::{CountedItem, ItemCounter, ItemPosition};
use crate::measure::fact::{Bound, Clock, Fact};
use crate::settings::param::Param;
use crate::settings::params::Params;
use crate::stream::{Calls, Kind};

/// The maximum length of a row that a setting may require.
const MAX_ROW: u64 = 1000;

/// The allowed values of parameters that count copies. A guard with 1 would stop at the first copy.
pub(crate) const MANY: RangeInclusive<i64> = 2..=MAX_ROW as i64;

/// Returns the parameter for the length of a row, the only threshold of most detectors.
pub(crate) const fn n(default: i64, unit: &'static str, doc: &'static str) -> Param {
    Param::count("n", default, MANY)
        .copies()
        .unit(unit)
        .doc(doc)
}

/// The parameter [`n`] with default 3.
pub(crate) const N: Param = n(3, "calls", "equal calls in a row, the first included");

/// A counter of equal calls in a row.
#[derive(Clone)]
pub(crate) struct RowCounter {
    kind: Kind,
    /// The shortest row that the loosest setting accepts.
    least: u64,
    row: ItemRow,
}

impl RowCounter {
    /// Returns a counter that reports loops of this kind, according to the parameter [`n`].
    pub(crate) fn new(params: &Params, kind: Kind) -> Self {
        Self {
            kind,
            least: params.count(N.name),
            row: ItemRow::default(),
        }
    }
}

impl ItemCounter for RowCounter {
    fn count(&mut self, next: CountedItem, at: ItemPosition<'_>) -> Option<Fact> {
        let length = self.row.push(next.key, at.call);
        let what = (self.kind, || at.unit);
        let fact = self.row.fact(self.least, at.run.now(), what);
        fact.filter(|_| length >= next.enough)
    }

    fn clear(&mut self) {
        self.row = ItemRow::default();
    }
}

/// The current row of equal items.
#[derive(Clone, Default)]
pub(crate) struct ItemRow {
    last: Option<u128>,
    length: u64,
    /// The call of the second item.
    second: Calls,
}

impl ItemRow {
    /// Adds the next item: its hash and the number of its call. Returns the new length of the row.
    pub(crate) fn push(&mut self, hash: u128, call: Calls) -> u64 {
        if self.last != Some(hash) {
            (self.last, self.length) = (Some(hash), 0);
        }
        self.length += 1;
        if self.length == 2 {
            self.second = call;
        }
        self.length
    }

    /// Returns the length of the row.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Returns the call of the second item.
    pub(crate) fn second(&self) -> Calls {
        self.second
    }

    /// Returns a fact about the row, if some setting can accept it: the loosest one requires `least`, the strictest at
    /// most [`MAX_ROW`].
    pub(crate) fn fact(
        &self,
        least: u64,
        (at, clock): (u64, Clock),
        (kind, unit): (Kind, impl FnOnce() -> String),
    ) -> Option<Fact> {
        let known = (least.max(2)..=MAX_ROW).contains(&self.length);
        let length = Bound::Fixed(i64::try_from(self.length).unwrap_or(i64::MAX));
        known.then(|| Fact {
            at,
            until: at,
            clock,
            kind,
            bounds: [(N.name, length)].into(),
            asked: Vec::new(),
            check: "row",
            onset: self.second.into(),
            period: Calls(1).into(),
            copies: length,
            unit: unit(),
        })
    }
}
