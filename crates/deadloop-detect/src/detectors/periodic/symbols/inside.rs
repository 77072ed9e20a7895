//! [`Inside`]: numbers of items inside a line, by the text around them.

use super::wide::{is_close, is_quote};
use crate::text::element::ends_sentence;

/// The text before a number inside a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// The end of a sentence.
    Sentence,
    /// A colon.
    Colon,
    /// A word and a blank.
    Word,
    /// An opening bracket, and whether the sentence continues through it.
    Bracket(bool),
    /// 第.
    Ordinal,
}

/// Returns the context of a number inside a line, if the number can be an item's. The argument is the characters before
/// it, nearest first, with blanks in a row as one.
pub(super) fn inside([near, next, far]: [char; 3]) -> Option<Inside> {
    let ends = |c: char| ends_sentence(c) && c != '\n';
    let colon = |c: char| matches!(c, ':' | '：');
    let begins = |c: char| c == ' ' || ends(c) || colon(c);
    match near {
        '第' if begins(if is_quote(next) { far } else { next }) => Some(Inside::Ordinal),
        '(' | '（' if next == ' ' || ends(next) || colon(next) => {
            let last = if next == ' ' { far } else { next };
            Some(Inside::Bracket(!ends(last) && !colon(last)))
        }
        // A dot without a blank is part of a number.
        '.' => None,
        _ => {
            let last = if near == ' ' { next } else { near };
            match () {
                () if ends(last) => Some(Inside::Sentence),
                () if colon(last) => Some(Inside::Colon),
                () if near == ' ' && last.is_alphanumeric() => Some(Inside::Word),
                () => None,
            }
        }
    }
}

/// Returns whether the character after a number makes it an item's.
pub(super) fn closes(inside: Inside, c: char) -> bool {
    match inside {
        Inside::Sentence => matches!(c, '．' | '、') || is_close(c),
        Inside::Colon => c == '、' || is_close(c),
        Inside::Word | Inside::Bracket(_) => is_close(c),
        Inside::Ordinal => true,
    }
}
