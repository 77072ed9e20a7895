//! [`Sentence`]: the last line or sentence of a stream, which detectors without an exact unit show.

use crate::fact::UNIT_CHARS;

/// Follows a stream and keeps its last line or sentence that has a letter or number, cut to
/// [`UNIT_CHARS`].
#[derive(Default)]
pub(crate) struct Sentence {
    /// The last one that is complete.
    last: String,
    /// The one that is read, and how many of its chars are kept.
    open: String,
    kept: usize,
    named: bool,
    /// Whether the char before ends a sentence where a blank follows.
    ending: bool,
}

impl Sentence {
    /// The last line or sentence of `text`.
    pub(crate) fn of(text: &str) -> String {
        let mut sentence = Self::default();
        text.chars().for_each(|c| sentence.read(c));
        sentence.text()
    }

    pub(crate) fn read(&mut self, c: char) {
        let blank = c.is_whitespace();
        let ends = matches!(c, '\n' | '。' | '！' | '？') || blank && self.ending;
        self.ending = matches!(c, '.' | '!' | '?');
        if self.kept < UNIT_CHARS && !(blank && self.kept == 0) {
            self.open.push(c);
            self.kept += 1;
            self.named |= c.is_alphanumeric();
        }
        if ends && self.named {
            std::mem::swap(&mut self.last, &mut self.open);
        }
        if ends {
            self.open.clear();
            (self.kept, self.named) = (0, false);
        }
    }

    /// It, without blanks around it; the unfinished first one while there is no other.
    pub(crate) fn text(&self) -> String {
        let text = if self.last.is_empty() {
            &self.open
        } else {
            &self.last
        };
        text.trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_whole_one() {
        assert_eq!(Sentence::of("It costs 3.5. So what? And"), "So what?");
        assert_eq!(Sentence::of("一。二三。\n\n---\n四"), "二三。");
        assert_eq!(Sentence::of("  one\r\ntwo"), "one");
        assert_eq!(Sentence::of("just begun"), "just begun");
        assert_eq!(Sentence::of(""), "");
        assert_eq!(Sentence::of(&"长".repeat(200)).chars().count(), UNIT_CHARS);
    }
}
