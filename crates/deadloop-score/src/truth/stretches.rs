//! [`Stretches`]: the order and the lengths of the channels' stretches, packed.
//!
//! A corpus of a million runs has a hundred million stretches in memory; most take one byte.

use deadloop_replay::detect::Channel;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::truth::{ByteReader, put_number};

/// Channels and lengths in order. As JSON a list of pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stretches(Box<[u8]>);

/// Number of bits of the first byte that hold the channel.
///
/// Each byte holds [`BITS_PER_BYTE`] bits in all. The highest bit marks that more bytes follow.
const CHANNEL_BITS: u32 = 3;
const BITS_PER_BYTE: u32 = 7;
const MORE_FOLLOWS: u8 = 1 << BITS_PER_BYTE;

impl Stretches {
    /// Packs the stretches.
    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        put_number(self.0.len() as u64, to);
        to.extend(&self.0);
    }

    /// Unpacks the bytes of [`put`](Self::put).
    pub(crate) fn take(from: &mut ByteReader<'_>) -> Self {
        let length = from.size();
        Self(from.read_up_to(length).into())
    }

    /// Returns the stretches in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Channel, u64)> + '_ {
        let mut bytes = self.0.iter();
        std::iter::from_fn(move || {
            let first = *bytes.next()?;
            let channel = Channel::ALL.get(usize::from(first & 0b111))?;
            let mut length = u64::from((first & !MORE_FOLLOWS) >> CHANNEL_BITS);
            let (mut shift, mut last) = (BITS_PER_BYTE - CHANNEL_BITS, first);
            while last & MORE_FOLLOWS != 0 {
                last = *bytes.next()?;
                length |= u64::from(last & !MORE_FOLLOWS)
                    .checked_shl(shift)
                    .unwrap_or(0);
                shift += BITS_PER_BYTE;
            }
            Some((*channel, length))
        })
    }
}

impl FromIterator<(Channel, u64)> for Stretches {
    fn from_iter<I: IntoIterator<Item = (Channel, u64)>>(all: I) -> Self {
        let mut bytes = Vec::new();
        for (channel, length) in all {
            let number = Channel::ALL.iter().position(|c| *c == channel);
            let (low, shift) = (length & 0b1111, BITS_PER_BYTE - CHANNEL_BITS);
            // Both fit: five channels in three bits, and four bits of the length.
            let mut byte = number.unwrap_or(0) as u8 | ((low as u8) << CHANNEL_BITS);
            let mut rest = length >> shift;
            while rest > 0 {
                bytes.push(byte | MORE_FOLLOWS);
                byte = (rest & u64::from(!MORE_FOLLOWS)) as u8;
                rest >>= BITS_PER_BYTE;
            }
            bytes.push(byte);
        }
        Self(bytes.into())
    }
}

impl Serialize for Stretches {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Stretches {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_packed_comes_back(
            all in proptest::collection::vec((0..Channel::ALL.len(), any::<u64>(), 0..64_u32), 0..20),
        ) {
            let all: Vec<(Channel, u64)> =
                all.into_iter().map(|(c, n, bits)| (Channel::ALL[c], n >> bits)).collect();
            let packed: Stretches = all.iter().copied().collect();
            prop_assert_eq!(packed.iter().collect::<Vec<_>>(), all);
        }
    }

    #[test]
    fn a_turn_a_call_and_its_short_arguments_take_three_bytes() {
        let all = [
            (Channel::Turns, 1),
            (Channel::Arguments, 12),
            (Channel::Tools, 1),
        ];
        assert_eq!(all.into_iter().collect::<Stretches>().0.len(), 3);
    }
}
