//! A server that records the bytes it receives, and a simple reference parser for them.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde::Deserialize;

/// A row of `framing.toml`.
#[derive(Debug, Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) send: String,
    pub(crate) status: Vec<u16>,
    pub(crate) closed: bool,
    pub(crate) server: Vec<String>,
}

/// Returns all rows.
pub(crate) fn cases() -> Vec<Case> {
    #[derive(Deserialize)]
    struct Table {
        case: Vec<Case>,
    }
    let table: Table = toml::from_str(include_str!("../framing.toml")).unwrap();
    assert!(table.case.len() > 90);
    table.case
}

/// The bytes received on each closed connection, in order.
pub(crate) type Record = Arc<Mutex<Vec<Vec<u8>>>>;

/// Starts a server that answers each request with its own reading of it.
pub(crate) fn recorder() -> (SocketAddr, Record) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (at, record) = (listener.local_addr().unwrap(), Record::default());
    let kept = Arc::clone(&record);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, kept) = (stream.unwrap(), Arc::clone(&kept));
            thread::spawn(move || {
                let patience = Some(Duration::from_secs(20));
                stream.set_read_timeout(patience).unwrap();
                let (mut all, mut piece, mut answered) = (Vec::new(), [0; 4096], false);
                while let Ok(n @ 1..) = stream.read(&mut piece) {
                    all.extend_from_slice(&piece[..n]);
                    let seen = seen(&all);
                    if !answered && !seen.ends_with(" cut") {
                        answered = true;
                        let n = seen.len();
                        let answer =
                            format!("HTTP/1.1 200 OK\r\nContent-Length: {n}\r\n\r\n{seen}");
                        let _ = stream.write_all(answer.as_bytes());
                    }
                }
                kept.lock().unwrap().push(all);
            });
        }
    });
    (at, record)
}

/// Parses the single request in these bytes: method, target and number of body bytes. Panics where another reader could understand
/// something else.
pub(crate) fn seen(bytes: &[u8]) -> String {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return "a head that is cut".into();
    };
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let body = &bytes[end + 4..];
    let lines: Vec<&str> = head.split("\r\n").collect();
    for line in &lines {
        assert!(!line.contains(['\r', '\n', '\0']), "{head}");
        assert!(!line.starts_with([' ', '\t']), "{head}");
    }
    let words: Vec<&str> = lines[0].split(' ').collect();
    let [method, target, "HTTP/1.1"] = words[..] else {
        panic!("{head}");
    };
    let values = |name: &str| -> Vec<&str> {
        let headers = lines[1..].iter().map(|line| line.split_once(": ").unwrap());
        let named = headers.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value).collect()
    };
    assert_eq!(values("host").len(), 1, "{head}");
    assert_eq!(values("connection").len(), 1, "{head}");
    for spelt in ["content_length", "transfer_encoding"] {
        assert!(values(spelt).is_empty(), "{head}");
    }
    let (lengths, codings) = (values("content-length"), values("transfer-encoding"));
    let size = match (&lengths[..], &codings[..]) {
        ([], []) => Some(0),
        ([length], []) => {
            let length: usize = length.parse().unwrap();
            (body.len() >= length).then_some(length)
        }
        ([], ["chunked"]) => chunks(body),
        _ => panic!("two framings: {head}"),
    };
    let Some(size) = size else {
        return format!("{method} {target} cut");
    };
    let one = !codings.is_empty() || body.len() == size;
    assert!(one, "more than one request: {head}");
    format!("{method} {target} {size}")
}

/// Returns the number of bytes in chunks, which must be complete.
fn chunks(mut rest: &[u8]) -> Option<usize> {
    let mut all = 0;
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n")?;
        let digits = std::str::from_utf8(&rest[..end]).unwrap();
        let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        assert!(plain, "{digits}");
        let size = usize::from_str_radix(digits, 16).unwrap();
        let chunk = rest.get(end + 2..end + 2 + size + 2)?;
        assert!(chunk.ends_with(b"\r\n"));
        rest = &rest[end + 2 + size + 2..];
        all += size;
        if size == 0 {
            assert!(rest.is_empty(), "more than one request");
            return Some(all);
        }
    }
}
