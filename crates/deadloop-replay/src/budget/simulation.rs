//! [`simulate_run`]: simulates a run under a setting.
//!
//! [`trace_run`] also returns each turn, for a plot.
//!
//! Between two actions of the policy, the context only grows at its end. So its number of tokens is that of all events
//! plus a constant ([`PromptContents::shift`]). Bisection finds the next turn above a limit, and the tokens sent before
//! that turn are a difference of two sums.

use super::params::{Budget, Policy};
use super::sizes::RunSizes;

/// The minimum share of the prompt that a useful summary frees.
const MIN_USEFUL_SHARE: f64 = 0.1;
/// The minimum number of turns between two summaries. A sooner summary counts as thrash.
const MIN_TURNS_BETWEEN: usize = 3;

/// The counts of a run that was simulated under a setting. Counting ends at an overflow, where the run would have
/// ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulatedRun {
    /// The number of turns whose prompt was sent.
    pub turns: u64,
    /// The number of times that the policy shortened a prompt because it exceeded the threshold.
    pub summaries: u64,
    /// The number of shortenings that freed less than a tenth of the prompt.
    pub useless: u64,
    /// The number of shortenings that came less than 3 turns after the previous one.
    pub thrash: u64,
    /// The turn of the first shortening, counted from 0.
    pub first: Option<u64>,
    /// The turn whose prompt exceeded the limit, counted from 0.
    pub overflow: Option<u64>,
    /// The number of prompt tokens that were not in the cache.
    pub fresh: u64,
    /// The number of cached prompt tokens, and of tokens read by summaries.
    pub cached: u64,
    /// The number of tokens written by summaries.
    pub written: u64,
}

/// A turn of a run that was simulated under a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetStep {
    /// The index of the turn, from 0.
    pub turn: u64,
    /// The number of prompt tokens before the policy acted.
    pub wanted: u64,
    /// The number of prompt tokens after the policy acted.
    pub sent: u64,
    /// Whether the policy acted.
    pub done: bool,
    /// Whether the prompt exceeded the limit even after the policy acted.
    pub overflow: bool,
}

/// Rounds a limit down to whole tokens. A whole number exceeds the limit exactly if it exceeds the result.
fn round_down(tokens: f64) -> u64 {
    tokens.floor().clamp(0.0, 1e18) as u64
}

/// A setting's limits in whole tokens.
struct TokenLimits {
    /// The prompt length above which the policy acts.
    trigger: u64,
    /// The prompt length above which the run overflows.
    overflow: u64,
    keep: u64,
    summary: u64,
}

impl TokenLimits {
    fn from_budget(budget: &Budget) -> Self {
        let window = budget.window as f64;
        let room = budget.window.saturating_sub(budget.tools) as f64;
        let trigger = match budget.policy {
            Policy::Never => u64::MAX,
            _ => round_down(budget.threshold * room),
        };
        Self {
            trigger,
            overflow: round_down(window * (1.0 - budget.reserve)),
            keep: round_down(budget.keep * window),
            summary: (budget.summary * window).ceil() as u64,
        }
    }
}

/// Returns the length in tokens of the longest prompt that is sent unchanged, without action or overflow.
pub(super) fn longest_quiet_prompt(budget: &Budget) -> u64 {
    let limits = TokenLimits::from_budget(budget);
    limits.trigger.min(limits.overflow)
}

/// An action of the policy before a turn.
struct PolicyAct {
    /// The number of prompt tokens at the same position as in the previous prompt.
    same: u64,
    /// The number of tokens that the summary reads.
    read: u64,
    /// The number of tokens that the summary writes.
    written: u64,
}

/// The contents of a prompt: tool definitions, fixed items, an optional summary, and the newest items.
struct PromptContents<'a> {
    sizes: &'a RunSizes,
    tools: u64,
    /// The index of the first kept item after the fixed ones and the summary.
    start: usize,
    /// The number of tokens of the summary, if there is one.
    summary: Option<u64>,
    /// The number of tokens of a prompt minus that of all events so far.
    shift: i64,
}

impl<'a> PromptContents<'a> {
    fn new(sizes: &'a RunSizes, tools: u64) -> Self {
        Self {
            sizes,
            tools,
            start: sizes.fixed as usize,
            summary: None,
            shift: tools as i64,
        }
    }

    /// Returns the number of tokens of a turn's prompt.
    fn prompt_tokens(&self, turn: usize) -> u64 {
        self.sizes.prompts[turn].saturating_add_signed(self.shift)
    }

    /// Returns the first turn from `turn` on whose prompt exceeds `limit`, or the number of turns if there is none.
    fn first_turn_above(&self, turn: usize, limit: u64) -> usize {
        let Some(most) = limit.checked_add_signed(-self.shift) else {
            return if self.shift > 0 {
                turn
            } else {
                self.sizes.turns()
            };
        };
        let rest = &self.sizes.prompts[turn..];
        turn + rest.partition_point(|tokens| *tokens <= most)
    }

    /// Returns the total number of prompt tokens of the turns `from..to`.
    fn sum_prompts(&self, from: usize, to: usize) -> u64 {
        let all = self.sizes.sums[to] - self.sizes.sums[from];
        all.saturating_add_signed(self.shift * (to - from) as i64)
    }

    /// Returns the number of tokens at the start of the prompt before `turn` that no policy changes.
    fn fixed_tokens(&self, turn: usize) -> u64 {
        match turn.checked_sub(1) {
            Some(last) => {
                let fixed = self.sizes.fixed.min(self.sizes.items[last]);
                self.tools + self.sizes.before[fixed as usize]
            }
            None => 0,
        }
    }

