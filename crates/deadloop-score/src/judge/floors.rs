//! Floors: what a setting has to beat. They look at no text, so no engine is needed.
//!
//! A floor alarms at a char, a call or a turn, in the unit of choice; its chunk is not known here, so `delivered`
//! is `exact`, and it has neither milliseconds nor tokens. It watches both text channels.

use deadloop_replay::detect::harness::Cursor;
use deadloop_replay::detect::{Channel, Kind, Seen, Unit};
use deadloop_replay::{Moment, Stop};

use crate::intervals::Random;
use crate::judge::ReadChannels;
use crate::truth::Case;

/// Something that alarms without looking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Floor {
    /// Never alarms: no detector at all.
    Never,
    /// Alarms as soon as one channel has this many chars.
    FirstCheckpoint {
        /// The checkpoint, in chars: 2000 in the design document.
        chars: u64,
    },
    /// Ends every run that has more than this many calls or turns.
    Limit {
        /// The limit: 10 or 25.
        most: u64,
    },
    /// Alarms on a random share of the transcripts, at a uniformly random char, call or turn.
    Random {
        /// The share: that of the current setting, so that the two spend the same alarms.
        rate: f64,
        /// Seed. A transcript's alarm depends on the seed and its id, not on the other ones.
        seed: u64,
    },
}

impl Floor {
    /// Its name in the column `setting`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::FirstCheckpoint { .. } => "first-checkpoint",
            Self::Limit { most: 10 } => "limit-10",
            Self::Limit { .. } => "limit-25",
            Self::Random { .. } => "random",
        }
    }

    /// The channels that it watches.
    pub fn watch() -> ReadChannels {
        ReadChannels::TEXT
    }

    /// Its alarm on a transcript.
    pub fn stop(self, case: &Case, unit: Unit) -> Option<Stop> {
        let line = &case.timeline;
        let (channel, seen) = match self {
            Self::Never => None,
            Self::FirstCheckpoint { chars } => line.first_to_reach(chars),
            Self::Limit { most } => nth(case, unit, most + 1),
            Self::Random { rate, seed } => {
                let mut random = Random::named(seed, &case.id);
                let fires = random.unit() < rate;
                let place = random.below(Self::watch().units(unit, line.length()));
                nth(case, unit, place + 1).filter(|_| fires)
            }
        }?;
        let moment = Moment {
            place: Cursor::default(),
            seen,
            t_ms: None,
            tokens: None,
        };
        Some(Stop {
            channel,
            kind: Kind::Other,
            member: 0,
            exact: moment,
            delivered: moment,
        })
    }
}

/// The moment at which the `nth` unit (from 1) of a transcript had arrived.
fn nth(case: &Case, unit: Unit, nth: u64) -> Option<(Channel, Seen)> {
    match unit {
        Unit::Chars => case.timeline.nth_char(nth),
        Unit::Calls => case.timeline.nth_of(Channel::Tools, nth),
        Unit::Turns => case.timeline.nth_of(Channel::Turns, nth),
        Unit::Tokens | Unit::Ms | Unit::Money => None,
    }
}
