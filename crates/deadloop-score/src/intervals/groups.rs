//! [`Groups`]: what the transcripts of each group add up to, as some ten bytes a transcript. Where every transcript is a
//! group of its own there are as many tallies as transcripts, and nearly all their counts are 0.

use crate::intervals::Random;
use crate::tally::{Counts as _, Tally};
use crate::truth::{Bytes, Case, Pile, put_number};

/// What each group adds, in `N` tallies. Groups are told apart by the numbers of their names, which is all that their
/// weights depend on.
#[derive(Debug, Default)]
pub(crate) struct Groups<const N: usize> {
    tallies: Pile,
    /// Of each transcript its group, and where its tallies are.
    order: Vec<(u64, u32)>,
}

impl<const N: usize> Groups<N> {
    /// Adds a transcript to its group.
    pub(crate) fn add(&mut self, case: &Case, tallies: &[Tally; N]) {
        let place = u32::try_from(self.tallies.len()).unwrap_or(u32::MAX);
        self.tallies.push(|to| {
            for tally in tallies {
                put_number(tally.touched().count() as u64, to);
                for (count, n) in tally.touched() {
                    put_number(count as u64, to);
                    put_number(n.cast_unsigned(), to);
                }
            }
        });
        self.order.push((Random::number(case.cluster()), place));
    }

    /// Brings the transcripts of a group together.
    pub(crate) fn sort(&mut self) {
        self.order.sort_unstable();
    }

    /// Whether some group has more than one transcript; asked when they are sorted.
    pub(crate) fn has_larger(&self) -> bool {
        self.order.windows(2).any(|pair| pair[0].0 == pair[1].0)
    }

    /// Hands out each group with its sums, when they are sorted.
    pub(crate) fn each(&self, mut take: impl FnMut(u64, &[Tally; N])) {
        for group in self.order.chunk_by(|(one, _), (other, _)| one == other) {
            let mut sums = [Tally::default(); N];
            for (_, place) in group {
                let mut bytes = self.tallies.at(*place as usize);
                sums.iter_mut().for_each(|sum| add_to(sum, &mut bytes));
            }
            if let Some((name, _)) = group.first() {
                take(*name, &sums);
            }
        }
    }
}

fn add_to(sum: &mut Tally, bytes: &mut Bytes<'_>) {
    for _ in 0..bytes.size() {
        let count = bytes.size();
        *sum.slot(count) += bytes.number().cast_signed();
    }
}