    /// Returns the number of tokens of the prompt before `turn`, which are cached unless the policy acts.
    fn last_tokens(&self, turn: usize) -> u64 {
        turn.checked_sub(1).map_or(0, |t| self.prompt_tokens(t))
    }

    /// Applies the policy before `turn`. `None` if the policy never acts.
    fn act_at(&mut self, turn: usize, budget: &Budget, limits: &TokenLimits) -> Option<PolicyAct> {
        let wanted = self.prompt_tokens(turn);
        let of = |same, read, written| PolicyAct {
            same,
            read,
            written,
        };
        match budget.policy {
            Policy::Summary => {
                let (same, written) = self.shorten(turn, limits.keep, Some(limits.summary));
                Some(of(same, wanted, written))
            }
            Policy::Drop => Some(of(self.shorten(turn, limits.keep, None).0, 0, 0)),
            Policy::Never => None,
        }
    }

    /// Keeps the newest items, up to `keep` tokens, and replaces older ones by a summary of at most `summary` tokens,
    /// or drops them if that is `None`.
    ///
    /// Returns the number of tokens at the same position as before, and that of the summary.
    fn shorten(&mut self, turn: usize, keep: u64, summary: Option<u64>) -> (u64, u64) {
        let before = &self.sizes.before;
        let to = (self.sizes.items[turn] as usize).max(self.start);
        let all = before[to] - before[self.start];
        let old = self.summary.unwrap_or(0);
        if all + old <= keep {
            return (self.last_tokens(turn), 0);
        }
        let same = self.fixed_tokens(turn);
        let least = before[to].saturating_sub(keep);
        let from = self.start + before[self.start..=to].partition_point(|tokens| *tokens < least);
        let gone = old + before[from] - before[self.start];
        let left = summary.map(|most| most.min(gone));
        self.shift -= gone as i64;
        self.shift += left.unwrap_or(0) as i64;
        self.start = from;
        self.summary = left;
        (same, left.unwrap_or(0))
    }
}

/// Simulates a run under a setting.
pub fn simulate_run(sizes: &RunSizes, budget: &Budget) -> SimulatedRun {
    simulate(sizes, budget, &mut |_| {})
}

/// Simulates a run under a setting. Also returns each turn.
pub fn trace_run(sizes: &RunSizes, budget: &Budget) -> (SimulatedRun, Vec<BudgetStep>) {
    let mut done = Vec::new();
    let played = simulate(sizes, budget, &mut |step| done.push(step));
    let mut shift = budget.tools as i64;
    let mut steps = Vec::new();
    let mut marked = done.into_iter().peekable();
    let shown = played.turns + u64::from(played.overflow.is_some());
    for (turn, tokens) in (0..shown).zip(&sizes.prompts) {
        let wanted = tokens.saturating_add_signed(shift);
        let step = marked.next_if(|step| step.turn == turn);
        let step = step.unwrap_or(BudgetStep {
            turn,
            wanted,
            sent: wanted,
            done: false,
            overflow: false,
        });
        shift += step.sent as i64 - step.wanted as i64;
        steps.push(step);
    }
    (played, steps)
}

/// Simulates a run. Calls `emit` for each turn at which the policy acts or the prompt overflows.
fn simulate(sizes: &RunSizes, budget: &Budget, emit: &mut impl FnMut(BudgetStep)) -> SimulatedRun {
    let limits = TokenLimits::from_budget(budget);
    let mut context = PromptContents::new(sizes, budget.tools);
    let mut played = SimulatedRun::default();
    let (mut turn, mut last): (usize, Option<usize>) = (0, None);
    let first_above = limits.trigger.min(limits.overflow);
    while turn < sizes.turns() {
        let next = context.first_turn_above(turn, first_above);
        add_turns(&context, &mut played, turn, next);
        turn = next;
        if turn == sizes.turns() {
            break;
        }
        let wanted = context.prompt_tokens(turn);
        let acted = if wanted > limits.trigger {
            context.act_at(turn, budget, &limits)
        } else {
            None
        };
        let sent = context.prompt_tokens(turn);
        let overflow = sent > limits.overflow;
        if let Some(act) = &acted {
            add_act(&mut played, (turn, last), wanted, sent);
            played.cached += act.read;
            played.written += act.written;
            last = Some(turn);
        }
        if acted.is_some() || overflow {
            let done = acted.is_some();
            emit(BudgetStep {
                turn: turn as u64,
                wanted,
                sent,
                done,
                overflow,
            });
        }
        if overflow {
            played.overflow = Some(turn as u64);
            break;
        }
        let same = acted.map_or_else(|| context.last_tokens(turn), |act| act.same);
        played.cached += same;
        played.fresh += sent - same;
        played.turns += 1;
        turn += 1;
    }
    played
}

/// Counts the prompts of the turns `from..to`, during which the policy does not act.
fn add_turns(context: &PromptContents<'_>, played: &mut SimulatedRun, from: usize, to: usize) {
    let all = context.sum_prompts(from, to);
    // The prompt of every turn but the first begins with the previous one, which may be the tool definitions alone.
    let first = from.max(1);
    let cached = if first < to {
        context.sum_prompts(first - 1, to - 1)
    } else {
        0
    };
    played.turns += (to - from) as u64;
    played.cached += cached;
    played.fresh += all - cached;
}

/// Counts an action of the policy before `turn`. `last` is the turn of the previous action.
fn add_act(run: &mut SimulatedRun, (turn, last): (usize, Option<usize>), wanted: u64, sent: u64) {
    run.summaries += 1;
    run.first = run.first.or(Some(turn as u64));
    run.useless += u64::from(((wanted - sent) as f64) < MIN_USEFUL_SHARE * wanted as f64);
    run.thrash += u64::from(last.is_some_and(|last| turn - last < MIN_TURNS_BETWEEN));
}
