//! [`ChannelLengths`]: the length of each channel. [`Cursor`]: a place in a transcript.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::channel::Channel;
use super::units::{Calls, Chars, Turns, Unit, Units};

/// The length of each channel at a moment of a transcript.
///
/// At a later moment, no channel is shorter. This orders positions in different channels without adding their units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ChannelLengths {
    /// Chars of reasoning.
    pub reasoning: Chars,
    /// Chars of the answer.
    pub answer: Chars,
    /// Chars of the arguments of calls.
    #[serde(default, skip_serializing_if = "is_none")]
    pub arguments: Chars,
    /// Tool calls.
    #[serde(default, skip_serializing_if = "is_none")]
    pub tools: Calls,
    /// Turns begun.
    #[serde(default, skip_serializing_if = "is_none")]
    pub turns: Turns,
}

fn is_none<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}

impl ChannelLengths {
    /// Returns the length of `channel`, in its unit.
    pub fn units(self, channel: Channel) -> Units {
        match channel {
            Channel::Reasoning => self.reasoning.into(),
            Channel::Answer => self.answer.into(),
            Channel::Arguments => self.arguments.into(),
            Channel::Tools => self.tools.into(),
            Channel::Turns => self.turns.into(),
        }
    }

    /// Returns the length of `channel` as a bare number.
    pub fn count(self, channel: Channel) -> u64 {
        self.units(channel).count()
    }

    /// Returns the chars of the channels that text detectors watch by default.
    pub fn text(self) -> Chars {
        self.reasoning + self.answer
    }

    /// Returns the lengths with `count` more units of `channel`.
    #[must_use]
    pub fn plus(self, channel: Channel, count: u64) -> Self {
        self.with(channel, self.count(channel).saturating_add(count))
    }

    /// Returns the lengths with `count` fewer units of `channel`, at least 0.
    #[must_use]
    pub fn minus(self, channel: Channel, count: u64) -> Self {
        self.with(channel, self.count(channel).saturating_sub(count))
    }

    fn with(mut self, channel: Channel, count: u64) -> Self {
        match channel {
            Channel::Reasoning => self.reasoning = Chars(count),
            Channel::Answer => self.answer = Chars(count),
            Channel::Arguments => self.arguments = Chars(count),
            Channel::Tools => self.tools = Calls(count),
            Channel::Turns => self.turns = Turns(count),
        }
        self
    }
}

/// Orders two moments of one transcript. `None` if neither is later, as for moments of different transcripts.
impl PartialOrd for ChannelLengths {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let of = |channel| self.count(channel).cmp(&other.count(channel));
        let mut all = Channel::ALL.into_iter().map(of);
        all.try_fold(Ordering::Equal, |sum, next| match (sum, next) {
            (sum, Ordering::Equal) => Some(sum),
            (Ordering::Equal, next) => Some(next),
            (sum, next) => (sum == next).then_some(sum),
        })
    }
}

/// A position in a transcript. Cursors are ordered across channels.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Cursor {
    /// The event, counted from 0.
    pub event: u64,
    /// The number of chars read of its text. 0 for an event without text.
    pub offset: u64,
}

impl Unit {
    /// Returns the channels that are counted in this unit.
    pub fn channels(self) -> impl Iterator<Item = Channel> {
        Channel::ALL.into_iter().filter(move |c| c.unit() == self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_moment_has_no_less_of_any_channel() {
        let early = ChannelLengths::default().plus(Channel::Answer, 5);
        let late = early.plus(Channel::Tools, 1);
        assert!(early < late);
        let elsewhere = ChannelLengths::default().plus(Channel::Reasoning, 9);
        assert_eq!(early.partial_cmp(&elsewhere), None);
        assert_eq!(late.minus(Channel::Tools, 4), early);
        assert_eq!(late.units(Channel::Tools), Calls(1).into());
    }
}
