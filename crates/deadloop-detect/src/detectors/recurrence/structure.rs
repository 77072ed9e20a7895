//! Recognises Markdown structures by the beginnings of lines.
//!
//! Lines are read char by char, so results do not depend on chunks.

/// The names of structures in settings, in the order of the bits of [`StructureSet`].
pub(super) const NAMES: &[&str] = &["fence", "table", "list", "heading", "quote", "divider"];

/// A set of structures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StructureSet(u8);

impl StructureSet {
    const NONE: Self = Self(0);
    /// Three backticks, with or without blanks before them. [`Fence`](crate::text::fence::Fence) reports this
    /// structure.
    pub(super) const FENCE: Self = Self(1);
    /// Two `|` in a line, or three chars of `|+-`. Blanks may precede.
    const TABLE: Self = Self(1 << 1);
    /// `-`, `*`, `+`, or a number and a dot, then a blank. Blanks may precede.
    const LIST: Self = Self(1 << 2);
    /// `#`s, then a blank.
    const HEADING: Self = Self(1 << 3);
    /// `>`, then a blank.
    const QUOTE: Self = Self(1 << 4);
    /// Three chars of `-+_=*`, or one char of U+2500..U+257F. Each such char after them counts again. Blanks may
    /// precede.
    const DIVIDER: Self = Self(1 << 5);

