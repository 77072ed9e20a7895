//! What is read and judged, without a connection: for tests and fuzz targets, which bring the bytes.

use std::io::{ErrorKind, Read};

use deadloop_corpus::StreamFormat;
use deadloop_detect::Alarm;
use deadloop_stream::Prompted;

use crate::http::{Body, Head, Wire};
use crate::judge::{Followed, Judge};
use crate::onward::Onward;
use crate::{ProxyOptions, Upstream};

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
    let mut wire = if requests {
        Wire::of_client(from)
    } else {
        Wire::of_server(from)
    };
    let mut all = Vec::new();
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
    let (head, without) = if request {
        (Head::of_request(&head).ok()?, Body::Length(0))
    } else {
        (Head::of_response(&head)?, Body::Close)
    };
    let mut body = head.framing().ok()?.body(without);
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

/// A request that goes on to the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// What the server gets of it.
    pub bytes: Vec<u8>,
    /// How many bytes of the client's it was.
    pub taken: usize,
    /// Its body came to its end. What follows one that did not is never read.
    pub whole: bool,
}

/// The requests in what a client sends, as they go on to the server, up to the first that is refused or cut.
pub fn sent(from: &[u8], to: &Upstream) -> Vec<Sent> {
    let (mut wire, mut all) = (Wire::of_client(from), Vec::new());
    while let Some(one) = onward(&mut wire, to) {
        let ended = !one.whole;
        all.push(one);
        if ended {
            break;
        }
    }
    all
}

fn onward(wire: &mut Wire<&[u8]>, to: &Upstream) -> Option<Sent> {
    let left = |wire: &Wire<&[u8]>| wire.parts().0.len() + wire.parts().1.len();
    let before = left(wire);
    let bytes = wire.head().ok().flatten()?;
    let head = Head::of_request(&bytes).ok()?;
    let framing = head.framing().ok()?;
    let onward = Onward {
        head: &head,
        framing,
    };
    let (mut bytes, mut whole) = (onward.lead(to), false);
    let (mut body, mut piece) = (framing.body(Body::Length(0)), Vec::new());
    while let Ok(n) = body.read(wire, &mut piece) {
        bytes.extend(onward.piece(&piece));
        piece.clear();
        whole = n == 0;
        if whole {
            break;
        }
    }
    Some(Sent {
        bytes,
        taken: before - left(wire),
        whole,
    })
}

/// What a client gets of a response whose body comes in these pieces, and the alarm that ended it.
pub fn judged<'a>(
    options: &ProxyOptions,
    format: StreamFormat,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<u8>, Option<Alarm>) {
    let mut judge = Judge::new(options, format, Prompted::default());
    let mut passed = Vec::new();
    let pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
    for piece in pieces.chain([&[][..]]) {
        let mut piece = piece.to_vec();
        let ended = judge.judge(&mut piece);
        passed.extend(piece);
        if ended {
            break;
        }
    }
    let news = judge.news().into_iter();
    let mut ends = news.filter(|(_, followed)| *followed == Followed::Ended);
    (passed, ends.next().map(|(alarm, _)| alarm))
}
