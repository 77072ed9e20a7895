//! The proxy between real sockets: a server that does as it is told, a client that reads everything, and both gone at
//! the worst moment.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on says why"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use deadloop_corpus::ThinkRules;
use deadloop_detect::{Guards, RECOMMENDED, Settings};
use deadloop_proxy::{Proxy, ProxyOptions, Stopper};

/// A server; what it does with a request is the test's.
fn server(serve: impl Fn(String, Vec<u8>, TcpStream) + Send + Sync + 'static) -> SocketAddr {
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

/// The head and the body of a request, which has a length or chunks.
fn request(stream: &TcpStream) -> (String, Vec<u8>) {
    let mut reader = BufReader::new(stream);
    let head = head_of(&mut reader);
    let length = head.lines().find_map(|line| {
        line.to_lowercase()
            .strip_prefix("content-length: ")?
            .parse()
            .ok()
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap_or_default();
    if head.to_lowercase().contains("transfer-encoding: chunked") {
        body = chunks(&mut reader).0;
    }
    (head, body)
}

fn head_of(reader: &mut impl BufRead) -> String {
    let mut head = String::new();
    while reader.read_line(&mut head).unwrap_or(0) > 2 {}
    head
}

/// What stands in chunks, and whether the last one came.
fn chunks(reader: &mut impl BufRead) -> (Vec<u8>, bool) {
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

struct Running {
    at: SocketAddr,
    stopper: Stopper,
    thread: JoinHandle<usize>,
}

fn proxy(upstream: SocketAddr) -> Running {
    proxy_with(upstream, 1000, Duration::from_secs(60))
}

fn proxy_with(upstream: SocketAddr, most: usize, grace: Duration) -> Running {
    guarded(upstream, RECOMMENDED, (most, grace))
}

fn guarded(upstream: SocketAddr, settings: &str, (most, grace): (usize, Duration)) -> Running {
    let settings = Settings::parse(settings).unwrap();
    let options = ProxyOptions {
        upstream: format!("http://{upstream}").parse().unwrap(),
        guards: Guards::new(&settings).unwrap(),
        think: ThinkRules::default(),
        most,
        tell: Box::new(|_, _| ()),
    };
    let proxy = Proxy::bind("127.0.0.1:0", options).unwrap();
    Running {
        at: proxy.address().unwrap(),
        stopper: proxy.stopper().unwrap(),
        thread: thread::spawn(move || proxy.run(grace)),
    }
}

/// Head, body and whether the body is whole.
fn get(at: SocketAddr, request: &str) -> (String, Vec<u8>, bool) {
    let mut stream = TcpStream::connect(at).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    answer(&mut reader)
}

fn answer(reader: &mut impl BufRead) -> (String, Vec<u8>, bool) {
    let head = head_of(reader);
    if head.to_lowercase().contains("transfer-encoding: chunked") {
        let (body, whole) = chunks(reader);
        return (head, body, whole);
    }
    let length = head.lines().find_map(|line| {
        line.to_lowercase()
            .strip_prefix("content-length: ")?
            .parse()
            .ok()
    });
    let mut body = vec![0; length.unwrap_or(0)];
    let whole = reader.read_exact(&mut body).is_ok();
    (head, body, whole)
}

const GET: &str = "GET /v1/x HTTP/1.1\r\nHost: me\r\n\r\n";
const SSE: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nX-Kept: yes\r\n\r\n";

fn chunk(text: &str) -> String {
    let text = serde_json::Value::from(text);
    format!(
        "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{text}}}}}]}}\n\n"
    )
}

/// Prose in so many chunks; nothing in it comes back.
fn prose(chunks: usize) -> String {
    let word = |n: usize| format!("w{} ", n.wrapping_mul(2_654_435_761) % 1_000_003);
    (0..chunks)
        .map(|n| chunk(&(word(n * 3) + &word(n * 3 + 1))))
        .collect()
}

fn until(what: &str, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "it never is so: {what}"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_stream_without_an_alarm_passes_byte_for_byte() {
    let sent = prose(400) + "data: [DONE]\n\n";
    let body = sent.clone();
    let upstream = server(move |_, _, mut stream| {
        stream.write_all(SSE.as_bytes()).unwrap();
        // Cut anywhere, also inside events and chars.
        for piece in body.as_bytes().chunks(37) {
            stream.write_all(piece).unwrap();
        }
    });
    let (head, got, whole) = get(proxy(upstream).at, GET);
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("x-kept: yes"),
        "{head}"
    );
    assert!(whole && got == sent.as_bytes());
}

/// What a client gets of a loop in these events, and how many of them the server could send.
fn looped(kind: &str, lead: &str, event: &str, times: usize) -> (String, usize) {
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let (head, lead, event) = (
        SSE.replace("text/event-stream; charset=utf-8", kind),
        lead.to_owned(),
        event.to_owned(),
    );
    let upstream = server(move |_, _, mut stream| {
        stream.write_all((head.clone() + &lead).as_bytes()).unwrap();
        for _ in 0..times {
            if stream.write_all(event.as_bytes()).is_err() {
                return;
            }
            count.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(1));
        }
    });
    let running = proxy(upstream);
    let (_, got, whole) = get(running.at, GET);
    assert!(whole, "the stream ends as a stream ends");
    let (_, metrics, _) = get(running.at, "GET /metrics HTTP/1.1\r\n\r\n");
    let metrics = String::from_utf8(metrics).unwrap();
    assert!(
        metrics.contains("deadloop_alarms_total{kind=\"short-sequence\"} 1"),
        "{metrics}"
    );
    let mut last = usize::MAX;
    until("the server has stopped", || {
        thread::sleep(Duration::from_millis(100));
        let now = sent.load(Ordering::SeqCst);
        std::mem::replace(&mut last, now) == now
    });
    (String::from_utf8(got).unwrap(), last)
}

#[test]
fn a_loop_ends_the_stream_well_formed_and_the_server_is_cancelled() {
    let lead = prose(20);
    let (got, sent) = looped("text/event-stream", &lead, &chunk("and again "), 20_000);
    assert!(got.starts_with(&lead));
    assert!(got.ends_with("\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n"), "{}", &got[got.len() - 300..]);
    // Every event before the ending is one that the server sent, whole.
    let events = got[lead.len()..].split_inclusive("\n\n");
    let same = events
        .take_while(|event| **event == chunk("and again "))
        .count();
    assert!((18..=40).contains(&same), "{same}");
    assert!(sent < 10_000, "the server sent {sent} of 20000 chunks");
}

#[test]
fn each_api_ends_in_its_own_words() {
    let start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
    let delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"and again \"}}\n\n";
    let (got, _) = looped("text/event-stream", start, delta, 10_000);
    assert!(got.contains("\"stop_reason\":\"max_tokens\""), "{got}");
    assert!(
        got.ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"),
        "{got}"
    );
    let line = "{\"model\":\"m\",\"created_at\":\"x\",\"message\":{\"role\":\"assistant\",\"content\":\"and again \"},\"done\":false}\n";
    let (got, _) = looped("application/x-ndjson", "", line, 10_000);
    let last: serde_json::Value = serde_json::from_str(got.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["done"], &last["done_reason"]),
        (&true.into(), &"length".into())
    );
}

/// The detector of silence is told of it while nothing comes, not by the next byte, of which there is none; comments
/// that keep a connection open are no event.
#[test]
fn a_server_that_falls_silent_is_ended_by_the_guard() {
    for comments in [false, true] {
        let upstream = server(move |_, _, mut stream| {
            let lead = SSE.to_owned() + &prose(2);
            stream.write_all(lead.as_bytes()).unwrap();
            // Ends where the proxy has closed the connection.
            while comments && stream.write_all(b": still here\n\n").is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
            let _ = stream.read(&mut [0; 10]);
        });
        let stall = "[[guard]]\ndetector = \"stall\"\n[guard.params]\nidle_ms = 1000\n";
        let running = guarded(upstream, stall, (10, Duration::from_secs(60)));
        let (_, body, whole) = get(running.at, GET);
        let body = String::from_utf8(body).unwrap();
        assert!(whole && body.starts_with(&prose(2)), "{body}");
        assert!(
            body.ends_with("\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n"),
            "{body}"
        );
        let (_, metrics, _) = get(running.at, "GET /metrics HTTP/1.1\r\n\r\n");
        let metrics = String::from_utf8(metrics).unwrap();
        assert!(
            metrics.contains("deadloop_alarms_total{kind=\"stall\"} 1\n"),
            "{metrics}"
        );
    }
}

#[test]
fn what_only_warns_is_counted_and_ends_nothing() {
    let text = SSE.to_owned() + &chunk("so and so on, ").repeat(300);
    let sent = text.clone();
    let upstream = server(move |_, _, mut stream| stream.write_all(text.as_bytes()).unwrap());
    let warns = "[[guard]]\ndetector = \"periodic\"\nresponse = \"warn\"\n";
    let running = guarded(upstream, warns, (10, Duration::from_secs(60)));
    let (_, body, whole) = get(running.at, GET);
    assert!(whole && sent.ends_with(std::str::from_utf8(&body).unwrap()));
    let (_, metrics, _) = get(running.at, "GET /metrics HTTP/1.1\r\n\r\n");
    let metrics = String::from_utf8(metrics).unwrap();
    let counted = |name: &str| metrics.contains(&format!("{name}{{kind=\"short-sequence\"}} 1\n"));
    assert!(counted("deadloop_warnings_total"), "{metrics}");
    assert!(!counted("deadloop_alarms_total"), "{metrics}");
}

#[test]
fn a_client_that_goes_cancels_the_server_also_while_nothing_comes() {
    for silent in [false, true] {
        let ended = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&ended);
        let upstream = server(move |_, _, mut stream| {
            stream
                .write_all((SSE.to_owned() + &prose(2)).as_bytes())
                .unwrap();
            if silent {
                // Ends where the proxy has closed the connection.
                let _ = stream.read(&mut [0; 10]);
            }
            let mut n = 10;
            while !silent && stream.write_all(prose(n).as_bytes()).is_ok() {
                n += 1;
                thread::sleep(Duration::from_millis(2));
            }
            seen.fetch_add(1, Ordering::SeqCst);
        });
        let running = proxy(upstream);
        let mut client = TcpStream::connect(running.at).unwrap();
        client.write_all(GET.as_bytes()).unwrap();
        client.read_exact(&mut [0; 300]).unwrap();
        drop(client);
        until("the server is cancelled", || {
            ended.load(Ordering::SeqCst) == 1
        });
        until("it is counted", || {
            let (_, metrics, _) = get(running.at, "GET /metrics HTTP/1.1\r\n\r\n");
            String::from_utf8_lossy(&metrics).contains("deadloop_client_gone_total 1\n")
        });
    }
}

#[test]
fn a_server_that_goes_leaves_a_stream_that_is_seen_to_be_cut() {
    let upstream = server(|_, _, mut stream| {
        let head = SSE.replace("X-Kept: yes", "Transfer-Encoding: chunked");
        let text = prose(3);
        let all = format!("{head}{:x}\r\n{text}\r\n400\r\nhalf", text.len());
        stream.write_all(all.as_bytes()).unwrap();
    });
    let running = proxy(upstream);
    let (_, got, whole) = get(running.at, GET);
    assert!(!whole, "no last chunk is made up");
    assert!(got.starts_with(prose(3).as_bytes()) && got.ends_with(b"half"));
    // The next request is served as if nothing had been.
    assert!(!get(running.at, GET).2);
}

#[test]
fn a_client_that_does_not_read_holds_the_server_back() {
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let upstream = server(move |_, _, mut stream| {
        stream.write_all(SSE.as_bytes()).unwrap();
        for n in 0..4000 {
            let text = prose(n % 7 + 400);
            if stream.write_all(text.as_bytes()).is_err() {
                return;
            }
            count.fetch_add(text.len(), Ordering::SeqCst);
        }
    });
    let running = proxy(upstream);
    let mut client = TcpStream::connect(running.at).unwrap();
    client.write_all(GET.as_bytes()).unwrap();
    let mut last = usize::MAX;
    until("the server waits", || {
        thread::sleep(Duration::from_millis(300));
        let now = sent.load(Ordering::SeqCst);
        std::mem::replace(&mut last, now) == now && now > 0
    });
    assert!(
        last < 32 << 20,
        "{last} bytes were taken for a client that reads nothing"
    );
}

#[test]
fn requests_go_on_as_they_came_and_one_connection_serves_many() {
    let upstream = server(|head, body, mut stream| {
        assert!(!head.to_lowercase().contains("expect"), "{head}");
        let said = format!(
            "{} {}",
            head.lines().next().unwrap(),
            String::from_utf8_lossy(&body)
        );
        let answer = format!(
            "HTTP/1.1 201 Made\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{said}",
            said.len()
        );
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let running = proxy(upstream);
    let mut stream = TcpStream::connect(running.at).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    stream
        .write_all(b"POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
        .unwrap();
    let (head, body, _) = answer(&mut reader);
    assert!(head.starts_with("HTTP/1.1 201 Made"), "{head}");
    assert_eq!(body, b"POST /a?b=c HTTP/1.1 hello");
    stream
        .write_all(b"PUT /d HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n")
        .unwrap();
    assert!(head_of(&mut reader).starts_with("HTTP/1.1 100"));
    stream
        .write_all(b"2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nTrailer: 1\r\n\r\n")
        .unwrap();
    assert_eq!(answer(&mut reader).1, b"PUT /d HTTP/1.1 hello");
    for (bad, status) in [
        ("nonsense\r\n\r\n", "400"),
        (
            "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "400",
        ),
        ("GET http://elsewhere/ HTTP/1.1\r\n\r\n", "400"),
        ("CONNECT x:443 HTTP/1.1\r\n\r\n", "400"),
    ] {
        let (head, ..) = get(running.at, bad);
        assert!(
            head.starts_with(&format!("HTTP/1.1 {status}")),
            "{bad}: {head}"
        );
    }
}

#[test]
fn no_server_is_a_502_and_one_client_too_many_a_503() {
    let nowhere = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let (head, ..) = get(proxy(nowhere).at, GET);
    assert!(head.starts_with("HTTP/1.1 502"), "{head}");
    let upstream = server(|_, _, mut stream| {
        stream.write_all(SSE.as_bytes()).unwrap();
        let _ = stream.read(&mut [0; 10]);
    });
    let full = proxy_with(upstream, 1, Duration::ZERO);
    let mut first = TcpStream::connect(full.at).unwrap();
    first.write_all(GET.as_bytes()).unwrap();
    first.read_exact(&mut [0; 20]).unwrap();
    let (head, ..) = get(full.at, "");
    assert!(head.starts_with("HTTP/1.1 503"), "{head}");
}

#[test]
fn a_stop_lets_streams_end_and_takes_no_new_ones() {
    let upstream = server(|_, _, mut stream| {
        stream.write_all(SSE.as_bytes()).unwrap();
        for n in 0..20 {
            stream.write_all(prose(n).as_bytes()).unwrap();
            thread::sleep(Duration::from_millis(20));
        }
    });
    let Running {
        at,
        stopper,
        thread: running,
    } = proxy(upstream);
    let mut client = TcpStream::connect(at).unwrap();
    client.write_all(GET.as_bytes()).unwrap();
    let mut reader = BufReader::new(client);
    let head = head_of(&mut reader);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    stopper.stop();
    let (got, whole) = chunks(&mut reader);
    let sent: String = (0..20).map(prose).collect();
    assert!(
        whole && got == sent.as_bytes(),
        "the stream under way is whole"
    );
    drop(reader);
    assert_eq!(running.join().unwrap(), 0, "none was open at the end");
    assert!(TcpStream::connect(at).is_err(), "nobody listens any more");
}

#[test]
fn hostile_bytes_of_a_server_end_a_stream_at_most() {
    let seed = AtomicUsize::new(1);
    let upstream = server(move |_, _, mut stream| {
        let mut state = seed.fetch_add(1, Ordering::SeqCst) as u64;
        let mut byte = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as u8
        };
        let pieces = [
            "data: ",
            "{\"choices\":[{\"delta\":{\"content\":\"",
            "\"}}]}",
            "\n",
            "\n\n",
            "\u{0}",
            "\r\n",
            "event: x",
            "{\"type\":\"message_delta\"",
            "[[[[",
            "9999999999999999999",
        ];
        let mut all = if byte() % 4 == 0 {
            Vec::new()
        } else {
            SSE.as_bytes().to_vec()
        };
        for _ in 0..byte() {
            match byte() % 3 {
                0 => all.push(byte()),
                _ => all.extend_from_slice(pieces[usize::from(byte()) % pieces.len()].as_bytes()),
            }
        }
        let _ = stream.write_all(&all);
    });
    let running = proxy(upstream);
    for _ in 0..300 {
        let (head, ..) = get(running.at, GET);
        assert!(head.starts_with("HTTP/1.1 "), "{head}");
    }
    assert!(!running.thread.is_finished());
}

#[test]
fn three_hundred_streams_at_once_are_each_whole() {
    let upstream = server(|head, _, mut stream| {
        let n: usize = head.split_whitespace().nth(1).unwrap()[1..]
            .parse()
            .unwrap();
        stream.write_all(SSE.as_bytes()).unwrap();
        for piece in prose(20 + n % 13).as_bytes().chunks(101) {
            stream.write_all(piece).unwrap();
            thread::sleep(Duration::from_millis(1));
        }
    });
    let at = proxy(upstream).at;
    let one = |n: usize| {
        thread::spawn(move || {
            let (_, got, whole) = get(at, &format!("GET /{n} HTTP/1.1\r\n\r\n"));
            whole && got == prose(20 + n % 13).as_bytes()
        })
    };
    let all: Vec<_> = (0..300).map(one).collect();
    let good = all
        .into_iter()
        .filter_map(|one| one.join().ok())
        .filter(|good| *good);
    assert_eq!(good.count(), 300);
}
