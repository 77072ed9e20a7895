//! [`RunSizes`]: running sums of the tokens of a run's events, for [`simulate_run`](super::simulate_run).

use super::lengths::{Lengths, Prompt, PromptItem};
use super::params::TokenCounter;

/// Token sums of a run by one counter. Items are the events that take up space in a prompt.
#[derive(Clone, Debug, Default)]
pub struct RunSizes {
    /// For each item, the number of tokens before it. The last entry is the total.
    pub(super) before: Vec<u64>,
    /// For each turn, the number of items before it.
    pub(super) items: Vec<u32>,
    /// For each turn, the number of tokens of all items before it, which is its prompt if nothing is removed.
    pub(super) prompts: Vec<u64>,
    /// For each turn, the total tokens of earlier prompts. The last entry is the total of all prompts.
    pub(super) sums: Vec<u64>,
    /// The number of items at the start that no policy removes.
    pub(super) fixed: u32,
    /// For each turn, the recorded number of prompt tokens, if any.
    pub(super) recorded: Vec<Option<u64>>,
}

impl RunSizes {
    /// Computes the token sums of a run with the given counter. System events after the start of the run are treated
    /// like other events.
    pub fn new(lengths: &Lengths, counter: TokenCounter) -> Self {
        let tokens = match counter {
            TokenCounter::Recorded => tokens_from_prompts(&lengths.items, &lengths.prompts),
            _ => estimate_tokens(&lengths.items, counter.chars()),
        };
        let mut sizes = Self {
            before: running_sums(tokens.into_iter()),
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
        sizes.sums = running_sums(sizes.prompts.iter().copied());
        sizes
    }

    /// Returns the number of turns.
    pub fn turns(&self) -> usize {
        self.items.len()
    }

    /// Returns the number of tokens of the last prompt, which is the longest if nothing is removed.
    pub(super) fn peak(&self, tools: u64) -> u64 {
        self.prompts.last().map_or(0, |prompt| prompt + tools)
    }

    /// Returns the estimated and the recorded number of prompt tokens of each turn with a record. `tools` is the number
    /// of tokens of tool definitions.
    pub fn errors(&self, tools: u64) -> impl Iterator<Item = (u64, u64)> {
        let both = self.prompts.iter().zip(&self.recorded);
        both.filter_map(move |(own, recorded)| Some((own + tools, recorded.filter(|n| *n > 0)?)))
    }
}

/// Returns the running sums of numbers, from 0 to the total.
fn running_sums(numbers: impl Iterator<Item = u64>) -> Vec<u64> {
    let sums = numbers.scan(0, |sum, n| {
        *sum += n;
        Some(*sum)
    });
    std::iter::once(0).chain(sums).collect()
}

/// Estimates the number of tokens of each event: its chars divided by `chars_per_token`, rounded up.
fn estimate_tokens(items: &[PromptItem], chars_per_token: f64) -> Vec<u64> {
    let of = |item: &PromptItem| (item.chars as f64 / chars_per_token).ceil() as u64;
    items.iter().map(of).collect()
}

/// Returns the number of tokens of each event, derived from the recorded prompts.
///
/// The growth of the prompt from one turn to the next is distributed over the events between them, by their chars. If a
/// turn has no recorded prompt, or a shorter one than the turn before, the events are estimated, scaled by the ratio of
/// recorded to estimated tokens so far. A shrinking prompt shows that the recording left something out, so later
/// prompts are compared with that prompt rather than with the longest.
fn tokens_from_prompts(items: &[PromptItem], prompts: &[Prompt]) -> Vec<u64> {
    let estimates = estimate_tokens(items, TokenCounter::Recorded.chars());
    let mut tokens = vec![0; items.len()];
    let (mut from, mut total, mut ratio) = (0, 0_u64, 1.0);
    let (mut guessed, mut gone) = (0_u64, 0_u64);
    let end = Prompt {
        items: items.len() as u32,
        tokens: None,
    };
    for prompt in prompts.iter().chain([&end]) {
        let to = prompt.items as usize;
        let guess: u64 = estimates[from..to].iter().sum();
        guessed += guess;
        let held = prompt.tokens.map(|tokens| tokens.saturating_add(gone));
        let known = held.filter(|held| *held >= total && to > from);
        let more = known.map_or((guess as f64 * ratio).round() as u64, |known| known - total);
        if known.is_some() && guessed > 0 {
            ratio = (total + more) as f64 / guessed as f64;
        }
        distribute_tokens(more, &items[from..to], &mut tokens[from..to]);
        total += if to > from { more } else { 0 };
        if let Some(shrunk) = prompt
            .tokens
            .filter(|_| held.is_some_and(|held| held < total))
        {
            gone = total - shrunk;
        }
        from = to;
    }
    tokens
}

/// Distributes tokens over events by their chars. Each event takes its share of the remaining tokens, so that the sum
/// is exact.
fn distribute_tokens(tokens: u64, items: &[PromptItem], to: &mut [u64]) {
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

    fn items(chars: &[u64]) -> Vec<PromptItem> {
        let item = |chars: &u64| PromptItem {
            chars: *chars,
            system: false,
        };
        chars.iter().map(item).collect()
    }

    fn prompt(items: u32, tokens: Option<u64>) -> Prompt {
        Prompt { items, tokens }
    }

    #[test]
    fn recorded_tokens_add_up_to_what_was_recorded() {
        let items = items(&[40, 80, 10, 30, 400]);
        let tokens = tokens_from_prompts(&items, &[prompt(1, Some(20)), prompt(4, Some(101))]);
        assert_eq!(tokens[0], 20);
        assert_eq!(tokens[1..4].iter().sum::<u64>(), 81);
        // The first four items have 41 tokens by chars and 101 recorded ones, so 100 by chars become 246.
        assert_eq!(tokens[4], 246);
    }

    #[test]
    fn a_turn_that_says_nothing_is_scaled_by_the_ratio_so_far() {
        let items = items(&[40, 40, 40]);
        let said = [prompt(1, Some(20)), prompt(2, None), prompt(3, Some(60))];
        assert_eq!(tokens_from_prompts(&items, &said), [20, 20, 20]);
        // A shorter prompt: the recording left something out, and budgets decide by themselves on that.
        let fewer = [prompt(1, Some(20)), prompt(2, Some(5))];
        assert_eq!(tokens_from_prompts(&items, &fewer)[..2], [20, 20]);
        // From there it grows by 27, whatever the longest prompt was.
        let again = [prompt(1, Some(20)), prompt(2, Some(5)), prompt(3, Some(32))];
        assert_eq!(tokens_from_prompts(&items, &again), [20, 20, 27]);
    }
}
