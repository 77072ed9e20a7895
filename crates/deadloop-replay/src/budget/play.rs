//! [`play`]: what a setting makes of a run; [`trace`]: the same turn by turn, for a picture.
//!
//! Between two moments at which something is done the context only grows at its end, so its tokens are those of all
//! events so far plus a constant ([`Context::shift`]). The next turn above a limit is found by bisection, and what
//! the turns before it send is a difference of sums.

use super::params::{Budget, Policy};
use super::sizes::RunSizes;

/// A summary that frees less than this share of the prompt is useless.
const USELESS: f64 = 0.1;
/// One that comes fewer turns after the last than this is thrash.
const THRASH: usize = 3;

/// What a setting makes of a run, in tokens and turns. Counting stops at an overflow: the run would have died there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// Turns whose prompt was sent.
    pub turns: u64,
    /// Times that the threshold was passed and something was done.
    pub summaries: u64,
    /// Those that freed less than a tenth of the prompt.
    pub useless: u64,
    /// Those that came less than 3 turns after the one before.
    pub thrash: u64,
    /// The turn of the first, from 0.
    pub first: Option<u64>,
    /// The turn whose prompt was too long, from 0.
    pub overflow: Option<u64>,
    /// Tokens of prompts that were sent anew.
    pub fresh: u64,
    /// Tokens that stood in the same place in the request before, and what summaries read.
    pub cached: u64,
    /// Tokens that summaries wrote.
    pub written: u64,
    /// Results that were cleared.
    pub cleared: u64,
    /// Those of them that a later call needed.
    pub needed: u64,
}

impl Played {
    /// All tokens that were sent: every prompt, and once more what each summary read.
    pub fn sent(&self) -> u64 {
        self.fresh + self.cached
    }

    /// What that costs where a cached token costs `cache` and any other 1.
    #[allow(clippy::cast_precision_loss)]
    pub fn cost(&self, cache: f64) -> f64 {
        (self.fresh + self.written) as f64 + self.cached as f64 * cache
    }
}

/// A turn of a run under a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The turn, from 0.
    pub turn: u64,
    /// Tokens that the prompt would have had.
    pub wanted: u64,
    /// Tokens that it has after what was done.
    pub sent: u64,
    /// Whether something was done.
    pub done: bool,
    /// Whether it is too long all the same.
    pub overflow: bool,
}

/// The whole tokens that a number of them allows: n > x exactly where n > limit(x).
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn limit(tokens: f64) -> u64 {
    tokens.floor().clamp(0.0, 1e18) as u64
}

/// A setting's limits in whole tokens.
struct Limits {
    trigger: u64,
    most: u64,
    keep: u64,
    summary: u64,
}

impl Limits {
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss
    )]
    fn of(budget: &Budget) -> Self {
        let window = budget.window as f64;
        let room = budget.window.saturating_sub(budget.tools) as f64;
        let trigger = match budget.policy {
            Policy::Never => u64::MAX,
            _ => limit(budget.threshold * room),
        };
        Self {
            trigger,
            most: limit(window * (1.0 - budget.reserve)),
            keep: limit(budget.keep * window),
            summary: (budget.summary * window).ceil() as u64,
        }
    }
}

/// The most tokens that a prompt may have for nothing to happen: a run whose last prompt has no more is sent as it is.
pub(super) fn quiet(budget: &Budget) -> u64 {
    let limits = Limits::of(budget);
    limits.trigger.min(limits.most)
}

/// What was done before a turn.
struct Act {
    /// Tokens of the prompt that stand where they stood in the one before.
    same: u64,
    /// Tokens that a summary reads and writes.
    read: u64,
    written: u64,
}

/// What stands in the prompts, the definitions of tools and the fixed items first.
struct Context<'a> {
    sizes: &'a RunSizes,
    tools: u64,
    /// Items from this one on are there as they are.
    from: usize,
    /// Tokens of the summary that stands before them, if there is one.
    summary: Option<u64>,
    /// Results up to this one were cleared.
    cleared: usize,
    /// What is added to the tokens of all events so far.
    shift: i64,
}

impl<'a> Context<'a> {
    fn new(sizes: &'a RunSizes, tools: u64) -> Self {
        Self {
            sizes,
            tools,
            from: sizes.fixed as usize,
            summary: None,
            cleared: 0,
            shift: tools as i64,
        }
    }

    /// Tokens of the prompt of a turn.
    fn prompt(&self, turn: usize) -> u64 {
        self.sizes.prompts[turn].saturating_add_signed(self.shift)
    }

