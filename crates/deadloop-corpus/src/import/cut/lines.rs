//! JSON lines and server-sent events, which may stand in one file.

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
    ended: bool,
}

pub(super) fn records(
    bytes: impl BufRead,
    place: Place,
) -> impl Iterator<Item = Result<Record, Problem>> {
    Cut {
        lines: Lines::new(bytes, place, MAX_LINE),
        frames: Frames::new(true, MAX_LINE),
        ended: false,
    }
}

impl<R: BufRead> Cut<R> {
    fn content(&mut self) -> Option<Result<Content, Fault>> {
        loop {
            let frame = match self.lines.next_line() {
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
