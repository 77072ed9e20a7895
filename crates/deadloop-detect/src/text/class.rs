//! [`CharClasses`]: the classes of chars, from one table.
//!
//! The functions of the standard library take a search for each class.

use std::sync::LazyLock;

use crate::text::element::{ends_clause, ends_sentence};
use crate::text::script::is_wide;

/// The classes of a char: a set of the bits below.
pub(crate) type CharClass = u8;

/// White space.
pub(crate) const BLANK: CharClass = 1;
/// A letter or a number.
pub(crate) const NAMED: CharClass = 2;
/// A digit of some script, or a char that is a number by itself.
pub(crate) const NUMBER: CharClass = 4;
/// A char that ends a sentence.
pub(crate) const ENDS: CharClass = 8;
/// A Chinese numeral. Unicode counts all but 〇 as letters.
pub(crate) const HAN: CharClass = 16;
/// A char that ends a clause of Chinese or Japanese, but not a sentence.
pub(crate) const CLAUSE: CharClass = 32;
/// A Chinese or Japanese char, worth two or three letters of an alphabet.
pub(crate) const WIDE: CharClass = 64;

/// The Chinese numerals, with the formal ones of financial documents.
const HAN_NUMERALS: &str = "〇零一二两兩三四五六七八九十百千万萬亿億壹贰叁肆伍陆柒捌玖拾佰仟";

/// The classes of the chars of the first two planes, which make up nearly all text.
#[derive(Clone, Copy)]
pub(crate) struct CharClasses(&'static [CharClass]);

static TABLE: LazyLock<Vec<CharClass>> = LazyLock::new(|| {
    let chars = (0..0x2_0000).map(|c| char::from_u32(c).map_or(0, class));
    chars.collect()
});

impl CharClasses {
    /// Returns the shared table.
    pub(crate) fn new() -> Self {
        Self(&TABLE)
    }

    /// Returns the classes of a char.
    #[inline]
    pub(crate) fn class(self, c: char) -> CharClass {
        self.0.get(c as usize).copied().unwrap_or_else(|| class(c))
    }
}

fn class(c: char) -> CharClass {
    let classes = [
        (c.is_whitespace(), BLANK),
        (c.is_alphanumeric(), NAMED),
        (c.is_numeric(), NUMBER),
        (ends_sentence(c), ENDS),
        (!c.is_ascii() && HAN_NUMERALS.contains(c), HAN),
        (ends_clause(c), CLAUSE),
        (is_wide(c), WIDE),
    ];
    let held = classes.into_iter().filter(|(is, _)| *is);
    held.fold(0, |all, (_, class)| all | class)
}

impl std::fmt::Debug for CharClasses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Classes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_each_char_says() {
        for c in '\0'..=char::MAX {
            let of = CharClasses::new().class(c);
            assert_eq!(of & BLANK != 0, c.is_whitespace(), "{c:?}");
            assert_eq!(of & NAMED != 0, c.is_alphanumeric(), "{c:?}");
            assert_eq!(of & NUMBER != 0, c.is_numeric(), "{c:?}");
            assert_eq!(of & ENDS != 0, ends_sentence(c), "{c:?}");
            assert_eq!(of & HAN != 0, HAN_NUMERALS.contains(c), "{c:?}");
            assert_eq!(of & CLAUSE != 0, ends_clause(c), "{c:?}");
            assert_eq!(of & WIDE != 0, is_wide(c), "{c:?}");
        }
    }
}
