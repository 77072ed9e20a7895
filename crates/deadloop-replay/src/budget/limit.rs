//! [`Limit`]: an iteration limit that asks the user and may grow.
//!
//! The number of questions depends only on the number of turns, so the guard `iterations` is not run.

use deadloop_detect::harness::grown;

/// A limit on turns at which the user is asked to continue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// The number of turns before the first question.
    pub limit: u64,
    /// The factor by which the limit grows when the user agrees. Halves are rounded to even.
    pub grow: f64,
    /// The number added to the limit after the factor is applied.
    pub grow_by: u64,
    /// The turn at which the run is stopped without a question. 0 for never.
    pub hard: u64,
    /// The share of the limit at which a warning is given.
    pub warn_at: f64,
    /// The number of times that the user agrees before refusing. `None` if the user never refuses.
    pub cancel_after: Option<u64>,
}

impl Default for Limit {
    fn default() -> Self {
        Self {
            limit: 50,
            grow: 1.5,
            grow_by: 0,
            hard: 0,
            warn_at: 0.8,
            cancel_after: None,
        }
    }
}

/// The effect of a limit on a run. Turns are given by the index of the next turn, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitEffect {
    /// The number of questions at which the user agreed.
    pub confirmations: u64,
    /// The number of questions, including the refused one.
    pub questions: u64,
    /// The turn at which the run was stopped, by the hard limit or a refusal.
    pub stopped: Option<u64>,
    /// The turn of the first warning.
    pub warned: Option<u64>,
    /// The turn of the first question to the user, or of the stop, whichever is first.
    pub interrupted: Option<u64>,
}

impl LimitEffect {
    /// Returns the number of turns from the first warning to the first question or stop. `None` if either did not
    /// happen.
    pub fn lead(&self) -> Option<u64> {
        self.interrupted?.checked_sub(self.warned?)
    }
}

impl Limit {
    /// Computes the effect of the limit on a run of `turns` turns. Takes time proportional to the number of questions.
    pub fn effect(&self, turns: u64) -> LimitEffect {
        let mut effect = LimitEffect::default();
        let mut limit = self.limit.max(1);
        let warned = self.first_warning_turn(limit);
        effect.warned = Some(warned).filter(|at| *at < turns);
        let mut at = limit;
        while at < turns {
            effect.interrupted = effect.interrupted.or(Some(at));
            if self.hard > 0 && at >= self.hard {
                effect.stopped = Some(at);
                return effect;
            }
            effect.questions += 1;
            if self.cancel_after == Some(effect.confirmations) {
                effect.stopped = Some(at);
                return effect;
            }
            effect.confirmations += 1;
            limit = self.next_limit(limit);
            // If the limit has not grown beyond the current turn, the user is asked again at the next turn.
            at = limit.max(at + 1);
        }
        effect
    }

    /// Returns the limit after the user has agreed.
    fn next_limit(&self, limit: u64) -> u64 {
        let product = grown(i64::try_from(limit).unwrap_or(i64::MAX), self.grow);
        let product = product.max(0).unsigned_abs();
        let grown = (limit + 1).max(product.saturating_add(self.grow_by));
        match self.hard {
            0 => grown,
            hard => grown.min(hard),
        }
    }

    /// Returns the first turn at or above `warn_at` times `limit`.
    fn first_warning_turn(&self, limit: u64) -> u64 {
        (self.warn_at * limit as f64).ceil().max(0.0) as u64
    }
}
