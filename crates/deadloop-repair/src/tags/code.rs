//! Separates code from text: spans between backticks in a line, and fences.
//!
//! A tag in code is shown as text, and is not an action.

/// A stretch of the stream, as far as it is certain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CodePiece {
    /// A char outside of code.
    Plain(char),
    /// Code, with its backticks.
    Code(String),
    /// Code, and a char after it that is still to be read.
    Then(String, char),
    /// Backticks without closing ones, and the text after them, still to be read.
    Open(String, String),
}

/// The longest span in chars. A span is held back until it is closed, and ends with its line at the latest.
const MAX_SPAN_CHARS: usize = 1000;

/// The minimum number of backticks of a fence.
const MIN_FENCE_TICKS: usize = 3;

/// The code spans and fences of the text outside of actions.
#[derive(Clone, Debug, Default)]
pub(super) struct CodeScanner {
    /// Whether the line has only blanks so far.
    begun: bool,
    /// Inside a fence, the number of backticks at the beginning of the line. The inner value is `None` if other text
    /// comes first.
    fence: Option<Option<usize>>,
    /// A possible span, from its first backtick on, and its length in chars.
    held: String,
    chars: usize,
    /// Whether the held backticks are the first of their line.
    first: bool,
    /// The number of backticks that open the span. 0 while they are still being counted.
    open: usize,
    /// The length of the current run of backticks.
    run: usize,
}

impl CodeScanner {
    /// Takes one char.
    pub(super) fn push_char(&mut self, c: char) -> Option<CodePiece> {
        if self.fence.is_some() {
            return Some(self.in_fence(c));
        }
        if !self.held.is_empty() {
            return self.in_span(c);
        }
        if c != '`' {
            self.take_action_char(c);
            return Some(CodePiece::Plain(c));
        }
        self.first = !self.begun;
        self.take_action_char(c);
        (self.open, self.run, self.chars) = (0, 1, 1);
        self.held.push(c);
        None
    }

    /// Takes a char of an action, which is not code.
    pub(super) fn take_action_char(&mut self, c: char) {
        self.begun = match c {
            '\n' => false,
            ' ' | '\t' => self.begun,
            _ => true,
        };
    }

    /// Returns the text that is held back at the end of the stream.
    pub(super) fn end(&mut self) -> Option<CodePiece> {
        match self.held.is_empty() {
            true => None,
            false if self.open > 0 && self.run == self.open => Some(CodePiece::Code(self.take())),
            false => Some(self.take_unclosed()),
        }
    }

    /// Returns the number of chars that are held back because they may become a span.
    pub(super) fn held(&self) -> usize {
        if self.held.is_empty() { 0 } else { self.chars }
    }

    fn in_fence(&mut self, c: char) -> CodePiece {
        let ticks = self.fence.flatten();
        self.fence = match (c, ticks) {
            // The line of closing backticks belongs to the fence.
            ('\n', Some(MIN_FENCE_TICKS..)) => None,
            ('\n', _) => Some(Some(0)),
            ('`', Some(ticks)) => Some(Some(ticks + 1)),
            (' ' | '\t', Some(0)) => Some(Some(0)),
            (_, Some(ticks @ MIN_FENCE_TICKS..)) => Some(Some(ticks)),
            _ => Some(None),
        };
        self.begun = c != '\n';
        CodePiece::Code(c.to_string())
    }

    fn in_span(&mut self, c: char) -> Option<CodePiece> {
        if c == '`' {
            self.run += 1;
        } else if self.open == 0 && self.first && self.run >= MIN_FENCE_TICKS {
            self.fence = Some((c == '\n').then_some(0));
            self.held.push(c);
            self.take_action_char(c);
            return Some(CodePiece::Code(self.take()));
        } else if self.open == 0 {
            (self.open, self.run) = (self.run, 0);
        } else if self.run == self.open {
            return Some(CodePiece::Then(self.take(), c));
        } else {
            self.run = 0;
        }
        self.held.push(c);
        self.chars += 1;
        let over = c == '\n' || self.chars > MAX_SPAN_CHARS;
        over.then(|| self.take_unclosed())
    }

    fn take(&mut self) -> String {
        self.chars = 0;
        std::mem::take(&mut self.held)
    }

    fn take_unclosed(&mut self) -> CodePiece {
        let held = self.take();
        let ticks = held.bytes().take_while(|byte| *byte == b'`').count();
        let (ticks, rest) = held.split_at(ticks);
        CodePiece::Open(ticks.to_owned(), rest.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text with code in brackets.
    fn bracketed(text: &str) -> String {
        let (mut code, mut told) = (CodeScanner::default(), String::new());
        let mut left: Vec<char> = text.chars().rev().collect();
        loop {
            let piece = match left.pop() {
                Some(c) => code.push_char(c),
                None => match code.end() {
                    None => return told.replace("][", ""),
                    piece => piece,
                },
            };
            match piece {
                None => {}
                Some(CodePiece::Plain(c)) => told.push(c),
                Some(CodePiece::Code(text)) => told += &format!("[{text}]"),
                Some(CodePiece::Then(text, c)) => {
                    told += &format!("[{text}]");
                    left.push(c);
                }
                Some(CodePiece::Open(ticks, rest)) => {
                    told += &ticks;
                    left.extend(rest.chars().rev());
                }
            }
        }
    }

    #[test]
    fn spans_and_fences_are_code_and_lone_backticks_are_not() {
        for (text, wanted) in [
            ("a `b` c", "a [`b`] c"),
            ("`a``b` ``c`d``", "[`a``b`] [``c`d``]"),
            ("a ` b\nc ` d", "a ` b\nc ` d"),
            ("a `` b `c` d", "a `` b [`c`] d"),
            (
                "a\n```xml\n<b>\n```\nc `d`",
                "a\n[```xml\n<b>\n```\n]c [`d`]",
            ),
            (" ```\n`` `\n  ````\na", " [```\n`` `\n  ````\n]a"),
            ("```\nnever closed <b>", "[```\nnever closed <b>]"),
            ("a ```b``` c", "a [```b```] c"),
            ("`", "`"),
            ("`a`", "[`a`]"),
            ("it`s\n`a`", "it`s\n[`a`]"),
        ] {
            assert_eq!(bracketed(text), wanted, "{text:?}");
        }
        let long = format!("`{}` b", "a".repeat(MAX_SPAN_CHARS));
        assert_eq!(bracketed(&long), long, "too long for a span");
    }
}
