//! [`MarkerReader`]: recognises list markers at the beginning of a line.

/// The state of a line whose characters can be a list marker: `1.`, `1)`, `1、`, `(1)`, `Step 1:`, `第1步`, `**1.**`, with
/// blanks before and after.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MarkerReader {
    state: MarkerState,
    held: [char; HELD],
    len: usize,
}

/// The maximum number of characters of a marker.
pub(super) const HELD: usize = 24;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MarkerState {
    /// Before the word or the number: blanks, stars and opening signs.
    #[default]
    Start,
    /// In the word "Step", after this many of its letters.
    Word(u8),
    /// After the word, an opening bracket or 第: the number must follow.
    Before,
    Number,
    /// After the number's closing sign: more signs and blanks.
    After,
    Text,
}

/// The result of reading a character of a line.
pub(super) enum MarkerStep {
    /// Undecided, or part of a marker.
    Wait,
    /// The character completes a marker.
    Marker,
    /// The character and the held ones are text.
    Text,
    /// The character is text, and the held ones are omitted, except for signs that are still held. `ends` is set if the
    /// sentence before the marker ends there.
    Left { ends: bool },
}

impl MarkerReader {
    /// Returns whether the rest of the line is text.
    pub(super) fn is_past(&self) -> bool {
        self.state == MarkerState::Text
    }

    pub(super) fn read(&mut self, c: char) -> MarkerStep {
        let next = match c {
            '\n' => MarkerState::Start,
            // Most lines begin with a letter that begins no marker.
            'a'..='r' | 't'..='z' | 'A'..='R' | 'T'..='Z' if self.state == MarkerState::Start => {
                MarkerState::Text
            }
            _ => next(self.state, c),
        };
        let before = std::mem::replace(&mut self.state, next);
        match next {
            _ if c == '\n' => MarkerStep::Text,
            MarkerState::After => {
                self.len = 0;
                if before == MarkerState::After {
                    MarkerStep::Wait
                } else {
                    MarkerStep::Marker
                }
            }
            MarkerState::Text => MarkerStep::Text,
            _ if self.len < HELD => {
                self.held[self.len] = c;
                self.len += 1;
                MarkerStep::Wait
            }
            _ => {
                self.state = MarkerState::Text;
                MarkerStep::Text
            }
        }
    }

    /// Removes and returns the held characters, with their number. `None` if there are none.
    #[inline]
    pub(super) fn take(&mut self) -> Option<([char; HELD], usize)> {
        (self.len > 0).then(|| (self.held, std::mem::take(&mut self.len)))
    }
}

fn next(at: MarkerState, c: char) -> MarkerState {
    const WORD: [char; 4] = ['s', 't', 'e', 'p'];
    let blank = c.is_whitespace();
    match (at, c) {
        (MarkerState::Start, _) if blank => MarkerState::Start,
        (MarkerState::Start, '*') => MarkerState::Start,
        (MarkerState::Start, '(' | '（' | '[' | '第') => MarkerState::Before,
        (MarkerState::Start, 'S' | 's') => MarkerState::Word(1),
        (MarkerState::Word(n), _) if n < 4 && c.to_ascii_lowercase() == WORD[usize::from(n)] => {
            MarkerState::Word(n + 1)
        }
        (MarkerState::Word(4), _) if blank => MarkerState::Before,
        (MarkerState::Start | MarkerState::Before | MarkerState::Number, _) if c.is_numeric() => {
            MarkerState::Number
        }
        (MarkerState::Before, _) if blank => MarkerState::Before,
        (MarkerState::Before | MarkerState::Number, _) if "一二三四五六七八九十百".contains(c) => {
            MarkerState::Number
        }
        (MarkerState::Number, '.' | ')' | '、' | '）' | ']' | ':' | '：' | '步' | '．') => {
            MarkerState::After
        }
        (MarkerState::After, '*' | ':' | '：' | '.' | ')' | '）') => MarkerState::After,
        (MarkerState::After, _) if blank => MarkerState::After,
        _ => MarkerState::Text,
    }
}
