//! [`Record`]: the first alarms of all settings on one transcript.

use std::sync::Arc;

use crate::{Block, Plan};
use deadloop_detect::harness::Cursor;
use deadloop_detect::{Channel, ChannelLengths, Kind};
use serde::{Deserialize, Serialize};

/// A point in a transcript, with the counts and the time up to that point. The position of an alarm in its channel is
/// `seen.units(channel)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// The index of the event, and the offset in its text.
    #[serde(default)]
    pub place: Cursor,
    /// The counts of all channels up to this moment, including the unit that raised an alarm.
    pub seen: ChannelLengths,
    /// The time of the event in milliseconds since the request, if recorded.
    pub t_ms: Option<f64>,
    /// The number of tokens of all channels up to and including the event. `None` unless every event so far has a
    /// count.
    ///
    /// In a run that records tokens per turn, the tokens of the turns up to the current one. At a new turn, those of
    /// the ended turns.
    pub tokens: Option<u64>,
}

/// The first alarm of a setting on a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    /// The channel of the alarm.
    pub channel: Channel,
    /// The kind of loop reported by the detector.
    pub kind: Kind,
    /// The index of the member that raised the alarm, from 0.
    pub member: usize,
    /// The moment of the alarm if text arrives char by char.
    pub exact: Moment,
    /// The moment of the alarm in a live integration, at the end of the chunk that holds `exact`.
    pub delivered: Moment,
}

/// A box of cells that share one stop. Along axis `i`, it spans the value indices `lo[i]..hi[i]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// The first value index along each axis.
    pub lo: Vec<u16>,
    /// The value index after the last one, along each axis.
    pub hi: Vec<u16>,
    /// The index in [`BlockDecision::stops`].
    pub stop: usize,
}

/// The result of one transcript under one block, as disjoint regions with an alarm. Cells outside of all regions raise
/// no alarm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockDecision {
    /// The distinct stops.
    pub stops: Vec<Stop>,
    /// The regions of cells, each with its stop.
    pub regions: Vec<Region>,
    /// The error of a detector on this transcript. If set, `regions` is empty and the transcript is not scored.
    pub error: Option<String>,
    /// The details of the programs' alarms, each with the index of its member.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<(usize, String)>,
}

impl BlockDecision {
    /// Returns the stop of the cell with these value indices, if it raises an alarm.
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

    /// Returns the region of the cell with these value indices, if it raises an alarm.
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

/// The results of one transcript under every block of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The id of the transcript.
    pub transcript: Arc<str>,
    /// The result of each block, in the plan's order.
    pub blocks: Vec<BlockDecision>,
}

/// Returns whether `blocks` can be results of `plan`, as a check of results read from a file. Each block must have one
/// result, whose regions lie within its axes and refer to existing stops.
pub(crate) fn are_results_of(blocks: &[BlockDecision], plan: &Plan) -> bool {
    let mut both = blocks.iter().zip(plan.blocks());
    blocks.len() == plan.blocks().len() && both.all(|(d, b)| d.is_result_of(b))
}

impl BlockDecision {
    fn is_result_of(&self, block: &Block) -> bool {
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
