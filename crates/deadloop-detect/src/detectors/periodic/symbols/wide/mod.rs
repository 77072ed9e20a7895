//! [`WideMarker`]: recognises markers of list items and headings, in any form.
//!
//! Markers are at the beginning of a line. Numbers of items may also be inside a line.
//!
//! The omitted forms are in `exactly.md`. A line that may still begin with a marker waits, for at most [`HELD`]
//! characters. Blanks, and the signs before them, are dropped at once and need not wait.

use super::inline_numbers::{NumberContext, closes};
use super::marker::{HELD, MarkerStep};
use crate::text::class::{self, CharClass, CharClasses};

mod words;

/// The omitted beginnings of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OmittedStart {
    /// Leading blanks.
    Blanks,
    /// Leading blanks and markers.
    Markers,
}

/// The state of a line that can begin with a marker, and of a number inside it.
#[derive(Clone, Copy, Debug)]
pub(super) struct WideMarker {
    leave: OmittedStart,
    at: WideState,
    held: [char; HELD],
    len: usize,
    /// The index of the word or number among the held characters.
    from: usize,
    /// Whether a heading mark came before.
    heading: bool,
    /// Whether the last sign is the bar that opens a table cell.
    cell: bool,
    classes: CharClasses,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WideState {
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
    Inside(NumberContext),
    /// After a number inside the line and a dot.
    InsideDot,
    Text,
}

impl WideMarker {
    pub(super) fn new(leave: OmittedStart) -> Self {
        Self {
            leave,
            at: WideState::Start,
            held: ['\0'; HELD],
            len: 0,
            from: 0,
            heading: false,
            cell: false,
            classes: CharClasses::new(),
        }
    }

    /// Returns whether the rest of the line is text, except for numbers.
    #[inline]
    pub(super) fn is_past(&self) -> bool {
        self.at == WideState::Text
    }

    /// Returns whether numbers inside a line are examined.
    #[inline]
    pub(super) fn looks_inside(&self) -> bool {
        self.leave == OmittedStart::Markers
    }

    /// Begins a number inside a line with its first character.
    pub(super) fn begin(&mut self, inside: NumberContext, c: char) -> MarkerStep {
        if is_whole(c) {
            return MarkerStep::Marker;
        }
        self.at = WideState::Inside(inside);
        (self.held[0], self.len) = (c, 1);
        MarkerStep::Wait
    }

    pub(super) fn read(&mut self, c: char) -> MarkerStep {
        let before = self.at;
        self.at = match c {
            '\n' => WideState::Start,
            _ if self.leave == OmittedStart::Blanks => blanks(before, c),
            _ => self.next(c),
        };
        let leaves = self.completes_marker(before, c);
        if c == '\n' {
            (self.heading, self.cell) = (false, false);
        }
        if leaves {
            // Only the number inside a line is omitted, not the signs around it.
            self.held[0] = '.';
            self.len = usize::from(before == WideState::InsideDot);
            let ends = matches!(
                before,
                WideState::Inside(NumberContext::Word | NumberContext::Bracket(true))
            );
            return MarkerStep::Left { ends };
        }
        match self.at {
            WideState::Start if c != '\n' => self.start(c),
            WideState::After | WideState::AfterDot => {
                self.len = 0;
                match before {
                    WideState::After | WideState::AfterDot => MarkerStep::Wait,
                    _ => MarkerStep::Marker,
                }
            }
            _ if c == '\n' || self.at == WideState::Text || self.len == HELD => {
                self.at = if c == '\n' {
                    WideState::Start
                } else {
                    WideState::Text
                };
                MarkerStep::Text
            }
            _ => self.hold(c),
        }
    }

    /// Takes the held characters, if any, and returns them with their number.
    #[inline]
    pub(super) fn take(&mut self) -> Option<([char; HELD], usize)> {
        (self.len > 0).then(|| (self.held, std::mem::take(&mut self.len)))
    }

    fn hold(&mut self, c: char) -> MarkerStep {
        self.held[self.len] = c;
        self.len += 1;
        MarkerStep::Wait
    }

    /// Reads a character before the marker. A blank drops all held characters.
    fn start(&mut self, c: char) -> MarkerStep {
        self.heading |= c == '#';
        self.cell = c == '|' || self.cell && c.is_whitespace();
        if c.is_whitespace() {
            self.len = 0;
            return MarkerStep::Wait;
        }
        if self.len == HELD {
            self.at = WideState::Text;
            return MarkerStep::Text;
        }
        self.hold(c)
    }

