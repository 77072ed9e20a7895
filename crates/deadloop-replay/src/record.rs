//! What a replay leaves: for one transcript and one [block](crate::Block) of settings, where each
//! setting of the block first alarms.

use std::sync::Arc;

use deadloop_detect::{Channel, Chars, Kind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How much of a transcript had arrived at some moment, channel by channel.
///
/// Two moments of one transcript are ordered the same way in every channel, which is what makes
/// positions in different channels comparable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Seen {
    /// Chars of reasoning.
    pub reasoning: Chars,
    /// Chars of the answer.
    pub answer: Chars,
}

impl Seen {
    /// The chars of `channel` that had arrived; 0 for `tools`, which has no chars.
    pub fn of(self, channel: Channel) -> Chars {
        match channel {
            Channel::Reasoning => self.reasoning,
            Channel::Answer => self.answer,
            Channel::Tools => Chars(0),
        }
    }

    /// So many more chars of `channel`.
    #[must_use]
    pub fn plus(self, channel: Channel, chars: Chars) -> Self {
        self.change(channel, |n| n + chars)
    }

    /// So many fewer chars of `channel`, at least 0.
    #[must_use]
    pub fn minus(self, channel: Channel, chars: Chars) -> Self {
        self.change(channel, |n| n.saturating_sub(chars))
    }

    fn change(mut self, channel: Channel, by: impl Fn(Chars) -> Chars) -> Self {
        match channel {
            Channel::Reasoning => self.reasoning = by(self.reasoning),
            Channel::Answer => self.answer = by(self.answer),
            Channel::Tools => {}
        }
        self
    }

    /// The earlier of two moments of one transcript.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Self {
            reasoning: self.reasoning.min(other.reasoning),
            answer: self.answer.min(other.answer),
        }
    }
}

/// A moment of an alarm. Its position in the alarm's channel is `seen.of(channel)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// What had arrived, the char that made it an alarm included.
    pub seen: Seen,
    /// Milliseconds since the request, of the event that holds the moment, where recorded.
    pub t_ms: Option<f64>,
    /// Tokens up to and including that event, all channels, where every event so far has a count.
    pub tokens: Option<u64>,
}

/// The first alarm of a setting on a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    /// The channel in which it fired.
    pub channel: Channel,
    /// What kind of loop the detector takes it for.
    pub kind: Kind,
    /// Which member of the guard fired, counted from 0.
    pub member: usize,
    /// The char at which a detector that sees one char at a time knows.
    pub exact: Moment,
    /// The end of the event (chunk) that holds that char: what a live integration sees.
    pub delivered: Moment,
}

/// The cells of a block, as a box, that share one stop: along axis `i` the values `lo[i]..hi[i]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// First value of each threshold axis.
    pub lo: Vec<u16>,
    /// One past the last value of each threshold axis.
    pub hi: Vec<u16>,
    /// Index into [`Decided::stops`].
    pub stop: usize,
}

/// One transcript held against one block: disjoint regions that alarm. A cell in no region is
/// quiet on this transcript.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Decided {
    /// The distinct stops.
    pub stops: Vec<Stop>,
    /// Which cells share which stop.
    pub regions: Vec<Region>,
    /// Why the detector failed on this transcript; then there are no regions and nothing is scored.
    pub error: Option<String>,
}

impl Decided {
    /// The stop of the cell whose value along axis `i` is the `at[i]`-th.
    pub fn stop(&self, at: &[u16]) -> Option<&Stop> {
        self.region(at).map(|r| &self.stops[r.stop])
    }

    /// The region that such a cell is in.
    pub fn region(&self, at: &[u16]) -> Option<&Region> {
        let holds = |r: &&Region| {
            at.iter()
                .zip(&r.lo)
                .zip(&r.hi)
                .all(|((x, lo), hi)| lo <= x && x < hi)
        };
        self.regions.iter().find(holds)
    }
}

/// One transcript through every block of a plan, in the plan's order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The transcript's id; in memory once for all who name it.
    #[serde(serialize_with = "written", deserialize_with = "read")]
    pub transcript: Arc<str>,
    /// One entry a block.
    pub blocks: Vec<Decided>,
}

fn written<S: Serializer>(id: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(id)
}

fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
    String::deserialize(from).map(Arc::from)
}
