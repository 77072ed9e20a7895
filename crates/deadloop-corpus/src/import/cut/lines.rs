//! JSON lines and server-sent events, which may stand in one file.

use std::io::BufRead;

use serde_json::Value;

use super::{Content, Record};
use crate::lines::{Lines, MAX_LINE};
use crate::stream::{Frame, Framed, Frames};
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
    fn frame(&mut self) -> Option<Frame> {
        loop {
            let frame = match self.lines.next_line() {
                Some(Ok(line)) => self.frames.line(line),
                Some(Err(fault)) => Some(Err(fault)),
                None if std::mem::replace(&mut self.ended, true) => return None,
                None => return self.frames.end(),
            };
            if frame.is_some() {
                return frame;
            }
        }
    }
}

impl<R: BufRead> Iterator for Cut<R> {
    type Item = Result<Record, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let frame = self.frame()?;
        let place = self.lines.place().clone();
        Some(match frame {
            Err(fault) => Err(fault.at(place)),
            Ok(framed) => Ok(Record {
                place,
                member: String::new(),
                content: match framed {
                    Framed::Object(object) => Content::Json(Value::Object(object)),
                    Framed::Done => Content::Done,
                },
            }),
        })
    }
}
