//! JSON lines and server-sent events, which may stand in one file; also as `curl -i` and `curl -v` print
//! them, between the lines of HTTP.

use std::io::BufRead;

use super::{Content, Record};
use crate::files::{Lines, MAX_LINE};
use crate::import::stream::{Framed, Frames};
use crate::transcript::wire::Fault;
use crate::{Place, Problem};

/// The records of a file; those over several `data` lines stand at the last of them.
struct Cut<R> {
    lines: Lines<R>,
    frames: Frames,
    http: Http,
    ended: bool,
}

/// Lines of HTTP around a body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Http {
    /// No line was read that says whether there are any.
    Unknown,
    /// There are none.
    No,
    /// What curl says stands among the lines of the body (`curl -v`).
    Told,
    /// In the headers of a response, which end with an empty line.
    Headers,
}

impl Http {
    /// Whether a line is no part of a body.
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
) -> impl Iterator<Item = Result<Record, Problem>> {
    Cut {
        lines: Lines::new(bytes, place, MAX_LINE),
        frames: Frames::new(true, MAX_LINE),
        http: Http::Unknown,
        ended: false,
    }
}

impl<R: BufRead> Cut<R> {
    fn content(&mut self) -> Option<Result<Content, Fault>> {
        loop {
            let frame = match self.lines.next_line() {
                Some(Ok(line)) if self.http.skips(line) => None,
                Some(Ok(line)) => self.frames.line(line),
                Some(Err(fault)) => Some(Err(fault)),
                None if std::mem::replace(&mut self.ended, true) => return None,
                None => Some(self.frames.end()?),
            };
            if let Some(frame) = frame {
                return Some(frame.map(|framed| match framed {
                    Framed::Object(text) => Content::Line(text.into_owned()),
                    Framed::Done => Content::Done,
                }));
            }
        }
    }
}

impl<R: BufRead> Iterator for Cut<R> {
    type Item = Result<Record, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let content = self.content()?;
        let place = self.lines.place().clone();
        Some(match content {
            Err(fault) => Err(fault.at(place)),
            Ok(content) => Ok(Record {
                place,
                member: String::new(),
                content,
            }),
        })
    }
}
