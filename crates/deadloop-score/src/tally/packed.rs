//! [`PackedRecords`]: the records of a corpus, in some ten bytes per case.
//!
//! A replay of a million transcripts holds a million packed records. A record is unpacked only while it is used.

use std::collections::BTreeMap;

use deadloop_replay::detect::Channel;
use deadloop_replay::detect::harness::Cursor;
use deadloop_replay::{BlockDecision, Moment, Plan, Record, Region, Stop};

use crate::judge::{JudgeOptions, ReadChannels};
use crate::tally::sheet::{Sheets, box_changes, sheets_from_sums};
use crate::tally::{AnyEvidence, BlockTrial, Mismatch, Tally};
use crate::truth::{
    ByteReader, Case, CaseSet, PackedCases, StringPool, put_index_of, put_kind, put_lengths,
    put_list, put_number, put_option, put_optional_float, put_optional_number, put_text,
    read_by_index, read_kind, read_lengths,
};

/// The packed decisions of every block on each case, in the order of the cases.
#[derive(Clone, Debug, Default)]
pub struct PackedRecords(StringPool);

impl PackedRecords {
    /// Adds the decisions of all blocks on the next case.
    pub fn push(&mut self, blocks: &[BlockDecision]) {
        self.0.push(|to| {
            let mut packed = Vec::new();
            for decided in blocks {
                packed.clear();
                put_decision(decided, &mut packed);
                // The length lets a reader skip a block without unpacking it.
                put_number(packed.len() as u64, to);
                to.extend(&packed);
            }
        });
    }

    /// Returns the number of cases.
    pub fn number(&self) -> usize {
        self.0.len()
    }

    /// Returns the decisions of one block on a case.
    pub fn decision(&self, case: usize, block: usize) -> BlockDecision {
        let mut bytes = self.0.at(case);
        for _ in 0..block {
            let length = bytes.read_size();
            bytes.read_up_to(length);
        }
        take_sized(&mut bytes)
    }

    /// Returns the decisions of each block on a case.
    pub fn all(&self, case: usize, blocks: usize) -> Vec<BlockDecision> {
        let mut bytes = self.0.at(case);
        (0..blocks).map(|_| take_sized(&mut bytes)).collect()
    }
}

/// The packed cases of a run, and their packed records.
#[derive(Clone, Copy, Debug)]
pub struct PackedEvidence<'a> {
    plan: &'a Plan,
    cases: &'a PackedCases,
    records: &'a PackedRecords,
}

impl<'a> PackedEvidence<'a> {
    /// Joins the cases and the records of a run, which were packed in the same order.
    ///
    /// # Errors
    /// The numbers of cases and records differ.
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

    fn on_trial<T>(&self, block: usize, case: usize, visit: impl FnOnce(BlockTrial<'_>) -> T) -> T {
        let decided = self.records.decision(case, block);
        self.cases.on(case, |case| {
            let guard = self.plan.blocks()[block].guard(case.work());
            visit(BlockTrial {
                case,
                decided: &decided,
                watch: ReadChannels::new(|channel| guard.watches(channel)),
            })
        })
    }

    fn boxes(&self, block: usize, case: usize) -> usize {
        self.records.decision(case, block).regions.len()
    }

    /// Sums equal boxes first. A plan of few settings has few different boxes, whatever the corpus.
    fn tally_block(&self, block: usize, pick: &[usize], options: &JudgeOptions) -> Sheets {
        let mut base = Tally::default();
        let mut boxes: BTreeMap<(Vec<u16>, Vec<u16>), BoxSum> = BTreeMap::new();
        for case in pick {
            self.on_trial(block, *case, |trial| {
                let (own, changed) = box_changes(trial, options);
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
        sheets_from_sums(&shape, base, &changes, &hits)
    }
}

/// The sum of equal boxes: the change of their tallies, and the number of hits at each latency.
#[derive(Default)]
struct BoxSum {
    tally: Tally,
    hits: BTreeMap<u64, u32>,
}

/// Packs the decisions of one block. Nothing is written if they are empty.
fn put_decision(decided: &BlockDecision, to: &mut Vec<u8>) {
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

fn take_decision(from: &mut ByteReader<'_>) -> BlockDecision {
    BlockDecision {
        stops: from.read_list(take_stop),
        regions: from.read_list(take_region),
        error: from.read_option(|from| from.read_text().to_owned()),
        details: from.read_list(|from| (from.read_size(), from.read_text().to_owned())),
    }
}

/// Unpacks the length of a block's decisions, then the decisions.
fn take_sized(from: &mut ByteReader<'_>) -> BlockDecision {
    let length = from.read_size();
    take_decision(&mut ByteReader(from.read_up_to(length)))
}

fn put_region(region: &Region, to: &mut Vec<u8>) {
    put_number(region.stop as u64, to);
    for ends in [&region.lo, &region.hi] {
        put_list(ends, |end, to| put_number((*end).into(), to), to);
    }
}

fn take_region(from: &mut ByteReader<'_>) -> Region {
    let end = |from: &mut ByteReader<'_>| u16::try_from(from.read_number()).unwrap_or(u16::MAX);
    Region {
        stop: from.read_size(),
        lo: from.read_list(end),
        hi: from.read_list(end),
    }
}

fn put_stop(stop: &Stop, to: &mut Vec<u8>) {
    put_index_of(&Channel::ALL, stop.channel, to);
    put_kind(stop.kind, to);
    put_number(stop.member as u64, to);
    put_moment(&stop.exact, to);
    put_moment(&stop.delivered, to);
}

fn take_stop(from: &mut ByteReader<'_>) -> Stop {
    Stop {
        channel: read_by_index(&Channel::ALL, from),
        kind: read_kind(from),
        member: from.read_size(),
        exact: take_moment(from),
        delivered: take_moment(from),
    }
}

fn put_moment(moment: &Moment, to: &mut Vec<u8>) {
    put_number(moment.place.event, to);
    put_number(moment.place.offset, to);
    put_lengths(&moment.seen, to);
    put_optional_float(moment.t_ms, to);
    put_optional_number(moment.tokens, to);
}

fn take_moment(from: &mut ByteReader<'_>) -> Moment {
    Moment {
        place: Cursor {
            event: from.read_number(),
            offset: from.read_number(),
        },
        seen: read_lengths(from),
        t_ms: from.read_optional_float(),
        tokens: from.read_optional_number(),
    }
}

/// Unpacks the records of `cases`, in the order of the cases.
pub fn unpack(cases: &[Case], records: &PackedRecords, plan: &Plan) -> Vec<Record> {
    let blocks = plan.blocks().len();
    let record = |(index, case): (usize, &Case)| Record {
        transcript: case.id.clone(),
        blocks: records.all(index, blocks),
    };
    cases.iter().enumerate().map(record).collect()
}
