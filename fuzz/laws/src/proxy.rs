//! Laws of the proxy: HTTP messages, and streams under a guard.
//!
//! The input is `flags, size of the pieces, bytes`. Bit 0 of the flags selects reading messages or judging a stream.
//! Bit 1 selects requests or responses, and for streams JSON lines or server-sent events.

use std::io::{ErrorKind, Read};
use std::sync::LazyLock;

use deadloop_corpus::{StreamFormat, ThinkRules};
use deadloop_detect::{Alarm, Guards, RECOMMENDED, Settings};
use deadloop_proxy::ProxyOptions;
use deadloop_proxy::offline::{ReadMessage, read_messages, relay};

use crate::text::text;

static OPTIONS: LazyLock<ProxyOptions> = LazyLock::new(|| options(RECOMMENDED));

/// Options with two guards that refuse calls.
static REFUSING: LazyLock<ProxyOptions> = LazyLock::new(|| {
    let guard =
        |detector: &str| format!("[[guard]]\ndetector = \"{detector}\"\nresponse = \"refuse\"\n");
    options(&(guard("duplicate") + &guard("periodic") + "channel = \"arguments\"\n"))
});

fn options(settings: &str) -> ProxyOptions {
    let settings = Settings::parse(settings).expect("settings");
    ProxyOptions {
        upstream: "http://127.0.0.1:1".parse().expect("an address"),
        guards: Guards::new(&settings).expect("guards"),
        think: ThinkRules::default(),
        max_connections: 1,
        on_event: Box::new(|_| ()),
    }
}

/// Checks the laws of the proxy.
pub fn proxy(data: &[u8]) {
    let [what, size, rest @ ..] = data else {
        return;
    };
    let size = usize::from(*size).max(1);
    let second = what & 2 != 0;
    if what & 1 == 0 {
        hostile(rest, second, size);
        framed(rest, size);
    } else {
        let format = [StreamFormat::Sse, StreamFormat::Jsonl][usize::from(second)];
        let text = text(rest);
        stream(text.as_bytes(), format, size);
        refused(text.as_bytes(), format, size);
    }
}

/// A reader that returns `size` bytes per read, and times out before each read.
struct SlowReader<'a> {
    bytes: &'a [u8],
    size: usize,
    ready: bool,
}

impl Read for SlowReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.ready = !self.ready;
        if !self.ready {
            return Err(ErrorKind::WouldBlock.into());
        }
        let n = self.size.min(into.len()).min(self.bytes.len());
        let (now, later) = self.bytes.split_at(n);
        into[..n].copy_from_slice(now);
        self.bytes = later;
        Ok(n)
    }
}

/// Checks that bytes are read alike in any pieces, that no byte is invented, and that headers of one connection are not
/// sent on.
fn hostile(bytes: &[u8], requests: bool, size: usize) {
    let whole = read_messages(bytes, requests);
    let slow = SlowReader {
        bytes,
        size,
        ready: true,
    };
    assert_eq!(read_messages(slow, requests), whole);
    let read: usize = whole.iter().map(|message| message.body.len()).sum();
    assert!(read <= bytes.len());
    for message in &whole {
        let passed = String::from_utf8_lossy(&message.passed);
        for line in passed.split_terminator("\r\n") {
            let (name, value) = line.split_once(": ").expect("a header");
            let one = !name.is_empty() && !value.contains(['\r', '\n']);
            let own = ["connection", "transfer-encoding", "te"].contains(&name);
            assert!(one && !own, "{line:?}");
        }
    }
}

/// Checks that a body is read whole in each framing.
fn framed(body: &[u8], size: usize) {
    let chunks = body.chunks(size).flat_map(|chunk| {
        let head = format!("{:x};x=y\r\n", chunk.len()).into_bytes();
        [head, chunk.to_vec(), b"\r\n".to_vec()].concat()
    });
    let chunks: Vec<u8> = chunks.collect();
    let length = format!("Content-Length: {}\r\n\r\n", body.len());
    let chunked = "Transfer-Encoding: chunked\r\n\r\n".as_bytes();
    let bodies = [
        [chunked, &chunks, b"0\r\nx: y\r\n\r\n"].concat(),
        [length.as_bytes(), body].concat(),
        [b"\r\n", body].concat(),
    ];
    for rest in bodies {
        let all = [b"HTTP/1.1 200 OK\r\n", &rest[..]].concat();
        let slow = SlowReader {
            bytes: &all,
            size,
            ready: true,
        };
        let expected = ReadMessage {
            start: ("200".into(), "OK".into()),
            body: body.to_vec(),
            whole: true,
            passed: Vec::new(),
        };
        let read = read_messages(slow, false);
        let [first, ..] = &read[..] else {
            panic!("nothing was read");
        };
        let passed = first.passed.clone();
        assert_eq!(*first, ReadMessage { passed, ..expected });
    }
}

/// Checks guards that may refuse calls: in any pieces, the same alarm ends the response. A refused call may be passed
/// on further if its bytes come in pieces.
fn refused(bytes: &[u8], format: StreamFormat, size: usize) {
    let (whole, alarm) = relay(&REFUSING, format, [bytes]);
    let (pieces, same) = relay(&REFUSING, format, bytes.chunks(size));
    let told = |alarm: &Option<Alarm>| alarm.as_ref().map(Alarm::log_line);
    assert_eq!(told(&alarm), told(&same));
    if alarm.is_none() {
        assert_eq!((whole.as_slice(), pieces.as_slice()), (bytes, bytes));
    }
}

/// Checks a guard that stops: without an alarm every byte passes. Otherwise the same alarm ends the stream at the same
/// place, in any pieces.
fn stream(bytes: &[u8], format: StreamFormat, size: usize) {
    let (whole, alarm) = relay(&OPTIONS, format, [bytes]);
    let (pieces, same) = relay(&OPTIONS, format, bytes.chunks(size));
    let told = |alarm: &Option<Alarm>| alarm.as_ref().map(Alarm::log_line);
    assert_eq!(told(&alarm), told(&same));
    if alarm.is_none() {
        assert_eq!((whole.as_slice(), pieces.as_slice()), (bytes, bytes));
        return;
    }
    // The blank line that ends the last event may come with it or with the ending.
    let solid = |bytes: &[u8]| -> String {
        let mut solid = bytes.to_vec();
        solid.retain(|byte| !byte.is_ascii_whitespace());
        String::from_utf8_lossy(&solid).into_owned()
    };
    assert_eq!(solid(&whole), solid(&pieces));
    assert!(whole.ends_with(b"\n"), "an ending ends a line");
}
