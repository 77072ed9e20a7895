//! Finds the position from which a text consists of known phrases.
//!
//! Copies are often nearly equal, or numbered, long before they are exact. To a reader, the loop begins there.
//!
//! A phrase is new if it did not occur earlier in the text. The search goes back from the onset of the loop. A known
//! phrase adds weight, and a new one subtracts weight. The loop begins where the weight is highest. The search ends
//! where the weight is far below that: the X-drop rule of sequence alignment (Altschul and others, J. Mol. Biol. 215,
//! 1990). So it continues past one new sentence, but not past a page.

use std::collections::{HashMap, HashSet};

/// The number of words of a phrase. Shorter phrases recur in any text, and longer ones are broken by every changed
/// word.
const PHRASE_WORDS: usize = 5;
/// The weight that a new phrase subtracts. A known phrase adds 1, so at most one phrase in five may be new.
const NEW_PHRASE: i64 = 4;
/// The loss of weight at which the search ends: 25 new phrases in a row.
const MAX_DROP: i64 = 100;
/// The number of letters of a word that are compared.
const MAX_LETTERS: usize = 24;

/// Returns the position from which most phrases up to `onset` are known. Returns `onset` if there is none.
pub(super) fn known_from(text: &[char], onset: usize) -> usize {
    let words = words(&text[..onset]);
    let new = mark_new(&words);
    let (mut weight, mut most, mut since) = (0, 0, onset);
    for ((start, _), new) in words.iter().zip(&new).rev() {
        weight += if *new { -NEW_PHRASE } else { 1 };
        if weight > most {
            (most, since) = (weight, *start);
        }
        if weight < most - MAX_DROP {
            break;
        }
    }
    since
}

/// Returns the start of each word, with an id that is equal for equal words. A word is a run of letters, a number or
/// one other char. Case does not matter.
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
            let letters = text[at..at + length].iter().take(MAX_LETTERS);
            let word: String = letters.flat_map(|c| c.to_lowercase()).collect();
            let next = known.len() as u32;
            found.push((at, *known.entry(word).or_insert(next)));
        }
        at += length;
    }
    found
}

/// Returns whether a char is a letter of a script with spaces between words.
fn is_letter(c: &char) -> bool {
    c.is_alphabetic() && !('\u{2e80}'..='\u{d7ff}').contains(c)
}

/// Returns for each word whether the phrase that ends with it is new.
fn mark_new(words: &[(usize, u32)]) -> Vec<bool> {
    let ids: Vec<u32> = words.iter().map(|(_, word)| *word).collect();
    let mut seen: HashSet<&[u32]> = HashSet::new();
    let phrase = |last: usize| &ids[(last + 1).saturating_sub(PHRASE_WORDS)..=last];
    (0..ids.len())
        .map(|last| seen.insert(phrase(last)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(text: &str, onset: usize) -> usize {
        let chars: Vec<char> = text.chars().collect();
        known_from(&chars, onset)
    }

    const NEWS: &str = "A painter bought the old lighthouse and never once climbed its stairs. ";

    #[test]
    fn phrases_in_random_order_are_known_and_new_text_is_not() {
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
        // The search continues past one new sentence.
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
