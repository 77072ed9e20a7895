//! [`Wide`]: recognises markers of list items and headings, in any form.
//!
//! Markers are at the beginning of a line. Numbers of items may also be inside a line.
//!
//! The omitted forms are in `exactly.md`. A line that may still begin with a marker waits, for at most [`HELD`]
//! characters. Blanks, and the signs before them, are dropped at once and need not wait.

use super::inside::{Inside, closes};
use super::marker::{HELD, Step};
use crate::text::class::{self, Class, Classes};

mod words;

/// The omitted beginnings of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leave {
    /// Leading blanks.
    Blanks,
    /// Leading blanks and markers.
    Markers,
}

/// The state of a line that can begin with a marker, and of a number inside it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide {
    leave: Leave,
    at: At,
    held: [char; HELD],
    len: usize,
    /// The index of the word or number among the held characters.
    from: usize,
    /// Whether a heading mark came before.
    heading: bool,
    /// Whether the last sign is the bar that opens a table cell.
    cell: bool,
    classes: Classes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Blanks, bullets, heading marks, stars.
    Start,
    /// In a word or a letter by itself.
    Word,
    /// After a word and a blank: its number must follow.
    Gap,
    /// The number or the letter of a word.
    WordNumber,
    WordLetter,
    /// After the stars around a word and its number.
    Bold,
    /// After an opening bracket, then in the number or the letters inside it.
    Open,
    OpenNumber,
    OpenLetter,
    /// After 第, then in its number.
    Ordinal,
    OrdinalNumber,
    Number,
    /// After a number and a dash: a blank must follow.
    Dash,
    /// After the number of a cell: its bar must follow.
    Cell,
    /// After a letter and its closing sign.
    Letter,
    /// After an omitted marker. The rest of the marker is omitted too.
    After,
    /// After an omitted marker and a dot: more of the number may follow.
    AfterDot,
    /// In a number inside the line.
    Inside(Inside),
    /// After a number inside the line and a dot.
    InsideDot,
    Text,
}

impl Wide {
    pub(super) fn new(leave: Leave) -> Self {
        Self {
            leave,
            at: At::Start,
            held: ['\0'; HELD],
            len: 0,
            from: 0,
            heading: false,
            cell: false,
            classes: Classes::new(),
        }
    }

    /// Returns whether the rest of the line is text, except for numbers.
    #[inline]
    pub(super) fn is_past(&self) -> bool {
        self.at == At::Text
    }

    /// Returns whether numbers inside a line are examined.
    #[inline]
    pub(super) fn looks_inside(&self) -> bool {
        self.leave == Leave::Markers
    }

    /// Begins a number inside a line with its first character.
    pub(super) fn begin(&mut self, inside: Inside, c: char) -> Step {
        if is_whole(c) {
            return Step::Marker;
        }
        self.at = At::Inside(inside);
        (self.held[0], self.len) = (c, 1);
        Step::Wait
    }

    pub(super) fn read(&mut self, c: char) -> Step {
        let before = self.at;
        self.at = match c {
            '\n' => At::Start,
            _ if self.leave == Leave::Blanks => blanks(before, c),
            _ => self.next(c),
        };
        let leaves = self.leaves(before, c);
        if c == '\n' {
            (self.heading, self.cell) = (false, false);
        }
        if leaves {
            // Only the number inside a line is omitted, not the signs around it.
            self.held[0] = '.';
            self.len = usize::from(before == At::InsideDot);
            let ends = matches!(before, At::Inside(Inside::Word | Inside::Bracket(true)));
            return Step::Left { ends };
        }
        match self.at {
            At::Start if c != '\n' => self.start(c),
            At::After | At::AfterDot => {
                self.len = 0;
                match before {
                    At::After | At::AfterDot => Step::Wait,
                    _ => Step::Marker,
                }
            }
            _ if c == '\n' || self.at == At::Text || self.len == HELD => {
                self.at = if c == '\n' { At::Start } else { At::Text };
                Step::Text
            }
            _ => self.hold(c),
        }
    }

    /// Takes the waiting characters, if any, and returns them with their number.
    #[inline]
    pub(super) fn take(&mut self) -> Option<([char; HELD], usize)> {
        (self.len > 0).then(|| (self.held, std::mem::take(&mut self.len)))
    }

    fn hold(&mut self, c: char) -> Step {
        self.held[self.len] = c;
        self.len += 1;
        Step::Wait
    }

    /// Reads a character before the marker. A blank drops all waiting characters.
    fn start(&mut self, c: char) -> Step {
        self.heading |= c == '#';
        self.cell = c == '|' || self.cell && c.is_whitespace();
        if c.is_whitespace() {
            self.len = 0;
            return Step::Wait;
        }
        if self.len == HELD {
            self.at = At::Text;
            return Step::Text;
        }
        self.hold(c)
    }

    /// Returns whether this text character completes a marker of the waiting characters.
    fn leaves(&self, before: At, c: char) -> bool {
        match before {
            At::Letter => c == '\n' || self.at == At::Text && !c.is_ascii(),
            At::Word => c == '\n' && self.is_roman(),
            At::WordNumber => c == '\n' && self.heading,
            At::InsideDot => !self.is_number(c),
            At::Inside(inside) => !self.is_number(c) && closes(inside, c),
            _ => false,
        }
    }

