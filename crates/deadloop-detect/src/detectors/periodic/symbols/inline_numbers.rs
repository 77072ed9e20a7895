//! [`NumberContext`]: recognises numbers of items inside a line by the text around them.

use super::wide::{is_close, is_quote};
use crate::text::element::ends_sentence;

/// The text before a number inside a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberContext {
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

/// Returns the context of a number inside a line, if it can be that of an item. The argument is the characters before
/// it, nearest first, with consecutive blanks as one.
pub(super) fn inside([near, next, far]: [char; 3]) -> Option<NumberContext> {
    let ends = |c: char| ends_sentence(c) && c != '\n';
    let colon = |c: char| matches!(c, ':' | '：');
    let begins = |c: char| c == ' ' || ends(c) || colon(c);
    match near {
        '第' if begins(if is_quote(next) { far } else { next }) => Some(NumberContext::Ordinal),
        '(' | '（' if next == ' ' || ends(next) || colon(next) => {
            let last = if next == ' ' { far } else { next };
            Some(NumberContext::Bracket(!ends(last) && !colon(last)))
        }
        // A dot without a blank is part of a number.
        '.' => None,
        _ => {
            let last = if near == ' ' { next } else { near };
            match () {
                () if ends(last) => Some(NumberContext::Sentence),
                () if colon(last) => Some(NumberContext::Colon),
                () if near == ' ' && last.is_alphanumeric() => Some(NumberContext::Word),
                () => None,
            }
        }
    }
}

/// Returns whether a number with this character after it is that of an item.
pub(super) fn closes(inside: NumberContext, c: char) -> bool {
    match inside {
        NumberContext::Sentence => matches!(c, '．' | '、') || is_close(c),
        NumberContext::Colon => c == '、' || is_close(c),
        NumberContext::Word | NumberContext::Bracket(_) => is_close(c),
        NumberContext::Ordinal => true,
    }
}
