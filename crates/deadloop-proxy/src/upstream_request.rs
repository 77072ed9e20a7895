//! [`UpstreamRequest`]: encodes a request for the server.

use std::io::{self, Write};
use std::net::TcpStream;

use crate::http::{Framing, MessageHead};
use crate::prompt::TASK_HEADER;
use crate::upstream::Upstream;

/// A client's request, to be sent to the server.
pub(crate) struct UpstreamRequest<'a> {
    pub(crate) head: &'a MessageHead,
    pub(crate) framing: Framing,
}

impl UpstreamRequest<'_> {
    /// Returns the head for the server, with the host, the framing and the connection headers replaced.
    pub(crate) fn encode_head(&self, to: &Upstream) -> Vec<u8> {
        let (method, target) = &self.head.start;
        let connection = match self.head.upgrade() {
            Some(other) => format!("Connection: Upgrade\r\nUpgrade: {other}\r\n"),
            None => "Connection: close\r\n".to_owned(),
        };
        // A compressed response cannot be watched.
        let lead = format!(
            "{method} {}{target} HTTP/1.1\r\nHost: {}\r\n{connection}Accept-Encoding: identity\r\n",
            to.prefix(),
            to.authority()
        );
        let mut bytes = lead.into_bytes();
        bytes.extend(self.head.forwarded_headers(&[
            "host",
            "accept-encoding",
            "expect",
            TASK_HEADER,
        ]));
        bytes.extend_from_slice(self.framing.header().as_bytes());
        bytes.extend_from_slice(b"\r\n");
        bytes
    }

    /// Encodes a piece of the body. An empty piece ends the body.
    pub(crate) fn encode_piece(&self, bytes: &[u8]) -> Vec<u8> {
        match self.framing {
            Framing::Chunked => encode_chunk(bytes),
            _ => bytes.to_vec(),
        }
    }
}

/// Encodes a chunk. An empty chunk ends the body.
pub(crate) fn encode_chunk(bytes: &[u8]) -> Vec<u8> {
    let mut all = format!("{:x}\r\n", bytes.len()).into_bytes();
    all.extend_from_slice(bytes);
    all.extend_from_slice(b"\r\n");
    all
}

/// Writes a chunk. An empty chunk ends the body.
pub(crate) fn write_chunk(mut to: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    to.write_all(&encode_chunk(bytes))
}
