//! Bytes into lines, in bounded memory.

use crate::wire::Fault;

/// The lines of a stream that arrives in pieces.
pub(super) struct Lines {
    /// What was fed and not passed on yet, from `start`.
    held: Vec<u8>,
    start: usize,
    /// Up to where there is no line ending.
    searched: usize,
    /// Bytes of the stream before `held`.
    before: u64,
    pub(super) limit: usize,
    /// Inside a line that was found too long.
    skipping: bool,
    ended: bool,
}

/// A line.
pub(super) struct Line<'a> {
    /// Its bytes without the ending, or that there are more than the limit.
    pub(super) bytes: Result<&'a [u8], Fault>,
    /// Where the stream stands after it, in bytes.
    pub(super) end: u64,
}

impl Lines {
    /// Of at most `limit` bytes each.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            held: Vec::new(),
            start: 0,
            searched: 0,
            before: 0,
            limit,
            skipping: false,
            ended: false,
        }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.held.drain(..self.start);
        self.before += self.start as u64;
        self.searched -= self.start;
        self.start = 0;
        self.held.extend_from_slice(bytes);
    }

    /// No more comes: what is left is a line.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// The next line that is complete.
    pub(super) fn next_line(&mut self) -> Option<Line<'_>> {
        loop {
            let start = self.start;
            let found = self.held[self.searched..]
                .iter()
                .position(|byte| *byte == b'\n');
            let (content, after) = match found {
                Some(at) => (self.searched + at, self.searched + at + 1),
                None => (self.held.len(), self.held.len()),
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
                let end = self.before + after as u64;
                let bytes = match too_long {
                    true => Err(self.too_long()),
                    false => Ok(&self.held[start..content]),
                };
                return Some(Line { bytes, end });
            }
            if !whole {
                return None;
            }
        }
    }

    fn too_long(&self) -> Fault {
        let expected = format!("at most {} bytes a line", self.limit);
        Fault::new("a line that is too long", expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of `text` fed in pieces of `size`: their text, none where too long, and their ends.
    fn lines(text: &str, size: usize) -> Vec<(Option<String>, u64)> {
        let mut lines = Lines::new(8);
        let mut all = Vec::new();
        let mut take = |lines: &mut Lines| {
            while let Some(line) = lines.next_line() {
                let bytes = line
                    .bytes
                    .ok()
                    .map(|b| String::from_utf8_lossy(b).into_owned());
                // The end of a line that is too long is where that was found.
                all.push((bytes.clone(), if bytes.is_some() { line.end } else { 0 }));
            }
            assert!(
                lines.held.len() - lines.start <= 8 + size,
                "memory is bounded"
            );
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
        assert_eq!(lines("too long for it", 3), [(None, 0)]);
        assert_eq!(lines("", 1), []);
    }
}