    fn next(&mut self, c: char) -> At {
        let number = self.is_number(c);
        let blank = c.is_whitespace();
        match self.at {
            At::Start => self.first(c, number),
            At::Word => self.word(c, number),
            At::Gap if blank => At::Gap,
            At::Gap if number => At::WordNumber,
            At::Gap if c.is_ascii_uppercase() && self.is_numbered() => At::WordLetter,
            At::WordNumber => self.word_number(c, number),
            At::WordLetter | At::Bold if matches!(c, ':' | '：') => At::After,
            At::Bold if blank => At::After,
            At::Bold if matches!(c, '*' | '_') => At::Bold,
            At::Open if blank => At::Open,
            At::Open | At::OpenNumber if number => At::OpenNumber,
            At::Open | At::OpenLetter if c.is_ascii_alphabetic() => {
                if self.at == At::Open {
                    self.from = self.len;
                }
                At::OpenLetter
            }
            At::OpenNumber if blank => At::OpenNumber,
            At::OpenNumber if is_close(c) => At::After,
            At::OpenLetter if is_close(c) && self.is_letter() => At::After,
            At::Ordinal | At::OrdinalNumber if blank => self.at,
            At::Ordinal | At::OrdinalNumber if number => At::OrdinalNumber,
            At::OrdinalNumber if is_classifier(c) => At::After,
            At::Number if number => At::Number,
            At::Number if c == KEYCAP.0 => At::Number,
            At::Number if c == '.' => At::AfterDot,
            At::Number if c == '-' => At::Dash,
            At::Number if blank && self.is_after_hash() => At::After,
            At::Number | At::Cell if self.cell && c == '|' => At::After,
            At::Number | At::Cell if self.cell && blank => At::Cell,
            At::Number if c == KEYCAP.1 => At::After,
            At::Dash if blank => At::After,
            At::Number if matches!(c, '．' | '、' | ':' | '：') || is_close(c) => At::After,
            At::Letter if c == '.' => At::Letter,
            At::Letter if blank || matches!(c, '*' | '_') => At::After,
            At::AfterDot if number || c == '.' => At::AfterDot,
            At::After | At::AfterDot if blank || is_tail(c) => At::After,
            At::Inside(_) if number => self.at,
            At::Inside(Inside::Sentence) if c == '.' => At::InsideDot,
            _ => At::Text,
        }
    }

    /// Returns the state after the first character of a line, or after one that follows bullets and blanks.
    fn first(&mut self, c: char, number: bool) -> At {
        let last = self.len.checked_sub(1).map(|i| self.held[i]);
        self.from = self.len;
        match c {
            '#' | '*' | '_' | '>' | '-' | '+' | '•' | '◦' | '●' | '▪' | '·' | '○' | '■' | '|' => {
                At::Start
            }
            _ if c.is_whitespace() || is_quote(c) => At::Start,
            '(' | '（' | '[' | '【' => At::Open,
            '第' => At::Ordinal,
            // A sign, not a bullet.
            _ if number && matches!(last, Some('-' | '+')) => At::Text,
            _ if is_whole(c) => At::After,
            _ if number => At::Number,
            _ if c.is_alphabetic() => At::Word,
            _ => At::Text,
        }
    }

    fn is_number(&self, c: char) -> bool {
        is_numeral(self.classes.class(c))
    }

    /// Returns whether the waiting number follows a heading mark, as in `#1`.
    fn is_after_hash(&self) -> bool {
        self.from
            .checked_sub(1)
            .is_some_and(|i| self.held[i] == '#')
    }
}

/// The characters after a digit that form a keycap: the optional selector and the cap.
const KEYCAP: (char, char) = ('\u{FE0F}', '\u{20E3}');

/// Returns whether a character of this class belongs to a number.
#[inline]
pub(super) fn is_numeral(class: Class) -> bool {
    class & (class::NUMBER | class::HAN) != 0
}

fn blanks(at: At, c: char) -> At {
    match at {
        At::Start if c.is_whitespace() => At::Start,
        _ => At::Text,
    }
}

pub(super) fn is_close(c: char) -> bool {
    matches!(c, ')' | '）' | ']' | '】')
}

/// Returns whether a character can open before a marker, as in a table cell.
pub(super) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '「' | '『')
}

/// Returns whether a character belongs to a marker after its closing sign.
fn is_tail(c: char) -> bool {
    matches!(c, '*' | '_' | ':' | '：' | '.' | '、') || is_close(c)
}

/// Returns whether a character can be counted by 第 and a number.
fn is_classifier(c: char) -> bool {
    "条章节款项题步轮种天次点部讲课例类篇卷幕集回段".contains(c)
}

/// Returns whether a character is a marker by itself: ①, ⑴, ❶, ㈠.
fn is_whole(c: char) -> bool {
    matches!(c, '\u{2460}'..='\u{249B}' | '\u{2776}'..='\u{2793}' | '\u{3220}'..='\u{3229}' | '\u{3280}'..='\u{3289}')
}

#[cfg(test)]
mod tests;
