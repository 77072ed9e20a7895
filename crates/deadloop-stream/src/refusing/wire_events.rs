//! [`WireEvents`]: bytes into the events of a stream as its wire has them.

use super::HELD;
use crate::reader::{Framed, Frames, object, values};
use crate::take::Object;

/// Cuts bytes after each event: at a blank line, or after the line of a bare object.
#[derive(Debug, Default)]
pub(super) struct WireEvents {
    /// The event that is not over.
    open: Vec<u8>,
    /// Where its last line begins.
    line: usize,
    /// Whether the last byte was a CR and no more has come: an LF may belong to it.
    cr: bool,
}

impl WireEvents {
    /// Takes bytes up to the end of the next event, and returns it; `None` once they are all taken.
    pub(super) fn next(&mut self, bytes: &mut &[u8]) -> Option<Vec<u8>> {
        while !bytes.is_empty() {
            let end = if std::mem::take(&mut self.cr) {
                Some(usize::from(bytes[0] == b'\n'))
            } else {
                line_end(bytes)
            };
            self.cr = end.is_none() && bytes.ends_with(b"\r");
            let (line, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            self.open.extend_from_slice(line);
            *bytes = rest;
            if end.is_some() && self.ends() {
                return Some(self.take());
            }
        }
        None
    }

    /// Whether the line that has just ended ends the event.
    fn ends(&mut self) -> bool {
        let line = self.open[self.line..].trim_ascii();
        let ends = line.is_empty() || line.starts_with(b"{");
        self.line = self.open.len();
        ends
    }

    /// What is open, which is over.
    pub(super) fn take(&mut self) -> Vec<u8> {
        (self.line, self.cr) = (0, false);
        std::mem::take(&mut self.open)
    }

    /// How many bytes are open.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }
}

/// The byte after the first line of these; `None` if it goes on, or may do so.
fn line_end(bytes: &[u8]) -> Option<usize> {
    let end = bytes
        .iter()
        .position(|byte| matches!(byte, b'\n' | b'\r'))?;
    match &bytes[end..] {
        [b'\r'] => None,
        [b'\r', b'\n', ..] => Some(end + 2),
        _ => Some(end + 1),
    }
}

/// Whether an event has comments alone, which nobody reads.
pub(super) fn is_comment(event: &[u8]) -> bool {
    let lines = event.split(|byte| matches!(byte, b'\n' | b'\r'));
    let (mut blank, mut comments) = (true, true);
    for line in lines {
        blank &= line.is_empty();
        comments &= line.is_empty() || line.starts_with(b":");
    }
    comments && !blank
}

/// The object that an event holds.
pub(super) fn object_of(event: &[u8]) -> Option<Object> {
    let mut frames = Frames::new(true, event.len());
    let lines = event.split(|byte| matches!(byte, b'\n' | b'\r'));
    for line in lines.filter(|line| !line.is_empty()) {
        if let Some(frame) = frames.line(line) {
            return whole(frame.ok()?);
        }
    }
    whole(frames.end()?.ok()?)
}

fn whole(frame: Framed<'_>) -> Option<Object> {
    match frame {
        Framed::Object(text) => object(&text, values(HELD)).ok(),
        Framed::Done => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &str, size: usize) -> Vec<String> {
        let (mut events, mut all) = (WireEvents::default(), Vec::new());
        for mut piece in text.as_bytes().chunks(size) {
            while let Some(event) = events.next(&mut piece) {
                all.push(String::from_utf8(event).unwrap());
            }
        }
        all.push(String::from_utf8(events.take()).unwrap());
        all
    }

    #[test]
    fn an_event_ends_at_a_blank_line_or_after_a_bare_object() {
        let text = "data: 1\n\n: c\n\nevent: x\ndata: 2\ndata: 3\n\n{\"a\":1}\n{}\ndata: 4";
        let wanted = [
            "data: 1\n\n",
            ": c\n\n",
            "event: x\ndata: 2\ndata: 3\n\n",
            "{\"a\":1}\n",
            "{}\n",
            "data: 4",
        ];
        for size in 1..=text.len() {
            assert_eq!(events(text, size), wanted, "{size}");
        }
    }

    /// Whatever ends the lines, and wherever bytes are cut, the events are the same.
    #[test]
    fn lines_may_end_in_any_way() {
        for end in ["\r\n", "\r", "\n"] {
            let line = |text: &str| text.replace('\n', end);
            let text = line("data: 1\n\nevent: x\ndata: 2\n\n{\"a\":1}\n\ndata: 3");
            let wanted = [
                "data: 1\n\n",
                "event: x\ndata: 2\n\n",
                "{\"a\":1}\n",
                "\n",
                "data: 3",
            ];
            for size in 1..=text.len() {
                assert_eq!(events(&text, size), wanted.map(line), "{size} {end:?}");
            }
        }
    }

    #[test]
    fn comments_are_told_from_events() {
        for (text, comment) in [
            (": here\n\n", true),
            (":\r\n\r\n", true),
            ("\n", false),
            (": x\ndata: {}\n\n", false),
        ] {
            assert_eq!(is_comment(text.as_bytes()), comment, "{text}");
        }
    }

    #[test]
    fn an_object_may_stand_in_several_lines() {
        let whole = object_of(b"event: x\ndata: {\"a\":\ndata: 1}\n\n").unwrap();
        assert_eq!(whole["a"], 1);
        assert!(object_of(b"data: [DONE]\n\n").is_none());
        assert!(object_of(b": x\n\n").is_none());
    }
}
