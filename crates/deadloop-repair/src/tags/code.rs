//! [`CodeScanner`]: separates code from text, in spans between backticks and in fences.
//!
//! A tag in code is text rather than an action.

/// A piece of the stream that is certain to be code or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CodePiece {
    /// A char outside of code.
    Plain(char),
    /// A code span, with its backticks.
    Code(String),
    /// A code span, and a following char that is still to be scanned.
    CodeThen(String, char),
    /// Backticks without closing ones, and the following text, which is still to be scanned.
    Unclosed(String, String),
}

/// The maximum length of a code span, in chars. A span is held back until it is closed, at most to the end of its line.
const MAX_SPAN_CHARS: usize = 1000;

/// The minimum number of backticks of a fence.
const MIN_FENCE_TICKS: usize = 3;

/// Scanner of code spans and fences in the text outside of actions.
#[derive(Clone, Debug, Default)]
pub(super) struct CodeScanner {
    /// Whether the current line has a char other than whitespace.
    is_line_begun: bool,
    /// The state inside a fence: the number of backticks at the start of the line, `None` after other text. The outer
    /// `None` is outside of fences.
    fence: Option<Option<usize>>,
    /// The possible code span so far.
    held: String,
    /// The length of `held` in chars.
    chars: usize,
    /// Whether the held backticks are the first text of their line.
    at_start: bool,
    /// The number of backticks that open the span. 0 while they are being counted.
    opening: usize,
    /// The length of the current run of backticks.
    run: usize,
}

impl CodeScanner {
    /// Adds a char, and returns the piece that is now certain, if any.
    pub(super) fn push_char(&mut self, c: char) -> Option<CodePiece> {
        if self.fence.is_some() {
            return Some(self.push_fence_char(c));
        }
        if !self.held.is_empty() {
            return self.push_span_char(c);
        }
        if c != '`' {
            self.push_action_char(c);
            return Some(CodePiece::Plain(c));
        }
        self.at_start = !self.is_line_begun;
        self.push_action_char(c);
        (self.opening, self.run, self.chars) = (0, 1, 1);
        self.held.push(c);
        None
    }

    /// Adds a char inside an action. Actions contain no code.
    pub(super) fn push_action_char(&mut self, c: char) {
        self.is_line_begun = match c {
            '\n' => false,
            ' ' | '\t' => self.is_line_begun,
            _ => true,
        };
    }

    /// Returns the next piece that is held back at the end of the stream, if any.
    pub(super) fn finish(&mut self) -> Option<CodePiece> {
        match self.held.is_empty() {
            true => None,
            false if self.opening > 0 && self.run == self.opening => {
                Some(CodePiece::Code(self.take_held()))
            }
            false => Some(self.take_unclosed()),
        }
    }

    /// Returns the number of chars held back because they may become a span.
    pub(super) fn held_len(&self) -> usize {
        if self.held.is_empty() { 0 } else { self.chars }
    }

    fn push_fence_char(&mut self, c: char) -> CodePiece {
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
        self.is_line_begun = c != '\n';
        CodePiece::Code(c.to_string())
    }

    fn push_span_char(&mut self, c: char) -> Option<CodePiece> {
        if c == '`' {
            self.run += 1;
        } else if self.opening == 0 && self.at_start && self.run >= MIN_FENCE_TICKS {
            self.fence = Some((c == '\n').then_some(0));
            self.held.push(c);
            self.push_action_char(c);
            return Some(CodePiece::Code(self.take_held()));
        } else if self.opening == 0 {
            (self.opening, self.run) = (self.run, 0);
        } else if self.run == self.opening {
            return Some(CodePiece::CodeThen(self.take_held(), c));
        } else {
            self.run = 0;
        }
        self.held.push(c);
        self.chars += 1;
        let over = c == '\n' || self.chars > MAX_SPAN_CHARS;
        over.then(|| self.take_unclosed())
    }

    fn take_held(&mut self) -> String {
        self.chars = 0;
        std::mem::take(&mut self.held)
    }

    fn take_unclosed(&mut self) -> CodePiece {
        let held = self.take_held();
        let ticks = held.bytes().take_while(|byte| *byte == b'`').count();
        let (ticks, rest) = held.split_at(ticks);
        CodePiece::Unclosed(ticks.to_owned(), rest.to_owned())
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
                None => match code.finish() {
                    None => return told.replace("][", ""),
                    piece => piece,
                },
            };
            match piece {
                None => {}
                Some(CodePiece::Plain(c)) => told.push(c),
                Some(CodePiece::Code(text)) => told += &format!("[{text}]"),
                Some(CodePiece::CodeThen(text, c)) => {
                    told += &format!("[{text}]");
                    left.push(c);
                }
                Some(CodePiece::Unclosed(ticks, rest)) => {
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
