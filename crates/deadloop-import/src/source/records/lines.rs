//! JSON lines and server-sent events, also mixed in one file.
//!
//! Lines of HTTP, as printed by `curl -i` and `curl -v`, are skipped.

use std::collections::VecDeque;
use std::io::BufRead;

use serde::de::IgnoredAny;

use super::{RecordContent, SourceRecord};
use deadloop_corpus::files::lines::FileLines;
use deadloop_corpus::{Place, Problem};
use deadloop_stream::MAX_LINE;
use deadloop_stream::reader::{Frame, FrameResult, Frames};
use deadloop_stream::wire::{self, WireFault};

/// The records of a file. A record of several `data` lines is placed at the last.
struct LineRecords<R> {
    lines: FileLines<R>,
    frames: Frames,
    /// The contents of the last line, and a content that is returned only if another line follows.
    ready: VecDeque<Result<RecordContent, WireFault>>,
    doubtful: Option<Result<RecordContent, WireFault>>,
    /// Whether a line had a field of server-sent events.
    stream: bool,
    /// Whether lines outside a stream stay text.
    texts: bool,
    http: Http,
    ended: bool,
}

/// Lines of HTTP around a body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Http {
    /// Not yet known.
    Unknown,
    /// The file has no lines of HTTP.
    No,
    /// Messages of curl are among the lines of the body (`curl -v`).
    Told,
    /// The headers of a response, which end with an empty line.
    Headers,
}

impl Http {
    /// Returns whether a line is not part of a body.
    fn skips(&mut self, line: &[u8]) -> bool {
        if *self == Self::No {
            return false;
        }
        let blank = line.trim_ascii().is_empty();
        let said = [b"* ".as_slice(), b"> ", b"< ", b"} [", b"{ ["];
        let told = said.iter().any(|begin| line.starts_with(begin)) || matches!(line, b">" | b"<");
        let begins = line.starts_with(b"HTTP/");
        *self = match *self {
            Self::Headers if blank => Self::Told,
            Self::Headers => Self::Headers,
            _ if begins => Self::Headers,
            Self::Unknown if told => Self::Told,
            Self::Unknown if !blank => Self::No,
            other => other,
        };
        begins || (told && *self != Self::No) || *self == Self::Headers
    }
}

pub(super) fn records(
    bytes: impl BufRead,
    place: Place,
    texts: bool,
) -> impl Iterator<Item = Result<SourceRecord, Problem>> {
    LineRecords {
        lines: FileLines::new(bytes, place, MAX_LINE),
        frames: Frames::new(true, MAX_LINE),
        ready: VecDeque::new(),
        doubtful: None,
        stream: false,
        texts,
        http: Http::Unknown,
        ended: false,
    }
}

/// Returns the content of a frame. A line stays text, or is parsed as JSON.
fn frame_content(frame: FrameResult<'_>, as_text: bool) -> Result<RecordContent, WireFault> {
    Ok(match frame? {
        Frame::Object(line) if as_text => RecordContent::Line(line.into_owned()),
        Frame::Object(line) => RecordContent::Json(super::parse_line(&line)?),
        Frame::Done => RecordContent::Done,
    })
}

/// Returns whether a last line may be incomplete: the beginning of JSON, of a field's name, or half a char.
fn may_be_torn(content: &Result<RecordContent, WireFault>) -> bool {
    match content {
        Ok(RecordContent::Line(text)) => serde_json::from_str::<IgnoredAny>(text).is_err(),
        Ok(_) => false,
        Err(_) => true,
    }
}

/// Returns whether the text is the beginning of the `[DONE]` at the end of streams.
fn is_half_done(content: &Result<RecordContent, WireFault>) -> bool {
    matches!(content, Ok(RecordContent::Line(text)) if "[DONE]".starts_with(text.trim_end()))
}

impl<R: BufRead> LineRecords<R> {
    fn next_content(&mut self) -> Option<Result<RecordContent, WireFault>> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            if self.ended {
                return None;
            }
            match self.lines.next_line() {
                Some(Ok(line)) if self.http.skips(line) => {}
                Some(Ok(line)) => {
                    self.ready.extend(self.doubtful.take());
                    // JSON has no bare carriage return, so each is the end of a line.
                    for part in split_lines(line) {
                        let whole = wire::whole_escapes(part);
                        if whole.is_some() {
                            self.ready.push_back(Ok(RecordContent::HalfPair));
                        }
                        let part = whole.as_ref().map_or(part, String::as_bytes);
                        let field = EVENT_FIELDS.iter().any(|name| part.starts_with(name));
                        self.stream |= field;
                        let as_text = self.texts || self.stream;
                        let made = self
                            .frames
                            .read(part)
                            .map(|frame| frame_content(frame, as_text));
                        let doubtful = |made: &Result<RecordContent, WireFault>| {
                            let half = !field || made.is_err() || is_half_done(made);
                            self.stream && half && may_be_torn(made)
                        };
                        self.ready.extend(self.doubtful.take());
                        match made {
                            Some(made) if doubtful(&made) => self.doubtful = Some(made),
                            made => self.ready.extend(made),
                        }
                    }
                }
                Some(Err(fault)) => {
                    self.ready.extend(self.doubtful.take());
                    self.ready.push_back(Err(fault));
                }
                None => self.end(),
            }
        }
    }

    /// Handles the end of the file. The rest of a stream is its last line, or half of it.
    fn end(&mut self) {
        self.ended = true;
        let left = self.frames.end().map(|frame| frame_content(frame, true));
        if let Some(left) = self.doubtful.take().or(left) {
            let torn = self.stream && may_be_torn(&left);
            let left = if torn { Ok(RecordContent::Torn) } else { left };
            self.ready.push_back(left);
        }
    }
}

/// Splits a line at its carriage returns. Most lines have none.
fn split_lines(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut ends = memchr::memchr_iter(b'\r', line).chain([line.len()]);
    let mut from = 0;
    std::iter::from_fn(move || {
        let end = ends.next()?;
        let part = line.get(from..end);
        from = end + 1;
        part
    })
}

/// The beginnings of lines with a field of server-sent events.
const EVENT_FIELDS: [&[u8]; 4] = [b"data:", b"event:", b"id:", b"retry:"];

impl<R: BufRead> Iterator for LineRecords<R> {
    type Item = Result<SourceRecord, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let content = self.next_content()?;
        let place = self.lines.place().clone();
        Some(match content {
            Err(fault) => Err(fault.at(place)),
            Ok(content) => Ok(SourceRecord::new(place, content)),
        })
    }
}
