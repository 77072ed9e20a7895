//! [`Packed`]: cases, and what every setting said of each, as some ten bytes each. A replay of a million transcripts
//! holds a million of these; what is looked at is there whole, one after the other.

use std::collections::BTreeMap;

use deadloop_replay::detect::{Channel, Cursor};
use deadloop_replay::{Decided, Moment, Plan, Record, Region, Stop};

use crate::judge::{JudgeOptions, ReadChannels};
use crate::tally::sheet::{LatencySheet, Sheet, changes, summed};
use crate::tally::{AnyEvidence, Mismatch, Tally, Trial};
use crate::truth::{
    Bytes, Case, Cases, PackedCases, Pile, put_float, put_kind, put_maybe, put_number, put_place,
    put_seen, put_text, take_kind, take_place, take_seen,
};

/// Records, packed: what every block said of each case, in the order of the cases.
#[derive(Clone, Debug, Default)]
pub struct PackedRecords(Pile);

impl PackedRecords {
    /// Adds what was said of the next case.
    pub fn push(&mut self, blocks: &[Decided]) {
        self.0.push(|to| {
            let mut one = Vec::new();
            for decided in blocks {
                one.clear();
                put_decided(decided, &mut one);
                // Its length, so that others are found without looking at it.
                put_number(one.len() as u64, to);
                to.extend(&one);
            }
        });
    }

    /// How many there are.
    pub fn number(&self) -> usize {
        self.0.len()
    }

    /// What one block said of a case.
    pub fn decided(&self, case: usize, block: usize) -> Decided {
        let mut bytes = self.0.at(case);
        for _ in 0..block {
            let length = bytes.size();
            bytes.some(length);
        }
        let length = bytes.size();
        take_decided(&mut Bytes(bytes.some(length)))
    }

    /// What each block said of a case.
    pub fn all(&self, case: usize, blocks: usize) -> Vec<Decided> {
        let mut bytes = self.0.at(case);
        let decided = |_| {
            let length = bytes.size();
            take_decided(&mut Bytes(bytes.some(length)))
        };
        (0..blocks).map(decided).collect()
    }
}

/// What is true and what every setting said, packed, side by side.
#[derive(Clone, Copy, Debug)]
pub struct PackedEvidence<'a> {
    plan: &'a Plan,
    cases: &'a PackedCases,
    records: &'a PackedRecords,
}

impl<'a> PackedEvidence<'a> {
    /// Holds cases and records side by side, which whoever packed them did in one order.
    ///
    /// # Errors
    /// There are not as many of both.
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

    fn on_trial<T>(&self, block: usize, case: usize, look: impl FnOnce(Trial<'_>) -> T) -> T {
        let decided = self.records.decided(case, block);
        self.cases.on(case, |case| {
            let guard = self.plan.blocks()[block].guard(&case.model);
            look(Trial {
                case,
                decided: &decided,
                watch: ReadChannels::of(|channel| guard.watches(channel)),
            })
        })
    }

    fn boxes(&self, block: usize, case: usize) -> usize {
        self.records.decided(case, block).regions.len()
    }

    /// Boxes that are alike are summed up as they come: those of a plan of few settings are few, whatever the corpus.
    fn painted(
        &self,
        block: usize,
        pick: &[usize],
        options: &JudgeOptions,
    ) -> (Sheet, LatencySheet) {
        let mut base = Tally::default();
        let mut boxes: BTreeMap<(Vec<u16>, Vec<u16>), Sum> = BTreeMap::new();
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
        summed(&shape, base, &changes, &hits)
    }
}

/// What equal boxes add up to: what they change, and how many hits there are at each latency.
#[derive(Default)]
struct Sum {
    tally: Tally,
    hits: BTreeMap<u64, u32>,
}

/// Where nothing alarms, nothing is put.
fn put_decided(decided: &Decided, to: &mut Vec<u8>) {
    if *decided == Decided::default() {
        return;
    }
    put_number(decided.stops.len() as u64, to);
    decided.stops.iter().for_each(|stop| put_stop(stop, to));
    put_number(decided.regions.len() as u64, to);
    for region in &decided.regions {
        put_number(region.stop as u64, to);
        for ends in [&region.lo, &region.hi] {
            put_number(ends.len() as u64, to);
            ends.iter().for_each(|end| put_number((*end).into(), to));
        }
    }
    to.push(decided.error.is_some().into());
    if let Some(error) = &decided.error {
        put_text(error, to);
    }
    put_number(decided.details.len() as u64, to);
    for (member, words) in &decided.details {
        put_number(*member as u64, to);
        put_text(words, to);
    }
}

fn take_decided(from: &mut Bytes<'_>) -> Decided {
    let stops = from.size();
    let stops = (0..stops).map(|_| take_stop(from)).collect();
    let regions = from.size();
    let region = |_| {
        let stop = from.size();
        let [lo, hi] = [(); 2].map(|()| {
            let ends = from.size();
            let end = |_| u16::try_from(from.number()).unwrap_or(u16::MAX);
            (0..ends).map(end).collect()
        });
        Region { lo, hi, stop }
    };
    let regions = (0..regions).map(region).collect();
    let error = (from.byte() != 0).then(|| from.text().to_owned());
    let details = from.size();
    let detail = |_| (from.size(), from.text().to_owned());
    Decided {
        stops,
        regions,
        error,
        details: (0..details).map(detail).collect(),
    }
}

fn put_stop(stop: &Stop, to: &mut Vec<u8>) {
    put_place(&Channel::ALL, stop.channel, to);
    put_kind(stop.kind, to);
    put_number(stop.member as u64, to);
    put_moment(&stop.exact, to);
    put_moment(&stop.delivered, to);
}

fn take_stop(from: &mut Bytes<'_>) -> Stop {
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

fn take_moment(from: &mut Bytes<'_>) -> Moment {
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

/// The records of all cases, each by itself; of `cases`, in their order.
pub fn unpacked(cases: &[Case], records: &PackedRecords, plan: &Plan) -> Vec<Record> {
    let blocks = plan.blocks().len();
    let record = |(index, case): (usize, &Case)| Record {
        transcript: case.id.clone(),
        blocks: records.all(index, blocks),
    };
    cases.iter().enumerate().map(record).collect()
}
