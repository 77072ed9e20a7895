//! [`Row`]: how many equal things are in a row, as facts. [`InRow`] counts equal calls, or equal pairs of a call and its
//! result.

use std::ops::RangeInclusive;

use super::{At, Counter, Next};
use crate::measure::fact::{Bound, Clock, Fact};
use crate::settings::param::Param;
use crate::settings::params::Params;
use crate::stream::{Calls, Kind};

/// The longest row that a setting may ask for.
const MAX_ROW: u64 = 1000;

/// The numbers of copies that a setting may ask for: one would stop the first of them.
pub(crate) const MANY: RangeInclusive<i64> = 2..=MAX_ROW as i64;

/// The one threshold of most: how long a row has to be.
pub(crate) const fn n(default: i64, unit: &'static str, doc: &'static str) -> Param {
    Param::count("n", default, MANY)
        .copies()
        .unit(unit)
        .doc(doc)
}

/// [`n`] of equal calls or pairs, 3 where nothing is said.
pub(crate) const N: Param = n(3, "calls", "equal ones in a row, the first included");

/// Counts equal calls in a row.
#[derive(Clone)]
pub(crate) struct InRow {
    kind: Kind,
    /// The shortest row that the loosest setting accepts.
    least: u64,
    row: Row,
}

impl InRow {
    /// By the parameter [`n`], of a kind of loop.
    pub(crate) fn new(params: &Params, kind: Kind) -> Self {
        Self {
            kind,
            least: params.count(N.name),
            row: Row::default(),
        }
    }
}

impl Counter for InRow {
    fn count(&mut self, next: Next, at: At<'_>) -> Option<Fact> {
        let length = self.row.push(next.key, at.call);
        let what = (self.kind, || at.unit);
        let fact = self.row.fact(self.least, at.run.now(), what);
        fact.filter(|_| length >= next.enough)
    }

    fn clear(&mut self) {
        self.row = Row::default();
    }
}

/// The row that goes on.
#[derive(Clone, Default)]
pub(crate) struct Row {
    last: Option<u128>,
    length: u64,
    /// Where the second one is.
    second: Calls,
}

impl Row {
    /// Takes the next thing, by its hash and the number of its call; returns how many are in a row now.
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

    /// How many are in a row.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The call of the second one.
    pub(crate) fn second(&self) -> Calls {
        self.second
    }

    /// The fact that it is as long as it is, where some setting can accept that: the loosest asks for
    /// `least`, the strictest for no more than [`MAX_ROW`].
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
