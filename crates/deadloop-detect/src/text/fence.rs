//! Code fences: the parts of a stream between backticks.
//!
//! A [`Fence`] begins with a line of three backticks, and [`Ticks`] begin with three backticks anywhere.

/// A tracker of the fences of a stream.
///
/// A fence line begins with three backticks, after optional blanks. It opens or closes a fence, and belongs to it. An
/// unclosed fence lasts to the end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fence {
    open: bool,
    line: FenceLine,
}

/// The kind of the current line, so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FenceLine {
    /// Blanks, then this number of backticks.
    Start(u8),
    /// Text. No fence can begin before the next line.
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
    /// Reads a text.
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

    /// Returns whether the last char is inside a fence or on a fence line. The first two backticks of a fence line
    /// count as text.
    pub(crate) fn is_inside(self) -> bool {
        self.open || self.is_line()
    }

    /// Splits `text`, which follows the text read so far, into parts inside and outside of fences. Returns the byte
    /// range of each part, and whether it is inside.
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

/// A tracker of text between three backticks and the next three, anywhere in a line. The third backtick counts as
/// inside. Of four backticks, the first three count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ticks {
    open: bool,
    /// The number of consecutive backticks, from 0 to 3. A fourth one counts as 1.
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

    /// Returns whether the last char is inside, or the third of three backticks. The first two opening backticks count
    /// as text.
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
    fn a_fence_includes_its_fence_lines() {
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
    fn parts_continue_the_text_read_so_far() {
        let text = "x\n```\nlet a;\n```\ny\n```\nopen";
        for cut in 0..=text.len() {
            let mut fence = Fence::default();
            fence.read(&text[..cut]);
            let last = fence.parts(&text[cut..]).last().map(|(_, inside)| *inside);
            assert!(last.unwrap_or(true), "cut at {cut}");
        }
    }
}
