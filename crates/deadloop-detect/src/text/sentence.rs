//! [`Sentence`]: the last line or sentence of a stream.
//!
//! Detectors without an exact unit report it as the unit.

use crate::measure::fact::UNIT_CHARS;

/// The last line or sentence of a stream that has a letter or number, cut to [`UNIT_CHARS`].
#[derive(Default)]
pub(crate) struct Sentence {
    /// The last complete sentence.
    last: String,
    /// The unfinished sentence, and the number of its chars that are kept.
    open: String,
    kept: usize,
    has_letter: bool,
    /// Whether the last char ends a sentence if a blank follows.
    ending: bool,
}

impl Sentence {
    pub(crate) fn read(&mut self, c: char) {
        let blank = c.is_whitespace();
        let ends = matches!(c, '\n' | '。' | '！' | '？') || blank && self.ending;
        self.ending = matches!(c, '.' | '!' | '?');
        if self.kept < UNIT_CHARS && !(blank && self.kept == 0) {
            self.open.push(c);
            self.kept += 1;
            self.has_letter |= c.is_alphanumeric();
        }
        if ends && self.has_letter {
            std::mem::swap(&mut self.last, &mut self.open);
        }
        if ends {
            self.open.clear();
            (self.kept, self.has_letter) = (0, false);
        }
    }

    /// Returns the last complete sentence, without blanks around it. If there is none yet, returns the unfinished one.
    pub(crate) fn text(&self) -> String {
        let text = if self.last.is_empty() {
            &self.open
        } else {
            &self.last
        };
        text.trim().to_owned()
    }
}

/// A [`Sentence`] that reads new text on demand, since it is rarely needed.
#[derive(Default)]
pub(crate) struct LazySentence {
    sentence: Sentence,
    rest: String,
}

/// The maximum number of unread bytes before the newest piece.
const MAX_UNREAD: usize = 1 << 14;

impl LazySentence {
    pub(crate) fn push(&mut self, piece: &str) {
        self.rest.push_str(piece);
        if self.rest.len() > MAX_UNREAD {
            self.read();
        }
    }

    /// Returns the last line or sentence so far.
    pub(crate) fn text(&mut self) -> String {
        self.read();
        self.sentence.text()
    }

    /// Reads the unread text. Text before a late complete sentence is skipped, since it cannot change the result.
    fn read(&mut self) {
        let rest = &self.rest;
        let before = rest.floor_char_boundary(rest.len().saturating_sub(4 * UNIT_CHARS));
        if let Some(end) = rest[..before].rfind(['\n', '。', '！', '？']) {
            let mut late = Sentence::default();
            // The mark at the start ends an earlier sentence.
            rest[end..].chars().for_each(|c| late.read(c));
            if !late.last.is_empty() {
                self.sentence = late;
                self.rest.clear();
                return;
            }
        }
        rest.chars().for_each(|c| self.sentence.read(c));
        self.rest.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prop_assert_eq, proptest};

    use super::*;

    fn normalized(text: &str) -> String {
        let mut sentence = Sentence::default();
        text.chars().for_each(|c| sentence.read(c));
        sentence.text()
    }

    #[test]
    fn the_last_complete_sentence_is_returned() {
        assert_eq!(normalized("It costs 3.5. So what? And"), "So what?");
        assert_eq!(normalized("一。二三。\n\n---\n四"), "二三。");
        assert_eq!(normalized("  one\r\ntwo"), "one");
        assert_eq!(normalized("just begun"), "just begun");
        assert_eq!(normalized(""), "");
        assert_eq!(normalized(&"长".repeat(200)).chars().count(), UNIT_CHARS);
    }

    proptest! {
        #[test]
        fn late_reading_gives_the_same_sentence(
            pieces in proptest::collection::vec(("[ab .!?\n。—]{0,3}|[-—]{100}\n{0,2}|[a长]{40}", 0..60_usize, 0..3), 0..40),
        ) {
            let (mut whole, mut late) = (Sentence::default(), LazySentence::default());
            for (piece, times, asked) in pieces {
                let piece = piece.repeat(times);
                piece.chars().for_each(|c| whole.read(c));
                late.push(&piece);
                if asked == 0 {
                    prop_assert_eq!(late.text(), whole.text());
                }
            }
            prop_assert_eq!(late.text(), whole.text());
        }
    }
}
