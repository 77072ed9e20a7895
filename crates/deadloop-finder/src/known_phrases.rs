//! Finds the place after which a text repeats only known phrases.
//!
//! Copies are often nearly equal, or numbered, long before they are exact. For a reader, the loop begins with these
//! copies.
//!
//! A phrase is new if it did not occur earlier in the text. Going back from the loop's onset, each known phrase counts
//! for the stretch, and each new one counts against it. The stretch begins where its weight is highest. The walk ends
//! where the weight has fallen far below that (the X-drop rule of sequence alignment: Altschul and others, J. Mol.
//! Biol. 215, 1990). So it passes one new sentence but not a page.

use std::collections::{HashMap, HashSet};

/// The number of words of a phrase. Shorter phrases recur in any text, and longer ones are broken by every changed
/// word.
const WORDS: usize = 5;
/// The weight of a new phrase, which counts against the stretch. A known phrase counts for it with weight 1. So at most
/// one phrase in five may be new.
const NEW: i64 = 4;
/// The loss of weight at which the walk ends: 25 new phrases in a row.
const DROP: i64 = 100;
/// The number of letters by which words are compared.
const LETTERS: usize = 24;

/// Returns the first char after which, up to `onset`, every phrase is known. Returns `onset` if there is no such char.
pub(super) fn stale_since(text: &[char], onset: usize) -> usize {
    let words = words(&text[..onset]);
    let news = news(&words);
    let (mut weight, mut most, mut since) = (0, 0, onset);
    for ((start, _), new) in words.iter().zip(&news).rev() {
        weight += if *new { -NEW } else { 1 };
        if weight > most {
            (most, since) = (weight, *start);
        }
        if weight < most - DROP {
            break;
        }
    }
    since
}

/// Returns the start and the number of each word. A word is a run of letters in lower case, a number, or any other
/// char.
fn words(text: &[char]) -> Vec<(usize, u32)> {
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at) {
        let is: fn(&char) -> bool = match c {
            c if c.is_numeric() => |c| c.is_numeric(),
            c if is_letter(c) => is_letter,
            _ => |_| false,
        };
        let length = text[at..].iter().take_while(|c| is(c)).count().max(1);
        if !c.is_whitespace() {
            let letters = text[at..at + length].iter().take(LETTERS);
            let word: String = letters.flat_map(|c| c.to_lowercase()).collect();
            let next = known.len() as u32;
            found.push((at, *known.entry(word).or_insert(next)));
        }
        at += length;
    }
    found
}

/// Returns whether a char is a letter of a script with blanks between words.
fn is_letter(c: &char) -> bool {
    c.is_alphabetic() && !('\u{2e80}'..='\u{d7ff}').contains(c)
}

/// Returns for each word whether the phrase that ends with it is new.
fn news(words: &[(usize, u32)]) -> Vec<bool> {
    let ids: Vec<u32> = words.iter().map(|(_, word)| *word).collect();
    let mut seen: HashSet<&[u32]> = HashSet::new();
    let phrase = |last: usize| &ids[(last + 1).saturating_sub(WORDS)..=last];
    (0..ids.len())
        .map(|last| seen.insert(phrase(last)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(text: &str, onset: usize) -> usize {
        let chars: Vec<char> = text.chars().collect();
        stale_since(&chars, onset)
    }

    const NEWS: &str = "A painter bought the old lighthouse and never once climbed its stairs. ";

    #[test]
    fn phrases_drawn_anew_are_stale_and_news_are_not() {
        let three = [
            "But the answer has to be four. ",
            "However, we do not know the first length. ",
            "Perhaps the angle helps us a little here. ",
        ];
        let order = [0, 1, 2, 1, 0, 2, 2, 0, 1, 0, 2, 1, 1, 2, 0, 2, 1, 0];
        let drawn: String = order.iter().map(|i| three[*i]).collect();
        let text = format!("{NEWS}{drawn}");
        // Each pair of sentences is new once, at their border.
        let (said_once, half) = (NEWS.len(), NEWS.len() + drawn.len() / 2 + 20);
        let found = since(&text, text.len());
        assert!((said_once..half).contains(&found), "{found}");
        // The walk passes one new sentence.
        let text = format!("{NEWS}{drawn}Nobody else was ever there at all. {drawn}");
        let found = since(&text, text.len());
        assert!((said_once..half).contains(&found), "{found}");
        assert_eq!(since(NEWS, NEWS.len()), NEWS.len());
        assert_eq!(since("", 0), 0);
    }

    #[test]
    fn a_trial_with_another_number_each_time_is_new() {
        let trials: String = (10..60)
            .map(|n| format!("Try {n}: {} is {}. ", n * n, n * n * n))
            .collect();
        assert_eq!(since(&trials, trials.len()), trials.len());
    }
}
