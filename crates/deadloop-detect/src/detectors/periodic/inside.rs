//! [`Inside`]: numbers inside a line that can be those of items, by what precedes and what follows them.

use super::wide::{is_close, is_quote};
use crate::text::element::ends_sentence;

/// What precedes a number inside a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// A sentence that has ended.
    Sentence,
    /// A colon.
    Colon,
    /// A word and a blank.
    Word,
    /// An opening bracket; whether the sentence goes on through it.
    Bracket(bool),
    /// 第.
    Ordinal,
}

/// What precedes a number inside a line, if that can be one of an item. `before`: the chars before it,
/// the nearest first, blanks in a row as one.
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
        // A dot without a blank is one of a number.
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

/// Whether this char after its number makes it one of an item.
pub(super) fn closes(inside: Inside, c: char) -> bool {
    match inside {
        Inside::Sentence => matches!(c, '．' | '、') || is_close(c),
        Inside::Colon => c == '、' || is_close(c),
        Inside::Word | Inside::Bracket(_) => is_close(c),
        Inside::Ordinal => true,
    }
}
