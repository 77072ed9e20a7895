//! [`Verdicts`]: what one setting did to each transcript, and nothing that a measure is made of: what a searched grid leaves of
//! each of its cells.

use std::collections::{BTreeMap, BTreeSet};

use super::flips::{Change, Flip, flip_of};
use super::side::{Side, SideSeen, Spot};
use crate::files::regions::{Regions, WatchedText};
use crate::judge::Verdict;
use crate::truth::Class;
use deadloop_replay::detect::Seen;

/// The verdict on each transcript, in the order of the corpus.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdicts(Vec<Said>);

/// One transcript.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    pub(super) transcript: String,
    pub(super) model: String,
    pub(super) class: Option<String>,
    pub(super) span: Spot,
    pub(super) seen: SideSeen,
}

impl Verdicts {
    /// What a cell of the plan did, by `regions.jsonl.zst`; `None` where the file left the cell out for its size. Of
    /// labels only loops and their onsets are known.
    pub fn of_cell(regions: &Regions, cell: usize) -> Option<Self> {
        let said = regions.cell(cell)?.into_iter();
        let one = |(of, (verdict, alarm_at)): (&WatchedText, _)| Said {
            transcript: of.id.clone(),
            model: of.model.clone(),
            // A loop is missed where nothing alarms; of another class that says nothing.
            class: (of.quiet == Verdict::Miss).then(|| Class::Loop.name().into()),
            span: Spot {
                onset: of.onset,
                ..Spot::default()
            },
            seen: SideSeen {
                verdict,
                alarm_at,
                alarm_channel: None,
                alarm_kind: None,
                detector: None,
                alarm_seen: Seen::default(),
            },
        };
        let transcripts = regions.head.transcripts.iter();
        Some(Self(transcripts.zip(said).map(one).collect()))
    }

    /// The transcripts whose verdict these and those of another setting on the same corpus tell apart, in the order of the
    /// corpus. `None` where they are not about the same transcripts.
    pub fn flips(&self, new: &Self) -> Option<Vec<Flip>> {
        let ids = |all: &Self| -> BTreeSet<String> {
            all.0.iter().map(|one| one.transcript.clone()).collect()
        };
        if ids(self) != ids(new) {
            return None;
        }
        let others: BTreeMap<&str, &Said> = new
            .0
            .iter()
            .map(|one| (one.transcript.as_str(), one))
            .collect();
        let pairs = self.0.iter().filter_map(|base| {
            let new = others.get(base.transcript.as_str())?;
            (base.seen.verdict != new.seen.verdict).then(|| flip_of(base, new, Change::Flip))
        });
        Some(pairs.collect())
    }
}

impl From<&Side> for Verdicts {
    fn from(side: &Side) -> Self {
        Self(side.rows.iter().map(Said::from).collect())
    }
}

impl From<&super::side::Judged> for Said {
    fn from(row: &super::side::Judged) -> Self {
        Self {
            transcript: row.transcript.clone(),
            model: row.model.clone(),
            class: row.class.clone(),
            span: row.span.clone(),
            seen: row.seen.clone(),
        }
    }
}
