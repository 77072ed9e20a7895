//! Words and scripts of a text.

use std::ops::Range;

/// Returns whether a language is written without spaces between words.
pub(super) fn is_cjk_lang(lang: &str) -> bool {
    ["zh", "ja"].contains(&lang)
}

/// Returns the words of a text as byte ranges: runs of letters, or pairs of Chinese or Japanese characters.
pub(super) fn find_words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut last = None;
    for (at, c) in text.char_indices() {
        let is_cjk = is_cjk_char(c);
        let joins = c.is_alphabetic() && last == Some(is_cjk);
        match words.last_mut() {
            Some(word) if joins && word.end == at && !(is_cjk && at - word.start >= 6) => {
                word.end = at + c.len_utf8();
            }
            _ if c.is_alphabetic() => words.push(at..at + c.len_utf8()),
            _ => {}
        }
        last = c.is_alphabetic().then_some(is_cjk);
    }
    words
}

/// Returns whether a char belongs to a script without spaces between words.
pub(super) fn is_cjk_char(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}
