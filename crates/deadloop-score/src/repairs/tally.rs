//! [`RepairTally`]: the verdicts on the repairs of one variant, counted.

use crate::judge::Mended;

/// Streams of each verdict, by its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepairTally([u64; Mended::ALL.len()]);

impl RepairTally {
    /// Counts one more.
    pub fn add(&mut self, verdict: Mended) {
        self.0[verdict as usize] += 1;
    }

    /// How often a verdict came.
    pub fn of(&self, verdict: Mended) -> u64 {
        self.0[verdict as usize]
    }

    /// Streams that were damaged.
    pub fn damaged(&self) -> u64 {
        let damaged = Mended::ALL.iter().filter(|verdict| verdict.is_of_damaged());
        damaged.map(|verdict| self.of(*verdict)).sum()
    }

    /// Streams that do harm: damaged ones that come out wrong, and intact ones that are changed.
    pub fn harm(&self) -> u64 {
        self.of(Mended::Wrong) + self.of(Mended::FalseRepair)
    }
}
