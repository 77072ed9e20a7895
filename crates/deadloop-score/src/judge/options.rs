//! [`JudgeOptions`], and [`ReadChannels`], the channels that a setting reads.

use deadloop_replay::ChannelLengths;
use deadloop_replay::detect::{Channel, Chars, Unit};
use serde::{Deserialize, Serialize};

/// The unit of judging, and the treatment of repetitions that end on their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeOptions {
    /// The unit of loops and healthy output. Loops in other units are counted and left out.
    #[serde(default, skip_serializing_if = "is_chars")]
    pub unit: Unit,
    /// The treatment of transient transcripts.
    pub transient: Transient,
}

fn is_chars(unit: &Unit) -> bool {
    *unit == Unit::Chars
}

deadloop_replay::detect::words! {
    /// The treatment of a transcript that repeats itself and recovers.
    #[derive(Default)]
    pub enum Transient {
        /// Counted in columns of their own, outside all ratios.
        #[default]
        Ignore = "ignore",
        /// Healthy text: transient spans are ignored.
        Clean = "clean",
        /// Loops: transient spans count as loops. A transcript without a span stays in its own columns, since an alarm
        /// cannot be judged by it.
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
    /// The channels that text detectors read by default.
    pub const TEXT: Self = Self {
        reasoning: true,
        answer: true,
        arguments: false,
    };

    /// Collects the channels for which `watches` is true.
    pub fn new(watches: impl Fn(Channel) -> bool) -> Self {
        Self {
            reasoning: watches(Channel::Reasoning),
            answer: watches(Channel::Answer),
            arguments: watches(Channel::Arguments),
        }
    }

    /// Returns the watched part of `seen`, in `unit`.
    pub fn units(self, unit: Unit, seen: ChannelLengths) -> u64 {
        match unit {
            Unit::Chars => self.chars(seen),
            Unit::Calls => seen.tools.0,
            Unit::Turns => seen.turns.0,
        }
    }

    /// Returns the chars of `seen` in the channels that are read.
    pub fn chars(self, seen: ChannelLengths) -> u64 {
        let of = |reads: bool, chars: Chars| if reads { chars.0 } else { 0 };
        of(self.reasoning, seen.reasoning)
            + of(self.answer, seen.answer)
            + of(self.arguments, seen.arguments)
    }
}
