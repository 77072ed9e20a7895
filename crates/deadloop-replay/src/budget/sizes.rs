//! [`RunSizes`]: the tokens of a run's events to one counter, as the sums that [`play`](super::play()) searches.

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::lengths::{Item, Lengths, Prompt, Use};
use super::params::Counter;

/// Tokens of a result that was cleared.
pub(super) const STUB: u64 = 20;

/// A run to one counter. All positions are numbers of items: events that take room.
#[derive(Clone, Debug, Default)]
pub struct RunSizes {
    /// Tokens of the items before each, and of all: one more than there are items.
    pub(super) before: Vec<u64>,
    /// Items before each turn.
    pub(super) items: Vec<u32>,
    /// Tokens of all events before each turn: its prompt, where nothing is left out.
    pub(super) prompts: Vec<u64>,
    /// Sums of these over the turns before each, and over all.
    pub(super) sums: Vec<u64>,
    /// Items at the beginning that no policy touches.
    pub(super) fixed: u32,
    /// Turns before which nothing stood.
    pub(super) empty: usize,
    /// Each result that could be cleared: its item.
    pub(super) results: Vec<u32>,
    /// What clearing the first so many of them frees.
    pub(super) frees: Vec<u64>,
    /// What later calls needed of results that can be cleared.
    pub(super) uses: Vec<Use>,
    /// What each turn was recorded to have read.
    pub(super) recorded: Vec<Option<u64>>,
}

impl RunSizes {
    /// Those of a run. Results of tools that a glob of `exclude` names cannot be cleared. A system event after the
    /// beginning is taken for an ordinary one.
    pub fn of(lengths: &Lengths, counter: Counter, exclude: &[String]) -> Self {
        let tokens = match counter {
            Counter::Recorded => recorded(&lengths.items, &lengths.prompts),
            _ => estimated(&lengths.items, counter.chars()),
        };
        let mut sizes = Self {
            before: running(tokens.iter().copied()),
            items: lengths.prompts.iter().map(|prompt| prompt.items).collect(),
            recorded: lengths.prompts.iter().map(|prompt| prompt.tokens).collect(),
            fixed: lengths.items.iter().take_while(|item| item.system).count() as u32,
            ..Self::default()
        };
        let prompts = sizes
            .items
            .iter()
            .map(|items| sizes.before[*items as usize]);
        sizes.prompts = prompts.collect();
        sizes.sums = running(sizes.prompts.iter().copied());
        sizes.empty = sizes.items.partition_point(|items| *items == 0);
        sizes.clear(lengths, &tokens, exclude);
        sizes
    }

    /// Finds what can be cleared: results of other tools than those excluded that are longer than a stub.
    fn clear(&mut self, lengths: &Lengths, tokens: &[u64], exclude: &[String]) {
        let globs = globs(exclude);
        let stays: Vec<bool> = lengths
            .tools
            .iter()
            .map(|name| globs.is_match(name))
            .collect();
        let mut freed = vec![0];
        let mut all = 0_u64;
        // For each result its number among those that can be cleared.
        let mut numbers: Vec<Option<u32>> = Vec::new();
        for (at, item) in lengths.items.iter().enumerate() {
            let Some(tool) = item.result else { continue };
            let long = tokens[at] > STUB && !stays.get(tool as usize).copied().unwrap_or(false);
            numbers.push(None);
            // One that stays takes its place among the newest all the same.
            self.results.push(at as u32);
            if long {
                all += tokens[at] - STUB;
                if let Some(last) = numbers.last_mut() {
                    *last = Some(self.results.len() as u32 - 1);
                }
            }
            freed.push(all);
        }
        self.frees = freed;
        let can = |one: &&Use| {
            one.results
                .iter()
                .all(|n| numbers.get(*n as usize).copied().flatten().is_some())
        };
        self.uses = lengths.uses.iter().filter(can).cloned().collect();
    }

    /// Whether clearing the result of that number frees anything.
    pub(super) fn is_clearable(&self, result: usize) -> bool {
        self.frees[result + 1] > self.frees[result]
    }

    /// How many turns the run has.
    pub fn turns(&self) -> usize {
        self.items.len()
    }

    /// Tokens of the longest prompt where nothing is left out, which is the last.
    pub(super) fn peak(&self, tools: u64) -> u64 {
        self.prompts.last().map_or(0, |prompt| prompt + tools)
    }

    /// The tokens of each turn's prompt where nothing is left out, definitions of tools aside.
    pub fn prompts(&self) -> &[u64] {
        &self.prompts
    }

