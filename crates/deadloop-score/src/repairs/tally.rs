//! [`RepairTally`]: counts of the verdicts on the repairs of one variant.

use crate::judge::RepairVerdict;

/// Number of streams by the verdict on their repair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepairTally([u64; RepairVerdict::ALL.len()]);

impl RepairTally {
    /// Counts one verdict.
    pub fn add(&mut self, verdict: RepairVerdict) {
        self.0[verdict as usize] += 1;
    }

    /// Returns the number of streams with this verdict.
    pub fn count(&self, verdict: RepairVerdict) -> u64 {
        self.0[verdict as usize]
    }

    /// Returns the number of damaged streams.
    pub fn damaged(&self) -> u64 {
        let damaged = RepairVerdict::ALL
            .iter()
            .filter(|verdict| verdict.is_on_damaged());
        damaged.map(|verdict| self.count(*verdict)).sum()
    }

    /// Returns the number of harmed streams: damaged streams with a wrong repair, and intact streams that were changed.
    pub fn harm(&self) -> u64 {
        self.count(RepairVerdict::Wrong) + self.count(RepairVerdict::FalseRepair)
    }
}
