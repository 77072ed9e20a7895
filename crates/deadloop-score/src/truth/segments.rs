//! [`ChannelSegments`]: the order and the lengths of the segments of channels, packed.
//!
//! A corpus of a million runs has a hundred million segments in memory. Most of them take one byte.

use deadloop_replay::detect::Channel;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::truth::{ByteReader, put_number};

/// The channel and the length of each segment, in order. The JSON is a list of pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ChannelSegments(Box<[u8]>);

/// The number of bits of a segment's first byte that hold the channel.
const CHANNEL_BITS: u32 = 3;
/// The number of bits of a byte that hold a part of a value.
const BITS_PER_BYTE: u32 = 7;
/// The bit of a byte that is set if more bytes of the segment follow.
const CONTINUATION_BIT: u8 = 1 << BITS_PER_BYTE;

impl ChannelSegments {
    /// Writes the packed segments.
    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        put_number(self.0.len() as u64, to);
        to.extend(&self.0);
    }

    /// Reads segments written by [`put`](Self::put).
    pub(crate) fn read(from: &mut ByteReader<'_>) -> Self {
        let length = from.read_size();
        Self(from.read_up_to(length).into())
    }

    /// Returns the channel and the length of each segment, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Channel, u64)> + '_ {
        let mut bytes = self.0.iter();
        std::iter::from_fn(move || {
            let first = *bytes.next()?;
            let channel = Channel::ALL.get(usize::from(first & 0b111))?;
            let mut length = u64::from((first & !CONTINUATION_BIT) >> CHANNEL_BITS);
            let (mut shift, mut last) = (BITS_PER_BYTE - CHANNEL_BITS, first);
            while last & CONTINUATION_BIT != 0 {
                last = *bytes.next()?;
                length |= u64::from(last & !CONTINUATION_BIT)
                    .checked_shl(shift)
                    .unwrap_or(0);
                shift += BITS_PER_BYTE;
            }
            Some((*channel, length))
        })
    }
}

impl FromIterator<(Channel, u64)> for ChannelSegments {
    fn from_iter<I: IntoIterator<Item = (Channel, u64)>>(all: I) -> Self {
        let mut bytes = Vec::new();
        for (channel, length) in all {
            let number = Channel::ALL.iter().position(|c| *c == channel);
            let (low, shift) = (length & 0b1111, BITS_PER_BYTE - CHANNEL_BITS);
            // The channel takes three bits, and the beginning of the length takes four.
            let mut byte = number.unwrap_or(0) as u8 | ((low as u8) << CHANNEL_BITS);
            let mut rest = length >> shift;
            while rest > 0 {
                bytes.push(byte | CONTINUATION_BIT);
                byte = (rest & u64::from(!CONTINUATION_BIT)) as u8;
                rest >>= BITS_PER_BYTE;
            }
            bytes.push(byte);
        }
        Self(bytes.into())
    }
}

impl Serialize for ChannelSegments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for ChannelSegments {
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
            let packed: ChannelSegments = all.iter().copied().collect();
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
        assert_eq!(all.into_iter().collect::<ChannelSegments>().0.len(), 3);
    }
}