    /// For each turn whose prompt was recorded: what this counter makes of it with `tools` tokens of definitions, and
    /// what was recorded.
    pub fn errors(&self, tools: u64) -> impl Iterator<Item = (u64, u64)> {
        let both = self.prompts.iter().zip(&self.recorded);
        both.filter_map(move |(own, recorded)| Some((own + tools, recorded.filter(|n| *n > 0)?)))
    }
}

/// The globs of a setting, which were checked when it was read; one that is none matches nothing.
fn globs(exclude: &[String]) -> GlobSet {
    let mut builder = GlobSetBuilder::new();
    exclude
        .iter()
        .filter_map(|glob| Glob::new(glob).ok())
        .for_each(|glob| {
            builder.add(glob);
        });
    builder.build().unwrap_or_default()
}

/// 0, and the sums of the first, the first two, ….
fn running(numbers: impl Iterator<Item = u64>) -> Vec<u64> {
    let sums = numbers.scan(0, |sum, n| {
        *sum += n;
        Some(*sum)
    });
    std::iter::once(0).chain(sums).collect()
}

/// Chars divided by those of a token, rounded up for each event.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]
fn estimated(items: &[Item], chars: f64) -> Vec<u64> {
    let of = |item: &Item| (item.chars as f64 / chars).ceil() as u64;
    items.iter().map(of).collect()
}

/// As recorded: a turn's prompt is what it was said to be, and what it has more than the turn before is spread by
/// chars over the events between. Where a turn says nothing, or less than the one before, the events between are
/// estimated and scaled by the ratio of recorded to estimated tokens so far.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]
fn recorded(items: &[Item], prompts: &[Prompt]) -> Vec<u64> {
    let estimates = estimated(items, Counter::Recorded.chars());
    let mut tokens = vec![0; items.len()];
    let (mut from, mut total, mut ratio) = (0, 0_u64, 1.0);
    let mut guessed = 0_u64;
    let end = Prompt {
        items: items.len() as u32,
        tokens: None,
    };
    for prompt in prompts.iter().chain([&end]) {
        let to = prompt.items as usize;
        let guess: u64 = estimates[from..to].iter().sum();
        guessed += guess;
        let known = prompt.tokens.filter(|known| *known >= total && to > from);
        let more = known.map_or((guess as f64 * ratio).round() as u64, |known| known - total);
        if known.is_some() && guessed > 0 {
            ratio = (total + more) as f64 / guessed as f64;
        }
        spread(more, &items[from..to], &mut tokens[from..to]);
        total += if to > from { more } else { 0 };
        from = to;
    }
    tokens
}

/// Spreads tokens by chars so that they add up: each event has its share of what is left.
fn spread(tokens: u64, items: &[Item], to: &mut [u64]) {
    let mut chars: u64 = items.iter().map(|item| item.chars).sum();
    let mut left = tokens;
    for (item, to) in items.iter().zip(to) {
        let share = u128::from(left) * u128::from(item.chars) / u128::from(chars.max(1));
        *to = share as u64;
        left -= *to;
        chars -= item.chars;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(chars: &[u64]) -> Vec<Item> {
        let item = |(event, chars): (u32, &u64)| Item {
            event,
            chars: *chars,
            system: false,
            result: None,
        };
        (0..).zip(chars).map(item).collect()
    }

    fn prompt(items: u32, tokens: Option<u64>) -> Prompt {
        Prompt { items, tokens }
    }

    #[test]
    fn recorded_tokens_add_up_to_what_was_recorded() {
        let items = items(&[40, 80, 10, 30, 400]);
        let tokens = recorded(&items, &[prompt(1, Some(20)), prompt(4, Some(101))]);
        assert_eq!(tokens[0], 20);
        assert_eq!(tokens[1..4].iter().sum::<u64>(), 81);
        // 10 + 20 + 3 + 8 tokens by chars, 101 recorded: 100 estimated are 246.
        assert_eq!(tokens[4], 246);
    }

    #[test]
    fn a_turn_that_says_nothing_is_scaled_by_the_ratio_so_far() {
        let items = items(&[40, 40, 40]);
        let said = [prompt(1, Some(20)), prompt(2, None), prompt(3, Some(60))];
        assert_eq!(recorded(&items, &said), [20, 20, 20]);
        // Fewer than before: the recording left something out, which a budget decides by itself.
        let fewer = [prompt(1, Some(20)), prompt(2, Some(5))];
        assert_eq!(recorded(&items, &fewer)[..2], [20, 20]);
    }
}
