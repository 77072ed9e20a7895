//! Loops without a period: a few words repeated in any order, or one long row of digits or pictures.
//!
//! Such a loop lasts to the end of the text. Prose keeps introducing new words. Going back from the end, each word that
//! also occurs later counts for the stretch, and each other word counts against it, as in `known_phrases`. The stretch
//! begins where its weight is highest. Text with many numbers is ignored, since moves and tables of puzzles also have
//! few words.

use std::collections::HashSet;

/// The weight of a new word, which counts against the stretch. A known word counts for it with weight 1.
const NEW: i64 = 12;
/// The minimum weight of a loop.
const ENOUGH: i64 = 150;
/// The loss of weight at which the walk ends: 125 words, more than a loop uses.
const DROP: i64 = 1500;
/// The minimum length of the stretch, in chars.
const MIN_CHARS: usize = 1500;
/// The minimum average number of occurrences of a word. A proof that names the same few people reaches 20.
const TIMES: f64 = 24.0;
/// The minimum number of chars for each digit in the stretch.
const DIGITS: usize = 50;

/// The minimum length of a row of digits or pictures to the end of a text. Requested ones are shorter, or end.
const ROW: usize = 600;

/// A stretch to the end of a text that consists of a few words or signs in any order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AperiodicLoop {
    pub(super) start: usize,
    /// The average number of occurrences of each word or sign.
    pub(super) times: f64,
}

/// Finds the stretch of few words or signs at the end of a text.
pub(super) fn soup(text: &[char]) -> Option<AperiodicLoop> {
    of_words(text).or_else(|| of_signs(text))
}

/// Finds the row of digits or pictures at the end of a text.
fn of_signs(text: &[char]) -> Option<AperiodicLoop> {
    let row = |is: fn(char) -> bool| text.iter().rev().take_while(|c| is(**c)).count();
    let length = row(char::is_numeric).max(row(is_picture));
    let start = text.len() - length;
    let different: HashSet<&char> = text[start..].iter().collect();
    let times = length as f64 / different.len().max(1) as f64;
    (length >= ROW && times >= TIMES).then_some(AperiodicLoop { start, times })
}

/// Returns whether a char is a pictograph, or joins or varies one.
fn is_picture(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}' | '\u{200d}' | '\u{fe0f}')
}

fn of_words(text: &[char]) -> Option<AperiodicLoop> {
    let mut seen = HashSet::new();
    let (mut weight, mut most, mut best) = (0, 0, None);
    for (count, (start, word)) in words_back(text).enumerate() {
        weight += if seen.insert(word) { -NEW } else { 1 };
        if weight > most {
            let times = (count + 1) as f64 / seen.len() as f64;
            (most, best) = (weight, Some(AperiodicLoop { start, times }));
        }
        if weight < most - DROP {
            break;
        }
    }
    best.filter(|soup| {
        let part = &text[soup.start..];
        let digits = part.iter().filter(|c| c.is_numeric()).count();
        most >= ENOUGH
            && soup.times >= TIMES
            && part.len() >= MIN_CHARS
            && digits * DIGITS <= part.len()
    })
}

/// Returns the words of a text, last word first. A word is a run of letters in lower case, or one letter of a script
/// without blanks.
fn words_back(text: &[char]) -> impl Iterator<Item = (usize, String)> {
    let mut end = text.len();
    std::iter::from_fn(move || {
        let last = text[..end].iter().rposition(|c| c.is_alphabetic())?;
        let alone = |c: &char| ('\u{2e80}'..='\u{d7ff}').contains(c);
        let letters = text[..last].iter().rev();
        let more = if alone(&text[last]) {
            0
        } else {
            letters
                .take_while(|c| c.is_alphabetic() && !alone(c))
                .count()
        };
        end = last - more;
        Some((
            end,
            text[end..=last]
                .iter()
                .flat_map(|c| c.to_lowercase())
                .collect(),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::find;
    use deadloop_corpus::Class;

    /// Returns `count` of these texts in random order.
    fn drawn(of: &[&str], count: usize) -> String {
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
            let text = format!("{before}{}", drawn(of, count));
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
            let looped = format!("The value is {}", drawn(of, 2_000));
            let found = find(&looped);
            assert_eq!(found.class, Class::Loop, "{of:?}");
            assert_eq!(found.spans[0].start, 13);
            assert_eq!(find(&(looped + ", as asked.")).class, Class::Clean);
            let short = format!("The value is {}", drawn(of, most));
            assert_eq!(find(&short).class, Class::Clean, "{of:?}");
        }
    }

    #[test]
    fn a_soup_that_is_left_and_moves_with_numbers_are_none() {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        let after = "So the answer is that nobody ever lived there, as both letters say quite plainly, and the bank \
            confirms it with a stamp, a date and two signatures of people whom none of us has met since autumn.";
        assert_eq!(soup(&chars(&(drawn(&WORDS, 600) + after))), None);
        let moves: String = (0..200)
            .map(|n| format!("Move disk {} from peg {} to peg {}.\n", n % 7, n % 3, n % 2))
            .collect();
        assert_eq!(soup(&chars(&moves)), None);
        assert_eq!(soup(&[]), None);
    }
}
