//! JSON lines and server-sent events, also mixed in one file.
//!
//! Lines of HTTP, as printed by `curl -i` and `curl -v`, are skipped.

use std::collections::VecDeque;
use std::io::BufRead;

use serde::de::IgnoredAny;

use super::{RecordContent, RecordResult, SourceRecord};
use deadloop_corpus::Place;
use deadloop_corpus::files::lines::FileLines;
use deadloop_stream::MAX_LINE;
use deadloop_stream::reader::{Frame, FrameResult, Frames};
use deadloop_stream::wire::{self, WireResult};

/// An iterator over the records of a file. A record of several `data` lines has the number of the last one.
struct LineRecords<R> {
    lines: FileLines<R>,
    frames: Frames,
    /// Contents of the last line.
    ready: VecDeque<WireResult<RecordContent>>,
    /// A content that may be cut, returned only if another line follows.
    held_back: Option<WireResult<RecordContent>>,
    /// Whether a line had a field of server-sent events.
    is_stream: bool,
    /// Whether lines outside a stream are returned as text.
    keep_text: bool,
    http: HttpLines,
    ended: bool,
}

/// State of the HTTP lines around a body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HttpLines {
    /// No line has been read yet.
    Unknown,
    /// The file has no HTTP lines.
    No,
    /// Messages of curl are interleaved with the body (`curl -v`).
    Verbose,
    /// The lines are response headers, which end with an empty line.
    Headers,
}

impl HttpLines {
    /// Returns whether a line is not part of a body.
    fn is_outside_body(&mut self, line: &[u8]) -> bool {
        if *self == Self::No {
            return false;
        }
        let blank = line.trim_ascii().is_empty();
        let prefixes = [b"* ".as_slice(), b"> ", b"< ", b"} [", b"{ ["];
        let is_curl =
            prefixes.iter().any(|begin| line.starts_with(begin)) || matches!(line, b">" | b"<");
        let begins = line.starts_with(b"HTTP/");
        *self = match *self {
            Self::Headers if blank => Self::Verbose,
            Self::Headers => Self::Headers,
            _ if begins => Self::Headers,
            Self::Unknown if is_curl => Self::Verbose,
            Self::Unknown if !blank => Self::No,
            other => other,
        };
        begins || (is_curl && *self != Self::No) || *self == Self::Headers
    }
}

pub(super) fn read_records(
    bytes: impl BufRead,
    place: Place,
    keep_text: bool,
) -> impl Iterator<Item = RecordResult> {
    LineRecords {
        lines: FileLines::new(bytes, place, MAX_LINE),
        frames: Frames::new(true, MAX_LINE),
        ready: VecDeque::new(),
        held_back: None,
        is_stream: false,
        keep_text,
        http: HttpLines::Unknown,
        ended: false,
    }
}

/// Returns the content of a frame. A line is returned as text or parsed as JSON.
fn frame_content(frame: FrameResult<'_>, as_text: bool) -> WireResult<RecordContent> {
    Ok(match frame? {
        Frame::Object(line) if as_text => RecordContent::Line(line.into_owned()),
        Frame::Object(line) => RecordContent::Json(super::parse_line(&line)?),
        Frame::Done => RecordContent::Done,
    })
}

/// Returns whether the last line may be incomplete: a prefix of JSON or of a field name, or a partial char.
fn may_be_cut(content: &WireResult<RecordContent>) -> bool {
    match content {
        Ok(RecordContent::Line(text)) => serde_json::from_str::<IgnoredAny>(text).is_err(),
        Ok(_) => false,
        Err(_) => true,
    }
}

/// Returns whether the text is a prefix of `[DONE]`.
fn is_partial_done(content: &WireResult<RecordContent>) -> bool {
    matches!(content, Ok(RecordContent::Line(text)) if "[DONE]".starts_with(text.trim_end()))
}

impl<R: BufRead> LineRecords<R> {
    fn next_content(&mut self) -> Option<WireResult<RecordContent>> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            if self.ended {
                return None;
            }
            match self.lines.next_line() {
                Some(Ok(line)) if self.http.is_outside_body(line) => {}
                Some(Ok(line)) => {
                    self.ready.extend(self.held_back.take());
                    // JSON has no bare carriage return, so each is the end of a line.
                    for part in split_lines(line) {
                        let whole = wire::fix_surrogates(part);
                        if whole.is_some() {
                            self.ready.push_back(Ok(RecordContent::LoneSurrogate));
                        }
                        let part = whole.as_ref().map_or(part, String::as_bytes);
                        let field = EVENT_FIELDS.iter().any(|name| part.starts_with(name));
                        self.is_stream |= field;
                        let as_text = self.keep_text || self.is_stream;
                        let content = self
                            .frames
                            .read(part)
                            .map(|frame| frame_content(frame, as_text));
                        let held_back = |content: &WireResult<RecordContent>| {
                            let half = !field || content.is_err() || is_partial_done(content);
                            self.is_stream && half && may_be_cut(content)
                        };
                        self.ready.extend(self.held_back.take());
                        match content {
                            Some(content) if held_back(&content) => self.held_back = Some(content),
                            content => self.ready.extend(content),
                        }
                    }
                }
                Some(Err(fault)) => {
                    self.ready.extend(self.held_back.take());
                    self.ready.push_back(Err(fault));
                }
                None => self.finish(),
            }
        }
    }

    /// Handles the end of the file. The rest of a stream is its last line, or a cut line.
    fn finish(&mut self) {
        self.ended = true;
        let last = self.frames.end().map(|frame| frame_content(frame, true));
        if let Some(mut last) = self.held_back.take().or(last) {
            if self.is_stream && may_be_cut(&last) {
                last = Ok(RecordContent::CutLine);
            }
            self.ready.push_back(last);
        }
    }
}

/// Splits a line at its carriage returns.
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

/// Prefixes of lines with a field of server-sent events.
const EVENT_FIELDS: [&[u8]; 4] = [b"data:", b"event:", b"id:", b"retry:"];

impl<R: BufRead> Iterator for LineRecords<R> {
    type Item = RecordResult;

    fn next(&mut self) -> Option<Self::Item> {
        let content = self.next_content()?;
        let place = self.lines.place().clone();
        Some(match content {
            Err(fault) => Err(fault.at(place)),
            Ok(content) => Ok(SourceRecord::new(place, content)),
        })
    }
}
