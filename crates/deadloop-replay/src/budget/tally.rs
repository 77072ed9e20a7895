//! [`BudgetTally`]: what happens to some runs under a setting, as counts that add.

use std::ops::AddAssign;

use super::play::Played;

/// Sums of tokens over runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bill {
    /// How many runs.
    pub runs: u64,
    /// Tokens of prompts that were not in the cache.
    pub fresh: u64,
    /// Tokens that were at the same place in the previous request, and tokens that summaries read.
    pub cached: u64,
    /// Tokens that summaries wrote.
    pub written: u64,
}

impl Bill {
    /// Adds a run.
    pub fn add(&mut self, played: &Played) {
        *self += Self {
            runs: 1,
            fresh: played.fresh,
            cached: played.cached,
            written: played.written,
        };
    }

    /// All tokens that were sent.
    pub fn sent(&self) -> u64 {
        self.fresh + self.cached
    }

    /// The cost of all tokens, if a cached token costs `cache` and any other token 1.
    #[allow(clippy::cast_precision_loss)]
    pub fn cost(&self, cache: f64) -> f64 {
        (self.fresh + self.written) as f64 + self.cached as f64 * cache
    }
}

impl AddAssign for Bill {
    fn add_assign(&mut self, other: Self) {
        self.runs += other.runs;
        self.fresh += other.fresh;
        self.cached += other.cached;
        self.written += other.written;
    }
}

/// What happens to some runs under a setting: counts that add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetTally {
    /// How many runs.
    pub runs: u64,
    /// How many runs overflow.
    pub overflow: u64,
    /// In how many runs the policy acted.
    pub acted: u64,
    /// The sum of the turns at which it first acted.
    pub first: u64,
    /// How many turns were sent.
    pub turns: u64,
    /// How often the policy acted.
    pub summaries: u64,
    /// How many of these acts were useless ([`Played::useless`]).
    pub useless: u64,
    /// How many of these acts were thrash ([`Played::thrash`]).
    pub thrash: u64,
    /// The tokens of the runs that do not overflow.
    pub own: Bill,
    /// The tokens of the same runs without a guard, in an endless window.
    pub own_free: Bill,
}

impl BudgetTally {
    /// Adds a run. `free` is the same run without a guard, in an endless window.
    pub fn add(&mut self, played: &Played, free: &Played) {
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
