//! [`Evidence`]: the cases of a run, and the decisions of every setting on them.

use std::collections::BTreeMap;

use deadloop_replay::{Cell, Plan, Record};

use crate::judge::{JudgeOptions, Outcome, ReadChannels, judge};
use crate::tally::{AnyEvidence as _, BlockTrial, Tally};
use crate::truth::Case;

/// The cases of a run and their records, in the same order.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The plan with the settings of the run.
    pub plan: &'a Plan,
    /// The cases with their labels.
    pub cases: &'a [Case],
    /// The decisions of the settings on each case.
    pub records: &'a [Record],
}

/// The error for cases and records of different transcripts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("case {index} is of {case}, its record of {record}")]
pub struct Mismatch {
    /// The index of the first pair that differs.
    pub index: usize,
    /// The transcript of the case, or `nothing`.
    pub case: String,
    /// The transcript of the record, or `nothing`.
    pub record: String,
}

impl<'a> Evidence<'a> {
    /// Joins the cases and the records of a run.
    ///
    /// # Errors
    /// They are not of the same transcripts in the same order.
    pub fn new(plan: &'a Plan, cases: &'a [Case], records: &'a [Record]) -> Result<Self, Mismatch> {
        let ids = |i: usize| {
            let case = cases.get(i).map(|c| &*c.id);
            (case, records.get(i).map(|r| &*r.transcript))
        };
        let differing = (0..cases.len().max(records.len())).find(|i| ids(*i).0 != ids(*i).1);
        let name = |id: Option<&str>| id.unwrap_or("nothing").to_owned();
        match differing {
            None => Ok(Self {
                plan,
                cases,
                records,
            }),
            Some(index) => {
                let (case, record) = ids(index);
                Err(Mismatch {
                    index,
                    case: name(case),
                    record: name(record),
                })
            }
        }
    }

    /// Returns the indices of all cases.
    pub fn all(&self) -> Vec<usize> {
        (0..self.cases.len()).collect()
    }

    /// Returns the indices of the cases of each model.
    pub fn models(&self) -> BTreeMap<&'a str, Vec<usize>> {
        let mut models: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (i, case) in self.cases.iter().enumerate() {
            models.entry(&case.model).or_default().push(i);
        }
        models
    }

    /// Returns one case with the decisions of one block on it.
    pub fn trial(&self, block: usize, case: usize) -> BlockTrial<'a> {
        BlockTrial {
            case: &self.cases[case],
            decided: &self.records[case].blocks[block],
            watch: self.channels(block, case),
        }
    }

    /// Returns the channels that a block's settings read of a case. They depend on the case's model.
    fn channels(&self, block: usize, case: usize) -> ReadChannels {
        let guard = self.plan.blocks()[block].guard(self.cases[case].work());
        ReadChannels::new(|channel| guard.watches(channel))
    }

    /// Returns the outcomes of one setting on the picked cases.
    pub fn outcomes(&self, cell: usize, pick: &[usize], options: &JudgeOptions) -> Vec<Outcome> {
        let cell = self.plan.cell(cell);
        let outcome = |i: &usize| self.outcome(&cell, *i, options);
        pick.iter().map(outcome).collect()
    }

    /// Returns the outcome of one setting on one case.
    pub(crate) fn outcome(&self, cell: &Cell, case: usize, options: &JudgeOptions) -> Outcome {
        self.trial(cell.block, case).outcome(&cell.at, options)
    }

    /// Returns the outcome of one case without an alarm, in the channels that a block's settings read.
    pub(crate) fn judge_quiet(&self, block: usize, case: usize, options: &JudgeOptions) -> Outcome {
        judge(&self.cases[case], self.channels(block, case), None, options)
    }

    /// Returns the tally of one setting on the picked cases.
    pub fn tally(&self, cell: usize, pick: &[usize], options: &JudgeOptions) -> Tally {
        self.tally_of(cell, pick, options)
    }
}
