//! From chars to symbols: what is left out, what is folded together, what an element is.
//!
//! Three stages, each char by char: code fences are told apart, markers and numbers are folded,
//! chars are gathered into sentences or lines where those are compared.

use crate::element::{Element, ends_sentence};
use crate::fence::Fence;

/// What counts as equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    /// Equal chars only.
    None,
    /// List markers at line starts are left out.
    Lists,
    /// So they are, and each run of digits is one symbol.
    Digits,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    Chars,
    Sentences,
    Lines,
}

/// How chars become symbols.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbols {
    fold: Fold,
    on: On,
    skip_code: bool,
    /// Whether fences are followed at all.
    fences: bool,
    fence: Fence,
    /// The line so far, while it can be a list marker.
    marker: Marker,
    /// Whether the last folded char was a digit.
    in_number: bool,
    element: Element,
    /// Whether the element so far has a letter or a number.
    named: bool,
}

/// A run of digits, as a symbol: past every char.
pub(super) const NUMBER: u32 = 0x11_0000;

/// The bit of an element's symbol that says whether it has a letter or a number: what was folded away
/// differs from copy to copy, so the text does not say it.
pub(super) const NAMED: u32 = 1;

/// The most symbols that one char completes.
pub(super) const MOST: usize = HELD + 1;

impl Symbols {
    pub(super) fn new(fold: Fold, on: On, code: (bool, bool)) -> Self {
        let (fences, skip_code) = code;
        Self {
            fold,
            on,
            skip_code,
            fences,
            fence: Fence::default(),
            marker: Marker::default(),
            in_number: false,
            element: Element::default(),
            named: false,
        }
    }

    /// Whether each char is its own symbol, and nothing else is asked of it.
    pub(super) fn are_plain(&self) -> bool {
        self.are_chars() && !self.follow_fences()
    }

    /// Whether each char is its own symbol, at once.
    pub(super) fn are_chars(&self) -> bool {
        self.fold == Fold::None && self.on == On::Chars && !self.skip_code
    }

    /// Whether something is folded away.
    pub(super) fn fold(&self) -> bool {
        self.fold != Fold::None
    }

    /// Whether code fences are told apart.
    pub(super) fn follow_fences(&self) -> bool {
        self.fences
    }

    /// Whether what was read last is inside a code fence.
    pub(super) fn fenced(&self) -> bool {
        self.fences && self.fence.is_inside()
    }

    /// Whether symbols are elements of several chars.
    pub(super) fn are_elements(&self) -> bool {
        self.on != On::Chars
    }

    /// Reads a char and tells of each symbol that it completes: [`MOST`] at most.
    #[inline]
    pub(super) fn read(&mut self, c: char, out: &mut impl FnMut(u32)) {
        if self.fences {
            self.fence.step(c);
        }
        if self.skip_code && self.fence.is_inside() {
            return;
        }
        if self.fold == Fold::None {
            self.gather(c, out);
        } else if c != '\n' && self.marker.is_past() {
            self.number(c, out);
        } else if let Step::Text(held) = self.marker.read(c) {
            held.iter().for_each(|c| self.number(*c, out));
        }
    }

    /// How many list markers have been left out.
    pub(super) fn markers(&self) -> u64 {
        self.marker.count
    }

    /// Folds a number into one symbol.
    #[inline]
    fn number(&mut self, c: char, out: &mut impl FnMut(u32)) {
        let digit =
            self.fold == Fold::Digits && (c.is_ascii_digit() || !c.is_ascii() && c.is_numeric());
        let going_on = digit && self.in_number;
        self.in_number = digit;
        if digit && !going_on {
            self.symbol(NUMBER, false, out);
        } else if !digit {
            self.gather(c, out);
        }
    }

    #[inline]
    fn gather(&mut self, c: char, out: &mut impl FnMut(u32)) {
        let ends = match self.on {
            On::Chars => false,
            On::Lines => c == '\n',
            On::Sentences => ends_sentence(c),
        };
        if ends {
            let named = std::mem::take(&mut self.named);
            // The high half of the hash holds every char.
            if let Some((hash, _)) = self.element.finish() {
                let symbol = u32::try_from(hash >> 32).unwrap_or(u32::MAX);
                out(symbol & !NAMED | if named { NAMED } else { 0 });
            }
        } else {
            self.symbol(u32::from(c), c.is_whitespace(), out);
        }
    }

