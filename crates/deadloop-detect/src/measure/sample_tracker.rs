//! [`SampleTracker`]: finds values that stay low for several consecutive samples.
//!
//! It serves detectors that take a sample of the text every `stride` chars.

use std::collections::VecDeque;

use crate::settings::param::Param;

/// The maximum number of consecutive samples that a setting may require.
const MAX_HOLD: usize = 50;

/// Returns the parameter `hold` with this default.
pub(crate) const fn param(default: i64) -> Param {
    Param::count("hold", default, 1..=MAX_HOLD as i64)
        .at_most()
        .unit("samples")
        .doc("samples in a row, that must all show it")
}

/// A tracker of the samples of one stream. A sample is N numbers, each with a threshold as its upper bound. Low numbers
/// indicate a loop.
pub(crate) struct SampleTracker<const N: usize> {
    /// The highest numbers that the loosest setting accepts.
    loosest: [i64; N],
    /// The number of consecutive samples that the loosest setting requires.
    least: usize,
    /// The consecutive last samples that the loosest setting accepts, newest first.
    row: VecDeque<[i64; N]>,
    /// At index n - 1, the numbers of the last reported stretch of n or more samples. A setting that accepts them needs
    /// no later stretch of n samples with equal or higher numbers.
    reported: [[i64; N]; MAX_HOLD],
}

/// A stretch of the last `samples` samples, with the maximum of each number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SampleStretch<const N: usize> {
    pub(crate) samples: usize,
    pub(crate) highest: [i64; N],
}

impl<const N: usize> SampleTracker<N> {
    pub(crate) fn new(loosest: [i64; N], least: u64) -> Self {
        Self {
            loosest,
            least: usize::try_from(least).unwrap_or(MAX_HOLD),
            row: VecDeque::new(),
            reported: [[i64::MAX; N]; MAX_HOLD],
        }
    }

    /// Reads the next sample, or `None` for one that no setting accepts. Returns the stretches that some setting
    /// accepts and that no earlier stretch makes redundant, shortest first.
    ///
    /// The numbers rise with the length of a stretch. Of stretches with equal numbers, only the longest is returned.
    pub(crate) fn push(&mut self, sample: Option<[i64; N]>) -> Vec<SampleStretch<N>> {
        let mut stretches = Vec::new();
        let Some(sample) = sample.filter(|s| is_at_most(s, &self.loosest)) else {
            self.row.clear();
            return stretches;
        };
        self.row.truncate(MAX_HOLD - 1);
        self.row.push_front(sample);
        let mut highest = sample;
        for samples in 1..=self.row.len() {
            let next = self.row.get(samples).map(|s| max_of_each(&highest, s));
            if next != Some(highest) {
                let stretch = SampleStretch { samples, highest };
                if samples >= self.least && self.is_new(&stretch) {
                    stretches.push(stretch);
                }
            }
            highest = next.unwrap_or(highest);
        }
        stretches
    }

    /// Returns whether no earlier stretch makes this one redundant. If so, records it.
    fn is_new(&mut self, stretch: &SampleStretch<N>) -> bool {
        let SampleStretch { samples, highest } = stretch;
        if is_at_most(&self.reported[samples - 1], highest) {
            return false;
        }
        for reported in &mut self.reported[..*samples] {
            if !is_at_most(reported, highest) {
                *reported = *highest;
            }
        }
        true
    }
}

fn is_at_most<const N: usize>(a: &[i64; N], b: &[i64; N]) -> bool {
    a.iter().zip(b).all(|(a, b)| a <= b)
}

fn max_of_each<const N: usize>(a: &[i64; N], b: &[i64; N]) -> [i64; N] {
    std::array::from_fn(|i| a[i].max(b[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(stretches: &[SampleStretch<1>]) -> Vec<(usize, i64)> {
        stretches
            .iter()
            .map(|s| (s.samples, s.highest[0]))
            .collect()
    }

    #[test]
    fn each_stretch_is_reported_once() {
        let mut hold = SampleTracker::new([10], 1);
        assert_eq!(pairs(&hold.push(Some([5]))), [(1, 5)]);
        assert_eq!(pairs(&hold.push(Some([3]))), [(1, 3), (2, 5)]);
        assert_eq!(pairs(&hold.push(Some([4]))), [(2, 4), (3, 5)]);
        assert_eq!(pairs(&hold.push(Some([11]))), []);
        assert_eq!(pairs(&hold.push(Some([3]))), [], "reported before");
        assert_eq!(pairs(&hold.push(Some([2]))), [(1, 2), (2, 3)]);
    }

    #[test]
    fn stretches_too_short_for_all_settings_are_not_reported() {
        let mut hold = SampleTracker::new([10], 3);
        assert_eq!(pairs(&hold.push(Some([1]))), []);
        assert_eq!(pairs(&hold.push(None)), []);
        assert_eq!(pairs(&hold.push(Some([1]))), []);
        assert_eq!(pairs(&hold.push(Some([1]))), []);
        assert_eq!(pairs(&hold.push(Some([1]))), [(3, 1)]);
    }

    #[test]
    fn a_long_loop_is_reported_up_to_the_maximum() {
        let mut hold = SampleTracker::new([0], 1);
        let reported: Vec<usize> = (0..500)
            .flat_map(|_| hold.push(Some([0])))
            .map(|s| s.samples)
            .collect();
        assert_eq!(reported, (1..=MAX_HOLD).collect::<Vec<_>>());
    }
}
