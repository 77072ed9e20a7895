//! [`Record`]: the first alarms of all settings on one transcript.

use std::sync::Arc;

use crate::{Block, Plan};
use deadloop_detect::harness::Cursor;
use deadloop_detect::{Channel, ChannelLengths, Kind};
use serde::{Deserialize, Serialize};

/// A moment of a transcript. The moments of one transcript are ordered by their places. The position of an alarm in
/// its channel is `seen.units(channel)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// The event, and the offset in its text.
    #[serde(default)]
    pub place: Cursor,
    /// Counts of the text and events that had arrived, including the unit that raised the alarm.
    pub seen: ChannelLengths,
    /// Milliseconds from the request to the event of this moment, if they were recorded.
    pub t_ms: Option<f64>,
    /// Tokens up to and including the event, in all channels, if every event so far has a count. A run whose turns
    /// record their tokens counts the turns up to and including the current one, and at a turn the turns that ended.
    pub tokens: Option<u64>,
}

/// The first alarm of a setting on a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    /// The channel of the alarm.
    pub channel: Channel,
    /// The kind of loop that the detector reports.
    pub kind: Kind,
    /// Index of the member that raised the alarm, from 0.
    pub member: usize,
    /// The moment of the alarm if text arrives one unit at a time.
    pub exact: Moment,
    /// The moment of the alarm in a live integration: the end of the chunk that holds `exact`.
    pub delivered: Moment,
}

/// A box of cells that share one stop. Along axis `i` it spans the values `lo[i]..hi[i]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// Index of the first value of each threshold axis.
    pub lo: Vec<u16>,
    /// Index after the last value of each threshold axis.
    pub hi: Vec<u16>,
    /// Index into [`BlockDecision::stops`].
    pub stop: usize,
}

/// The result of one transcript under one block: disjoint regions with an alarm. A cell in no region raises no alarm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockDecision {
    /// The distinct stops.
    pub stops: Vec<Stop>,
    /// The regions of cells, each with its stop.
    pub regions: Vec<Region>,
    /// The failure of a detector on this transcript. Then `regions` is empty and the transcript is not scored.
    pub error: Option<String>,
    /// The details that programs gave for their alarms, each with the index of its member.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<(usize, String)>,
}

impl BlockDecision {
    /// Returns the stop of the cell whose value along axis `i` is the `at[i]`-th.
    pub fn stop(&self, at: &[u16]) -> Option<&Stop> {
        self.region(at).map(|r| &self.stops[r.stop])
    }

    /// Returns the detail that a program gave for a stop.
    pub fn detail(&self, stop: &Stop) -> Option<&str> {
        let mut details = self.details.iter();
        details
            .find(|(member, _)| *member == stop.member)
            .map(|(_, detail)| detail.as_str())
    }

    /// Returns the region of the cell with these value indices.
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

/// The results of one transcript under every block of a plan, in the plan's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The transcript's id, shared in memory.
    pub transcript: Arc<str>,
    /// The result of each block.
    pub blocks: Vec<BlockDecision>,
}

/// Returns whether `blocks` can be results of `plan`. Each block must have one result, whose regions lie within the
/// block's axes and refer to existing stops. Results that were read from a file are checked before they are used.
pub(crate) fn fits(blocks: &[BlockDecision], plan: &Plan) -> bool {
    let mut both = blocks.iter().zip(plan.blocks());
    blocks.len() == plan.blocks().len() && both.all(|(d, b)| d.fits(b))
}

impl BlockDecision {
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
