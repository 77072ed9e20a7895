//! [`play`]: simulates a run under a setting.
//!
//! [`trace`] returns each turn as well, for a plot.
//!
//! Between two acts of the policy the context only grows at its end, so its tokens are those of all events so far plus
//! a constant ([`PromptContents::shift`]). Bisection finds the next turn above a limit. The tokens sent before that
//! turn are a difference of two sums.

use super::params::{Budget, Policy};
use super::sizes::RunSizes;

/// The share of the prompt that a summary must free to be useful.
const MIN_USEFUL_SHARE: f64 = 0.1;
/// The minimum number of turns between two summaries. A summary that comes sooner counts as thrash.
const MIN_TURNS_BETWEEN: usize = 3;

/// The result of a run under a setting, in tokens and turns. Counting stops at an overflow, because the run would
/// have ended there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulatedRun {
    /// The number of turns whose prompt was sent.
    pub turns: u64,
    /// The number of acts of the policy. It acts when a prompt exceeds the threshold.
    pub summaries: u64,
    /// The number of acts that freed less than a tenth of the prompt.
    pub useless: u64,
    /// The number of acts less than 3 turns after the one before.
    pub thrash: u64,
    /// The turn of the first act, from 0.
    pub first: Option<u64>,
    /// The turn whose prompt was too long, from 0.
    pub overflow: Option<u64>,
    /// Tokens of prompts that were not in the cache.
    pub fresh: u64,
    /// Tokens that were at the same place in the previous request, and tokens that summaries read.
    pub cached: u64,
    /// Tokens that summaries wrote.
    pub written: u64,
}

/// A turn of a run under a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetStep {
    /// The turn, from 0.
    pub turn: u64,
    /// The tokens of the prompt before the policy acted.
    pub wanted: u64,
    /// The tokens of the prompt after the policy acted.
    pub sent: u64,
    /// Whether the policy acted.
    pub done: bool,
    /// Whether the prompt is still too long after the policy acted.
    pub overflow: bool,
}

/// Rounds a limit down to whole tokens: for a whole n, n > x exactly if n > round_down(x).
fn round_down(tokens: f64) -> u64 {
    tokens.floor().clamp(0.0, 1e18) as u64
}

/// A setting's limits in whole tokens.
struct TokenLimits {
    trigger: u64,
    most: u64,
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
            most: round_down(window * (1.0 - budget.reserve)),
            keep: round_down(budget.keep * window),
            summary: (budget.summary * window).ceil() as u64,
        }
    }
}

/// Returns the longest prompt, in tokens, at which the policy does not act and nothing overflows. A run whose last
/// prompt is at most this long is sent unchanged.
pub(super) fn longest_quiet_prompt(budget: &Budget) -> u64 {
    let limits = TokenLimits::from_budget(budget);
    limits.trigger.min(limits.most)
}

/// An act of the policy before a turn.
struct PolicyAct {
    /// Tokens of the prompt that are at the same place as in the previous one.
    same: u64,
    /// Tokens that a summary reads and writes.
    read: u64,
    written: u64,
}

/// The content of the prompts: the definitions of tools, the fixed items, a summary, the newest items.
struct PromptContents<'a> {
    sizes: &'a RunSizes,
    tools: u64,
    /// The first of the newest items, which are unchanged.
    from: usize,
    /// Tokens of the summary before them, if there is one.
    summary: Option<u64>,
    /// The difference between the tokens of a prompt and those of all events so far.
    shift: i64,
}

impl<'a> PromptContents<'a> {
    fn new(sizes: &'a RunSizes, tools: u64) -> Self {
        Self {
            sizes,
            tools,
            from: sizes.fixed as usize,
            summary: None,
            shift: tools as i64,
        }
    }

    /// Returns the tokens of a turn's prompt.
    fn prompt(&self, turn: usize) -> u64 {
        self.sizes.prompts[turn].saturating_add_signed(self.shift)
    }

    /// Returns the first turn from `turn` on whose prompt exceeds a limit, or the number of all turns if no prompt
    /// does.
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

    /// Returns the tokens of the prompts of the turns from `from` to before `to`.
    fn sum(&self, from: usize, to: usize) -> u64 {
        let all = self.sizes.sums[to] - self.sizes.sums[from];
        all.saturating_add_signed(self.shift * (to - from) as i64)
    }

    /// Returns the number of tokens at the start of the prompt before `turn` that no policy changes.
    fn head(&self, turn: usize) -> u64 {
        match turn.checked_sub(1) {
            Some(last) => {
                let fixed = self.sizes.fixed.min(self.sizes.items[last]);
                self.tools + self.sizes.before[fixed as usize]
            }
            None => 0,
        }
    }

