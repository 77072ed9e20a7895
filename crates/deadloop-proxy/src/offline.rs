//! Reading and watching without a connection, for tests and fuzz targets.

use std::io::{ErrorKind, Read};

use deadloop_corpus::StreamFormat;
use deadloop_detect::Alarm;
use deadloop_stream::PromptInfo;

use crate::http::{BodyState, Connection, MessageHead};
use crate::response_guard::{AlarmEffect, ResponseGuard};
use crate::upstream_request::UpstreamRequest;
use crate::{ProxyOptions, Upstream};

/// An HTTP message that was read from a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadMessage {
    /// The method and target, or the status and reason.
    pub start: (String, String),
    /// The forwarded headers.
    pub passed: Vec<u8>,
    /// The body, as far as it could be read.
    pub body: Vec<u8>,
    /// Whether the body is complete.
    pub whole: bool,
}

/// Reads the HTTP messages of a stream, up to the first invalid one. They are requests if `requests` is set, otherwise
/// responses. A read that times out is repeated.
pub fn read_messages(from: impl Read, requests: bool) -> Vec<ReadMessage> {
    let mut wire = if requests {
        Connection::of_client(from)
    } else {
        Connection::of_server(from)
    };
    let mut all = Vec::new();
    while let Some(message) = read_message(&mut wire, requests) {
        let ended = !message.whole;
        all.push(message);
        if ended {
            break;
        }
    }
    all
}

fn read_message(wire: &mut Connection<impl Read>, request: bool) -> Option<ReadMessage> {
    let head = loop {
        match wire.read_head() {
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            head => break head.ok().flatten()?,
        }
    };
    let (head, without) = if request {
        (MessageHead::of_request(&head).ok()?, BodyState::Length(0))
    } else {
        (MessageHead::of_response(&head)?, BodyState::Close)
    };
    let mut body = head.framing().ok()?.body(without);
    let mut message = ReadMessage {
        passed: head.forwarded_headers(&[]),
        start: head.start,
        ..ReadMessage::default()
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

/// A request in the form in which it is sent to the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentRequest {
    /// The bytes that the server receives.
    pub bytes: Vec<u8>,
    /// The number of the client's bytes that belong to the request.
    pub taken: usize,
    /// Whether the body is complete. Nothing is read after an incomplete request.
    pub whole: bool,
}

/// Converts the requests of a client to the form in which they are sent to the server, up to the first one that is
/// refused or incomplete.
pub fn forward_requests(from: &[u8], to: &Upstream) -> Vec<SentRequest> {
    let (mut wire, mut all) = (Connection::of_client(from), Vec::new());
    while let Some(one) = forward_request(&mut wire, to) {
        let ended = !one.whole;
        all.push(one);
        if ended {
            break;
        }
    }
    all
}

fn forward_request(wire: &mut Connection<&[u8]>, to: &Upstream) -> Option<SentRequest> {
    let left = |wire: &Connection<&[u8]>| wire.parts().0.len() + wire.parts().1.len();
    let before = left(wire);
    let bytes = wire.read_head().ok().flatten()?;
    let head = MessageHead::of_request(&bytes).ok()?;
    let framing = head.framing().ok()?;
    let onward = UpstreamRequest {
        head: &head,
        framing,
    };
    let (mut bytes, mut whole) = (onward.encode_head(to), false);
    let (mut body, mut piece) = (framing.body(BodyState::Length(0)), Vec::new());
    while let Ok(n) = body.read(wire, &mut piece) {
        bytes.extend(onward.encode_piece(&piece));
        piece.clear();
        whole = n == 0;
        if whole {
            break;
        }
    }
    Some(SentRequest {
        bytes,
        taken: before - left(wire),
        whole,
    })
}

/// Passes the pieces of a response to its guard. Returns the bytes that the client receives, and the alarm that ended
/// the response, if any.
pub fn relay<'a>(
    options: &ProxyOptions,
    format: StreamFormat,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<u8>, Option<Alarm>) {
    let mut judge = ResponseGuard::new(options, format, PromptInfo::default());
    let mut passed = Vec::new();
    let pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
    for piece in pieces.chain([&[][..]]) {
        let mut piece = piece.to_vec();
        let ended = judge.check_bytes(&mut piece);
        passed.extend(piece);
        if ended {
            break;
        }
    }
    let news = judge.take_alarms().into_iter();
    let mut ends = news.filter(|(_, followed)| *followed == AlarmEffect::Ended);
    (passed, ends.next().map(|(alarm, _)| alarm))
}