    /// Returns whether this text character completes a marker of the held characters.
    fn completes_marker(&self, before: WideState, c: char) -> bool {
        match before {
            WideState::Letter => c == '\n' || self.at == WideState::Text && !c.is_ascii(),
            WideState::Word => c == '\n' && self.is_roman(),
            WideState::WordNumber => c == '\n' && self.heading,
            WideState::InsideDot => !self.is_number(c),
            WideState::Inside(inside) => !self.is_number(c) && closes(inside, c),
            _ => false,
        }
    }

    fn next(&mut self, c: char) -> WideState {
        let number = self.is_number(c);
        let blank = c.is_whitespace();
        match self.at {
            WideState::Start => self.first(c, number),
            WideState::Word => self.word(c, number),
            WideState::Gap if blank => WideState::Gap,
            WideState::Gap if number => WideState::WordNumber,
            WideState::Gap if c.is_ascii_uppercase() && self.is_numbered() => WideState::WordLetter,
            WideState::WordNumber => self.word_number(c, number),
            WideState::WordLetter | WideState::Bold if matches!(c, ':' | '：') => WideState::After,
            WideState::Bold if blank => WideState::After,
            WideState::Bold if matches!(c, '*' | '_') => WideState::Bold,
            WideState::Open if blank => WideState::Open,
            // A row of numbers is no marker.
            WideState::OpenNumber if number && self.last().is_some_and(char::is_whitespace) => {
                WideState::Text
            }
            WideState::Open | WideState::OpenNumber if number => WideState::OpenNumber,
            WideState::Open | WideState::OpenLetter if c.is_ascii_alphabetic() => {
                if self.at == WideState::Open {
                    self.from = self.len;
                }
                WideState::OpenLetter
            }
            WideState::OpenNumber if blank => WideState::OpenNumber,
            WideState::OpenNumber if is_close(c) => WideState::After,
            WideState::OpenLetter if is_close(c) && self.is_letter() => WideState::After,
            WideState::Ordinal | WideState::OrdinalNumber if blank => self.at,
            WideState::Ordinal | WideState::OrdinalNumber if number => WideState::OrdinalNumber,
            WideState::OrdinalNumber if is_classifier(c) => WideState::After,
            WideState::Number if number => WideState::Number,
            WideState::Number if c == KEYCAP.0 => WideState::Number,
            WideState::Number if c == '.' => WideState::AfterDot,
            WideState::Number if c == '-' => WideState::Dash,
            WideState::Number if blank && self.is_after_hash() => WideState::After,
            WideState::Number | WideState::Cell if self.cell && c == '|' => WideState::After,
            WideState::Number | WideState::Cell if self.cell && blank => WideState::Cell,
            WideState::Number if c == KEYCAP.1 => WideState::After,
            WideState::Dash if blank => WideState::After,
            WideState::Number if matches!(c, '．' | '、' | ':' | '：') || is_close(c) => {
                WideState::After
            }
            WideState::Letter if c == '.' => WideState::Letter,
            WideState::Letter if blank || matches!(c, '*' | '_') => WideState::After,
            WideState::AfterDot if number || c == '.' => WideState::AfterDot,
            WideState::After | WideState::AfterDot if blank || is_tail(c) => WideState::After,
            WideState::Inside(_) if number => self.at,
            WideState::Inside(NumberContext::Sentence) if c == '.' => WideState::InsideDot,
            _ => WideState::Text,
        }
    }

    /// Returns the state after the first character of a line, or after one that follows bullets and blanks.
    fn first(&mut self, c: char, number: bool) -> WideState {
        let last = self.last();
        self.from = self.len;
        match c {
            '#' | '*' | '_' | '>' | '-' | '+' | '•' | '◦' | '●' | '▪' | '·' | '○' | '■' | '|' => {
                WideState::Start
            }
            _ if c.is_whitespace() || is_quote(c) => WideState::Start,
            '(' | '（' | '[' | '【' => WideState::Open,
            '第' => WideState::Ordinal,
            // A sign, not a bullet.
            _ if number && matches!(last, Some('-' | '+')) => WideState::Text,
            _ if is_whole(c) => WideState::After,
            _ if number => WideState::Number,
            _ if c.is_alphabetic() => WideState::Word,
            _ => WideState::Text,
        }
    }

    fn is_number(&self, c: char) -> bool {
        is_numeral(self.classes.class(c))
    }

    /// Returns the last held character.
    fn last(&self) -> Option<char> {
        self.len.checked_sub(1).map(|i| self.held[i])
    }

    /// Returns whether the held number follows a heading mark, as in `#1`.
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
pub(super) fn is_numeral(class: CharClass) -> bool {
    class & (class::NUMBER | class::HAN) != 0
}

fn blanks(at: WideState, c: char) -> WideState {
    match at {
        WideState::Start if c.is_whitespace() => WideState::Start,
        _ => WideState::Text,
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
