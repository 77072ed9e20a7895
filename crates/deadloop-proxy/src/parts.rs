//! What is read and judged, without a connection: for tests and fuzz targets, which bring the bytes.

use std::io::{ErrorKind, Read};

use deadloop_corpus::StreamFormat;
use deadloop_detect::Alarm;

use crate::ProxyOptions;
use crate::http::{Body, Head, Wire};
use crate::judge::{Judge, Verdict};

/// A message as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Its first line: method and target, or status and reason.
    pub start: (String, String),
    /// The headers that go on.
    pub passed: Vec<u8>,
    /// What was read of the body.
    pub body: Vec<u8>,
    /// The body came to its end.
    pub whole: bool,
}

/// The messages that stand in the bytes: requests, or the response to each, up to the first that cannot be read.
/// A read that times out is tried again.
pub fn messages(from: impl Read, requests: bool) -> Vec<Message> {
    let (mut wire, mut all) = (Wire::new(from), Vec::new());
    while let Some(message) = message(&mut wire, requests) {
        let ended = !message.whole;
        all.push(message);
        if ended {
            break;
        }
    }
    all
}

fn message(wire: &mut Wire<impl Read>, request: bool) -> Option<Message> {
    let head = loop {
        match wire.head() {
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            head => break head.ok().flatten()?,
        }
    };
    let (head, without) = match request {
        true => (Head::of_request(&head)?, Body::Length(0)),
        false => (Head::of_response(&head)?, Body::Close),
    };
    let mut body = head.body(without)?;
    let mut message = Message {
        passed: head.passed(&[]),
        start: head.start,
        ..Message::default()
    };
    loop {
        match body.read(wire, &mut message.body) {
            Ok(0) => {
                message.whole = true;
                return Some(message);
            }
            Err(e) if e.kind() != ErrorKind::WouldBlock => return Some(message),
            _ => {}
        }
    }
}

/// What a client gets of a response whose body comes in these pieces, and the alarm that ended it.
pub fn judged<'a>(
    options: &ProxyOptions,
    format: StreamFormat,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<u8>, Option<Alarm>) {
    let (mut judge, mut passed) = (Judge::new(options, format), Vec::new());
    for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
        match judge.judge(piece) {
            Verdict::Pass => passed.extend_from_slice(piece),
            Verdict::Stop(kept, ending, alarm) => {
                passed.extend_from_slice(&piece[..kept]);
                passed.extend(ending);
                return (passed, Some(*alarm));
            }
        }
    }
    match judge.judge(&[]) {
        Verdict::Pass => (passed, None),
        Verdict::Stop(_, _, alarm) => (passed, Some(*alarm)),
    }
}
