//! [`Boxes`]: what a corpus adds up to, without a record a transcript. For corpora too large for records on one machine:
//! how many different boxes there are is bounded by the grid and not by the corpus, and every number adds.
//!
//! ```text
//! transcripts -> Boxes (a worker)  \\
//! transcripts -> Boxes (a worker)   +-> sums by key, in any order -> painted once
//! transcripts -> Boxes (a worker)  /
//! ```

use std::collections::BTreeMap;

use deadloop_replay::{Plan, Record, Region};

use crate::judge::{JudgeOptions, ReadChannels};
use crate::tally::Tally;
use crate::tally::sheet::{LatencySheet, Sheet, Trial, changes, summed};
use crate::truth::Case;

/// Which transcripts: the values of the fields that sums are kept apart by.
pub type BoxKey = Vec<Option<String>>;

/// What a sum is of. Sums of one place add, whoever made them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoxPlace {
    /// Which transcripts.
    pub key: BoxKey,
    /// The block of the plan, from 0.
    pub block: usize,
    /// The cells, of each axis the first value and one past the last; `None`: what every cell shares.
    pub region: Option<(Vec<u16>, Vec<u16>)>,
    /// `None`: what these cells change against a setting that never alarms. Else the latency of hits, in the unit
    /// of [`JudgeOptions`], and nothing but their number is summed.
    pub latency: Option<u64>,
}

/// A sum: counts, and how many hits there are at a latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoxSum {
    /// The counts; of a place with a latency all 0.
    pub tally: Tally,
    /// Hits; of a place without a latency 0.
    pub hits: u32,
}

/// Sums by place. Memory is that of the different places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boxes(BTreeMap<BoxPlace, BoxSum>);

impl Boxes {
    /// Adds what the settings of a plan said of one transcript.
    pub fn add(
        &mut self,
        key: &BoxKey,
        plan: &Plan,
        case: &Case,
        record: &Record,
        options: &JudgeOptions,
    ) {
        for (block, decided) in record.blocks.iter().enumerate() {
            let Some(of) = plan.blocks().get(block) else {
                continue;
            };
            let guard = of.guard(case.work());
            let watch = ReadChannels::of(|channel| guard.watches(channel));
            let trial = Trial {
                case,
                decided,
                watch,
            };
            self.add_trial(key, block, trial, options);
        }
    }

    /// The same of one block.
    pub fn add_trial(
        &mut self,
        key: &BoxKey,
        block: usize,
        trial: Trial<'_>,
        options: &JudgeOptions,
    ) {
        let (base, boxes) = changes(trial, options);
        let mut put = |region, latency, tally, hits| {
            let key = key.clone();
            let place = BoxPlace {
                key,
                block,
                region,
                latency,
            };
            self.put(place, BoxSum { tally, hits });
        };
        put(None, None, base, 0);
        for (region, tally, hit) in boxes {
            let ends = Some((region.lo.clone(), region.hi.clone()));
            put(ends.clone(), None, tally, 0);
            if hit.is_some() {
                put(ends, hit, Tally::default(), 1);
            }
        }
    }

    /// Adds a sum that another has made.
    pub fn put(&mut self, place: BoxPlace, sum: BoxSum) {
        let own = self.0.entry(place).or_default();
        own.tally += sum.tally;
        own.hits = own.hits.saturating_add(sum.hits);
    }

    /// Every sum, in the order of the places.
    pub fn sums(&self) -> impl Iterator<Item = (&BoxPlace, &BoxSum)> {
        self.0.iter()
    }

    /// The tally and the quantiles of every cell of a block, for each key that has any. `shape` is the number of values
    /// along each axis of the block; boxes that reach beyond it are left out.
    pub fn painted(&self, block: usize, shape: &[usize]) -> Vec<(&BoxKey, Sheet, LatencySheet)> {
        let mut by_key: BTreeMap<&BoxKey, Sums> = BTreeMap::new();
        for (place, sum) in self.0.iter().filter(|(place, _)| place.block == block) {
            let sums = by_key.entry(&place.key).or_default();
            let Some((lo, hi)) = &place.region else {
                sums.base += sum.tally;
                continue;
            };
            if !inside(lo, hi, shape) {
                continue;
            }
            let (lo, hi) = (lo.clone(), hi.clone());
            let region = Region { lo, hi, stop: 0 };
            match place.latency {
                None => sums.changes.push((region, sum.tally)),
                Some(latency) => sums.hits.push((region, latency, sum.hits)),
            }
        }
        let paint = |(key, sums): (_, Sums)| {
            let (sheet, latencies) = summed(shape, sums.base, &sums.changes, &sums.hits);
            (key, sheet, latencies)
        };
        by_key.into_iter().map(paint).collect()
    }
}

/// Those of one key and block.
#[derive(Default)]
struct Sums {
    base: Tally,
    changes: Vec<(Region, Tally)>,
    hits: Vec<(Region, u64, u32)>,
}

fn inside(lo: &[u16], hi: &[u16], shape: &[usize]) -> bool {
    let fits = |((lo, hi), n): ((&u16, &u16), &usize)| lo < hi && usize::from(*hi) <= *n;
    lo.len() == shape.len() && hi.len() == shape.len() && lo.iter().zip(hi).zip(shape).all(fits)
}
