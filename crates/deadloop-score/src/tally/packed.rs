//! [`PackedRecords`]: the records of a corpus, in some ten bytes per case.
//!
//! A replay of a million transcripts holds a million of these. Each is unpacked only while it is used.

use std::collections::BTreeMap;

use deadloop_replay::detect::Channel;
use deadloop_replay::detect::harness::Cursor;
use deadloop_replay::{BlockDecision, Moment, Plan, Record, Region, Stop};

use crate::judge::{JudgeOptions, ReadChannels};
use crate::tally::sheet::{LatencySheet, Sheet, changes, sum_boxes};
use crate::tally::{AnyEvidence, BlockTrial, Mismatch, Tally};
use crate::truth::{
    ByteReader, Case, CaseSet, PackedCases, StringPool, put_float, put_kind, put_list, put_maybe,
    put_number, put_option, put_place, put_seen, put_text, take_kind, take_place, take_seen,
};

/// Packed records: the decisions of every block on each case, in the order of the cases.
#[derive(Clone, Debug, Default)]
pub struct PackedRecords(StringPool);

impl PackedRecords {
    /// Adds the decisions of all blocks on the next case.
    pub fn push(&mut self, blocks: &[BlockDecision]) {
        self.0.push(|to| {
            let mut one = Vec::new();
            for decided in blocks {
                one.clear();
                put_decided(decided, &mut one);
                // The length lets a reader skip a block without unpacking it.
                put_number(one.len() as u64, to);
                to.extend(&one);
            }
        });
    }

    /// Returns the number of cases.
    pub fn number(&self) -> usize {
        self.0.len()
    }

    /// Returns the decisions of one block on a case.
    pub fn decided(&self, case: usize, block: usize) -> BlockDecision {
        let mut bytes = self.0.at(case);
        for _ in 0..block {
            let length = bytes.size();
            bytes.read_up_to(length);
        }
        take_next(&mut bytes)
    }

    /// Returns the decisions of each block on a case.
    pub fn all(&self, case: usize, blocks: usize) -> Vec<BlockDecision> {
        let mut bytes = self.0.at(case);
        (0..blocks).map(|_| take_next(&mut bytes)).collect()
    }
}

/// Packed cases and packed records, side by side.
#[derive(Clone, Copy, Debug)]
pub struct PackedEvidence<'a> {
    plan: &'a Plan,
    cases: &'a PackedCases,
    records: &'a PackedRecords,
}

impl<'a> PackedEvidence<'a> {
    /// Joins cases and records that were packed in the same order.
    ///
    /// # Errors
    /// Their numbers differ.
    pub fn new(
        plan: &'a Plan,
        cases: &'a PackedCases,
        records: &'a PackedRecords,
    ) -> Result<Self, Mismatch> {
        let (index, other) = (cases.number(), records.number());
        if index == other {
            return Ok(Self {
                plan,
                cases,
                records,
            });
        }
        let index = index.min(other);
        let id = |case: &Case| case.id.to_string();
        let case = (index < cases.number()).then(|| cases.on(index, id));
        let nothing = || "nothing".to_owned();
        Err(Mismatch {
            index,
            record: case
                .as_ref()
                .map_or_else(|| "another".to_owned(), |_| nothing()),
            case: case.unwrap_or_else(nothing),
        })
    }
}

impl AnyEvidence for PackedEvidence<'_> {
    type Cases = PackedCases;

    fn plan(&self) -> &Plan {
        self.plan
    }

    fn cases(&self) -> &PackedCases {
        self.cases
    }

    fn on_trial<T>(&self, block: usize, case: usize, look: impl FnOnce(BlockTrial<'_>) -> T) -> T {
        let decided = self.records.decided(case, block);
        self.cases.on(case, |case| {
            let guard = self.plan.blocks()[block].guard(case.work());
            look(BlockTrial {
                case,
                decided: &decided,
                watch: ReadChannels::new(|channel| guard.watches(channel)),
            })
        })
    }

    fn boxes(&self, block: usize, case: usize) -> usize {
        self.records.decided(case, block).regions.len()
    }

    /// Sums equal boxes at once. A plan of few settings has few different boxes, whatever the corpus.
    fn painted(
        &self,
        block: usize,
        pick: &[usize],
        options: &JudgeOptions,
    ) -> (Sheet, LatencySheet) {
        let mut base = Tally::default();
        let mut boxes: BTreeMap<(Vec<u16>, Vec<u16>), BoxSum> = BTreeMap::new();
        for case in pick {
            self.on_trial(block, *case, |trial| {
                let (own, changed) = changes(trial, options);
                base += own;
                for (region, tally, hit) in changed {
                    let ends = (region.lo.clone(), region.hi.clone());
                    let sum = boxes.entry(ends).or_default();
                    sum.tally += tally;
                    if let Some(latency) = hit {
                        *sum.hits.entry(latency).or_default() += 1;
                    }
                }
            });
        }
        let (mut changes, mut hits) = (Vec::new(), Vec::new());
        for ((lo, hi), sum) in boxes {
            let region = Region { lo, hi, stop: 0 };
            let hit = |(latency, n)| (region.clone(), latency, n);
            hits.extend(sum.hits.into_iter().map(hit));
            changes.push((region, sum.tally));
        }
        let shape = self.plan.blocks()[block].shape();
        sum_boxes(&shape, base, &changes, &hits)
    }
}

