//! [`GroupTallies`]: the sums of the transcripts of each group, packed.
//!
//! A transcript takes some ten bytes. If every transcript is its own group there are as many tallies as transcripts,
//! and nearly all their counts are 0.

use crate::tally::Tally;
use crate::truth::{ByteReader, StringPool, put_number};

/// The tallies of groups, which are identified by number. A group's weights depend on its number alone.
#[derive(Debug, Default)]
pub(crate) struct GroupTallies {
    tallies: StringPool,
    /// The group of each transcript, and the place of its tally.
    order: Vec<(u64, u32)>,
}

impl GroupTallies {
    /// Adds a transcript to its group.
    pub(crate) fn add(&mut self, group: u64, tally: &Tally) {
        let place = u32::try_from(self.tallies.len()).unwrap_or(u32::MAX);
        self.tallies.push(|to| {
            put_number(tally.nonzero().count() as u64, to);
            for (count, n) in tally.nonzero() {
                put_number(count as u64, to);
                put_number(n.cast_unsigned(), to);
            }
        });
        self.order.push((group, place));
    }

    /// Sorts the transcripts by group.
    pub(crate) fn sort(&mut self) {
        self.order.sort_unstable();
    }

    /// Returns whether some group has more than one transcript. Call [`sort`](Self::sort) first.
    pub(crate) fn has_larger(&self) -> bool {
        self.order.windows(2).any(|pair| pair[0].0 == pair[1].0)
    }

    /// Calls `take` with each group and its sum. Call [`sort`](Self::sort) first.
    pub(crate) fn each(&self, mut take: impl FnMut(u64, &Tally)) {
        for group in self.order.chunk_by(|(one, _), (other, _)| one == other) {
            let mut sum = Tally::default();
            for (_, place) in group {
                add_to(&mut sum, &mut self.tallies.at(*place as usize));
            }
            if let Some((name, _)) = group.first() {
                take(*name, &sum);
            }
        }
    }
}

fn add_to(sum: &mut Tally, bytes: &mut ByteReader<'_>) {
    for _ in 0..bytes.size() {
        let count = bytes.size();
        *sum.slot(count) += bytes.number().cast_signed();
    }
}
