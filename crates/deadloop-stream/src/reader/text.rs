//! Reader of plain text: decodes UTF-8 and splits thinking from the answer.
//!
//! Only an incomplete char or the beginning of a tag is held back.

use std::collections::VecDeque;

use deadloop_detect::OwnedEvent;

use super::{Arrival, BadParts};
use crate::think::{TagSide, ThinkOptions, ThinkSplitter};
use crate::wire::WireFault;

/// Reader of a stream of plain text.
pub(super) struct PlainTextReader {
    /// The first bytes of an incomplete char.
    incomplete_char: Vec<u8>,
    splitter: ThinkSplitter,
    /// The byte offset after the last char pushed to the splitter.
    at: u64,
    /// The line number at offset `at`, from 1.
    line: u64,
    run: Option<TextRun>,
}

/// Adjacent text of one side, which becomes one event.
struct TextRun {
    side: TagSide,
    text: String,
    end: u64,
}

impl PlainTextReader {
    pub(super) fn new(think: ThinkOptions) -> Self {
        Self {
            incomplete_char: Vec::new(),
            splitter: ThinkSplitter::new(think),
            at: 0,
            line: 1,
            run: None,
        }
    }

    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut VecDeque<Arrival>, bad: &mut BadParts) {
        let mut joined = std::mem::take(&mut self.incomplete_char);
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
                    self.incomplete_char = rest[text.len()..].to_vec();
                    break;
                }
            };
            self.replace_invalid(wrong, out, bad);
            rest = &rest[text.len() + wrong..];
        }
        self.flush_run(out);
    }

    /// Ends the stream.
    pub(super) fn end(&mut self, out: &mut VecDeque<Arrival>, bad: &mut BadParts) {
        let wrong = std::mem::take(&mut self.incomplete_char).len();
        if wrong > 0 {
            self.replace_invalid(wrong, out, bad);
        }
        let done = ThinkSplitter::new(ThinkOptions::default());
        let at = self.at;
        let mut last = None;
        std::mem::replace(&mut self.splitter, done)
            .finish(&mut |side, text| last = Some((side, text.to_owned())));
        if let Some((side, text)) = last {
            self.add_text(side, &text, at, out);
        }
        self.flush_run(out);
    }

    /// Pushes the chars to the splitter one at a time, so that each yields at most one piece. The piece's offset is
    /// then known, because it ends before the chars that the splitter still holds.
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
            let end = self.at - self.splitter.held_len() as u64;
            self.add_text(side, text.as_deref().unwrap_or(c), end, out);
        }
    }

    /// Emits a replacement character for `bytes` invalid bytes, as a separate event, because the stream does not
    /// contain it.
    fn replace_invalid(&mut self, bytes: usize, out: &mut VecDeque<Arrival>, bad: &mut BadParts) {
        bad.record_fault(
            self.line,
            WireFault::new("bytes that are not UTF-8", "UTF-8 text"),
        );
        self.flush_run(out);
        self.at += bytes as u64;
        self.push_char(char::REPLACEMENT_CHARACTER.encode_utf8(&mut [0; 4]), out);
        self.flush_run(out);
    }

    fn add_text(&mut self, side: TagSide, text: &str, end: u64, out: &mut VecDeque<Arrival>) {
        let goes_on = |run: &TextRun| run.side == side && run.end + text.len() as u64 == end;
        if !self.run.as_ref().is_some_and(goes_on) {
            self.flush_run(out);
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

    fn flush_run(&mut self, out: &mut VecDeque<Arrival>) {
        if let Some(TextRun { side, text, end }) = self.run.take() {
            let event = OwnedEvent::Text(side.channel(), text);
            out.push_back(Arrival { event, end });
        }
    }
}

/// Splits off the valid text at the start of `bytes`, and returns it with the number of invalid bytes after it. `None`
/// if no invalid bytes follow, or if they may be the start of a char.
fn split_valid(bytes: &[u8]) -> (&str, Option<usize>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(e) => {
            let text = std::str::from_utf8(&bytes[..e.valid_up_to()]).unwrap_or_default();
            (text, e.error_len())
        }
    }
}
