//! Floods: long runs of white space and invisible chars.
//!
//! The blanks may differ and come in any order. A model that loops in blanks writes nothing else. An ordinary text ends
//! with few blanks.

use super::views::{NumberChange, TextStretch, View};

/// The minimum length of a flood, in chars. The padding of a wide table is shorter.
const MIN_FLOOD: usize = 500;

/// Returns whether a char is white space or invisible.
pub(super) fn is_blank(c: char) -> bool {
    let invisible = matches!(
        c,
        '\u{ad}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2060}'..='\u{2064}' | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
    );
    c.is_whitespace() || invisible
}

/// Returns the position after the last visible char of a text. Trailing blanks and broken chars are skipped, unless
/// they are a flood.
pub(super) fn visible_end(text: &[char]) -> usize {
    let blank = |c: &&char| is_blank(**c) || **c == '\u{fffd}';
    let blanks = text.iter().rev().take_while(blank).count();
    text.len() - if blanks < MIN_FLOOD { blanks } else { 0 }
}

/// Finds the floods of a text. Each blank counts as a copy of the previous one, even if it is a different char.
pub(super) fn floods(text: &[char]) -> Vec<TextStretch> {
    let mut found = Vec::new();
    let mut at = 0;
    for row in text.chunk_by(|a, b| is_blank(*a) == is_blank(*b)) {
        if row.len() >= MIN_FLOOD && is_blank(row[0]) {
            found.push(TextStretch {
                view: View::Chars,
                start: at,
                onset: at + 1,
                end: at + row.len(),
                copies: row.len() as f64,
                numbers: NumberChange::Same,
            });
        }
        at += row.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::find;
    use deadloop_corpus::Class;

    const KINDS: [&str; 11] = [
        " ", "\n", "\t", "\r\n", "\u{a0}", "\u{3000}", "\u{200b}", "\u{2003}", "  \n   ", "\n\t",
        "\u{feff}",
    ];

    #[test]
    fn a_flood_of_any_blank_is_a_loop_after_any_text() {
        for before in [
            "",
            "A few words. ",
            "{\"name\": \"Ann\", \"age\":",
            "| a | b |\n| 1 | ",
        ] {
            for kind in KINDS {
                let found = find(&format!("{before}{}", kind.repeat(700)));
                assert_eq!(found.class, Class::Loop, "{before:?} {kind:?}");
                assert!(
                    found.confidence > 0.9,
                    "{before:?} {kind:?} {}",
                    found.confidence
                );
                let start = found.spans.last().unwrap().start;
                assert!(
                    start.abs_diff(before.chars().count()) <= 1,
                    "{start} {before:?}"
                );
            }
        }
    }

    #[test]
    fn blanks_in_any_order_are_one_flood() {
        let drawn = |i: u32| {
            [' ', '\n', '\t', '\u{a0}'][(i.wrapping_mul(2_654_435_761) >> 13) as usize % 4]
        };
        let text: String = "A list:\n".chars().chain((0..900).map(drawn)).collect();
        let found = find(&text);
        assert_eq!(found.class, Class::Loop);
        assert!(found.confidence > 0.9);
    }

    #[test]
    fn trailing_blanks_are_no_loop_and_a_flood_before_text_is_transient() {
        let text = "The answer is seven, since nothing else divides it.";
        assert_eq!(
            find(&format!("{text}{}", "\n".repeat(60))).class,
            Class::Clean
        );
        let left = format!(
            "{text}{}It is odd, too, as the question said.",
            "\n ".repeat(2_000)
        );
        assert_eq!(find(&left).class, Class::Transient);
        assert_eq!(floods(&[]), []);
        assert_eq!(visible_end(&[]), 0);
    }
}
