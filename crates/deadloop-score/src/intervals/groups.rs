//! [`GroupTallies`]: the sums of the outcomes of each group, packed.
//!
//! A transcript takes some ten bytes. If every transcript is its own group, there are as many tallies as transcripts,
//! and nearly all of their counts are 0.

use crate::tally::Tally;
use crate::truth::{ByteReader, StringPool, put_number};

/// The tallies of groups, which are identified by number.
#[derive(Debug, Default)]
pub(crate) struct GroupTallies {
    tallies: StringPool,
    /// The group of each transcript, and the index of its tally.
    order: Vec<(u64, u32)>,
}

impl GroupTallies {
    /// Adds a transcript to its group.
    pub(crate) fn add_tally(&mut self, group: u64, tally: &Tally) {
        let index = u32::try_from(self.tallies.len()).unwrap_or(u32::MAX);
        self.tallies.push(|to| {
            put_number(tally.nonzero().count() as u64, to);
            for (count, n) in tally.nonzero() {
                put_number(count as u64, to);
                put_number(n.cast_unsigned(), to);
            }
        });
        self.order.push((group, index));
    }

    /// Sorts the transcripts by group.
    pub(crate) fn sort(&mut self) {
        self.order.sort_unstable();
    }

    /// Returns whether some group has more than one transcript. Call [`sort`](Self::sort) first.
    pub(crate) fn has_several_in_one(&self) -> bool {
        self.order.windows(2).any(|pair| pair[0].0 == pair[1].0)
    }

    /// Calls `visit` with the number and the sum of each group. Call [`sort`](Self::sort) first.
    pub(crate) fn for_each_sum(&self, mut visit: impl FnMut(u64, &Tally)) {
        for group in self.order.chunk_by(|(one, _), (other, _)| one == other) {
            let mut sum = Tally::default();
            for (_, index) in group {
                add_packed(&mut sum, &mut self.tallies.at(*index as usize));
            }
            if let Some((name, _)) = group.first() {
                visit(*name, &sum);
            }
        }
    }
}

fn add_packed(sum: &mut Tally, bytes: &mut ByteReader<'_>) {
    for _ in 0..bytes.read_size() {
        let count = bytes.read_size();
        *sum.count_at(count) += bytes.read_number().cast_signed();
    }
}
