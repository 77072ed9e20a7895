//! Loops without a period: a few words in any order, or a long row of digits or emoji.
//!
//! Such a loop lasts to the end of the text. The search goes back from the end, word by word. A word that also occurs
//! later adds weight, and any other word subtracts weight, since prose keeps introducing new words (the rule of
//! `known_phrases`). The loop begins where the weight is highest. Text with many numbers is skipped, since lists of
//! moves and tables in puzzles have few words, too.

use std::collections::HashSet;

/// The weight that a new word subtracts. A known word adds 1.
const NEW_WORD: i64 = 12;
/// The minimum weight of a loop.
const MIN_WEIGHT: i64 = 150;
/// The loss of weight at which the search ends: 125 new words, more than a loop has.
const MAX_DROP: i64 = 1500;
/// The minimum length of a loop of words, in chars.
const MIN_CHARS: usize = 1500;
/// The minimum average number of occurrences of each word. A proof that names the same few people reaches 20.
const MIN_TIMES: f64 = 24.0;
/// The minimum number of chars per digit.
const CHARS_PER_DIGIT: usize = 50;

/// The minimum length, in chars, of a row of digits or emoji at the end of a text. A requested row is shorter, or text
/// follows it.
const MIN_ROW: usize = 600;

/// A loop of a few words or signs in any order, up to the end of the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AperiodicLoop {
    /// The first char.
    pub(super) start: usize,
    /// The average number of occurrences of each word or sign.
    pub(super) times: f64,
}

/// Finds a loop without a period at the end of a text.
pub(super) fn find_aperiodic(text: &[char]) -> Option<AperiodicLoop> {
    find_words(text).or_else(|| find_signs(text))
}

/// Finds a row of digits or emoji at the end of a text.
fn find_signs(text: &[char]) -> Option<AperiodicLoop> {
    let row = |is: fn(char) -> bool| text.iter().rev().take_while(|c| is(**c)).count();
    let length = row(char::is_numeric).max(row(is_emoji));
    let start = text.len() - length;
    let different: HashSet<&char> = text[start..].iter().collect();
    let times = length as f64 / different.len().max(1) as f64;
    (length >= MIN_ROW && times >= MIN_TIMES).then_some(AperiodicLoop { start, times })
}

/// Returns whether a char is part of an emoji: a pictograph, a joiner or a variation selector.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}' | '\u{200d}' | '\u{fe0f}')
}

/// Finds a loop of a few words at the end of a text.
fn find_words(text: &[char]) -> Option<AperiodicLoop> {
    let mut seen = HashSet::new();
    let (mut weight, mut most, mut best) = (0, 0, None);
    for (count, (start, word)) in words_back(text).enumerate() {
        weight += if seen.insert(word) { -NEW_WORD } else { 1 };
        if weight > most {
            let times = (count + 1) as f64 / seen.len() as f64;
            (most, best) = (weight, Some(AperiodicLoop { start, times }));
        }
        if weight < most - MAX_DROP {
            break;
        }
    }
    best.filter(|found| {
        let part = &text[found.start..];
        let digits = part.iter().filter(|c| c.is_numeric()).count();
        most >= MIN_WEIGHT
            && found.times >= MIN_TIMES
            && part.len() >= MIN_CHARS
            && digits * CHARS_PER_DIGIT <= part.len()
    })
}

/// Returns the start and the lower case of each word, last word first. In a script without spaces, each letter is a
/// word.
fn words_back(text: &[char]) -> impl Iterator<Item = (usize, String)> {
    let mut end = text.len();
    std::iter::from_fn(move || {
        let last = text[..end].iter().rposition(|c| c.is_alphabetic())?;
        let alone = |c: &char| ('\u{2e80}'..='\u{d7ff}').contains(c);
        let letters = text[..last].iter().rev();
        let joins = |c: &&char| c.is_alphabetic() && !alone(c) && !alone(&text[last]);
        end = last - letters.take_while(joins).count();
        let word = text[end..=last].iter().flat_map(|c| c.to_lowercase());
        Some((end, word.collect()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::find;
    use deadloop_corpus::Class;

    /// Joins `count` randomly chosen texts.
    fn draw(of: &[&str], count: usize) -> String {
        let mut seed: u64 = 7;
        let one = |_| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            of[(seed >> 33) as usize % of.len()]
        };
        (0..count).map(one).collect()
    }

    const WORDS: [&str; 8] = [
        "stone ", "river ", "garden ", "window ", "harbour ", "letter ", "copper ", "winter ",
    ];

    #[test]
    fn words_pieces_and_sentences_in_any_order_are_loops() {
        let before = "A painter bought the old lighthouse and never once climbed its stairs. ";
        let pieces = [
            "Hmm. ",
            "I am not sure. ",
            "Maybe it is \"Vienna\"? ",
            "The city on the river? ",
        ];
        let chinese = ["我想想。", "不对，", "再看一遍。", "也许是这样，"];
        for (of, count) in [
            (&WORDS[..], 600),
            (&WORDS[..2], 900),
            (&pieces[..], 300),
            (&chinese[..], 700),
        ] {
            let text = format!("{before}{}", draw(of, count));
            let found = find(&text);
            assert_eq!(found.class, Class::Loop, "{of:?}");
            let span = found.spans.last().unwrap();
            let begins = span.earliest.unwrap_or(span.start);
            assert!(
                begins.abs_diff(before.chars().count()) <= 200,
                "{begins} {of:?}"
            );
        }
    }

    #[test]
    fn rows_of_digits_and_of_pictures_without_end_are_loops() {
        let digits: Vec<String> = (0..10).map(|n| n.to_string()).collect();
        let digits: Vec<&str> = digits.iter().map(String::as_str).collect();
        for (of, most) in [
            (&digits[..], 500),
            (&["😛", "😔", "🤩", "🧐", "😏", "😝", "🤓"][..], 500),
        ] {
            let looped = format!("The value is {}", draw(of, 2_000));
            let found = find(&looped);
            assert_eq!(found.class, Class::Loop, "{of:?}");
            assert_eq!(found.spans[0].start, 13);
            assert_eq!(find(&(looped + ", as asked.")).class, Class::Clean);
            let short = format!("The value is {}", draw(of, most));
            assert_eq!(find(&short).class, Class::Clean, "{of:?}");
        }
    }

    #[test]
    fn a_soup_that_is_left_and_moves_with_numbers_are_none() {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        let after = "So the answer is that nobody ever lived there, as both letters say quite plainly, and the bank \
            confirms it with a stamp, a date and two signatures of people whom none of us has met since autumn.";
        assert_eq!(find_aperiodic(&chars(&(draw(&WORDS, 600) + after))), None);
        let moves: String = (0..200)
            .map(|n| format!("Move disk {} from peg {} to peg {}.\n", n % 7, n % 3, n % 2))
            .collect();
        assert_eq!(find_aperiodic(&chars(&moves)), None);
        assert_eq!(find_aperiodic(&[]), None);
    }
}
