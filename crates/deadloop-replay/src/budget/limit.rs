//! [`Limit`]: an iteration limit that asks, and grows when the answer is yes. What it would have asked of a run of so
//! many turns needs nothing of the run but that number, so the guard `iterations` has no part in it.

/// A limit on turns, at which the user is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Turns until the first question.
    pub limit: u64,
    /// What the limit is multiplied by at a yes; halves are rounded to even.
    pub grow: f64,
    /// What is then added.
    pub grow_by: u64,
    /// Turns at which the run is stopped unasked; 0: never.
    pub hard: u64,
    /// The share of the limit from which on the run is warned.
    pub warn_at: f64,
    /// After so many yeses the answer is no; `None`: always yes.
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

/// What a limit would have done with a run; turns from 0: the turn before which it happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitAsked {
    /// Times that the user said yes.
    pub confirmations: u64,
    /// Times that the user was asked, the no included.
    pub questions: u64,
    /// Where the run was stopped: at the hard limit, or by a no.
    pub stopped: Option<u64>,
    /// Where the first warning stands.
    pub warned: Option<u64>,
    /// Where the user was first asked, or the run stopped.
    pub met: Option<u64>,
}

impl LimitAsked {
    /// Returns the turns from the first warning to the event that it warned of; `None` where one of
    /// them did not come.
    pub fn lead(&self) -> Option<u64> {
        self.met?.checked_sub(self.warned?)
    }
}

impl Limit {
    /// What it would have done with a run of so many turns. Costs a step a question, not a turn.
    pub fn ask(&self, turns: u64) -> LimitAsked {
        let mut asked = LimitAsked::default();
        let mut limit = self.limit.max(1);
        let warned = self.first_warning(limit);
        asked.warned = Some(warned).filter(|at| *at < turns);
        let mut at = limit;
        while at < turns {
            asked.met = asked.met.or(Some(at));
            if self.hard > 0 && at >= self.hard {
                asked.stopped = Some(at);
                return asked;
            }
            asked.questions += 1;
            if self.cancel_after == Some(asked.confirmations) {
                asked.stopped = Some(at);
                return asked;
            }
            asked.confirmations += 1;
            limit = self.grown(limit);
            // A limit that has not grown past where the run is asks again at the next turn.
            at = limit.max(at + 1);
        }
        asked
    }

    /// The limit after a yes.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss
    )]
    fn grown(&self, limit: u64) -> u64 {
        let product = (limit as f64 * self.grow)
            .round_ties_even()
            .clamp(0.0, 1e15) as u64;
        let grown = (limit + 1).max(product.saturating_add(self.grow_by));
        match self.hard {
            0 => grown,
            hard => grown.min(hard),
        }
    }

    /// The first turn i with i >= `warn_at` x limit.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss
    )]
    fn first_warning(&self, limit: u64) -> u64 {
        (self.warn_at * limit as f64).ceil().max(0.0) as u64
    }
}
