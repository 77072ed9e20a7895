//! Redaction that keeps how a text repeats itself: words are replaced, and what was equal stays equal.
//!
//! Kept: the number of chars and of bytes, line breaks, blanks, punctuation, which letters are
//! capitals, which script a letter is of, short numbers (they are list markers and counters). Equal
//! words become equal words, different ones different ones, so what a detector sees repeat repeats.
//! Replacements are drawn one after the other and depend on no word, so that nobody can guess a word
//! and check: all that is told about it is its length and where it comes again.

use std::collections::{HashMap, HashSet};

/// What is replaced as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedactBy {
    /// Words of up to [`LONGEST`] Latin letters; longer ones and other scripts letter by letter. Where
    /// a repetition begins or ends inside a word, its edge may move by less than that word.
    Words,
    /// Each letter by another one: every repetition stays where it is, to the char. It hides less: who
    /// counts letters can read long texts.
    Letters,
}

/// Letters of a word that is replaced as a whole: longer runs may be loops themselves.
pub const LONGEST: usize = 24;

/// Digits from which on a number is no list marker and no counter, but may be somebody's.
const LONG_NUMBER: usize = 5;

/// Replaces the words of the texts that belong together, as the channels of one transcript.
#[derive(Clone, Debug)]
pub struct Redactor {
    by: RedactBy,
    words: HashMap<String, String>,
    made: HashSet<String>,
    letters: HashMap<char, char>,
    taken: HashSet<char>,
    state: u64,
}

impl Redactor {
    /// One that has seen nothing.
    pub fn new(by: RedactBy) -> Self {
        Self {
            by,
            words: HashMap::new(),
            made: HashSet::new(),
            letters: HashMap::new(),
            taken: HashSet::new(),
            state: 0x9E37_79B9_7F4A_7C15,
        }
    }

    /// The next text.
    pub fn text(&mut self, text: &str) -> String {
        let mut redacted = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let of = |c: char| (c.is_alphabetic(), c.is_ascii_digit());
            let end = rest.find(|c| of(c) != of(first)).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            redacted += &self.run(run, of(first));
            rest = after;
        }
        redacted
    }

    fn run(&mut self, run: &str, kind: (bool, bool)) -> String {
        let whole = self.by == RedactBy::Words;
        match kind {
            (true, _) if whole && run.len() <= LONGEST && run.is_ascii() => self.word(run),
            (true, _) => run.chars().map(|c| self.letter(c)).collect(),
            (_, true) if whole && run.len() >= LONG_NUMBER => self.word(run),
            _ => run.into(),
        }
    }

    /// Another word of ASCII letters, or of digits, for this one, whatever its capitals are.
    fn word(&mut self, word: &str) -> String {
        let key = word.to_ascii_lowercase();
        let made = match self.words.get(&key) {
            Some(made) => made.clone(),
            None => self.make(&key),
        };
        let cased = made.chars().zip(word.chars()).map(|(new, old)| match old {
            'A'..='Z' => new.to_ascii_uppercase(),
            _ => new,
        });
        cased.collect()
    }

    fn make(&mut self, key: &str) -> String {
        // There are as many words of a length as can be asked for, so a free one comes up.
        let made = loop {
            let draw = |c: char| match c {
                '0'..='9' => char::from(b'0' + self.below(10) as u8),
                _ => char::from(b'a' + self.below(26) as u8),
            };
            let word: String = key.chars().map(draw).collect();
            if self.made.insert(word.clone()) {
                break word;
            }
        };
        self.words.insert(key.into(), made.clone());
        made
    }

    /// Another letter of the same script, case and length in bytes; itself where none is free.
    fn letter(&mut self, c: char) -> char {
        let small = alone(c.to_lowercase()).unwrap_or(c);
        let made = match self.letters.get(&small) {
            Some(made) => *made,
            None => {
                let made = self.free(small).unwrap_or(small);
                self.taken.insert(made);
                self.letters.insert(small, made);
                made
            }
        };
        if small == c {
            made
        } else {
            alone(made.to_uppercase()).unwrap_or(made)
        }
    }

    fn free(&mut self, c: char) -> Option<char> {
        let (first, last) = alphabet(c);
        let size = u64::from(last - first) + 1;
        let start = self.below(size);
        let fits = |other: &char| {
            let cased = alone(other.to_uppercase()).is_some_and(|u| u.len_utf8() == c.len_utf8());
            other.is_alphabetic()
                && cased
                && other.is_lowercase() == c.is_lowercase()
                && other.is_uppercase() == c.is_uppercase()
                && other.len_utf8() == c.len_utf8()
                && !self.taken.contains(other)
        };
        let nth = |i| char::from_u32(first + u32::try_from((start + i) % size).ok()?);
        (0..size).filter_map(nth).find(fits)
    }

    /// A number below `n`, the next one of a fixed stream (splitmix64).
    fn below(&mut self, n: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n.max(1)
    }
}

