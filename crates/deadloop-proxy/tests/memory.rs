//! What the proxy holds of streams whose lines never end is bounded, and all of it passes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says why")]

mod kit;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;

use kit::{proxy, server};
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Bytes of each stream.
const LONG: usize = 24 << 20;
/// What docs/proxy.md says of a stream, in bytes.
const HELD: usize = 8 << 20;
const STREAMS: usize = 8;

/// A stream of so many bytes in these pieces, after this start.
fn endless(start: &str, piece: &str) {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    let (start, piece) = (head.to_owned() + start, piece.to_owned());
    let upstream = server(move |_, _, mut stream| {
        stream.write_all(start.as_bytes()).unwrap();
        for _ in 0..LONG.div_ceil(piece.len()) {
            stream.write_all(piece.as_bytes()).unwrap();
        }
    });
    let running = proxy(upstream);
    let at = running.at;
    HEAP.reset_peak_usage();
    let before = HEAP.current_usage();
    let clients: Vec<_> = (0..STREAMS)
        .map(|_| {
            thread::spawn(move || {
                let mut client = TcpStream::connect(at).unwrap();
                let request = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
                client.write_all(request).unwrap();
                let (mut piece, mut come) = (vec![0; 1 << 16], 0);
                while let Ok(n @ 1..) = client.read(&mut piece) {
                    come += n;
                }
                come
            })
        })
        .collect();
    for client in clients {
        assert!(client.join().unwrap() > LONG, "all of it passes");
    }
    let held = HEAP.peak_usage() - before;
    assert!(held < STREAMS * HELD, "{held} bytes for {STREAMS} streams");
    let metrics = running.metrics();
    assert!(
        !metrics.contains("deadloop_unwatched_lines_total 0\n"),
        "{metrics}"
    );
}

#[test]
fn lines_and_events_without_an_end_are_not_held() {
    // One line, bare or of an event; an event of many lines.
    endless("data: {\"x\":\"", &"x".repeat(1 << 16));
    endless("", &"x".repeat(1 << 16));
    endless(
        "data: {\n",
        &format!("data: \"{}\",\n", "x".repeat(1 << 16)),
    );
}