    #[inline]
    fn symbol(&mut self, symbol: u32, blank: bool, out: &mut impl FnMut(u32)) {
        match self.on {
            On::Chars => out(symbol),
            _ => {
                let named = |c: char| c.is_alphanumeric();
                self.named =
                    self.named || symbol == NUMBER || char::from_u32(symbol).is_some_and(named);
                self.element.add(symbol, blank);
            }
        }
    }
}

/// Follows a line while its chars can be a list marker: `1.`, `1)`, `1、`, `(1)`, `Step 1:`, `第1步`,
/// `**1.**`, blanks before and after.
#[derive(Clone, Copy, Debug, Default)]
struct Marker {
    state: At,
    /// Markers left out.
    count: u64,
    held: [char; HELD],
    len: usize,
}

/// Longer than this no marker is.
const HELD: usize = 24;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    /// Blanks, stars and what else can stand before the number.
    #[default]
    Start,
    /// In the word "Step": so many of its letters.
    Word(u8),
    /// After the word, an opening bracket or 第: the number must follow.
    Before,
    Number,
    /// After the number's closing sign: more signs and blanks.
    After,
    Text,
}

/// What a char of a line is.
enum Step {
    /// Not known yet, or part of a marker.
    Wait,
    /// These are text.
    Text(Held),
}

/// Up to [`HELD`] chars that had to wait, and one more.
struct Held {
    chars: [char; HELD + 1],
    len: usize,
}

impl Held {
    fn iter(&self) -> std::slice::Iter<'_, char> {
        self.chars[..self.len].iter()
    }
}

impl Marker {
    /// Whether the rest of the line is text.
    fn is_past(&self) -> bool {
        self.state == At::Text
    }

    fn read(&mut self, c: char) -> Step {
        if c == '\n' {
            let step = self.text(c);
            self.state = At::Start;
            return step;
        }
        let next = next(self.state, c);
        match (self.state, next) {
            (_, At::After) => {
                self.count += u64::from(self.state != At::After);
                (self.state, self.len) = (At::After, 0);
                Step::Wait
            }
            (_, At::Text) => self.text(c),
            (_, next) if self.len < HELD => {
                self.state = next;
                self.held[self.len] = c;
                self.len += 1;
                Step::Wait
            }
            _ => self.text(c),
        }
    }

    /// What waited is text, and so is `c` and the rest of the line.
    fn text(&mut self, c: char) -> Step {
        let mut chars = ['\0'; HELD + 1];
        chars[..self.len].copy_from_slice(&self.held[..self.len]);
        chars[self.len] = c;
        let held = Held {
            chars,
            len: self.len + 1,
        };
        (self.state, self.len) = (At::Text, 0);
        Step::Text(held)
    }
}

fn next(at: At, c: char) -> At {
    const WORD: [char; 4] = ['s', 't', 'e', 'p'];
    let blank = c.is_whitespace();
    match (at, c) {
        (At::Start, _) if blank => At::Start,
        (At::Start, '*') => At::Start,
        (At::Start, '(' | '（' | '[' | '第') => At::Before,
        (At::Start, 'S' | 's') => At::Word(1),
        (At::Word(n), _) if n < 4 && c.to_ascii_lowercase() == WORD[usize::from(n)] => {
            At::Word(n + 1)
        }
        (At::Word(4), _) if blank => At::Before,
        (At::Start | At::Before | At::Number, _) if c.is_numeric() => At::Number,
        (At::Before, _) if blank => At::Before,
        (At::Before | At::Number, _) if "一二三四五六七八九十百".contains(c) => {
            At::Number
        }
        (At::Number, '.' | ')' | '、' | '）' | ']' | ':' | '：' | '步' | '．') => At::After,
        (At::After, '*' | ':' | '：' | '.' | ')' | '）') => At::After,
        (At::After, _) if blank => At::After,
        _ => At::Text,
    }
}
