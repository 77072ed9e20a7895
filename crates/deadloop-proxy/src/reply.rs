//! The proxy's own answers, and the closing of connections.
//!
//! A connection is closed so that the client can still read the answer. It is never reused, since the rest of the
//! request, such as its body, would be read as the next request.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use socket2::{SockRef, TcpKeepalive};

/// The maximum time for which a client's bytes are discarded while it reads the answer.
const LINGER_TIMEOUT: Duration = Duration::from_secs(30);
/// The time without bytes after which discarding ends.
const MAX_PAUSE: Duration = Duration::from_secs(2);
/// The maximum number of bytes that are discarded.
const MAX_DISCARDED_BYTES: usize = 64 << 20;
/// The time without traffic after which the system probes whether the other side of a connection still exists, and the
/// time between two probes.
const PROBE_INTERVAL: Duration = Duration::from_secs(15);

/// An answer of the proxy, after which the connection is closed.
pub(crate) struct ProxyReply<'a> {
    /// The status, such as `404 Not Found`.
    pub(crate) status: &'static str,
    /// The content type of the text, such as `text/html`.
    pub(crate) kind: &'static str,
    /// Further header lines, each with its line end.
    pub(crate) headers: &'static str,
    pub(crate) text: &'a str,
}

impl<'a> ProxyReply<'a> {
    /// Returns a plain-text answer.
    pub(crate) fn from_text(status: &'static str, text: &'a str) -> Self {
        Self {
            status,
            kind: "text/plain",
            headers: "",
            text,
        }
    }

    /// Sends the answer and closes the connection.
    pub(crate) fn finish(&self, client: &TcpStream) {
        self.send(client);
        close(client);
    }

    /// Sends the answer, unless the client has disconnected.
    pub(crate) fn send(&self, mut client: &TcpStream) {
        let Self {
            status,
            kind,
            headers,
            text,
        } = self;
        let n = text.len();
        let all = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {n}\r\n{headers}Connection: close\r\n\r\n{text}"
        );
        let _ = client.write_all(all.as_bytes());
    }
}

/// Closes a connection while the other side may still be sending, by discarding its bytes for a while.
///
/// An immediate close would make the system send a reset, and the client could lose the end of its answer.
pub(crate) fn close(mut client: &TcpStream) {
    let ready = client.shutdown(Shutdown::Write);
    if ready.and(client.set_read_timeout(Some(MAX_PAUSE))).is_ok() {
        let (began, mut come, mut piece) = (Instant::now(), 0, [0; 16 << 10]);
        while began.elapsed() < LINGER_TIMEOUT && come < MAX_DISCARDED_BYTES {
            match client.read(&mut piece) {
                Ok(n) if n > 0 => come += n,
                _ => break,
            }
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}

/// Makes the system probe whether the other side still exists when no bytes arrive.
pub(crate) fn enable_keepalive(stream: &TcpStream) {
    let often = TcpKeepalive::new()
        .with_time(PROBE_INTERVAL)
        .with_interval(PROBE_INTERVAL);
    // If the system does not support it, the next write detects a lost connection.
    let _ = SockRef::from(stream).set_tcp_keepalive(&often);
}
