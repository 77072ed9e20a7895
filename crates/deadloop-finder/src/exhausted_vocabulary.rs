//! Finds loops after which a text has no new words.
//!
//! Such a loop has not ended by itself: only stray marks or words of the repetition follow.

use std::collections::HashSet;

use super::selection::FoundSpan;

/// Returns the index of the first span after which the text has no new words. A word is new if no span has it. The
/// spans are in the order of the text.
pub(super) fn first_without_news(text: &[char], spans: &[FoundSpan]) -> Option<usize> {
    let mut first = None;
    let mut until = text.len();
    let mut known = HashSet::new();
    for (index, span) in spans.iter().enumerate().rev() {
        let end = span.end?.min(until);
        known.extend(words(&text[span.start..end]));
        if words(&text[end..until]).any(|word| !known.contains(&word)) {
            break;
        }
        (first, until) = (Some(index), span.start);
    }
    first
}

/// Returns the words of at least two letters, in lower case.
fn words(text: &[char]) -> impl Iterator<Item = String> {
    let lower = |word: &[char]| word.iter().flat_map(|c| c.to_lowercase()).collect();
    text.split(|c| !c.is_alphabetic())
        .filter(|word| word.len() >= 2)
        .map(lower)
}

#[cfg(test)]
mod tests {
    use crate::selection::find;
    use deadloop_corpus::Class;

    #[test]
    fn stray_marks_do_not_end_a_loop_and_an_answer_does() {
        let looped = "We look at the same clause of the contract again. ".repeat(12);
        for (rest, class) in [
            ("\n\n\n#\n. . .\n\n## 3 - -\n\n\n\\ / . .", Class::Loop),
            ("\n\n\nThe contract.\n\n\n. The clause. . .", Class::Loop),
            (
                "\n\nSo the answer: void, since nobody signed.",
                Class::Transient,
            ),
        ] {
            let found = find(&format!("A question of law.\n{looped}{rest}"));
            assert_eq!(found.class, class, "{rest}");
        }
    }

    #[test]
    fn the_earliest_onset_is_found_before_stray_marks() {
        // Words that occur once.
        let word = |n: usize| {
            let letter = |part: usize| char::from(b'a' + (n * 7919 / part % 26) as u8);
            format!("{}{}{} ", letter(676), letter(26), letter(1))
        };
        let part = |from: usize| (from..from + 90).map(word).collect::<String>();
        // Two copies whose second half begins the loop, which has another period.
        let (first, second) = (part(0), part(90));
        let twice = format!("{first}{second}").repeat(2);
        let looped = format!("{second}A few words between. ").repeat(4);
        let found = find(&format!(
            "{twice}A few words between. {looped}\n\n#\n. . .\n\n- -\n\n"
        ));
        assert_eq!(found.class, Class::Loop);
        let span = found.spans.last().unwrap();
        let earliest = span.earliest.unwrap_or(span.onset);
        assert!(earliest <= first.len() + second.len() + 20, "{span:?}");
    }
}
