//! The Pareto front of recall, the rate of wrong alarms and `delay`.

use std::collections::BTreeMap;

use crate::measure::{DELAY, RECALL, Stakes, wrong_rate};
use crate::tally::{Count, Tally};
use deadloop_replay::detect::Unit;

/// A setting as a point of the Pareto front. More recall, fewer wrong alarms and less delay are better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrontPoint {
    /// The setting's number in the plan.
    pub cell: usize,
    /// The recall.
    pub recall: f64,
    /// The rate of wrong alarms, in the measure for the unit.
    pub wrong_rate: f64,
    /// Number of wrong alarms.
    pub wrong: u64,
    /// Number of transient stops.
    pub transient_stops: u64,
    /// The mean delay per loop, in units.
    pub delay: f64,
}

impl FrontPoint {
    /// Returns the point of a setting with its tally. `None` if recall, the rate of wrong alarms or the delay is n/a.
    pub fn new(cell: usize, tally: &Tally, unit: Unit) -> Option<Self> {
        // None of the three measures depends on the cost of errors.
        let worth = Stakes::default();
        Some(Self {
            cell,
            recall: RECALL.value(tally, &worth)?,
            wrong_rate: wrong_rate(unit).value(tally, &worth)?,
            wrong: tally.wrong(),
            transient_stops: tally.get(Count::TransientStop),
            delay: DELAY.value(tally, &worth)?,
        })
    }
}

/// Returns the points that no other point dominates, in the order of their cells.
///
/// A point dominates another if it is at least as good in all three measures and better in one. Points that are equal
/// in all measures are all kept.
///
/// The points are sorted, then each is compared with a staircase of the points of the same or a higher recall.
pub(crate) fn find_front(points: &[FrontPoint]) -> Vec<FrontPoint> {
    let mut order: Vec<&FrontPoint> = points.iter().collect();
    order.sort_by(|a, b| {
        let recall = b.recall.total_cmp(&a.recall);
        let wrong = recall.then(a.wrong_rate.total_cmp(&b.wrong_rate));
        wrong
            .then(a.delay.total_cmp(&b.delay))
            .then(a.cell.cmp(&b.cell))
    });
    let mut stairs = Staircase::default();
    let mut kept: Vec<FrontPoint> = Vec::new();
    for point in order {
        let same = |p: &FrontPoint| {
            (p.recall, p.wrong_rate, p.delay) == (point.recall, point.wrong_rate, point.delay)
        };
        if kept.last().is_some_and(same) || stairs.is_undominated(point) {
            stairs.insert(point);
            kept.push(*point);
        }
    }
    kept.sort_by_key(|p| p.cell);
    kept
}

/// The least delay of the points up to each rate of wrong alarms. It falls as the rate rises.
///
/// The keys are the bits of the rates. They sort as the rates do, since a rate is never negative.
#[derive(Default)]
struct Staircase(BTreeMap<u64, f64>);

impl Staircase {
    fn is_undominated(&self, point: &FrontPoint) -> bool {
        let below = self.0.range(..=point.wrong_rate.to_bits()).next_back();
        below.is_none_or(|(_, delay)| point.delay < *delay)
    }

    fn insert(&mut self, point: &FrontPoint) {
        let key = point.wrong_rate.to_bits();
        let dominated = self
            .0
            .range(key..)
            .take_while(|(_, delay)| **delay >= point.delay);
        let dominated: Vec<u64> = dominated.map(|(key, _)| *key).collect();
        for key in dominated {
            self.0.remove(&key);
        }
        self.0.insert(key, point.delay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A slow reference.
    fn slow(points: &[FrontPoint]) -> Vec<FrontPoint> {
        let beats = |a: &FrontPoint, b: &FrontPoint| {
            let no_worse =
                a.recall >= b.recall && a.wrong_rate <= b.wrong_rate && a.delay <= b.delay;
            no_worse && (a.recall, a.wrong_rate, a.delay) != (b.recall, b.wrong_rate, b.delay)
        };
        points
            .iter()
            .filter(|p| !points.iter().any(|q| beats(q, p)))
            .copied()
            .collect()
    }

    proptest! {
        #[test]
        fn the_front_is_what_nothing_beats(raw in prop::collection::vec((0_u8..6, 0_u8..6, 0_u8..6), 0..40)) {
            let points: Vec<FrontPoint> = raw.iter().enumerate().map(|(cell, (r, f, d))| FrontPoint {
                cell, recall: f64::from(*r), wrong_rate: f64::from(*f), delay: f64::from(*d), wrong: 0, transient_stops: 0,
            }).collect();
            prop_assert_eq!(find_front(&points), slow(&points));
        }
    }
}
