//! What the proxy answers by itself, and how it closes a connection without taking the answer back.
//!
//! A connection is never used again after an answer of the proxy's own: what is left of the request, its body perhaps,
//! would be taken for the next one.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use socket2::{SockRef, TcpKeepalive};

/// How long what a client still sends is thrown away, while it reads the answer.
const LINGER: Duration = Duration::from_secs(30);
/// How long a client may send nothing then.
const SILENCE: Duration = Duration::from_secs(2);
/// The most bytes that are thrown away.
const DISCARDED: usize = 64 << 20;
/// How long nothing comes from another side before its system is asked whether it is still there, and how often.
const PROBE: Duration = Duration::from_secs(15);

/// A whole answer of the proxy's own, after which the connection is closed.
pub(crate) struct Reply<'a> {
    /// As `404 Not Found`.
    pub(crate) status: &'static str,
    /// The content type.
    pub(crate) kind: &'static str,
    /// Further headers, each a line with its end.
    pub(crate) more: &'static str,
    pub(crate) text: &'a str,
}

impl<'a> Reply<'a> {
    /// A line of words.
    pub(crate) fn words(status: &'static str, text: &'a str) -> Self {
        Self {
            status,
            kind: "text/plain",
            more: "",
            text,
        }
    }

    /// Sends it and closes the connection.
    pub(crate) fn finish(&self, client: &TcpStream) {
        self.send(client);
        close(client);
    }

    /// Sends it. A client that is gone does not get it.
    pub(crate) fn send(&self, mut client: &TcpStream) {
        let Self {
            status,
            kind,
            more,
            text,
        } = self;
        let n = text.len();
        let all = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {n}\r\n{more}Connection: close\r\n\r\n{text}"
        );
        let _ = client.write_all(all.as_bytes());
    }
}

/// Closes a connection whose other side may still be sending: what comes is read and thrown away for a while. Closed at
/// once, the system would answer it with a reset, and the client would lose the end of its answer.
pub(crate) fn close(mut client: &TcpStream) {
    let ready = client.shutdown(Shutdown::Write);
    if ready.and(client.set_read_timeout(Some(SILENCE))).is_ok() {
        let (began, mut come, mut piece) = (Instant::now(), 0, [0; 16 << 10]);
        while began.elapsed() < LINGER && come < DISCARDED {
            match client.read(&mut piece) {
                Ok(n) if n > 0 => come += n,
                _ => break,
            }
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}

/// From now on the system finds out whether the other side is still there while nothing comes.
pub(crate) fn probe(stream: &TcpStream) {
    let often = TcpKeepalive::new().with_time(PROBE).with_interval(PROBE);
    // Where the system does not do it, the next write finds out.
    let _ = SockRef::from(stream).set_tcp_keepalive(&often);
}