/// The only char that there is.
fn alone(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let only = chars.next()?;
    chars.next().is_none().then_some(only)
}

/// The letters among which one of the same script is looked for.
fn alphabet(c: char) -> (u32, u32) {
    match u32::from(c) {
        0x00..=0x7F => (0x61, 0x7A),
        0x3041..=0x3096 => (0x3041, 0x3096),
        0x30A1..=0x30FA => (0x30A1, 0x30FA),
        0x3400..=0x9FFF => (0x4E00, 0x9FA5),
        0xAC00..=0xD7A3 => (0xAC00, 0xD7A3),
        other => (other & !0xFF, other | 0xFF),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn redacted(by: RedactBy, text: &str) -> String {
        Redactor::new(by).text(text)
    }

    #[test]
    fn no_word_is_left_and_all_else_is() {
        let text = "1. Call Ann Lee on 030 5551234!\n2. call ann, then 张三。Да, да.";
        let new = redacted(RedactBy::Words, text);
        assert!(
            new.starts_with("1. ") && new.contains("030 ") && new.contains("!\n2. "),
            "{new}"
        );
        for word in ["Call", "call", "Ann", "Lee", "5551234", "张", "三", "Да"] {
            assert!(!new.contains(word), "{word} in {new}");
        }
        let words: Vec<&str> = new
            .split(|c: char| !c.is_alphabetic())
            .filter(|w| !w.is_empty())
            .collect();
        assert_eq!(words[0].to_lowercase(), words[4], "call, both times");
        assert!(words[0].starts_with(|c: char| c.is_uppercase()));
        assert_eq!(
            words[8].to_lowercase(),
            words[9],
            "да, both times: {words:?}"
        );
    }

    #[test]
    fn a_loop_without_blanks_stays_one() {
        let new = redacted(RedactBy::Words, &"thinking".repeat(50));
        assert_eq!(new, new[..8].repeat(50));
        let new = redacted(RedactBy::Words, &"我需要思考".repeat(50));
        assert_eq!(new, new[..15].repeat(50));
        assert!(!new.contains('思'));
    }

    proptest! {
        #[test]
        fn what_is_equal_stays_equal(words in prop::collection::vec("[a-cA-C]{1,3}|[0-9]{1,7}|[张三李Даж]{1,2}|[ .,\n]", 0..60)) {
            for by in [RedactBy::Words, RedactBy::Letters] {
                let text = words.concat();
                let new = redacted(by, &text);
                prop_assert_eq!(new.len(), text.len());
                let of = |c: char| (c.is_alphabetic(), c.is_uppercase(), c.is_ascii_digit(), c.len_utf8());
                let (old, made): (Vec<char>, Vec<char>) = (text.chars().collect(), new.chars().collect());
                prop_assert_eq!(old.len(), made.len());
                for (a, b) in old.iter().zip(&made) {
                    prop_assert_eq!(of(*a), of(*b));
                    prop_assert!(a.is_alphanumeric() || a == b);
                }
                let tokens = |chars: &[char]| {
                    let text: String = chars.iter().collect::<String>().to_lowercase();
                    text.split(|c: char| !c.is_alphabetic()).map(str::to_owned).collect::<Vec<_>>()
                };
                let (a, b) = (tokens(&old), tokens(&made));
                for i in 0..a.len() {
                    for j in 0..i {
                        prop_assert_eq!(a[i] == a[j], b[i] == b[j], "{} {}", text, new);
                    }
                }
            }
        }

        #[test]
        fn letters_keep_every_repetition(text in "[a-dДж思考 ]{0,80}") {
            let (old, new): (Vec<char>, Vec<char>) = (text.chars().collect(), redacted(RedactBy::Letters, &text).chars().collect());
            for i in 0..old.len() {
                for j in 0..i {
                    prop_assert_eq!(old[i] == old[j], new[i] == new[j]);
                }
            }
        }
    }
}
