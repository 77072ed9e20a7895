//! The Pareto front of recall, `fa_per_mchar` and `delay`.

use std::collections::BTreeMap;

use crate::measure::{DELAY, FA_PER_MCHAR, RECALL, Worth};
use crate::tally::Tally;

/// What a setting is compared by: more recall, fewer false alarms, less delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrontPoint {
    /// The setting's number in the plan.
    pub cell: usize,
    /// Its recall.
    pub recall: f64,
    /// Its false alarms per million units.
    pub fa_per_mchar: f64,
    /// Its delay, units.
    pub delay: f64,
}

impl FrontPoint {
    /// The point of a tally; `None` where one of the three is n/a.
    pub fn of(cell: usize, tally: &Tally) -> Option<Self> {
        // None of the three depends on what errors cost.
        let worth = Worth::default();
        Some(Self {
            cell,
            recall: RECALL.value(tally, &worth)?,
            fa_per_mchar: FA_PER_MCHAR.value(tally, &worth)?,
            delay: DELAY.value(tally, &worth)?,
        })
    }
}

/// The points that no other point beats: none is at least as good in all three and better in one.
/// Points that are equal in all three stay together. In the order of their cells.
///
/// Cost: sorting; then each point is compared with a staircase of those with no less recall.
pub fn front(points: &[FrontPoint]) -> Vec<FrontPoint> {
    let mut order: Vec<&FrontPoint> = points.iter().collect();
    order.sort_by(|a, b| {
        let recall = b.recall.total_cmp(&a.recall);
        let false_alarms = recall.then(a.fa_per_mchar.total_cmp(&b.fa_per_mchar));
        false_alarms
            .then(a.delay.total_cmp(&b.delay))
            .then(a.cell.cmp(&b.cell))
    });
    let mut stairs = Staircase::default();
    let mut kept: Vec<FrontPoint> = Vec::new();
    for point in order {
        let same = |p: &FrontPoint| {
            (p.recall, p.fa_per_mchar, p.delay) == (point.recall, point.fa_per_mchar, point.delay)
        };
        if kept.last().is_some_and(same) || stairs.admits(point) {
            stairs.add(point);
            kept.push(*point);
        }
    }
    kept.sort_by_key(|p| p.cell);
    kept
}

/// The least delay for each rate of false alarms, falling as the rate rises. Keys are the bits of
/// rates, which order as the rates do: rates are never negative.
#[derive(Default)]
struct Staircase(BTreeMap<u64, f64>);

impl Staircase {
    fn admits(&self, point: &FrontPoint) -> bool {
        let below = self.0.range(..=point.fa_per_mchar.to_bits()).next_back();
        below.is_none_or(|(_, delay)| point.delay < *delay)
    }

    fn add(&mut self, point: &FrontPoint) {
        let key = point.fa_per_mchar.to_bits();
        let beaten = self
            .0
            .range(key..)
            .take_while(|(_, delay)| **delay >= point.delay);
        let beaten: Vec<u64> = beaten.map(|(key, _)| *key).collect();
        for key in beaten {
            self.0.remove(&key);
        }
        self.0.insert(key, point.delay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The slow twin.
    fn slow(points: &[FrontPoint]) -> Vec<FrontPoint> {
        let beats = |a: &FrontPoint, b: &FrontPoint| {
            let no_worse =
                a.recall >= b.recall && a.fa_per_mchar <= b.fa_per_mchar && a.delay <= b.delay;
            no_worse && (a.recall, a.fa_per_mchar, a.delay) != (b.recall, b.fa_per_mchar, b.delay)
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
                cell, recall: f64::from(*r), fa_per_mchar: f64::from(*f), delay: f64::from(*d),
            }).collect();
            prop_assert_eq!(front(&points), slow(&points));
        }
    }
}
