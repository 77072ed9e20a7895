//! Words, letters and roman numbers at the beginning of a line: `Step 1:`, `b)`, `iv.`, `情况三、`.

use super::{WideMarker, WideState, is_close};
use crate::text::script::is_unspaced;

/// The maximum number of characters of a word before a number.
const WORD: usize = 16;

/// Returns the words with this first character that number blocks without a heading mark.
fn numbered(first: char) -> &'static [&'static str] {
    match first {
        'a' => &["article", "attempt"],
        'c' => &["case", "chapter"],
        'e' => &["example", "exercise"],
        'i' => &["item", "iteration"],
        'n' => &["no"],
        'o' => &["option"],
        'p' => &["part", "problem"],
        'q' => &["q", "question"],
        'r' => &["round"],
        's' => &["step", "section"],
        't' => &["task"],
        '步' => &["步骤"],
        '情' => &["情况", "情形"],
        '案' => &["案例"],
        '示' => &["示例"],
        '例' => &["例", "例题"],
        '问' => &["问题"],
        '题' => &["题目"],
        '选' => &["选项"],
        '方' => &["方案", "方法"],
        '任' => &["任务"],
        '阶' => &["阶段"],
        _ => &[],
    }
}

impl WideMarker {
    pub(super) fn word(&self, c: char, number: bool) -> WideState {
        let last = self.held[self.len - 1];
        match c {
            _ if number && (is_unspaced(last) || self.is_word(&['q'])) => WideState::WordNumber,
            '.' if self.is_word(&['n', 'o']) => WideState::Gap,
            _ if number => WideState::Text,
            _ if c.is_alphabetic() && self.goes_on(c) => WideState::Word,
            _ if c.is_whitespace() && (self.heading || self.is_numbered()) => WideState::Gap,
            '.' | '．' | '、' if self.is_letter() => WideState::Letter,
            _ if is_close(c) && self.is_letter() => WideState::Letter,
            _ => WideState::Text,
        }
    }

    /// Returns whether a word continued by this character can number blocks, or be a number in letters. Most words are
    /// excluded by their second character.
    fn goes_on(&self, c: char) -> bool {
        let word = &self.held[self.from..self.len];
        if self.heading || word.len() >= WORD {
            return word.len() < WORD;
        }
        let lower = |c: &char| c.to_ascii_lowercase();
        let begins = |known: &str| {
            let mut known = known.chars();
            let same = word.iter().all(|own| known.next() == Some(lower(own)));
            same && known.next() == Some(lower(&c))
        };
        let letters = word.len() < 6 && word.iter().chain([&c]).all(char::is_ascii_alphabetic);
        letters && (word.len() == 1 && c.is_ascii_uppercase() || "ivxIVX".contains(c))
            || numbered(lower(word.first().unwrap_or(&c)))
                .iter()
                .any(|known| begins(known))
    }

    pub(super) fn word_number(&self, c: char, number: bool) -> WideState {
        match c {
            _ if number => WideState::WordNumber,
            _ if c.is_whitespace() && self.is_word(&['n', 'o', '.']) => WideState::After,
            ':' | '：' if self.heading || self.is_numbered() => WideState::After,
            '.' if self.is_numbered() => WideState::AfterDot,
            '、' | '．' if self.is_numbered() => WideState::After,
            _ if is_close(c) && self.is_numbered() => WideState::After,
            '*' | '_' if matches!(self.held[0], '*' | '_') && self.is_numbered() => WideState::Bold,
            _ => WideState::Text,
        }
    }

    /// Returns whether the held word is a letter or a roman number of an item.
    pub(super) fn is_letter(&self) -> bool {
        match &self.held[self.from..self.len] {
            [one] => one.is_ascii_alphabetic(),
            // After Z come AA to AZ, or AA, BB and so on.
            [a, b] if a.is_ascii_uppercase() && b.is_ascii_uppercase() && (*a == 'A' || a == b) => {
                true
            }
            _ => self.is_roman(),
        }
    }

    /// Returns whether the held word is a roman number.
    pub(super) fn is_roman(&self) -> bool {
        let word = &self.held[self.from..self.len];
        let of = |signs: [char; 3]| word.len() <= 6 && word.iter().all(|c| signs.contains(c));
        of(['i', 'v', 'x']) || of(['I', 'V', 'X'])
    }

    /// Returns whether the held characters begin with this lower-case word, and no letter follows it.
    fn is_word(&self, word: &[char]) -> bool {
        let held = &self.held[self.from..self.len];
        let same = |(own, c): (&char, &char)| own.to_ascii_lowercase() == *c;
        let ends = held
            .get(word.len())
            .is_none_or(|c| !c.is_alphabetic() || self.is_number(*c));
        held.len() >= word.len() && ends && held.iter().zip(word).all(same)
    }

    /// Returns whether the held word is one that numbers blocks.
    pub(super) fn is_numbered(&self) -> bool {
        let held = self.held[self.from..self.len].iter();
        let letters = held.take_while(|c| c.is_alphabetic() && !self.is_number(**c));
        let word: String = letters.map(char::to_ascii_lowercase).collect();
        let first = word.chars().next().unwrap_or_default();
        numbered(first).contains(&word.as_str())
    }
}
