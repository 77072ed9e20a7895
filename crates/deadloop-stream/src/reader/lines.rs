//! Splitter of bytes into lines, in bounded memory.
//!
//! A line ends with LF, CR LF or CR alone, as in server-sent events. JSON has no raw LF or CR within a line.

use crate::wire::{WireFault, WireResult};

/// Splitter of a stream that arrives in pieces into lines.
pub(super) struct StreamLines {
    /// The buffered bytes of the stream. Bytes before `start` were already returned as lines.
    held: Vec<u8>,
    /// The start of the current line within `held`.
    start: usize,
    /// The end of the bytes that were searched for a line end.
    searched: usize,
    /// The number of stream bytes before `held`.
    bytes_before_held: u64,
    /// The maximum length of a line, in bytes.
    pub(super) limit: usize,
    /// Whether the current line was already reported as too long.
    skipping: bool,
    ended: bool,
}

/// A line of the stream.
pub(super) struct StreamLine<'a> {
    /// The bytes without the line end, or the fault of a line over the limit.
    pub(super) bytes: WireResult<&'a [u8]>,
    /// The byte offset in the stream after the line.
    pub(super) end: u64,
}

impl StreamLines {
    /// Returns a splitter into lines of at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            held: Vec::new(),
            start: 0,
            searched: 0,
            bytes_before_held: 0,
            limit,
            skipping: false,
            ended: false,
        }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.held.drain(..self.start);
        self.bytes_before_held += self.start as u64;
        self.searched -= self.start;
        self.start = 0;
        self.held.extend_from_slice(bytes);
    }

    /// Marks the end of the stream. Remaining bytes become the last line.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// Returns the next complete line.
    pub(super) fn next_line(&mut self) -> Option<StreamLine<'_>> {
        loop {
            let start = self.start;
            let found = self.find_line_end();
            let (content, after) = match found {
                Some(at) => (at, at + 1),
                None => (self.content_end(), self.content_end()),
            };
            self.searched = after;
            let length = content - start;
            let whole = found.is_some() || (self.ended && length > 0);
            let too_long = length > self.limit;
            if !whole && !too_long && !self.skipping {
                return None;
            }
            self.start = after;
            let known = std::mem::replace(&mut self.skipping, !whole);
            if !known {
                let end = self.bytes_before_held + after as u64;
                let bytes = if too_long {
                    Err(self.too_long_fault())
                } else {
                    Ok(&self.held[start..content])
                };
                return Some(StreamLine { bytes, end });
            }
            if !whole {
                return None;
            }
        }
    }

    /// Returns the position of the next line end: an LF, or a CR that no LF follows. A trailing CR stays undecided
    /// until the next byte.
    fn find_line_end(&self) -> Option<usize> {
        let (from, held) = (self.searched, &self.held);
        let ends = held[from..]
            .iter()
            .enumerate()
            .filter(|(_, byte)| matches!(byte, b'\n' | b'\r'));
        let mut ends = ends.map(|(at, _)| from + at);
        ends.find(|at| match (held[*at], held.get(at + 1)) {
            (b'\r', Some(next)) => *next != b'\n',
            (b'\r', None) => self.ended,
            _ => true,
        })
    }

    /// Returns the end of the bytes without a line end. A trailing CR is excluded, since it may be one.
    fn content_end(&self) -> usize {
        let cr = self.held[self.start..].ends_with(b"\r");
        self.held.len() - usize::from(cr && !self.ended)
    }

    fn too_long_fault(&self) -> WireFault {
        let expected = format!("at most {} bytes a line", self.limit);
        WireFault::new("a line that is too long", expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines of `text` fed in pieces of `size`: their text, `None` for a line that is too long, and their
    /// ends.
    fn lines(text: &str, size: usize) -> Vec<(Option<String>, u64)> {
        let mut lines = StreamLines::new(8);
        let mut all = Vec::new();
        let mut take = |lines: &mut StreamLines| {
            while let Some(line) = lines.next_line() {
                let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                let read = line.bytes.map(|bytes| (Some(text(bytes)), line.end));
                // The end of a line that is too long is where that was found.
                all.push(read.unwrap_or((None, 0)));
            }
            let held = lines.held.len() - lines.start;
            assert!(held <= 8 + size, "memory is bounded");
        };
        for piece in text.as_bytes().chunks(size) {
            lines.feed(piece);
            take(&mut lines);
        }
        lines.end();
        take(&mut lines);
        all
    }

    #[test]
    fn cuts_make_no_difference() {
        let text = "one\n\ntwo\r\n12345678\n123456789\nthree\n0123456789abcdefghij\nlast";
        let line = |text: &str, end| (Some(text.to_owned()), end);
        let expected = [
            line("one", 4),
            line("", 5),
            line("two\r", 10),
            line("12345678", 19),
            (None, 0),
            line("three", 35),
            (None, 0),
            line("last", 60),
        ];
        for size in 1..=text.len() {
            assert_eq!(lines(text, size), expected, "{size}");
        }
        let bare = [
            line("a", 2),
            line("", 3),
            line("b", 5),
            line("c\r", 8),
            line("", 9),
        ];
        for size in 1..=9 {
            assert_eq!(lines("a\r\rb\rc\r\n\r", size), bare, "{size}");
        }
        assert_eq!(lines("too long for it", 3), [(None, 0)]);
        assert_eq!(lines("", 1), []);
    }
}
