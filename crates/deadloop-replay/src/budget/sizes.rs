//! [`RunSizes`]: the tokens of a run's events by one counter, as the sums that [`play`](super::play()) searches.

use super::lengths::{Item, Lengths, Prompt};
use super::params::Counter;

/// The tokens of a run by one counter. Positions are numbers of items, which are the events that take room.
#[derive(Clone, Debug, Default)]
pub struct RunSizes {
    /// For each item the tokens of the items before it, then the tokens of all items.
    pub(super) before: Vec<u64>,
    /// For each turn the number of items before it.
    pub(super) items: Vec<u32>,
    /// For each turn the tokens of all events before it: its prompt if nothing is left out.
    pub(super) prompts: Vec<u64>,
    /// For each turn the sum of the prompts before its own, then the sum of all.
    pub(super) sums: Vec<u64>,
    /// How many items at the beginning no policy touches.
    pub(super) fixed: u32,
    /// For each turn the length of its prompt in tokens, if it was recorded.
    pub(super) recorded: Vec<Option<u64>>,
}

impl RunSizes {
    /// Measures a run. A system event after the beginning counts as an ordinary event.
    pub fn of(lengths: &Lengths, counter: Counter) -> Self {
        let tokens = match counter {
            Counter::Recorded => recorded(&lengths.items, &lengths.prompts),
            _ => estimated(&lengths.items, counter.chars()),
        };
        let mut sizes = Self {
            before: running(tokens.into_iter()),
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
        sizes
    }

    /// How many turns the run has.
    pub fn turns(&self) -> usize {
        self.items.len()
    }

    /// The tokens of the longest prompt, which is the last one, if nothing is left out.
    pub(super) fn peak(&self, tools: u64) -> u64 {
        self.prompts.last().map_or(0, |prompt| prompt + tools)
    }

    /// For each turn whose prompt was recorded: its tokens by this counter, with `tools` tokens of definitions, and its
    /// recorded tokens.
    pub fn errors(&self, tools: u64) -> impl Iterator<Item = (u64, u64)> {
        let both = self.prompts.iter().zip(&self.recorded);
        both.filter_map(move |(own, recorded)| Some((own + tools, recorded.filter(|n| *n > 0)?)))
    }
}

/// The running sums: 0, the first number, the sum of the first two, and so on.
fn running(numbers: impl Iterator<Item = u64>) -> Vec<u64> {
    let sums = numbers.scan(0, |sum, n| {
        *sum += n;
        Some(*sum)
    });
    std::iter::once(0).chain(sums).collect()
}

/// The tokens of each event: its chars divided by the chars of a token, rounded up.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]
fn estimated(items: &[Item], chars: f64) -> Vec<u64> {
    let of = |item: &Item| (item.chars as f64 / chars).ceil() as u64;
    items.iter().map(of).collect()
}

/// The tokens of each event as recorded. The tokens that a turn's recorded prompt has more than the one before are spread
/// over the events between, by their chars. If a turn has no recorded prompt, or a shorter one than the turn before, the
/// events between are estimated and scaled by the ratio of recorded to estimated tokens so far. A prompt that shrinks
/// says that the recording left something out: later prompts are held against it, not against the longest.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]
fn recorded(items: &[Item], prompts: &[Prompt]) -> Vec<u64> {
    let estimates = estimated(items, Counter::Recorded.chars());
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
        spread(more, &items[from..to], &mut tokens[from..to]);
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

/// Spreads tokens over events by their chars. Each event takes its share of what is left, so that the sum is exact.
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
        let item = |chars: &u64| Item {
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
        // It grows again from there: by 27, whatever the longest prompt was.
        let again = [prompt(1, Some(20)), prompt(2, Some(5)), prompt(3, Some(32))];
        assert_eq!(recorded(&items, &again), [20, 20, 27]);
    }
}
