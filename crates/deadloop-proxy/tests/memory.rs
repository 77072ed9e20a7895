//! Tests that the memory for a stream is bounded for lines of any kind, and that all bytes pass.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says why")]

mod kit;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use kit::{guarded, server};
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// The length of each stream, in bytes.
const LONG: usize = 24 << 20;
/// The memory limit of a stream in docs/proxy.md, in bytes.
const HELD: usize = 24 << 20;
const STREAMS: usize = 8;
/// Settings of a guard that ignores arguments, which repeat in some of these streams.
const ANSWERS: &str = "[[guard]]\ndetector = \"periodic\"\nchannel = \"answer\"\n";
/// Lock for the tests, which measure the same heap.
static MEASURING: Mutex<()> = Mutex::new(());

/// Sends a stream of the given length in these pieces, after `start`. Returns whether it had lines that no guard could
/// read.
fn endless(start: &str, piece: &str) -> bool {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    let (start, piece) = (head.to_owned() + start, piece.to_owned());
    let upstream = server(move |_, _, mut stream| {
        stream.write_all(start.as_bytes()).unwrap();
        for _ in 0..LONG.div_ceil(piece.len()) {
            stream.write_all(piece.as_bytes()).unwrap();
        }
    });
    let _alone = MEASURING.lock();
    let running = guarded(upstream, ANSWERS, (1000, Duration::from_secs(60)));
    HEAP.reset_peak_usage();
    let before = HEAP.current_usage();
    let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let read = |mut client: TcpStream| {
        let (mut piece, mut come) = (vec![0; 1 << 16], 0);
        while let Ok(n @ 1..) = client.read(&mut piece) {
            come += n;
        }
        come
    };
    let clients = (0..STREAMS).map(|_| running.client(request));
    let clients: Vec<_> = clients
        .map(|client| thread::spawn(move || read(client)))
        .collect();
    for client in clients {
        assert!(client.join().unwrap() > LONG, "all of it passes");
    }
    let held = HEAP.peak_usage() - before;
    assert!(held < STREAMS * HELD, "{held} bytes for {STREAMS} streams");
    let metrics = running.metrics();
    !metrics.contains("deadloop_unwatched_lines_total 0\n")
}

#[test]
fn lines_and_events_without_an_end_are_not_held() {
    // One line, bare or of an event; an event of many lines.
    let long = "x".repeat(1 << 16);
    assert!(endless("data: {\"x\":\"", &long));
    assert!(endless("", &long));
    assert!(endless("data: {\n", &format!("data: \"{long}\",\n")));
}

#[test]
fn values_and_calls_without_number_are_not_held() {
    // Lines of nearly a mebibyte whose values would take fifty times their text: what no family knows, what one does,
    // fields, arguments.
    let line = |begin: &str, piece: &str, end: &str| {
        let n = ((1 << 20) - 300) / piece.len();
        format!("data: {begin}{}{end}\n\n", piece.repeat(n))
    };
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""#;
    assert!(endless("", &line("{\"x\":[", "0,", "0]}")));
    assert!(endless("", &line("{\"choices\":[", "{},", "{}]}")));
    let deltas = line("{\"choices\":[", "{\"delta\":{}},", "{}]}");
    assert!(endless("", &deltas));
    let fields: String = (0..80_000).map(|n| format!("\"{n}\":0,")).collect();
    assert!(endless("", &format!("data: {{{fields}\"x\":0}}\n\n")));
    assert!(!endless("", &line(call, "[0,0],", "\"}}]}}]}")));
    // Calls that begin, and never end.
    let calls = (0..10_000).map(|n| {
        let call = call.replace(":0,", &format!(":{n},"));
        format!("data: {call}\"}}}}]}}}}]}}\n\n")
    });
    assert!(!endless("", &calls.collect::<String>()));
}