    /// Returns the tokens of the whole prompt before `turn`, which are cached if the policy does not act.
    fn last(&self, turn: usize) -> u64 {
        turn.checked_sub(1).map_or(0, |last| self.prompt(last))
    }

    /// Applies the policy before `turn`. `None` if there is no policy.
    fn act(&mut self, turn: usize, budget: &Budget, limits: &TokenLimits) -> Option<PolicyAct> {
        let wanted = self.prompt(turn);
        let of = |same, read, written| PolicyAct {
            same,
            read,
            written,
        };
        match budget.policy {
            Policy::Summary => {
                let (same, written) = self.fold(turn, limits.keep, Some(limits.summary));
                Some(of(same, wanted, written))
            }
            Policy::Drop => Some(of(self.fold(turn, limits.keep, None).0, 0, 0)),
            Policy::Never => None,
        }
    }

    /// Keeps the newest items, up to `keep` tokens together. A summary replaces the others, or they are dropped.
    /// Returns the tokens that are at the same place as before, and the tokens of the summary.
    fn fold(&mut self, turn: usize, keep: u64, summary: Option<u64>) -> (u64, u64) {
        let before = &self.sizes.before;
        let to = (self.sizes.items[turn] as usize).max(self.from);
        let all = before[to] - before[self.from];
        let old = self.summary.unwrap_or(0);
        if all + old <= keep {
            return (self.last(turn), 0);
        }
        let same = self.head(turn);
        let least = before[to].saturating_sub(keep);
        let from = self.from + before[self.from..=to].partition_point(|tokens| *tokens < least);
        let gone = old + before[from] - before[self.from];
        let left = summary.map(|most| most.min(gone));
        self.shift -= gone as i64;
        self.shift += left.unwrap_or(0) as i64;
        self.from = from;
        self.summary = left;
        (same, left.unwrap_or(0))
    }
}

/// Plays a run under a setting.
pub fn play(sizes: &RunSizes, budget: &Budget) -> SimulatedRun {
    run(sizes, budget, &mut |_| {})
}

/// Plays a run and also returns each turn.
pub fn trace(sizes: &RunSizes, budget: &Budget) -> (SimulatedRun, Vec<BudgetStep>) {
    let mut done = Vec::new();
    let played = run(sizes, budget, &mut |step| done.push(step));
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

/// Plays a run and calls `tell` for each turn at which the policy acts or the prompt overflows.
fn run(sizes: &RunSizes, budget: &Budget, tell: &mut impl FnMut(BudgetStep)) -> SimulatedRun {
    let limits = TokenLimits::from_budget(budget);
    let mut context = PromptContents::new(sizes, budget.tools);
    let mut played = SimulatedRun::default();
    let (mut turn, mut last): (usize, Option<usize>) = (0, None);
    let first_above = limits.trigger.min(limits.most);
    while turn < sizes.turns() {
        let next = context.first_turn_above(turn, first_above);
        send(&context, &mut played, turn, next);
        turn = next;
        if turn == sizes.turns() {
            break;
        }
        let wanted = context.prompt(turn);
        let acted = if wanted > limits.trigger {
            context.act(turn, budget, &limits)
        } else {
            None
        };
        let sent = context.prompt(turn);
        let overflow = sent > limits.most;
        if let Some(act) = &acted {
            count(&mut played, (turn, last), wanted, sent);
            played.cached += act.read;
            played.written += act.written;
            last = Some(turn);
        }
        if acted.is_some() || overflow {
            let done = acted.is_some();
            tell(BudgetStep {
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
        let same = acted.map_or_else(|| context.last(turn), |act| act.same);
        played.cached += same;
        played.fresh += sent - same;
        played.turns += 1;
        turn += 1;
    }
    played
}

/// Sends the prompts of the turns from `from` to before `to`, between which the policy does not act.
fn send(context: &PromptContents<'_>, played: &mut SimulatedRun, from: usize, to: usize) {
    let all = context.sum(from, to);
    // The prompt of every turn but the first begins with the previous one, which may be the tool definitions alone.
    let first = from.max(1);
    let cached = if first < to {
        context.sum(first - 1, to - 1)
    } else {
        0
    };
    played.turns += (to - from) as u64;
    played.cached += cached;
    played.fresh += all - cached;
}

/// Counts an act of the policy before a turn.
fn count(played: &mut SimulatedRun, (turn, last): (usize, Option<usize>), wanted: u64, sent: u64) {
    played.summaries += 1;
    played.first = played.first.or(Some(turn as u64));
    played.useless += u64::from(((wanted - sent) as f64) < MIN_USEFUL_SHARE * wanted as f64);
    played.thrash += u64::from(last.is_some_and(|last| turn - last < MIN_TURNS_BETWEEN));
}
