//! Code fences: the parts of a stream between backticks.
//!
//! [`Fence`] takes lines that begin with three backticks, and [`Ticks`] takes any three backticks.

/// Tracker of a stream's fences, char by char.
///
/// A fence line has three backticks as its first chars, after blanks. It opens or closes a fence and belongs to it. A
/// fence that is never closed lasts to the end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fence {
    open: bool,
    line: FenceLine,
}

/// The kind of the current line, as far as it has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FenceLine {
    /// Blanks, then this number of backticks.
    Start(u8),
    /// Text: no fence can begin before the next line.
    Text,
    /// A fence line.
    Fence,
}

impl Default for FenceLine {
    fn default() -> Self {
        Self::Start(0)
    }
}

impl Fence {
    /// Reads text that has left the window.
    pub(crate) fn read(&mut self, text: &str) {
        text.chars().for_each(|c| self.step(c));
    }

    /// Reads a char.
    pub(crate) fn step(&mut self, c: char) {
        self.line = match (self.line, c) {
            (_, '\n') => FenceLine::Start(0),
            (FenceLine::Start(2), '`') => {
                self.open = !self.open;
                FenceLine::Fence
            }
            (FenceLine::Start(ticks), '`') => FenceLine::Start(ticks + 1),
            (FenceLine::Start(0), ' ' | '\t') => FenceLine::Start(0),
            (FenceLine::Start(_), _) => FenceLine::Text,
            (line, _) => line,
        };
    }

    /// Returns whether no fence can begin or end before the next line.
    pub(crate) fn is_past(self) -> bool {
        !matches!(self.line, FenceLine::Start(_))
    }

    /// Returns whether the last char is on a fence line, from its third backtick on.
    pub(crate) fn is_line(self) -> bool {
        self.line == FenceLine::Fence
    }

    /// Returns whether the last char is inside a fence or on a fence line, as far as known: the first two backticks of
    /// a fence line still count as text.
    pub(crate) fn is_inside(self) -> bool {
        self.open || self.is_line()
    }

    /// Cuts `text`, which follows the text that was read, line by line into parts that are all inside or all outside.
    /// Each part has its byte range and whether it is inside.
    pub(crate) fn parts(mut self, text: &str) -> Vec<(std::ops::Range<usize>, bool)> {
        let mut parts: Vec<(std::ops::Range<usize>, bool)> = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let before = self.is_inside();
            self.read(line);
            let inside = before || self.open;
            let range = start..start + line.len();
            start = range.end;
            match parts.last_mut() {
                Some((last, was)) if *was == inside => last.end = range.end,
                _ => parts.push((range, inside)),
            }
        }
        parts
    }
}

/// Tracker of text between three backticks and the next three, at any place in a line. The last of the three counts as
/// inside. Of four backticks the first three count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ticks {
    open: bool,
    /// The number of backticks read of the current three. After 3 the count begins again.
    read: u8,
}

impl Ticks {
    /// Reads a char.
    pub(crate) fn step(&mut self, c: char) {
        self.read = match c {
            '`' => self.read % 3 + 1,
            _ => 0,
        };
        self.open ^= self.are_read();
    }

    /// Returns whether the last char is not a backtick.
    pub(crate) fn are_none(self) -> bool {
        self.read == 0
    }

    /// Returns whether the last char is the last of three backticks.
    pub(crate) fn are_read(self) -> bool {
        self.read == 3
    }

    /// Returns whether the last char is inside or the last of three, as far as known: the first two of the opening
    /// three still count as text.
    pub(crate) fn is_inside(self) -> bool {
        self.open || self.are_read()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_three_backticks_open_and_close() {
        let mut ticks = Ticks::default();
        let inside = |c: char| {
            ticks.step(c);
            if ticks.is_inside() { '#' } else { c }
        };
        let text = "a ```b\nc`` ``d```` e```f";
        let seen: String = text.chars().map(inside).collect();
        assert_eq!(seen, "a ``#############` e``##");
    }

    #[test]
    fn a_fence_holds_its_lines_and_what_is_between() {
        let text = "a\n  ```rust\nb\n```\nc ``` d\n";
        let parts = Fence::default().parts(text);
        let seen: Vec<_> = parts
            .into_iter()
            .map(|(r, inside)| (&text[r], inside))
            .collect();
        let expected = [
            ("a\n", false),
            ("  ```rust\nb\n```\n", true),
            ("c ``` d\n", false),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn it_goes_on_where_reading_stopped() {
        let text = "x\n```\nlet a;\n```\ny\n```\nopen";
        for cut in 0..=text.len() {
            let mut fence = Fence::default();
            fence.read(&text[..cut]);
            let last = fence.parts(&text[cut..]).last().map(|(_, inside)| *inside);
            assert!(last.unwrap_or(true), "cut at {cut}");
        }
    }
}
