//! The part of HTTP/1.1 that a proxy needs: heads and bodies.
//!
//! Bodies have a length, come in chunks, or last to the end of the connection. A read that times out loses nothing and
//! can be repeated.
//!
//! Clients are read strictly: a request that two readers could understand differently is refused (`strict` has the
//! rules for heads). Servers are read leniently, since their connection carries only one response.

use std::io::{self, ErrorKind, Read};
use std::time::{Duration, Instant};

use crate::strict;

/// The maximum size of a head, of a line between chunks, and of a trailer, in bytes.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// The maximum time from the first byte of a head to the last.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum number of headers in a head.
const MAX_HEADERS: usize = 128;
/// The maximum number of bytes returned by one read.
const READ_BYTES: usize = 16 << 10;
/// The maximum length of a body, in bytes. Many readers use signed 64-bit numbers.
const MAX_BODY_BYTES: u64 = i64::MAX as u64;

/// Returns the error for malformed HTTP.
fn malformed_error(what: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

/// A connection, with a buffer of bytes read ahead.
pub(crate) struct Connection<R> {
    stream: R,
    buffered: Vec<u8>,
    /// The number of buffered bytes that were searched for the end of a head or line.
    searched: usize,
    /// The time at which the head in progress began.
    began: Option<Instant>,
    strict: bool,
}

impl<R: Read> Connection<R> {
    /// Wraps the connection of a client, which is read strictly.
    pub(crate) fn of_client(stream: R) -> Self {
        Self::new(stream, true)
    }

    /// Wraps the connection of a server, which is read leniently.
    pub(crate) fn of_server(stream: R) -> Self {
        Self::new(stream, false)
    }

    fn new(stream: R, strict: bool) -> Self {
        Self {
            stream,
            buffered: Vec::new(),
            searched: 0,
            began: None,
            strict,
        }
    }

    /// Reads once into the buffer. Returns the number of bytes, 0 at the end.
    fn fill(&mut self) -> io::Result<usize> {
        let mut piece = [0; 4096];
        let n = loop {
            match self.stream.read(&mut piece) {
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.buffered.extend_from_slice(&piece[..n]);
        Ok(n)
    }

    /// Reads the next head, including the blank line at its end. `None` if the connection ends before a head begins.
    ///
    /// # Errors
    ///
    /// `InvalidData` with the reason, as soon as received bytes of a client's head are invalid or the head takes too
    /// long.
    pub(crate) fn read_head(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let from = self.searched.saturating_sub(3);
            let new = &self.buffered[from..];
            let end = new.windows(4).position(|four| four == b"\r\n\r\n");
            let length = from + end.map_or(new.len(), |end| end + 4);
            if self.strict && strict::has_bare_end(&self.buffered[from..length], from == 0) {
                return Err(malformed_error("a line that does not end with CR LF"));
            }
            if length > MAX_HEAD_BYTES {
                return Err(malformed_error("a head of more than 64 KiB"));
            }
            if end.is_some() {
                (self.searched, self.began) = (0, None);
                return Ok(Some(self.buffered.drain(..length).collect()));
            }
            self.searched = length;
            if length > 0 && self.began.get_or_insert_with(Instant::now).elapsed() > HEAD_TIMEOUT {
                return Err(malformed_error("a head that takes more than a minute"));
            }
            if self.fill()? == 0 {
                return if self.buffered.is_empty() {
                    Ok(None)
                } else {
                    Err(ErrorKind::UnexpectedEof.into())
                };
            }
        }
    }

    /// Returns whether part of a head has been read.
    pub(crate) fn has_begun(&self) -> bool {
        !self.buffered.is_empty()
    }

    /// Returns the connection and the bytes read ahead.
    pub(crate) fn parts(&self) -> (&R, &[u8]) {
        (&self.stream, &self.buffered)
    }

    /// Reads the next line and returns it without its line end.
    fn read_line(&mut self) -> io::Result<Vec<u8>> {
        loop {
            let new = self.buffered[self.searched..].iter();
            if let Some(end) = new.clone().position(|byte| *byte == b'\n') {
                let end = std::mem::take(&mut self.searched) + end;
                let line: Vec<u8> = self.buffered.drain(..=end).collect();
                if self.strict && strict::has_bare_end(&line, true) {
                    return Err(malformed_error("a line that does not end with CR LF"));
                }
                let line = line.strip_suffix(b"\n").unwrap_or(&line);
                return Ok(line.strip_suffix(b"\r").unwrap_or(line).to_vec());
            }
            self.searched += new.len();
            if self.searched > MAX_HEAD_BYTES {
                return Err(malformed_error("a line of more than 64 KiB between chunks"));
            }
            if self.fill()? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Appends up to `most` bytes to `into`, after at most one read. Returns their number, 0 at the end.
    fn read_some(&mut self, most: u64, into: &mut Vec<u8>) -> io::Result<usize> {
        let most = usize::try_from(most).unwrap_or(READ_BYTES).min(READ_BYTES);
        if self.buffered.is_empty() && self.fill()? == 0 {
            return Ok(0);
        }
        let n = most.min(self.buffered.len());
        into.extend(self.buffered.drain(..n));
        Ok(n)
    }
}

/// The way in which the end of a body is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// No header. A request then has no body, and a response lasts to the end of the connection.
    None,
    /// A length in bytes.
    Length(u64),
    /// A sequence of chunks.
    Chunked,
}

impl Framing {
    /// Returns the header line for the framing.
    pub(crate) fn header(self) -> String {
        match self {
            Self::None => String::new(),
            Self::Length(bytes) => format!("Content-Length: {bytes}\r\n"),
            Self::Chunked => "Transfer-Encoding: chunked\r\n".to_owned(),
        }
    }

    /// Returns the state before the body is read. `without_header` is the state for a message without framing headers.
    pub(crate) fn body(self, without_header: BodyState) -> BodyState {
        match self {
            Self::None => without_header,
            Self::Length(bytes) => BodyState::Length(bytes),
            Self::Chunked => BodyState::Size,
        }
    }
}

/// The state of reading a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyState {
    /// A number of bytes.
    Length(u64),
    /// The end of the connection is the end of the body.
    Close,
    /// The size of the next chunk follows.
    Size,
    /// Bytes of the current chunk follow. Holds their number.
    Chunk(u64),
    /// The line end after a chunk follows.
    ChunkEnd,
    /// Lines after the last chunk follow. Holds the number of their bytes so far.
    Trailer(usize),
}

impl BodyState {
    /// Appends the next part of the body to `into`. Returns the number of bytes, 0 at the end.
    ///
    /// # Errors
    ///
    /// Returns an error of the connection, `UnexpectedEof` if the body ends early, or `InvalidData` if its chunks are
    /// malformed.
    pub(crate) fn read<R: Read>(
        &mut self,
        wire: &mut Connection<R>,
        into: &mut Vec<u8>,
    ) -> io::Result<usize> {
        loop {
            match self {
                Self::Length(0) => return Ok(0),
                Self::Close => return wire.read_some(u64::MAX, into),
                Self::Length(left) | Self::Chunk(left) if *left > 0 => {
                    let n = wire.read_some(*left, into)?;
                    if n == 0 {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                    *left -= n as u64;
                    return Ok(n);
                }
                Self::Length(_) | Self::Chunk(_) => *self = Self::ChunkEnd,
                Self::ChunkEnd => {
                    let line = wire.read_line()?;
                    let blank = if wire.strict {
                        line.is_empty()
                    } else {
                        line.trim_ascii().is_empty()
                    };
                    if !blank {
                        return Err(malformed_error("a chunk that is longer than its size"));
                    }
                    *self = Self::Size;
                }
                Self::Size => {
                    let line = wire.read_line()?;
                    *self = match parse_chunk_size(&line, wire.strict)? {
                        0 => Self::Trailer(0),
                        n => Self::Chunk(n),
                    };
                }
                Self::Trailer(length) => {
                    let line = wire.read_line()?;
                    let length = *length + line.len();
                    *self = if line.is_empty() {
                        Self::Length(0)
                    } else {
                        Self::Trailer(length)
                    };
                    if wire.strict && !line.is_empty() {
                        strict::check_header(&line).map_err(malformed_error)?;
                    }
                    if length > MAX_HEAD_BYTES {
                        return Err(malformed_error("a trailer of more than 64 KiB"));
                    }
                }
            }
        }
    }
}

/// Parses the size line of a chunk: hexadecimal digits, and any printable text after a semicolon. Whitespace around the
/// digits is allowed unless `strict`.
fn parse_chunk_size(line: &[u8], strict: bool) -> io::Result<u64> {
    let bad = || malformed_error("a size of a chunk that is no hexadecimal number");
    let end = line.iter().position(|byte| *byte == b';');
    let (digits, rest) = line.split_at(end.unwrap_or(line.len()));
    let digits = if strict { digits } else { digits.trim_ascii() };
    if !digits.iter().all(u8::is_ascii_hexdigit) || (strict && !strict::is_header_text(rest)) {
        return Err(bad());
    }
    let digits = std::str::from_utf8(digits).map_err(|_| bad())?;
    let size = u64::from_str_radix(digits, 16).ok();
    size.filter(|size| *size <= MAX_BODY_BYTES).ok_or_else(bad)
}

/// The start line and headers of a message.
#[derive(Debug)]
pub(crate) struct MessageHead {
    /// The method and target, or the status and reason.
    pub(crate) start: (String, String),
    /// Whether the version is HTTP/1.1. If not, it is 1.0.
    pub(crate) is_1_1: bool,
    headers: Vec<(String, Vec<u8>)>,
}

/// Returns whether the parsed head ends with the last of `bytes`. A head that ends earlier, by bare line feeds, would
/// hide the bytes after it.
fn is_complete(parsed: httparse::Result<usize>, bytes: &[u8]) -> bool {
    matches!(parsed, Ok(httparse::Status::Complete(n)) if n == bytes.len())
}

/// The headers of a single connection or of its framing, which are not forwarded.
const HOP_BY_HOP: [&str; 10] = [
    "connection",
    "content-length",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl MessageHead {
    /// Parses the head of a request strictly.
    ///
    /// # Errors
    ///
    /// Returns the reason for refusing the request.
    pub(crate) fn of_request(bytes: &[u8]) -> Result<Self, &'static str> {
        strict::check_lines(bytes)?;
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let whole = is_complete(request.parse(bytes), bytes);
        let (Some(method), Some(target), true) = (request.method, request.path, whole) else {
            return Err("no request of HTTP/1.1, or one of more than 128 headers");
        };
        strict::check_target(method, target)?;
        let start = (method.to_owned(), target.to_owned());
        let head = Self::new(start, request.version, request.headers);
        match head.header_values("host").count() {
            1 => {}
            0 if !head.is_1_1 => {}
            0 => return Err("no Host"),
            _ => return Err("more than one Host"),
        }
        if head.header_values("content-length").count() > 1 {
            return Err("more than one Content-Length");
        }
        if head.framing()? == Framing::Chunked && !head.is_1_1 {
            return Err("Transfer-Encoding in HTTP/1.0");
        }
        Ok(head)
    }

    /// Parses the head of a response. `None` if the bytes are none.
    pub(crate) fn of_response(bytes: &[u8]) -> Option<Self> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let whole = is_complete(response.parse(bytes), bytes);
        let reason = response.reason.unwrap_or_default().to_owned();
        let start = (response.code?.to_string(), reason);
        whole.then(|| Self::new(start, response.version, response.headers))
    }

    fn new(start: (String, String), version: Option<u8>, headers: &[httparse::Header<'_>]) -> Self {
        let header = |h: &httparse::Header<'_>| (h.name.to_ascii_lowercase(), h.value.to_vec());
        Self {
            start,
            is_1_1: version == Some(1),
            headers: headers.iter().map(header).collect(),
        }
    }

    /// Returns the trimmed values of a header.
    fn header_values(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let named = self.headers.iter().filter(move |(known, _)| known == name);
        named.map(|(_, value)| value.trim_ascii())
    }

    /// Returns the values of a header in lower case.
    fn lowercase_values(&self, name: &str) -> impl Iterator<Item = String> {
        self.header_values(name)
            .map(|value| String::from_utf8_lossy(value).to_ascii_lowercase())
    }

    /// Returns the first value of a header.
    pub(crate) fn first_value(&self, name: &str) -> Option<String> {
        let value = self.header_values(name).next()?;
        Some(String::from_utf8_lossy(value).into_owned())
    }

    /// Returns the first value of a header in lower case.
    pub(crate) fn lowercase_value(&self, name: &str) -> Option<String> {
        self.lowercase_values(name).next()
    }

    /// Returns whether a header's comma-separated list contains `word`.
    pub(crate) fn list_has(&self, name: &str, word: &str) -> bool {
        let mut lists = self.lowercase_values(name);
        lists.any(|list| list.split(',').any(|one| one.trim() == word))
    }

    /// Returns the protocol to which a client asks to switch, such as `websocket`. HTTP/2 is ignored, because a client
    /// that offers it also accepts HTTP/1.1.
    pub(crate) fn upgrade(&self) -> Option<String> {
        let asks = self.is_1_1 && self.start.0 == "GET" && self.list_has("connection", "upgrade");
        let to = self.lowercase_value("upgrade");
        let to = to.filter(|to| !to.starts_with("h2"));
        to.filter(|_| asks && self.framing() == Ok(Framing::None))
    }

    /// Returns the framing of the body.
    ///
    /// # Errors
    ///
    /// Returns the reason if the framing is ambiguous, as in request smuggling.
    pub(crate) fn framing(&self) -> Result<Framing, &'static str> {
        let codings: Vec<&[u8]> = self.header_values("transfer-encoding").collect();
        let mut lengths: Vec<&[u8]> = self.header_values("content-length").collect();
        // Servers may repeat the length. For a client, that is refused.
        lengths.dedup();
        match (codings.as_slice(), lengths.as_slice()) {
            ([], []) => Ok(Framing::None),
            ([], [one]) => parse_length(one),
            ([one], []) if one.eq_ignore_ascii_case(b"chunked") => Ok(Framing::Chunked),
            (_, []) => Err("a Transfer-Encoding that is not chunked alone"),
            ([], _) => Err("more than one Content-Length"),
            _ => Err("both Content-Length and Transfer-Encoding"),
        }
    }

    /// Returns the header lines to forward, without those in `omit` and those of the framing.
    pub(crate) fn forwarded_headers(&self, omit: &[&str]) -> Vec<u8> {
        let listed: Vec<String> = self.lowercase_values("connection").collect();
        let own = |name: &str| {
            let mut lists = listed.iter().flat_map(|list| list.split(','));
            HOP_BY_HOP.contains(&name)
                || omit.contains(&name)
                || lists.any(|one| one.trim() == name)
        };
        let mut bytes = Vec::new();
        for (name, value) in self.headers.iter().filter(|(name, _)| !own(name)) {
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes
    }
}

fn parse_length(digits: &[u8]) -> Result<Framing, &'static str> {
    let number = digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).unwrap_or_default();
    let bytes = text.parse().ok().filter(|n| number && *n <= MAX_BODY_BYTES);
    let bytes = bytes.ok_or("a Content-Length that is no number, or beyond all lengths")?;
    Ok(Framing::Length(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framing_that_could_be_read_two_ways_is_refused() {
        let framing = |headers: &str| {
            let head = format!("POST / HTTP/1.1\r\nHost: a\r\n{headers}\r\n");
            MessageHead::of_request(head.as_bytes()).map(|head| head.framing().unwrap())
        };
        assert_eq!(framing(""), Ok(Framing::None));
        assert_eq!(framing("Content-Length: 5\r\n"), Ok(Framing::Length(5)));
        assert_eq!(framing("Content-Length: 0\r\n"), Ok(Framing::Length(0)));
        assert_eq!(
            framing("Transfer-Encoding: Chunked\r\n"),
            Ok(Framing::Chunked)
        );
        for bad in [
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Content-Length: 5\r\nContent-Length: 6\r\n",
            "Content-Length: 5\r\nContent-Length: 5\r\n",
            "Content-Length: 5, 5\r\n",
            "Content-Length: +5\r\n",
            "Content-Length: 0x5\r\n",
            "Content-Length: \r\n",
            "Content-Length: 9223372036854775808\r\n",
            "Transfer-Encoding: gzip, chunked\r\n",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
            "Transfer-Encoding: chunked\u{a0}\r\n",
        ] {
            assert!(framing(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_response_that_ends_before_its_bytes_do_is_none() {
        let bytes = b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi\r\n\r\n";
        assert!(MessageHead::of_response(bytes).is_none());
    }

    #[test]
    fn a_server_may_say_a_length_twice_and_not_two_of_them() {
        let framing = |second: &str| {
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: {second}\r\n\r\n");
            MessageHead::of_response(head.as_bytes()).unwrap().framing()
        };
        assert_eq!(framing("2"), Ok(Framing::Length(2)));
        assert!(framing("3").is_err());
    }

    #[test]
    fn headers_of_one_connection_do_not_go_on() {
        let head = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close, X-Own\r\nX-Own: 1\r\nX-Kept: 2\r\nTE: x\r\n\r\n";
        let head = MessageHead::of_request(head).unwrap();
        assert_eq!(head.forwarded_headers(&["host"]), b"x-kept: 2\r\n");
        assert!(head.list_has("connection", "close"));
    }

    #[test]
    fn only_what_is_no_http_is_an_upgrade() {
        let upgrade = |method: &str, headers: &str| {
            let head = format!("{method} / HTTP/1.1\r\nHost: a\r\n{headers}\r\n");
            MessageHead::of_request(head.as_bytes()).unwrap().upgrade()
        };
        let asks = "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n";
        assert_eq!(upgrade("GET", asks), Some("websocket".into()));
        assert_eq!(upgrade("POST", asks), None);
        assert_eq!(upgrade("GET", "Upgrade: websocket\r\n"), None);
        let h2 = asks.replace("WebSocket", "h2c");
        assert_eq!(upgrade("GET", &h2), None);
        let body = asks.to_owned() + "Content-Length: 3\r\n";
        assert_eq!(upgrade("GET", &body), None);
    }

    #[test]
    fn sizes_of_chunks_are_hexadecimal_and_nothing_else() {
        assert_eq!(parse_chunk_size(b"1a;name=value", true).unwrap(), 26);
        assert_eq!(parse_chunk_size(b"00A", true).unwrap(), 10);
        for bad in [
            &b""[..],
            b"-1",
            b"+1",
            b"0x1",
            b"g",
            b"1 ",
            b" 1",
            b"1 ;x",
            b"1;a\0b",
            b"1;a\rb",
            b"1_0",
            b"8000000000000000",
            b"fffffffffffffffff",
        ] {
            let shown = String::from_utf8_lossy(bad);
            assert!(parse_chunk_size(bad, true).is_err(), "{shown}");
        }
    }

    /// Reader that returns one byte per read and times out before each.
    struct Slow<'a>(&'a [u8], bool);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(ErrorKind::WouldBlock.into());
            }
            self.0.read(&mut into[..1])
        }
    }

    #[test]
    fn a_head_may_come_byte_by_byte_and_not_for_ever() {
        let bytes = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n\nHost";
        let mut wire = Connection::of_client(Slow(bytes, false));
        let mut next = || loop {
            match wire.read_head() {
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                head => break head.map_err(|e| e.to_string()),
            }
        };
        assert_eq!(next().unwrap().unwrap(), &bytes[..27]);
        assert!(next().unwrap_err().contains("CR LF"));
        let mut wire = Connection::of_client(Slow(bytes, false));
        while wire.buffered.len() < 9 {
            assert!(
                wire.read_head()
                    .is_err_and(|e| e.kind() == ErrorKind::WouldBlock)
            );
        }
        wire.began = wire.began.and_then(|at| at.checked_sub(HEAD_TIMEOUT));
        let late = wire.read_head().unwrap_err();
        assert!(late.to_string().contains("minute"), "{late}");
    }

    /// Checks that a chunked request ends where every reader finds its end.
    #[test]
    fn chunks_of_a_client_are_read_strictly_and_those_of_a_server_as_servers_write_them() {
        let read = |bytes: &[u8], strict: bool| {
            let mut wire = if strict {
                Connection::of_client(bytes)
            } else {
                Connection::of_server(bytes)
            };
            let (mut body, mut all) = (BodyState::Size, Vec::new());
            loop {
                match body.read(&mut wire, &mut all) {
                    Ok(0) => return Ok(all),
                    Ok(_) => {}
                    Err(e) => return Err(e.kind()),
                }
            }
        };
        let plain = b"2;x=y\r\nhi\r\n0\r\nx: y\r\n\r\n";
        assert_eq!(read(plain, true), Ok(b"hi".to_vec()));
        for sloppy in [
            &b"2\nhi\r\n0\r\n\r\n"[..],
            b"2\r\nhi\n0\r\n\r\n",
            b"2 \r\nhi\r\n0\r\n\r\n",
            b"2\r\nhi\r\n0\n\n",
        ] {
            assert_eq!(read(sloppy, false), Ok(b"hi".to_vec()));
            assert_eq!(read(sloppy, true), Err(ErrorKind::InvalidData));
        }
        for bad in [
            &b"2\r\nhix\r\n0\r\n\r\n"[..],
            b"2\r\nhi\r\n0\r\nx : y\r\n\r\n",
            b"2\r\nhi\r\n0\r\n GET / HTTP/1.1\r\n\r\n",
        ] {
            assert_eq!(read(bad, true), Err(ErrorKind::InvalidData));
        }
        let endless = [b"0\r\n".to_vec(), b"x: y\r\n".repeat(20_000)].concat();
        assert_eq!(read(&endless, true), Err(ErrorKind::InvalidData));
        assert_eq!(read(&endless, false), Err(ErrorKind::InvalidData));
    }
}
