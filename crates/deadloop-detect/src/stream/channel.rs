//! [`Channel`]: a stream inside a transcript. [`TextChannel`]: a channel that carries text.

use std::fmt;

use super::units::{Calls, Chars, Turns, Unit, Units};

crate::words! {
    /// A stream inside a transcript. Positions are counted in each channel separately.
    pub enum Channel {
        /// Text of the model's thinking, in chars.
        Reasoning = "reasoning",
        /// Text of the model's answer, in chars.
        Answer = "answer",
        /// The arguments of all tool calls, one after the other, in chars.
        Arguments = "arguments",
        /// Tool calls, in calls.
        Tools = "tools",
        /// Turns of an agent, in turns.
        Turns = "turns",
    }
}

impl Channel {
    /// The default channels of text detectors, in the order in which models usually fill them.
    pub const TEXT: [Self; 2] = [Self::Reasoning, Self::Answer];

    /// The channels that carry text. A text detector can read any of them.
    pub const ALL_TEXT: [Self; 3] = [Self::Reasoning, Self::Answer, Self::Arguments];
    /// Returns the unit of positions in this channel.
    pub fn unit(self) -> Unit {
        match self {
            Self::Reasoning | Self::Answer | Self::Arguments => Unit::Chars,
            Self::Tools => Unit::Calls,
            Self::Turns => Unit::Turns,
        }
    }

    /// Returns the channel as a [`TextChannel`]. `None` for tools and turns.
    pub fn text(self) -> Option<TextChannel> {
        TextChannel::named(self.name())
    }

    /// Returns a count in the unit of this channel.
    pub fn units(self, count: u64) -> Units {
        match self {
            Self::Reasoning | Self::Answer | Self::Arguments => Chars(count).into(),
            Self::Tools => Calls(count).into(),
            Self::Turns => Turns(count).into(),
        }
    }
}

/// A channel that carries text. Positions are counted in chars.
///
/// ```compile_fail
/// use deadloop_detect::{Channel, Event};
/// let text = Event::Text(Channel::Tools, "ls"); // calls are no text
/// ```
/// ```
/// use deadloop_detect::{Channel, Event, TextChannel};
/// let text = Event::Text(TextChannel::Answer, "ls");
/// assert_eq!(Channel::from(TextChannel::Answer), Channel::Answer);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextChannel {
    /// Text of the model's thinking.
    Reasoning,
    /// Text of the model's answer.
    Answer,
    /// The argument texts of tool calls, one after the other.
    Arguments,
}

impl TextChannel {
    /// Every channel that carries text.
    pub const ALL: [Self; 3] = [Self::Reasoning, Self::Answer, Self::Arguments];

    /// Returns the text channel with this name in files.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|channel| channel.name() == name)
    }

    /// Returns the name used in files and commands.
    pub fn name(self) -> &'static str {
        Channel::from(self).name()
    }
}

impl From<TextChannel> for Channel {
    fn from(channel: TextChannel) -> Self {
        match channel {
            TextChannel::Reasoning => Self::Reasoning,
            TextChannel::Answer => Self::Answer,
            TextChannel::Arguments => Self::Arguments,
        }
    }
}

impl PartialEq<Channel> for TextChannel {
    fn eq(&self, other: &Channel) -> bool {
        Channel::from(*self) == *other
    }
}

impl fmt::Display for TextChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
