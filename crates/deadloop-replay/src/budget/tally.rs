//! [`BudgetTally`]: counts over runs under a setting.

use std::ops::AddAssign;

use super::simulation::SimulatedRun;

/// Sums of tokens over runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenSums {
    /// The number of runs.
    pub runs: u64,
    /// The number of prompt tokens that were not in the cache.
    pub fresh: u64,
    /// The number of cached prompt tokens, and of tokens read by summaries.
    pub cached: u64,
    /// The number of tokens written by summaries.
    pub written: u64,
}

impl TokenSums {
    /// Adds the tokens of a run.
    pub fn add(&mut self, played: &SimulatedRun) {
        *self += Self {
            runs: 1,
            fresh: played.fresh,
            cached: played.cached,
            written: played.written,
        };
    }

    /// Returns the number of prompt tokens sent.
    pub fn sent(&self) -> u64 {
        self.fresh + self.cached
    }

    /// Returns the cost of all tokens, where a cached token costs `cache` and any other token 1.
    pub fn cost(&self, cache: f64) -> f64 {
        (self.fresh + self.written) as f64 + self.cached as f64 * cache
    }
}

impl AddAssign for TokenSums {
    fn add_assign(&mut self, other: Self) {
        self.runs += other.runs;
        self.fresh += other.fresh;
        self.cached += other.cached;
        self.written += other.written;
    }
}

/// Counts of runs that were simulated under a setting. Tallies can be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetTally {
    /// The number of runs.
    pub runs: u64,
    /// The number of runs that overflowed.
    pub overflow: u64,
    /// The number of runs in which the policy acted.
    pub acted: u64,
    /// The sum over runs of the turn of the first action.
    pub first: u64,
    /// The number of turns whose prompts were sent.
    pub turns: u64,
    /// The number of times that the policy shortened a prompt.
    pub summaries: u64,
    /// The number of useless shortenings ([`SimulatedRun::useless`]).
    pub useless: u64,
    /// The number of shortenings that came too soon after the previous one ([`SimulatedRun::thrash`]).
    pub thrash: u64,
    /// The token sums of the runs that did not overflow.
    pub own: TokenSums,
    /// The token sums that these runs have without a guard, in an endless window.
    pub own_free: TokenSums,
}

impl BudgetTally {
    /// Adds the counts of a run. `free` is the same run without a guard, in an endless window.
    pub fn add(&mut self, played: &SimulatedRun, free: &SimulatedRun) {
        self.runs += 1;
        self.overflow += u64::from(played.overflow.is_some());
        self.acted += u64::from(played.first.is_some());
        self.first += played.first.unwrap_or(0);
        self.turns += played.turns;
        self.summaries += played.summaries;
        self.useless += played.useless;
        self.thrash += played.thrash;
        if played.overflow.is_none() {
            self.own.add(played);
            self.own_free.add(free);
        }
    }
}

impl AddAssign for BudgetTally {
    fn add_assign(&mut self, other: Self) {
        self.runs += other.runs;
        self.overflow += other.overflow;
        self.acted += other.acted;
        self.first += other.first;
        self.turns += other.turns;
        self.summaries += other.summaries;
        self.useless += other.useless;
        self.thrash += other.thrash;
        self.own += other.own;
        self.own_free += other.own_free;
    }
}
