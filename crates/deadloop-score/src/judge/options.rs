//! How alarms are judged: [`JudgeOptions`], and [`ReadChannels`], what a setting reads.

use deadloop_replay::Seen;
use deadloop_replay::detect::{Channel, Chars, Unit};
use serde::{Deserialize, Serialize};

/// In what alarms are judged, and what a repetition that ends by itself counts as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeOptions {
    /// In what loops and healthy output are counted. What loops in another unit is counted and left out.
    #[serde(default, skip_serializing_if = "is_chars")]
    pub unit: Unit,
    /// What a transient transcript counts as.
    pub transient: Transient,
}

fn is_chars(unit: &Unit) -> bool {
    *unit == Unit::Chars
}

deadloop_replay::detect::words! {
    /// What a transcript that repeats itself and recovers counts as.
    #[derive(Default)]
    pub enum Transient {
        /// Its own columns, in no ratio.
        #[default]
        Ignore = "ignore",
        /// Healthy text: its spans are as if they were not there.
        Clean = "clean",
        /// Its spans are loops. One without a span stays in its own columns: there is nothing to judge
        /// an alarm by.
        Loop = "loop",
    }
}

/// Which channels of text a setting reads. Chars that it never sees are no exposure; calls and turns are, whatever
/// it reads: it could have ended the run at each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadChannels {
    /// Whether it reads `reasoning`.
    pub reasoning: bool,
    /// Whether it reads `answer`.
    pub answer: bool,
    /// Whether it reads `arguments`.
    pub arguments: bool,
}

impl ReadChannels {
    /// The channels that text detectors read unasked.
    pub const TEXT: Self = Self {
        reasoning: true,
        answer: true,
        arguments: false,
    };

    /// What `watches` says of each channel.
    pub fn of(watches: impl Fn(Channel) -> bool) -> Self {
        Self {
            reasoning: watches(Channel::Reasoning),
            answer: watches(Channel::Answer),
            arguments: watches(Channel::Arguments),
        }
    }

    /// Returns how much of `seen` counts as watched, in `unit`.
    pub fn units(self, unit: Unit, seen: Seen) -> u64 {
        match unit {
            Unit::Chars => self.chars(seen),
            Unit::Calls => seen.tools.0,
            Unit::Turns => seen.turns.0,
        }
    }

    /// The chars of `seen` in the channels that are read.
    pub fn chars(self, seen: Seen) -> u64 {
        let of = |reads: bool, chars: Chars| if reads { chars.0 } else { 0 };
        of(self.reasoning, seen.reasoning)
            + of(self.answer, seen.answer)
            + of(self.arguments, seen.arguments)
    }
}
