//! Reader of plain text: bytes into chars, chars into thinking and answer.
//!
//! Only a cut char or the beginning of a tag is held back.

use std::collections::VecDeque;

use deadloop_detect::OwnedEvent;

use super::{Arrival, BadParts};
use crate::think::{TagSide, ThinkOptions, ThinkSplitter};
use crate::wire::WireFault;

/// A stream of plain text.
pub(super) struct PlainText {
    /// The beginning of a cut char.
    cut: Vec<u8>,
    splitter: ThinkSplitter,
    /// The number of stream bytes whose chars the splitter has.
    at: u64,
    /// The line of position `at`, from 1.
    line: u64,
    run: Option<TextRun>,
}

/// Text of one side without a gap in the stream, which becomes one event.
struct TextRun {
    side: TagSide,
    text: String,
    end: u64,
}

impl PlainText {
    pub(super) fn new(think: ThinkOptions) -> Self {
        Self {
            cut: Vec::new(),
            splitter: ThinkSplitter::new(think),
            at: 0,
            line: 1,
            run: None,
        }
    }

    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut VecDeque<Arrival>, bad: &mut BadParts) {
        let mut joined = std::mem::take(&mut self.cut);
        let mut rest = bytes;
        if !joined.is_empty() {
            joined.extend_from_slice(bytes);
            rest = &joined;
        }
        while !rest.is_empty() {
            let (text, after) = split_valid(rest);
            self.push_chars(text, out);
            let wrong = match after {
                Some(wrong) => wrong,
                None => {
                    self.cut = rest[text.len()..].to_vec();
                    break;
                }
            };
            self.replace(wrong, out, bad);
            rest = &rest[text.len() + wrong..];
        }
        self.flush(out);
    }

    /// Ends the stream.
    pub(super) fn end(&mut self, out: &mut VecDeque<Arrival>, bad: &mut BadParts) {
        let wrong = std::mem::take(&mut self.cut).len();
        if wrong > 0 {
            self.replace(wrong, out, bad);
        }
        let done = ThinkSplitter::new(ThinkOptions::default());
        let at = self.at;
        let mut last = None;
        std::mem::replace(&mut self.splitter, done)
            .finish(&mut |side, text| last = Some((side, text.to_owned())));
        if let Some((side, text)) = last {
            self.add(side, &text, at, out);
        }
        self.flush(out);
    }

    /// Passes the chars to the splitter one at a time, so that each yields at most one piece. The piece ends before the
    /// chars that the splitter still holds, so its position is known.
    fn push_chars(&mut self, text: &str, out: &mut VecDeque<Arrival>) {
        for (from, c) in text.char_indices() {
            self.at += c.len_utf8() as u64;
            self.line += u64::from(c == '\n');
            self.push_char(&text[from..from + c.len_utf8()], out);
        }
    }

    fn push_char(&mut self, c: &str, out: &mut VecDeque<Arrival>) {
        let mut piece = None;
        // Nearly always the piece is the char itself.
        self.splitter.push(c, &mut |side, text| {
            piece = Some((side, (text != c).then(|| text.to_owned())));
        });
        if let Some((side, text)) = piece {
            let end = self.at - self.splitter.held() as u64;
            self.add(side, text.as_deref().unwrap_or(c), end, out);
        }
    }

    /// Takes bytes that are not a char. Their replacement character is an event of its own, because the stream does not
    /// contain it.
    fn replace(&mut self, bytes: usize, out: &mut VecDeque<Arrival>, bad: &mut BadParts) {
        bad.note(
            self.line,
            WireFault::new("bytes that are not UTF-8", "UTF-8 text"),
        );
        self.flush(out);
        self.at += bytes as u64;
        self.push_char(char::REPLACEMENT_CHARACTER.encode_utf8(&mut [0; 4]), out);
        self.flush(out);
    }

    fn add(&mut self, side: TagSide, text: &str, end: u64, out: &mut VecDeque<Arrival>) {
        let goes_on = |run: &TextRun| run.side == side && run.end + text.len() as u64 == end;
        if !self.run.as_ref().is_some_and(goes_on) {
            self.flush(out);
        }
        let empty = || TextRun {
            side,
            text: String::new(),
            end,
        };
        let run = self.run.get_or_insert_with(empty);
        run.text.push_str(text);
        run.end = end;
    }

    fn flush(&mut self, out: &mut VecDeque<Arrival>) {
        if let Some(TextRun { side, text, end }) = self.run.take() {
            let event = OwnedEvent::Text(side.channel(), text);
            out.push_back(Arrival { event, end });
        }
    }
}

/// Returns the text at the start of `bytes`, and the number of invalid bytes after it. The number is `None` if all
/// bytes are text, or if the rest may be the start of a char.
fn split_valid(bytes: &[u8]) -> (&str, Option<usize>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(e) => {
            let text = std::str::from_utf8(&bytes[..e.valid_up_to()]).unwrap_or_default();
            (text, e.error_len())
        }
    }
}
