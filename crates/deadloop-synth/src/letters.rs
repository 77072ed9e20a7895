//! The words and signs of a text.

use std::ops::Range;

/// Returns whether a language is written in signs without blanks between words.
pub(super) fn is_chinese(lang: &str) -> bool {
    ["zh", "ja"].contains(&lang)
}

/// Returns the words of a text as byte ranges: runs of letters, or in Chinese pairs of signs.
pub(super) fn find_words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut last = None;
    for (at, c) in text.char_indices() {
        let sign = is_sign(c);
        let joins = c.is_alphabetic() && last == Some(sign);
        match words.last_mut() {
            Some(word) if joins && word.end == at && !(sign && at - word.start >= 6) => {
                word.end = at + c.len_utf8();
            }
            _ if c.is_alphabetic() => words.push(at..at + c.len_utf8()),
            _ => {}
        }
        last = c.is_alphabetic().then_some(sign);
    }
    words
}

/// Returns whether a char is a sign of a script without blanks between words.
pub(super) fn is_sign(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}
