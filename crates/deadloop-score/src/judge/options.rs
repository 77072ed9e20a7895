//! [`JudgeOptions`], and [`ReadChannels`]: the channels that a setting reads.

use deadloop_replay::ChannelLengths;
use deadloop_replay::detect::{Channel, Chars, Unit};
use serde::{Deserialize, Serialize};

/// The unit of judging, and the treatment of transient repetitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeOptions {
    /// The unit of loops and healthy output. Spans in other units are ignored.
    #[serde(default, skip_serializing_if = "is_chars")]
    pub unit: Unit,
    /// The treatment of transcripts with a transient repetition.
    pub transient: Transient,
}

fn is_chars(unit: &Unit) -> bool {
    *unit == Unit::Chars
}

deadloop_replay::detect::words! {
    /// The treatment of a transcript that repeats itself and recovers.
    #[derive(Default)]
    pub enum Transient {
        /// The transcript is counted in separate columns, outside all ratios.
        #[default]
        Ignore = "ignore",
        /// Transient spans are healthy text.
        Clean = "clean",
        /// Transient spans count as loops. A transcript without a span is still counted in separate columns, since an
        /// alarm cannot be judged by it.
        Loop = "loop",
    }
}

/// The text channels that a setting reads.
///
/// Chars in other channels do not count as exposure. Calls and turns always count, since the setting could have ended
/// the run at each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadChannels {
    /// Whether the setting reads `reasoning`.
    pub reasoning: bool,
    /// Whether the setting reads `answer`.
    pub answer: bool,
    /// Whether the setting reads `arguments`.
    pub arguments: bool,
}

impl ReadChannels {
    /// The channels that text detectors read by default: reasoning and answer.
    pub const TEXT: Self = Self {
        reasoning: true,
        answer: true,
        arguments: false,
    };

    /// Creates the set of channels for which `reads` is true.
    pub fn new(reads: impl Fn(Channel) -> bool) -> Self {
        Self {
            reasoning: reads(Channel::Reasoning),
            answer: reads(Channel::Answer),
            arguments: reads(Channel::Arguments),
        }
    }

    /// Returns the amount of `seen` in the channels that are read, in `unit`.
    pub fn units(self, unit: Unit, seen: ChannelLengths) -> u64 {
        match unit {
            Unit::Chars => self.chars(seen),
            Unit::Calls => seen.tools.0,
            Unit::Turns => seen.turns.0,
        }
    }

    /// Returns the number of chars of `seen` in the channels that are read.
    pub fn chars(self, seen: ChannelLengths) -> u64 {
        let chars_if = |reads: bool, chars: Chars| if reads { chars.0 } else { 0 };
        chars_if(self.reasoning, seen.reasoning)
            + chars_if(self.answer, seen.answer)
            + chars_if(self.arguments, seen.arguments)
    }
}