    /// Returns the structures with these names.
    pub(super) fn from_names<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let bit = |name| NAMES.iter().position(|n| *n == name);
        Self(names.filter_map(bit).fold(0, |all, bit| all | 1 << bit))
    }

    /// Returns whether the set has a structure besides `other`.
    pub(super) fn has_more_than(self, other: Self) -> bool {
        self.0 & !other.0 != 0
    }

    /// Returns whether both sets have a structure in common.
    pub(super) fn meet(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The beginning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StructureLine {
    /// The empty start, or blanks.
    Start {
        blanks: bool,
    },
    Hashes,
    Quote,
    /// Digits, perhaps with a dot after them.
    Number {
        dot: bool,
    },
    /// A line with a `|`. `marks` is the number of leading `|+-`, or 0 after another char.
    Row {
        marks: u8,
    },
    /// Only signs. `marks` is their number, and `all` has the structures that they may become.
    Signs {
        marks: u8,
        all: StructureSet,
    },
    Divider,
    /// Anything else: no structure can begin before the next line.
    Text,
}

impl Default for StructureLine {
    fn default() -> Self {
        Self::Start { blanks: false }
    }
}

impl StructureLine {
    /// Reads a char. Returns the structures that it completes, except fences.
    #[inline]
    pub(super) fn step(&mut self, c: char) -> StructureSet {
        // In text, only the line end changes the state.
        if *self == Self::Text && c != '\n' {
            return StructureSet::NONE;
        }
        self.take_char(c)
    }

    fn take_char(&mut self, c: char) -> StructureSet {
        let (next, found) = self.next(c);
        *self = match c {
            '\n' => Self::default(),
            _ => next,
        };
        found
    }

    fn next(self, c: char) -> (Self, StructureSet) {
        let quiet = |line| (line, StructureSet::NONE);
        let blank = c.is_whitespace();
        match (self, c) {
            (Self::Text, _) => quiet(Self::Text),
            (Self::Start { .. }, _) if blank => quiet(Self::Start { blanks: true }),
            (Self::Start { blanks }, _) => begin(blanks, c),
            (Self::Hashes, '#') => quiet(self),
            (Self::Hashes, _) if blank => (Self::Text, StructureSet::HEADING),
            (Self::Quote, _) if blank => (Self::Text, StructureSet::QUOTE),
            (Self::Number { dot: false }, '0'..='9') => quiet(self),
            (Self::Number { dot: false }, '.') => quiet(Self::Number { dot: true }),
            (Self::Number { dot: true }, _) if blank => (Self::Text, StructureSet::LIST),
            (Self::Row { .. }, '|') => (Self::Text, StructureSet::TABLE),
            (Self::Row { marks: 2 }, '+' | '-') => (Self::Text, StructureSet::TABLE),
            (Self::Row { marks: 1 }, '+' | '-') => quiet(Self::Row { marks: 2 }),
            (Self::Row { .. }, _) => quiet(Self::Row { marks: 0 }),
            (Self::Signs { marks: 1, all }, _) if blank && all.meet(StructureSet::LIST) => {
                (Self::Text, StructureSet::LIST)
            }
            (Self::Signs { marks, all }, _) => signs(marks + 1, all, c),
            (Self::Divider, _) if is_rule(c) => (self, StructureSet::DIVIDER),
            _ => quiet(Self::Text),
        }
    }
}

fn begin(blanks: bool, c: char) -> (StructureLine, StructureSet) {
    let line = match c {
        '#' if !blanks => StructureLine::Hashes,
        '>' if !blanks => StructureLine::Quote,
        '0'..='9' => StructureLine::Number { dot: false },
        '|' => StructureLine::Row { marks: 1 },
        '\u{2500}'..='\u{257F}' => return (StructureLine::Divider, StructureSet::DIVIDER),
        _ => return signs(1, StructureSet(u8::MAX), c),
    };
    (line, StructureSet::NONE)
}

/// Adds a sign to a line of signs. Returns the new state of the line and, from the third sign on, the structures that
/// it completes.
fn signs(marks: u8, all: StructureSet, c: char) -> (StructureLine, StructureSet) {
    let kept = |fits: bool, one: StructureSet| {
        if fits && all.meet(one) {
            one
        } else {
            StructureSet::NONE
        }
    };
    let all = kept("|+-".contains(c), StructureSet::TABLE)
        .and(kept("-*+".contains(c), StructureSet::LIST))
        .and(kept(is_rule(c), StructureSet::DIVIDER));
    let shown = kept(all.meet(StructureSet::TABLE), StructureSet::TABLE)
        .and(kept(all.meet(StructureSet::DIVIDER), StructureSet::DIVIDER));
    match marks {
        _ if all == StructureSet::NONE => (StructureLine::Text, all),
        1 | 2 => (StructureLine::Signs { marks, all }, StructureSet::NONE),
        _ if shown.meet(StructureSet::DIVIDER) => (StructureLine::Divider, shown),
        _ => (StructureLine::Text, shown),
    }
}

fn is_rule(c: char) -> bool {
    matches!(c, '-' | '+' | '_' | '=' | '*' | '\u{2500}'..='\u{257F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the structures in `text`, each with the number of chars up to its completion.
    fn structures_in(text: &str) -> Vec<(usize, &'static str)> {
        let mut line = StructureLine::default();
        let mut seen = Vec::new();
        for (i, c) in text.chars().enumerate() {
            let found = line.step(c);
            let names = NAMES.iter().filter(|name| {
                let one = StructureSet::from_names([**name].into_iter());
                found.meet(one)
            });
            seen.extend(names.map(|name| (i + 1, *name)));
        }
        seen
    }

    #[test]
    fn structures_show_at_the_start_of_a_line() {
        let table = [
            ("# a", vec![(2, "heading")]),
            ("x # a", vec![]),
            ("x\n### a", vec![(6, "heading")]),
            (" # a", vec![]),
            ("#a", vec![]),
            ("> a", vec![(2, "quote")]),
            ("* a", vec![(2, "list")]),
            ("  - a", vec![(4, "list")]),
            ("+\n", vec![(2, "list")]),
            ("-a", vec![]),
            ("12. a", vec![(4, "list")]),
            ("1.5", vec![]),
            ("1) a", vec![]),
            ("| a | b |", vec![(5, "table")]),
            ("||", vec![(2, "table")]),
            ("|--", vec![(3, "table")]),
            ("| a", vec![]),
            ("+--+", vec![(3, "table"), (3, "divider"), (4, "divider")]),
            ("--|", vec![(3, "table")]),
            ("***", vec![(3, "divider")]),
            ("**b**", vec![]),
            ("==== =", vec![(3, "divider"), (4, "divider")]),
            ("╭─a─", vec![(1, "divider"), (2, "divider")]),
            ("a ---", vec![]),
        ];
        for (text, expected) in table {
            assert_eq!(structures_in(text), expected, "{text:?}");
        }
    }
}