/// The sum of equal boxes: their changes, and the number of hits at each latency.
#[derive(Default)]
struct BoxSum {
    tally: Tally,
    hits: BTreeMap<u64, u32>,
}

/// Packs the decisions of one block. Nothing is written if they are empty.
fn put_decided(decided: &BlockDecision, to: &mut Vec<u8>) {
    if *decided == BlockDecision::default() {
        return;
    }
    put_list(&decided.stops, put_stop, to);
    put_list(&decided.regions, put_region, to);
    put_option(decided.error.as_deref(), put_text, to);
    let put_detail = |(member, words): &(usize, String), to: &mut Vec<u8>| {
        put_number(*member as u64, to);
        put_text(words, to);
    };
    put_list(&decided.details, put_detail, to);
}

fn take_decided(from: &mut ByteReader<'_>) -> BlockDecision {
    BlockDecision {
        stops: from.list(take_stop),
        regions: from.list(take_region),
        error: from.option(|from| from.text().to_owned()),
        details: from.list(|from| (from.size(), from.text().to_owned())),
    }
}

/// Unpacks the decisions of one block, which follow their length.
fn take_next(from: &mut ByteReader<'_>) -> BlockDecision {
    let length = from.size();
    take_decided(&mut ByteReader(from.read_up_to(length)))
}

fn put_region(region: &Region, to: &mut Vec<u8>) {
    put_number(region.stop as u64, to);
    for ends in [&region.lo, &region.hi] {
        put_list(ends, |end, to| put_number((*end).into(), to), to);
    }
}

fn take_region(from: &mut ByteReader<'_>) -> Region {
    let end = |from: &mut ByteReader<'_>| u16::try_from(from.number()).unwrap_or(u16::MAX);
    Region {
        stop: from.size(),
        lo: from.list(end),
        hi: from.list(end),
    }
}

fn put_stop(stop: &Stop, to: &mut Vec<u8>) {
    put_place(&Channel::ALL, stop.channel, to);
    put_kind(stop.kind, to);
    put_number(stop.member as u64, to);
    put_moment(&stop.exact, to);
    put_moment(&stop.delivered, to);
}

fn take_stop(from: &mut ByteReader<'_>) -> Stop {
    Stop {
        channel: take_place(&Channel::ALL, from),
        kind: take_kind(from),
        member: from.size(),
        exact: take_moment(from),
        delivered: take_moment(from),
    }
}

fn put_moment(moment: &Moment, to: &mut Vec<u8>) {
    put_number(moment.place.event, to);
    put_number(moment.place.offset, to);
    put_seen(&moment.seen, to);
    put_float(moment.t_ms, to);
    put_maybe(moment.tokens, to);
}

fn take_moment(from: &mut ByteReader<'_>) -> Moment {
    Moment {
        place: Cursor {
            event: from.number(),
            offset: from.number(),
        },
        seen: take_seen(from),
        t_ms: from.float(),
        tokens: from.maybe(),
    }
}

/// Unpacks the records of `cases`, in their order.
pub fn unpacked(cases: &[Case], records: &PackedRecords, plan: &Plan) -> Vec<Record> {
    let blocks = plan.blocks().len();
    let record = |(index, case): (usize, &Case)| Record {
        transcript: case.id.clone(),
        blocks: records.all(index, blocks),
    };
    cases.iter().enumerate().map(record).collect()
}
