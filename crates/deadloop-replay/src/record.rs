//! What a replay leaves: for one transcript and one [block](crate::Block) of settings, where each
//! setting of the block first alarms.

use std::sync::Arc;

use crate::{Block, Plan};
use deadloop_detect::harness::Cursor;
use deadloop_detect::{Channel, Kind, Seen};
use serde::{Deserialize, Serialize};

/// A moment of a transcript. Moments of one transcript are ordered by their places; an alarm's position in its
/// channel is `seen.units(channel)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// The event, and how much of its text.
    #[serde(default)]
    pub place: Cursor,
    /// What had arrived, the unit that made it an alarm included.
    pub seen: Seen,
    /// Milliseconds since the request, of the event that holds the moment, where recorded.
    pub t_ms: Option<f64>,
    /// Tokens up to and including that event, all channels, where every event so far has a count. In a run whose turns
    /// say what they read and wrote: tokens of the turns up to that one, before a turn of those that ended.
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
    /// The moment at which a detector that sees one unit at a time knows.
    pub exact: Moment,
    /// The end of the event (chunk) that holds it: what a live integration sees.
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
    /// What programs of the block said of their alarms: the member, counted from 0, and its words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<(usize, String)>,
}

impl Decided {
    /// The stop of the cell whose value along axis `i` is the `at[i]`-th.
    pub fn stop(&self, at: &[u16]) -> Option<&Stop> {
        self.region(at).map(|r| &self.stops[r.stop])
    }

    /// What the program that made a stop said of it.
    pub fn detail(&self, stop: &Stop) -> Option<&str> {
        let mut details = self.details.iter();
        details
            .find(|(member, _)| *member == stop.member)
            .map(|(_, detail)| detail.as_str())
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
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The transcript's id; in memory once for all who name it.
    pub transcript: Arc<str>,
    /// One entry a block.
    pub blocks: Vec<Decided>,
}

/// Whether these can be the blocks of a plan: one for each of its blocks, each region a box inside that one's axes,
/// each stop and member there. What was read from a file is asked before anything is counted.
pub(crate) fn fits(blocks: &[Decided], plan: &Plan) -> bool {
    let mut both = blocks.iter().zip(plan.blocks());
    blocks.len() == plan.blocks().len() && both.all(|(d, b)| d.fits(b))
}

impl Decided {
    fn fits(&self, block: &Block) -> bool {
        let axes = block.axes();
        let region = |region: &Region| {
            let ends = region.lo.iter().zip(&region.hi).zip(axes);
            let lengths = [region.lo.len(), region.hi.len()];
            lengths == [axes.len(); 2]
                && region.stop < self.stops.len()
                && ends
                    .into_iter()
                    .all(|((lo, hi), axis)| lo < hi && usize::from(*hi) <= axis.values.len())
        };
        self.regions.iter().all(region)
    }
}
