//! Helpers for the tests of the proxy: a scripted server, a proxy before it, and a client that reads everything.

#![allow(dead_code, reason = "no test asks for all of it")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on says why"
)]

pub(crate) mod recorded;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use deadloop_corpus::ThinkRules;
use deadloop_detect::{Guards, RECOMMENDED, Settings};
use deadloop_proxy::{Proxy, ProxyOptions, StopHandle};

/// Starts a server whose handling of requests is given by the test.
pub(crate) fn server(
    serve: impl Fn(String, Vec<u8>, TcpStream) + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, serve) = (stream.unwrap(), Arc::clone(&serve));
            thread::spawn(move || {
                let (head, body) = request(&stream);
                serve(head, body, stream);
            });
        }
    });
    at
}

/// Reads the head and the body of a request, which has a length or chunks.
pub(crate) fn request(stream: &TcpStream) -> (String, Vec<u8>) {
    let mut reader = BufReader::new(stream);
    let head = head_of(&mut reader);
    let mut body = vec![0; length(&head)];
    reader.read_exact(&mut body).unwrap_or_default();
    if head.to_lowercase().contains("transfer-encoding: chunked") {
        body = chunks(&mut reader).0;
    }
    (head, body)
}

/// Returns the length of the body given in a head, or 0.
fn length(head: &str) -> usize {
    let head = head.to_lowercase();
    let mut lines = head.lines();
    let length = lines.find_map(|line| line.strip_prefix("content-length: "));
    length.map_or(0, |length| length.parse().unwrap())
}

pub(crate) fn head_of(reader: &mut impl BufRead) -> String {
    let mut head = String::new();
    while reader.read_line(&mut head).unwrap_or(0) > 2 {}
    head
}

/// Decodes chunks. Returns their content, and whether the last chunk has arrived.
pub(crate) fn chunks(reader: &mut impl BufRead) -> (Vec<u8>, bool) {
    let mut all = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return (all, false);
        }
        let Ok(size) = usize::from_str_radix(line.trim(), 16) else {
            return (all, false);
        };
        let mut piece = vec![0; size + 2];
        if reader.read_exact(&mut piece).is_err() {
            return (all, false);
        }
        piece.truncate(size);
        all.extend(piece);
        if size == 0 {
            return (all, true);
        }
    }
}

/// A running proxy.
pub(crate) struct Running {
    pub(crate) at: SocketAddr,
    pub(crate) metrics: SocketAddr,
    pub(crate) stopper: StopHandle,
    pub(crate) thread: JoinHandle<usize>,
}

impl Running {
    /// Returns the text of `/metrics`.
    pub(crate) fn metrics(&self) -> String {
        let (head, body, _) = get(self.metrics, "GET /metrics HTTP/1.1\r\nHost: me\r\n\r\n");
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        String::from_utf8(body).unwrap()
    }

    /// Asserts that the metrics have this line.
    #[track_caller]
    pub(crate) fn counts(&self, line: &str) {
        let metrics = self.metrics();
        assert!(metrics.lines().any(|one| one == line), "{metrics}");
    }

    /// Connects a client and sends these bytes.
    pub(crate) fn client(&self, request: &str) -> TcpStream {
        let mut client = TcpStream::connect(self.at).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        client
    }
}

/// Starts a server that sends these bytes to every request.
pub(crate) fn saying(answer: String) -> SocketAddr {
    server(move |_, _, mut stream| stream.write_all(answer.as_bytes()).unwrap())
}

/// Returns an address without a listener.
pub(crate) fn nowhere() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

pub(crate) fn proxy(upstream: SocketAddr) -> Running {
    proxy_with(upstream, 1000, Duration::from_secs(60))
}

pub(crate) fn proxy_with(upstream: SocketAddr, most: usize, grace: Duration) -> Running {
    guarded(upstream, RECOMMENDED, (most, grace))
}

pub(crate) fn guarded(
    upstream: SocketAddr,
    settings: &str,
    (most, grace): (usize, Duration),
) -> Running {
    let settings = Settings::parse(settings).unwrap();
    let options = ProxyOptions {
        upstream: format!("http://{upstream}").parse().unwrap(),
        guards: Guards::new(&settings).unwrap(),
        think: ThinkRules::default(),
        max_connections: most,
        on_event: Box::new(|_| ()),
    };
    let mut proxy = Proxy::bind("127.0.0.1:0", options).unwrap();
    Running {
        metrics: proxy.serve_metrics_at("127.0.0.1:0").unwrap(),
        at: proxy.address().unwrap(),
        stopper: proxy.stop_handle().unwrap(),
        thread: thread::spawn(move || proxy.run(grace)),
    }
}

/// Sends a request. Returns the head and body of the response, and whether the body is complete.
pub(crate) fn get(at: SocketAddr, request: &str) -> (String, Vec<u8>, bool) {
    let mut stream = TcpStream::connect(at).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    answer(&mut reader)
}

pub(crate) fn answer(reader: &mut impl BufRead) -> (String, Vec<u8>, bool) {
    let head = head_of(reader);
    if head.to_lowercase().contains("transfer-encoding: chunked") {
        let (body, whole) = chunks(reader);
        return (head, body, whole);
    }
    let mut body = vec![0; length(&head)];
    let whole = reader.read_exact(&mut body).is_ok();
    (head, body, whole)
}

pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let ends = Instant::now() + Duration::from_secs(60);
    while !so() {
        assert!(Instant::now() < ends, "it never is so: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