    /// The first turn from `turn` on whose prompt is above a limit; the number of turns where none is.
    fn above(&self, turn: usize, limit: u64) -> usize {
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

    /// The tokens of the prompts of the turns from one up to another.
    fn sum(&self, from: usize, to: usize) -> u64 {
        let all = self.sizes.sums[to] - self.sizes.sums[from];
        all.saturating_add_signed(self.shift * (to - from) as i64)
    }

    /// Of the prompt before `turn`, what any later prompt begins with, whatever is done.
    fn head(&self, turn: usize) -> u64 {
        match turn.checked_sub(1) {
            Some(last) if last >= self.sizes.empty => {
                let fixed = self.sizes.fixed.min(self.sizes.items[last]);
                self.tools + self.sizes.before[fixed as usize]
            }
            _ => 0,
        }
    }

    /// The whole prompt before `turn`: what stands in the same place where nothing is done.
    fn last(&self, turn: usize) -> u64 {
        match turn.checked_sub(1) {
            Some(last) if last >= self.sizes.empty => self.prompt(last),
            _ => 0,
        }
    }

    /// Does what the policy says before `turn`; `None`: nothing could be done, and it does not count.
    fn act(&mut self, turn: usize, budget: &Budget, limits: &Limits) -> Option<Act> {
        let wanted = self.prompt(turn);
        let of = |same, read, written| Act {
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
            Policy::ClearResults => Some(of(self.clear(turn, budget)?, 0, 0)),
            Policy::Never => None,
        }
    }

    /// Keeps the newest items that are at most `keep` tokens together; a summary, or nothing, replaces the others.
    /// Gives back the tokens that stand where they stood, and those that the summary has.
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

    /// Makes stubs of all results but the newest. Gives back the tokens that stand where they stood.
    fn clear(&mut self, turn: usize, budget: &Budget) -> Option<u64> {
        let items = self.sizes.items[turn];
        let there = self.sizes.results.partition_point(|item| *item < items);
        let stay = usize::try_from(budget.keep_results).unwrap_or(usize::MAX);
        let to = there.saturating_sub(stay).max(self.cleared);
        let frees = &self.sizes.frees;
        let freed = frees[to] - frees[self.cleared];
        if freed == 0 || freed < budget.clear_at_least {
            return None;
        }
        let first = (self.cleared..to).find(|n| self.sizes.is_clearable(*n));
        let first = first.map_or(items, |n| self.sizes.results[n]) as usize;
        let begin = self.sizes.before[first].saturating_add_signed(self.shift);
        let same = match self.last(turn) {
            0 => 0,
            last => last.min(begin),
        };
        self.shift -= freed as i64;
        self.cleared = to;
        Some(same)
    }
}

/// What a setting makes of a run.
pub fn play(sizes: &RunSizes, budget: &Budget) -> Played {
    run(sizes, budget, &mut |_| {})
}

/// Plays a run and returns each turn too.
pub fn trace(sizes: &RunSizes, budget: &Budget) -> (Played, Vec<Step>) {
    let mut done = Vec::new();
    let played = run(sizes, budget, &mut |step| done.push(step));
    let mut shift = budget.tools as i64;
    let mut steps = Vec::new();
    let mut marked = done.into_iter().peekable();
    let shown = played.turns + u64::from(played.overflow.is_some());
    for (turn, tokens) in (0..shown).zip(&sizes.prompts) {
        let wanted = tokens.saturating_add_signed(shift);
        let step = marked.next_if(|step| step.turn == turn);
        let step = step.unwrap_or(Step {
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

/// Plays the run and tells of each turn at which something happens.
fn run(sizes: &RunSizes, budget: &Budget, tell: &mut impl FnMut(Step)) -> Played {
    let limits = Limits::of(budget);
    let mut context = Context::new(sizes, budget.tools);
    let mut played = Played::default();
    let mut clearings: Vec<(u32, usize)> = Vec::new();
    let (mut turn, mut last): (usize, Option<usize>) = (0, None);
    let first_above = limits.trigger.min(limits.most);
    while turn < sizes.turns() {
        let next = context.above(turn, first_above);
        send(&context, &mut played, turn, next);
        turn = next;
        if turn == sizes.turns() {
            break;
        }
        let wanted = context.prompt(turn);
        let acted = match wanted > limits.trigger {
            true => context.act(turn, budget, &limits),
            false => None,
        };
        let sent = context.prompt(turn);
        let overflow = sent > limits.most;
        if let Some(act) = &acted {
            count(&mut played, (turn, last), wanted, sent);
            played.cached += act.read;
            played.written += act.written;
            clearings.push((turn as u32, context.cleared));
            last = Some(turn);
        }
        if acted.is_some() || overflow {
            let done = acted.is_some();
            tell(Step {
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
    if budget.policy == Policy::ClearResults {
        (played.cleared, played.needed) = losses(sizes, &clearings, played.turns);
    }
    played
}

/// Sends the prompts of the turns from one up to another, between which nothing is done.
fn send(context: &Context<'_>, played: &mut Played, from: usize, to: usize) {
    let all = context.sum(from, to);
    // The first of them whose prompt begins with one that was sent.
    let first = from.max(context.sizes.empty + 1);
    let cached = match first < to {
        true => context.sum(first - 1, to - 1),
        false => 0,
    };
    played.turns += (to - from) as u64;
    played.cached += cached;
    played.fresh += all - cached;
}

/// Counts what was done before a turn.
#[allow(clippy::cast_precision_loss)]
fn count(played: &mut Played, (turn, last): (usize, Option<usize>), wanted: u64, sent: u64) {
    played.summaries += 1;
    played.first = played.first.or(Some(turn as u64));
    played.useless += u64::from(((wanted - sent) as f64) < USELESS * wanted as f64);
    played.thrash += u64::from(last.is_some_and(|last| turn - last < THRASH));
}

/// How many results were cleared, and how many of them a later call of the turns that were sent needed: a word of
/// it stood in cleared results and in nothing else of the prompt.
fn losses(sizes: &RunSizes, clearings: &[(u32, usize)], turns: u64) -> (u64, u64) {
    let all = clearings.last().map_or(0, |(_, cleared)| *cleared);
    let cleared = (0..all).filter(|n| sizes.is_clearable(*n)).count();
    let mut needed: Vec<u32> = Vec::new();
    for one in sizes.uses.iter().filter(|one| u64::from(one.turn) < turns) {
        let before = clearings.partition_point(|(turn, _)| *turn <= one.turn);
        let gone = before.checked_sub(1).map_or(0, |n| clearings[n].1);
        let newest = one.results.last().copied().unwrap_or(u32::MAX);
        if (newest as usize) < gone {
            needed.extend(&one.results);
        }
    }
    needed.sort_unstable();
    needed.dedup();
    (cleared as u64, needed.len() as u64)
}
