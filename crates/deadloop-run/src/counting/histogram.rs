//! Distributions in a few chars of a terminal.

use std::fmt::Write as _;

use crate::words::count as count_of;

/// The upper edges of the buckets for lengths and onsets, in chars; the last bucket has no upper edge.
pub const LENGTHS: [u64; 7] = [500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000];
/// The same for periods.
pub const PERIODS: [u64; 7] = [10, 30, 100, 300, 1_000, 3_000, 10_000];

/// The length of the longest bar, in chars.
const BAR: u64 = 40;
/// Eighths of a block, lying and standing.
const LYING: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const STANDING: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Counts in eight buckets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Histogram {
    edges: [u64; 7],
    counts: [u64; 8],
}

impl Histogram {
    /// An empty histogram with these edges.
    pub fn new(edges: [u64; 7]) -> Self {
        Self {
            edges,
            counts: [0; 8],
        }
    }

    /// Adds a value.
    pub fn add(&mut self, value: u64) {
        self.counts[self.edges.partition_point(|edge| *edge <= value)] += 1;
    }

    /// Adds the values of another histogram with the same edges.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.most() == 0
    }

    /// The buckets from the first to the last that hold anything.
    fn filled(&self) -> std::ops::Range<usize> {
        let first = self.counts.iter().position(|count| *count > 0);
        let last = self.counts.iter().rposition(|count| *count > 0);
        first
            .zip(last)
            .map_or(0..0, |(first, last)| first..last + 1)
    }

    fn most(&self) -> u64 {
        self.counts.iter().copied().max().unwrap_or(0)
    }

    /// One char for each bucket; a bucket that is not empty is never blank.
    pub fn spark(&self) -> String {
        let most = self.most().max(1);
        let bar = |count: &u64| STANDING[(count * 8).div_ceil(most) as usize];
        self.counts.iter().map(bar).collect()
    }

    /// A line for each bucket, from the first to the last that is not empty: its range, its count and its bar.
    pub fn bars(&self) -> String {
        let (ranges, most, filled) = (self.ranges(), self.most().max(1), self.filled());
        let ranges = &ranges[filled.clone()];
        let wide = ranges.iter().map(|range| range.chars().count()).max();
        let wide = wide.unwrap_or(0);
        let mut lines = String::new();
        for (range, count) in ranges.iter().zip(&self.counts[filled]) {
            let eighths = (count * BAR * 8).div_ceil(most);
            let bar = "█".repeat((eighths / 8) as usize) + LYING[(eighths % 8) as usize];
            let count = count_of(*count);
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "  {range:>wide$} {count:>9} {bar}");
        }
        lines
    }

    /// Each bucket as `[from, below, count]`; the last has no upper edge.
    pub fn json(&self) -> serde_json::Value {
        let from = std::iter::once(0).chain(self.edges);
        let below = self.edges.map(Some).into_iter().chain([None]);
        let buckets = from.zip(below).zip(self.counts);
        let rows = buckets.map(|((from, below), count)| serde_json::json!([from, below, count]));
        rows.collect()
    }

    fn ranges(&self) -> Vec<String> {
        let count = |n: &u64| count_of(*n);
        let between = self.edges.windows(2);
        let between = between.map(|edge| format!("{} to {}", count(&edge[0]), count(&edge[1])));
        let (first, last) = (&self.edges[0], &self.edges[6]);
        std::iter::once(format!("below {}", count(first)))
            .chain(between)
            .chain([format!("from {} on", count(last))])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fall_into_the_bucket_that_begins_with_them() {
        let mut histogram = Histogram::new(LENGTHS);
        for value in [0, 499, 500, 49_999, 50_000, u64::MAX] {
            histogram.add(value);
        }
        assert_eq!(histogram.counts, [2, 1, 0, 0, 0, 0, 1, 2]);
        assert_eq!(histogram.spark(), "█▄    ▄█");
        let bars = histogram.bars();
        let lines: Vec<&str> = bars.lines().collect();
        assert_eq!(lines.len(), 8);
        assert_eq!(
            lines[0],
            format!("         below 500         2 {}", "█".repeat(40))
        );
        assert_eq!(lines[2].trim_end(), "    1 000 to 2 000         0");
        assert_eq!(histogram.json()[7], serde_json::json!([50_000, null, 2]));
    }

    #[test]
    fn what_is_there_is_seen() {
        let mut histogram = Histogram::new(PERIODS);
        (0..1_000_000).for_each(|_| histogram.add(50));
        histogram.add(5);
        assert!(histogram.spark().starts_with("▁ █"));
        let bars = histogram.bars();
        assert!(bars.lines().next().is_some_and(|line| line.ends_with('▏')));
        let empty = Histogram::new(PERIODS);
        assert_eq!(
            (empty.spark(), empty.bars()),
            (" ".repeat(8), String::new())
        );
        let mut one = empty;
        one.add(50);
        assert_eq!(one.bars().lines().count(), 1, "{}", one.bars());
    }
}
