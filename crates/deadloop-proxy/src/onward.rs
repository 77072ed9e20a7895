//! A request as it goes on to the server, and the check of the answer that a server may give before it has all of it.

use std::io::{self, Write};
use std::net::TcpStream;

use crate::asking::TASK;
use crate::http::{Framing, Head};
use crate::upstream::Upstream;

/// A request on its way.
pub(crate) struct Onward<'a> {
    pub(crate) head: &'a Head,
    pub(crate) framing: Framing,
}

impl Onward<'_> {
    /// Its head, written anew: where it goes, how its body is framed and what is of the connection is the proxy's own.
    pub(crate) fn lead(&self, to: &Upstream) -> Vec<u8> {
        let (method, target) = &self.head.start;
        let connection = match self.head.upgrade() {
            Some(other) => format!("Connection: Upgrade\r\nUpgrade: {other}\r\n"),
            None => "Connection: close\r\n".to_owned(),
        };
        // A packed response cannot be watched.
        let lead = format!(
            "{method} {}{target} HTTP/1.1\r\nHost: {}\r\n{connection}Accept-Encoding: identity\r\n",
            to.prefix(),
            to.authority()
        );
        let mut bytes = lead.into_bytes();
        bytes.extend(
            self.head
                .passed(&["host", "accept-encoding", "expect", TASK]),
        );
        bytes.extend_from_slice(self.framing.header().as_bytes());
        bytes.extend_from_slice(b"\r\n");
        bytes
    }

    /// A piece of its body as it is written; nothing: the body has ended.
    pub(crate) fn piece(&self, bytes: &[u8]) -> Vec<u8> {
        match self.framing {
            Framing::Chunked => chunk(bytes),
            _ => bytes.to_vec(),
        }
    }
}

/// A chunk; an empty one is the last.
pub(crate) fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut all = format!("{:x}\r\n", bytes.len()).into_bytes();
    all.extend_from_slice(bytes);
    all.extend_from_slice(b"\r\n");
    all
}

/// Writes a chunk; an empty one is the last.
pub(crate) fn write_chunk(mut to: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    to.write_all(&chunk(bytes))
}
