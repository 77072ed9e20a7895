//! Copies that differ a little: stretches in which nearly every n-gram has stood in the text before.

use std::collections::HashMap;

use super::views::{Numbers, Stretch, View, squeezed};

/// Symbols of an n-gram. Shorter ones come back in any text, longer ones are broken by every word
/// that changes.
const GRAM: usize = 12;
/// What a new n-gram takes from a stretch, where one that comes back adds 1: the share of new ones
/// that a stretch bears is 1 in so many and one.
const NEW: i64 = 5;

/// A stretch of n-grams that come back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recycled {
    pub(super) stretch: Stretch,
    /// Share of its n-grams that have stood before.
    pub(super) share: f64,
}

/// The stretches of at least `length` chars in which n-grams come back, disjoint, in their order.
pub(super) fn recycled(text: &[char], length: usize) -> Vec<Recycled> {
    let seen = squeezed(text);
    let gaps = gaps(&seen.symbols);
    let mut found = Vec::new();
    let mut from = 0;
    while from < gaps.len() {
        if gaps[from] == 0 {
            from += 1;
            continue;
        }
        let to = best_end(&gaps, from);
        let start = seen.starts[from];
        let last = to - 1 + GRAM;
        let end = seen.starts.get(last).copied().unwrap_or(text.len());
        if end - start >= length {
            found.extend(measured(&gaps, (from, to), |index| seen.starts[index], end));
        }
        from = to;
    }
    found
}

/// For each n-gram, how many symbols before it stood last; 0: it is new.
fn gaps(symbols: &[u32]) -> Vec<usize> {
    let mut last: HashMap<&[u32], usize> = HashMap::new();
    let gap = |(at, gram)| last.insert(gram, at).map_or(0, |before| at - before);
    symbols.windows(GRAM).enumerate().map(gap).collect()
}

/// Where the stretch that begins at `from` ends: at its best sum, once new n-grams have eaten it.
fn best_end(gaps: &[usize], from: usize) -> usize {
    let (mut sum, mut best) = (0, (0, from + 1));
    for (at, gap) in gaps.iter().enumerate().skip(from) {
        sum += if *gap == 0 { -NEW } else { 1 };
        if sum > best.0 {
            best = (sum, at + 1);
        }
        if sum < 0 || best.0 - sum > PATIENCE {
            break;
        }
    }
    best.1
}

/// How much a stretch may lose before it is over: some 30 new n-grams in a row, about two words
/// changed at one place.
const PATIENCE: i64 = 60 * NEW;

fn measured(
    gaps: &[usize],
    (from, to): (usize, usize),
    start: impl Fn(usize) -> usize,
    end: usize,
) -> Option<Recycled> {
    let mut known: Vec<usize> = gaps[from..to].iter().copied().filter(|g| *g > 0).collect();
    let share = known.len() as f64 / (to - from) as f64;
    let high = known.len() * 3 / 4;
    let period = *known.select_nth_unstable(high).1;
    // Before the repetition begins, single n-grams come back from afar.
    let near = |at: &usize| gaps[*at] > 0 && gaps[*at] <= 2 * period;
    let from = (from..to).find(near)?;
    Some(Recycled {
        stretch: Stretch {
            view: View::Near,
            start: start(from.checked_sub(gaps[from])?),
            onset: start(from),
            end,
            copies: (to - from) as f64 / period as f64 + 1.0,
            numbers: Numbers::Same,
        },
        share,
    })
}
