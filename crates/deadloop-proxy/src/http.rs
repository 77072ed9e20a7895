//! As much of HTTP/1.1 as a proxy needs: heads, and bodies by length, in chunks or to the end of the connection. A read
//! that timed out loses nothing: it is tried again from where it stood.

use std::io::{self, ErrorKind, Read};

/// The longest head, and the longest line between two chunks, in bytes.
const LONGEST: usize = 64 << 10;
/// Most headers of one head.
const HEADERS: usize = 128;
/// Bytes that are asked for at once.
const PIECE: usize = 16 << 10;

/// A connection that is read, and what was read ahead.
pub(crate) struct Wire<R> {
    stream: R,
    ahead: Vec<u8>,
}

impl<R: Read> Wire<R> {
    pub(crate) fn new(stream: R) -> Self {
        Self {
            stream,
            ahead: Vec::new(),
        }
    }

    /// Reads once; how many bytes came, 0 at the end.
    fn fill(&mut self) -> io::Result<usize> {
        let mut piece = [0; 4096];
        let n = loop {
            match self.stream.read(&mut piece) {
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.ahead.extend_from_slice(&piece[..n]);
        Ok(n)
    }

    /// The next head with the blank line that ends it. `None` if the connection ends before a head begins.
    pub(crate) fn head(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(end) = self.ahead.windows(4).position(|four| four == b"\r\n\r\n") {
                return Ok(Some(self.ahead.drain(..end + 4).collect()));
            }
            if self.ahead.len() > LONGEST {
                return Err(ErrorKind::InvalidData.into());
            }
            if self.fill()? == 0 {
                return match self.ahead.is_empty() {
                    true => Ok(None),
                    false => Err(ErrorKind::UnexpectedEof.into()),
                };
            }
        }
    }

    /// Whether some of a head is here.
    pub(crate) fn has_begun(&self) -> bool {
        !self.ahead.is_empty()
    }

    fn line(&mut self) -> io::Result<Vec<u8>> {
        loop {
            if let Some(end) = self.ahead.iter().position(|byte| *byte == b'\n') {
                return Ok(self.ahead.drain(..=end).collect());
            }
            if self.ahead.len() > LONGEST {
                return Err(ErrorKind::InvalidData.into());
            }
            if self.fill()? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// At most `most` bytes, and no more than one read gives; none at the end.
    fn some(&mut self, most: u64, into: &mut Vec<u8>) -> io::Result<usize> {
        let most = usize::try_from(most).unwrap_or(PIECE).min(PIECE);
        if self.ahead.is_empty() && self.fill()? == 0 {
            return Ok(0);
        }
        let n = most.min(self.ahead.len());
        into.extend(self.ahead.drain(..n));
        Ok(n)
    }
}

/// How much of a body is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// This number of bytes.
    Length(u64),
    /// Everything up to the end of the connection.
    Close,
    /// A chunk, of which the size comes next.
    Size,
    /// This number of bytes of a chunk.
    Chunk(u64),
    /// The line end after a chunk.
    After,
    /// The lines after the last chunk.
    Trailer,
}

impl Body {
    /// Reads some of it; 0 at its end.
    ///
    /// # Errors
    /// An error of the connection; `UnexpectedEof` if the body ends early; `InvalidData` if its chunks are malformed.
    pub(crate) fn read<R: Read>(
        &mut self,
        wire: &mut Wire<R>,
        into: &mut Vec<u8>,
    ) -> io::Result<usize> {
        loop {
            match self {
                Self::Length(0) => return Ok(0),
                Self::Close => return wire.some(u64::MAX, into),
                Self::Length(left) | Self::Chunk(left) if *left > 0 => {
                    let n = wire.some(*left, into)?;
                    if n == 0 {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                    *left -= n as u64;
                    return Ok(n);
                }
                Self::Length(_) | Self::Chunk(_) => *self = Self::After,
                Self::After => {
                    let line = wire.line()?;
                    if !line.trim_ascii().is_empty() {
                        return Err(ErrorKind::InvalidData.into());
                    }
                    *self = Self::Size;
                }
                Self::Size => match size(&wire.line()?)? {
                    0 => *self = Self::Trailer,
                    n => *self = Self::Chunk(n),
                },
                Self::Trailer => {
                    if wire.line()?.trim_ascii().is_empty() {
                        *self = Self::Length(0);
                    }
                }
            }
        }
    }
}

fn size(line: &[u8]) -> io::Result<u64> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default();
    let digits = std::str::from_utf8(digits.trim_ascii()).unwrap_or_default();
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let size = u64::from_str_radix(digits, 16).ok().filter(|_| plain);
    size.ok_or_else(|| ErrorKind::InvalidData.into())
}

/// The first line and the headers of a request or a response.
#[derive(Debug)]
pub(crate) struct Head {
    /// Method and target, or status and reason.
    pub(crate) start: (String, String),
    /// HTTP/1.1, and not 1.0.
    pub(crate) is_1_1: bool,
    headers: Vec<(String, Vec<u8>)>,
}

/// Whether a head is all of these bytes. One that ends before them, by bare line feeds, would hide what follows.
fn is_all(parsed: httparse::Result<usize>, bytes: &[u8]) -> bool {
    matches!(parsed, Ok(httparse::Status::Complete(n)) if n == bytes.len())
}

/// Headers that are of one connection alone.
const HOP: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Head {
    pub(crate) fn of_request(bytes: &[u8]) -> Option<Self> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let whole = is_all(request.parse(bytes), bytes);
        let start = (request.method?.to_owned(), request.path?.to_owned());
        whole.then(|| Self::new(start, request.version, request.headers))
    }

    pub(crate) fn of_response(bytes: &[u8]) -> Option<Self> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let whole = is_all(response.parse(bytes), bytes);
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

    /// The values of a header, in lower case.
    fn values(&self, name: &str) -> impl Iterator<Item = String> {
        let named = self.headers.iter().filter(move |(known, _)| known == name);
        named.map(|(_, value)| String::from_utf8_lossy(value).trim().to_ascii_lowercase())
    }

    /// The first value of a header, in lower case.
    pub(crate) fn value(&self, name: &str) -> Option<String> {
        self.values(name).next()
    }

    /// Whether a word stands in the list of a header.
    pub(crate) fn says(&self, name: &str, word: &str) -> bool {
        let mut lists = self.values(name);
        lists.any(|list| list.split(',').any(|one| one.trim() == word))
    }

    /// How its body is framed; none: that cannot be told for sure, which is how requests are smuggled.
    pub(crate) fn body(&self, without: Body) -> Option<Body> {
        let chunked = self.value("transfer-encoding");
        let mut lengths: Vec<String> = self.values("content-length").collect();
        lengths.dedup();
        match (chunked.as_deref(), lengths.as_slice()) {
            (None, []) => Some(without),
            (None, [one]) if one.bytes().all(|b| b.is_ascii_digit()) => {
                one.parse().ok().map(Body::Length)
            }
            (Some("chunked"), []) => Some(Body::Size),
            _ => None,
        }
    }

    /// The headers that go on, as they stand in a head; `but`: names that do not.
    pub(crate) fn passed(&self, but: &[&str]) -> Vec<u8> {
        let listed: Vec<String> = self.values("connection").collect();
        let own = |name: &str| {
            let mut lists = listed.iter().flat_map(|list| list.split(','));
            HOP.contains(&name) || but.contains(&name) || lists.any(|one| one.trim() == name)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framing_that_could_be_read_two_ways_is_refused() {
        let body = |headers: &str| {
            let head = format!("POST / HTTP/1.1\r\n{headers}\r\n");
            Head::of_request(head.as_bytes())
                .unwrap()
                .body(Body::Length(0))
        };
        assert_eq!(body(""), Some(Body::Length(0)));
        assert_eq!(body("Content-Length: 5\r\n"), Some(Body::Length(5)));
        assert_eq!(body("Transfer-Encoding: Chunked\r\n"), Some(Body::Size));
        for bad in [
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Content-Length: 5\r\nContent-Length: 6\r\n",
            "Content-Length: +5\r\n",
            "Content-Length: \r\n",
            "Transfer-Encoding: gzip, chunked\r\n",
        ] {
            assert_eq!(body(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_head_that_ends_before_its_bytes_do_is_none() {
        for bytes in [
            "GET / HTTP/1.1\nHost: a\n\nGET /b HTTP/1.1\r\n\r\n",
            "\nGET / HTTP/1.1\n\nx\r\n\r\n",
        ] {
            assert!(Head::of_request(bytes.as_bytes()).is_none(), "{bytes:?}");
        }
        let bytes = b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi\r\n\r\n";
        assert!(Head::of_response(bytes).is_none());
    }

    #[test]
    fn headers_of_one_connection_do_not_go_on() {
        let head = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close, X-Own\r\nX-Own: 1\r\nX-Kept: 2\r\nTE: x\r\n\r\n";
        let head = Head::of_request(head).unwrap();
        assert_eq!(head.passed(&["host"]), b"x-kept: 2\r\n");
        assert!(head.says("connection", "close"));
    }

    #[test]
    fn sizes_of_chunks_are_hexadecimal_and_nothing_else() {
        assert_eq!(size(b"1a;name=value\r\n").unwrap(), 26);
        for bad in [
            &b"\r\n"[..],
            b"-1\r\n",
            b"+1\r\n",
            b"g\r\n",
            b"fffffffffffffffff\r\n",
        ] {
            assert!(size(bad).is_err());
        }
    }
}
