//! Tests of the proxy on real sockets, with a scripted server, a client that reads everything, and disconnections of
//! both at bad moments.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on says why"
)]

mod kit;

use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use kit::{
    answer, chunks, get, guarded, head_of, nowhere, proxy, proxy_with, saying, server, until,
};

const GET: &str = "GET /v1/x HTTP/1.1\r\nHost: me\r\n\r\n";
const SSE: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nX-Kept: yes\r\n\r\n";

fn chunk(text: &str) -> String {
    let text = serde_json::Value::from(text);
    format!(
        "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{text}}}}}]}}\n\n"
    )
}

/// Returns prose without repetition in this number of chunks.
fn prose(chunks: usize) -> String {
    let word = |n: usize| format!("w{} ", n.wrapping_mul(2_654_435_761) % 1_000_003);
    (0..chunks)
        .map(|n| chunk(&(word(n * 3) + &word(n * 3 + 1))))
        .collect()
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
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("x-kept: yes"), "{head}");
    assert!(whole && got == sent.as_bytes());
}

/// Returns the part of a loop in these events that a client receives, and the number of events that the server could
/// send.
fn looped(kind: &str, lead: &str, event: &str, times: usize) -> (String, usize) {
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let head = SSE.replace("text/event-stream; charset=utf-8", kind);
    let (lead, event) = (head + lead, event.to_owned());
    let upstream = server(move |_, _, mut stream| {
        stream.write_all(lead.as_bytes()).unwrap();
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
    running.counts("deadloop_alarms_total{kind=\"short-sequence\"} 1");
    (String::from_utf8(got).unwrap(), settled(&sent, 100))
}

/// Returns the count once it no longer grows.
fn settled(count: &AtomicUsize, millis: u64) -> usize {
    let mut last = 0;
    until("the server has stopped or waits", || {
        thread::sleep(Duration::from_millis(millis));
        let now = count.load(Ordering::SeqCst);
        std::mem::replace(&mut last, now) == now && now > 0
    });
    last
}

#[test]
fn a_loop_ends_the_stream_well_formed_and_the_server_is_cancelled() {
    let lead = prose(20);
    let (got, sent) = looped("text/event-stream", &lead, &chunk("and again "), 20_000);
    assert!(got.starts_with(&lead));
    assert!(got.ends_with("\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n"), "{}", &got[got.len() - 300..]);
    // Every event before the ending is one that the server sent, whole.
    let events = got[lead.len()..].split_inclusive("\n\n");
    let same = events.take_while(|event| **event == chunk("and again "));
    let same = same.count();
    assert!((18..=40).contains(&same), "{same}");
    assert!(sent < 10_000, "the server sent {sent} of 20000 chunks");
}

#[test]
fn each_api_ends_in_its_own_words() {
    let start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
    let delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"and again \"}}\n\n";
    let (got, _) = looped("text/event-stream", start, delta, 10_000);
    assert!(got.contains("\"stop_reason\":\"max_tokens\""), "{got}");
    let end = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    assert!(got.ends_with(end), "{got}");
    let line = "{\"model\":\"m\",\"created_at\":\"x\",\"message\":{\"role\":\"assistant\",\"content\":\"and again \"},\"done\":false}\n";
    let (got, _) = looped("application/x-ndjson", "", line, 10_000);
    let last: serde_json::Value = serde_json::from_str(got.lines().last().unwrap()).unwrap();
    assert_eq!(last["done"], true);
    assert_eq!(last["done_reason"], "length");
}

/// Checks that the detector of silence fires while no bytes arrive, rather than at the next byte, and that comments
/// that keep a connection open are not events.
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
        let end = "\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n";
        assert!(body.ends_with(end), "{body}");
        running.counts("deadloop_alarms_total{kind=\"stall\"} 1");
    }
}

#[test]
fn what_only_warns_is_counted_and_ends_nothing() {
    let sent = SSE.to_owned() + &chunk("so and so on, ").repeat(300);
    let warns = "[[guard]]\ndetector = \"periodic\"\nresponse = \"warn\"\n";
    let running = guarded(saying(sent.clone()), warns, (10, Duration::from_secs(60)));
    let (_, body, whole) = get(running.at, GET);
    assert!(whole && sent.ends_with(std::str::from_utf8(&body).unwrap()));
    let metrics = running.metrics();
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
            let lead = SSE.to_owned() + &prose(2);
            stream.write_all(lead.as_bytes()).unwrap();
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
        let mut client = running.client(GET);
        client.read_exact(&mut [0; 300]).unwrap();
        drop(client);
        let ended = || ended.load(Ordering::SeqCst) == 1;
        until("the server is cancelled", ended);
        let counted = || running.metrics().contains("deadloop_client_gone_total 1\n");
        until("it is counted", counted);
    }
}

#[test]
fn a_server_that_goes_leaves_a_stream_that_is_seen_to_be_cut() {
    let head = SSE.replace("X-Kept: yes", "Transfer-Encoding: chunked");
    let text = prose(3);
    let all = format!("{head}{:x}\r\n{text}\r\n400\r\nhalf", text.len());
    let running = proxy(saying(all));
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
    let _client = running.client(GET);
    let taken = settled(&sent, 300);
    assert!(taken < 32 << 20, "{taken} bytes for one that reads nothing");
}

#[test]
fn requests_go_on_as_they_came_and_one_connection_serves_many() {
    let upstream = server(|head, body, mut stream| {
        assert!(!head.to_lowercase().contains("expect"), "{head}");
        let (start, body) = (head.lines().next().unwrap(), String::from_utf8_lossy(&body));
        let said = format!("{start} {body}");
        let answer = format!(
            "HTTP/1.1 201 Made\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{said}",
            said.len()
        );
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let running = proxy(upstream);
    let post = "POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";
    let mut stream = running.client(post);
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (head, body, _) = answer(&mut reader);
    assert!(head.starts_with("HTTP/1.1 201 Made"), "{head}");
    assert_eq!(body, b"POST /a?b=c HTTP/1.1 hello");
    let put =
        "PUT /d HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n";
    stream.write_all(put.as_bytes()).unwrap();
    assert!(head_of(&mut reader).starts_with("HTTP/1.1 100"));
    let chunks = "2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nTrailer: 1\r\n\r\n";
    stream.write_all(chunks.as_bytes()).unwrap();
    assert_eq!(answer(&mut reader).1, b"PUT /d HTTP/1.1 hello");
}

#[test]
fn no_server_is_a_502_and_one_client_too_many_a_503() {
    let (head, ..) = get(proxy(nowhere()).at, GET);
    assert!(head.starts_with("HTTP/1.1 502"), "{head}");
    let upstream = server(|_, _, mut stream| {
        stream.write_all(SSE.as_bytes()).unwrap();
        let _ = stream.read(&mut [0; 10]);
    });
    let full = proxy_with(upstream, 1, Duration::ZERO);
    let mut first = full.client(GET);
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
    let running = proxy(upstream);
    let mut reader = BufReader::new(running.client(GET));
    let head = head_of(&mut reader);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    running.stopper.stop();
    let (got, whole) = chunks(&mut reader);
    let sent: String = (0..20).map(prose).collect();
    assert!(whole && got == sent.as_bytes(), "it is whole");
    drop(reader);
    let open = running.thread.join().unwrap();
    assert_eq!(open, 0, "none was open at the end");
    assert!(TcpStream::connect(running.at).is_err(), "nobody listens");
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
        let mut all = match byte() % 4 {
            0 => Vec::new(),
            _ => SSE.as_bytes().to_vec(),
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
        let path = head.split_whitespace().nth(1).unwrap();
        let n: usize = path[1..].parse().unwrap();
        stream.write_all(SSE.as_bytes()).unwrap();
        for piece in prose(20 + n % 13).as_bytes().chunks(101) {
            stream.write_all(piece).unwrap();
            thread::sleep(Duration::from_millis(1));
        }
    });
    let at = proxy(upstream).at;
    let one = |n: usize| {
        thread::spawn(move || {
            let (_, got, whole) = get(at, &format!("GET /{n} HTTP/1.1\r\nHost: x\r\n\r\n"));
            whole && got == prose(20 + n % 13).as_bytes()
        })
    };
    let all: Vec<_> = (0..300).map(one).collect();
    assert!(all.into_iter().all(|one| one.join().unwrap()));
}

/// Checks that a client that closes its sending side after its request still gets the answer.
#[test]
fn a_client_that_sends_no_more_gets_its_whole_answer() {
    let sent = prose(3) + &prose(40);
    let upstream = server(|_, _, mut stream| {
        let lead = SSE.to_owned() + &prose(3);
        stream.write_all(lead.as_bytes()).unwrap();
        thread::sleep(Duration::from_millis(1600));
        stream.write_all(prose(40).as_bytes()).unwrap();
    });
    let running = proxy(upstream);
    let client = running.client(GET);
    client.shutdown(Shutdown::Write).unwrap();
    let (_, got, whole) = answer(&mut BufReader::new(client));
    assert!(whole && got == sent.as_bytes());
    running.counts("deadloop_client_gone_total 0");
}

/// Checks that a client gets the refusal of a server that closes before it has the whole request.
#[test]
fn an_early_refusal_reaches_a_client_that_is_still_sending() {
    for refusal in ["401 Unauthorized", "413 Content Too Large"] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let upstream = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                head_of(&mut BufReader::with_capacity(1, &stream));
                let answer = format!("HTTP/1.1 {refusal}\r\nContent-Length: 5\r\n\r\nnever");
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        let running = proxy(upstream);
        let length = 24 << 20;
        let head = format!("POST /x HTTP/1.1\r\nHost: me\r\nContent-Length: {length}\r\n\r\n");
        let mut client = running.client(&head);
        // It reads nothing before it has sent everything, as most clients do.
        for _ in 0..length >> 14 {
            client.write_all(&[b'x'; 1 << 14]).unwrap();
        }
        let (head, body, _) = answer(&mut BufReader::new(client));
        let start = format!("HTTP/1.1 {refusal}\r\n");
        assert!(head.starts_with(&start), "{head}");
        assert!(head.to_lowercase().contains("connection: close"), "{head}");
        assert_eq!(body, b"never");
    }
}

/// Checks that a client gets a refusal of the proxy itself.
#[test]
fn a_refusal_of_the_proxy_is_not_lost_in_a_reset() {
    let running = proxy(nowhere());
    let lead = "POST /x HTTP/1.1\r\nHost: me\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n";
    let mut client = running.client(lead);
    for _ in 0..512 {
        client.write_all(&[b'x'; 1 << 14]).unwrap();
    }
    let (head, body, _) = answer(&mut BufReader::new(client));
    assert!(head.starts_with("HTTP/1.1 400 "), "{head}");
    assert_eq!(body, b"more than one Content-Length\n");
    running.counts("deadloop_bad_request_total 1");
}

#[test]
fn what_is_no_http_after_a_101_passes_both_ways_until_both_are_done() {
    let upstream = server(|head, _, mut stream| {
        let asks = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
        assert!(head.contains(asks), "{head}");
        let answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\nhello";
        stream.write_all(answer.as_bytes()).unwrap();
        let mut got = Vec::new();
        stream.read_to_end(&mut got).unwrap();
        got.reverse();
        stream.write_all(&got).unwrap();
    });
    let running = proxy(upstream);
    let asked =
        "GET /ws HTTP/1.1\r\nHost: me\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nab";
    let mut client = running.client(asked);
    let mut reader = BufReader::new(client.try_clone().unwrap());
    let head = head_of(&mut reader);
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    for header in ["Upgrade: websocket\r\n", "sec-websocket-accept: x\r\n"] {
        assert!(head.contains(header), "{head}");
    }
    reader.read_exact(&mut [0; 5]).unwrap();
    client.write_all(&[b'c'; 100_000]).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut got = Vec::new();
    reader.read_to_end(&mut got).unwrap();
    assert_eq!(got.len(), 100_002);
    assert!(got.ends_with(b"cba"));
    running.counts("deadloop_tunnels_total 1");
}

#[test]
fn a_101_that_nobody_asked_for_is_no_answer() {
    let answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
    let (head, ..) = get(proxy(saying(answer.into())).at, GET);
    assert!(head.starts_with("HTTP/1.1 502 "), "{head}");
}

#[test]
fn lines_that_no_guard_could_read_are_counted() {
    let lines = [
        "data: {\"choices\":[{\"delta\":{\"content\":NaN}}]}\n\n".to_owned(),
        "data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"}}]}\n\n".to_owned(),
        chunk("a").replace("\n\n", "\r") + &chunk("b"),
        format!("data: {{\"x\":\"{}\"}}\n\n", "x".repeat(3 << 19)),
    ];
    let sent = prose(2) + &lines.concat() + &prose(3);
    let running = proxy(saying(SSE.to_owned() + &sent));
    let (_, got, whole) = get(running.at, GET);
    assert!(whole && got == sent.as_bytes());
    running.counts("deadloop_unwatched_lines_total 3");
    // So is a stream that the server packs, though it is asked not to.
    let packed = SSE.replace("Content-Type", "Content-Encoding: gzip\r\nContent-Type") + "packed";
    let running = proxy(saying(packed));
    assert_eq!(get(running.at, GET).1, b"packed");
    running.counts("deadloop_packed_streams_total 1");
}

/// Checks that all paths of the clients' address belong to the server, and that the metrics address serves only
/// metrics.
#[test]
fn metrics_have_an_address_of_their_own() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmine";
    let running = proxy(saying(answer.into()));
    let (_, body, _) = get(running.at, "GET /metrics HTTP/1.1\r\nHost: me\r\n\r\n");
    assert_eq!(body, b"mine");
    running.counts("deadloop_requests_total 1");
    let post = "POST /metrics HTTP/1.1\r\nHost: me\r\nContent-Length: 2\r\n\r\nhi";
    for (request, status) in [
        ("GET / HTTP/1.1\r\nHost: me\r\n\r\n", "404"),
        (post, "404"),
        ("GET /metrics HTTP/1.1\nHost: me\n\n", "400"),
        ("nonsense\r\n\r\n", "400"),
    ] {
        let mut client = TcpStream::connect(running.metrics).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        client.write_all(GET.as_bytes()).unwrap();
        let mut got = String::new();
        client.read_to_string(&mut got).unwrap();
        assert!(got.starts_with(&format!("HTTP/1.1 {status} ")), "{got}");
        assert_eq!(got.matches("\r\nConnection: close\r\n").count(), 1, "{got}");
    }
}

const REFUSES: &str = "[[guard]]\ndetector = \"duplicate\"\nresponse = \"refuse\"\n";

/// Returns the part of a stream with a refused call that a client receives, and whether the proxy counts an alarm.
fn refused(body: String) -> (String, bool) {
    let upstream = saying(SSE.to_owned() + &body);
    let running = guarded(upstream, REFUSES, (10, Duration::from_secs(60)));
    let (_, got, whole) = get(running.at, GET);
    assert!(whole);
    let metrics = running.metrics();
    let is_alarm = |line: &str| line.starts_with("deadloop_alarms_total{") && line.ends_with(" 1");
    (
        String::from_utf8(got).unwrap(),
        metrics.lines().any(is_alarm),
    )
}

/// Checks with nine equal calls in the format of each API that the response ends at the third, as if it were too long.
#[test]
fn a_refused_call_ends_the_response_in_the_words_of_each_api() {
    let chat = r#"data: {"model":"m","choices":[{"delta":{"tool_calls":[{"index":N,"id":"cN","function":{"name":"ls","arguments":"{}"}}]}}]}"#;
    let responses = [
        r#"data: {"type":"response.output_item.added","output_index":N,"item":{"type":"function_call","id":"iN","call_id":"cN","name":"ls","arguments":""}}"#,
        r#"data: {"type":"response.function_call_arguments.delta","output_index":N,"item_id":"iN","delta":"{}"}"#,
        r#"data: {"type":"response.function_call_arguments.done","output_index":N,"item_id":"iN","arguments":"{}"}"#,
    ]
    .join("\n\n");
    let anthropic = [
        r#"data: {"type":"content_block_start","index":N,"content_block":{"type":"tool_use","id":"cN","name":"ls","input":{}}}"#,
        r#"data: {"type":"content_block_delta","index":N,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"data: {"type":"content_block_stop","index":N}"#,
    ]
    .join("\n\n");
    let created = "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"model\":\"m\",\"status\":\"in_progress\"}}\n\n";
    let started = "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"m\",\"content\":[]}}\n\n";
    let nine = |call: &str| -> String {
        let calls = (0..9).map(|n| call.replace('N', &n.to_string()) + "\n\n");
        calls.collect()
    };
    for (lead, call, reason) in [
        ("", chat, "\"finish_reason\":\"length\""),
        (created, &responses, "\"reason\":\"max_output_tokens\""),
        (started, &anthropic, "\"stop_reason\":\"max_tokens\""),
    ] {
        let (got, counted) = refused(lead.to_owned() + &nine(call));
        let two = got.contains("\"c1\"") && !got.contains("\"c3\"");
        assert!(got.starts_with(lead) && two, "{got}");
        assert!(counted && got.contains(reason), "{got}");
    }
}

/// Checks equal calls in one response, for any ids and numbers: the client gets no more than the guard allows, and no
/// part of a refused call that is complete.
#[test]
fn a_client_gets_no_more_calls_than_the_guard_allows_whatever_their_ids() {
    let stops = "[[guard]]\ndetector = \"duplicate\"\n";
    for (size, arguments, calls) in [
        (0, "{}", 40),
        (2, "", 1500),
        (300, "{}", 40),
        (3000, "{\\\"a\\\": ", 40),
    ] {
        let call = |n: usize| {
            let id = format!("{n:0>size$}");
            let id = if size == 0 { "" } else { id.as_str() };
            let call = format!(
                "{{\"index\":{n},\"id\":\"{id}\",\"function\":{{\"name\":\"ls\",\"arguments\":\"{arguments}\"}}}}"
            );
            format!(
                "data: {{\"model\":\"m\",\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n"
            )
        };
        let body: String = (0..calls).map(call).collect();
        for settings in [stops, REFUSES] {
            let sent = SSE.to_owned() + &body;
            let upstream = server(move |_, _, mut stream| {
                let _ = stream.write_all(sent.as_bytes());
            });
            let running = guarded(upstream, settings, (10, Duration::from_secs(60)));
            let (_, got, whole) = get(running.at, GET);
            let got = String::from_utf8(got).unwrap();
            let passed = got.matches("\"name\":\"ls\"").count();
            assert!(whole && passed <= 3, "{size} {calls} {settings}: {passed}");
            assert!(
                got.contains("\"finish_reason\":\"length\""),
                "{size} {calls}"
            );
        }
    }
}

/// Settings of a guard against 40 repeats that ignores text of the user. For the task `Drill` it is off.
const SKIPPING: &str = "prompt = \"PROMPT\"\n[[guard]]\ndetector = \"periodic\"\n[[model]]\ntask = \"Drill\"\n\
                        [[model.guard]]\ndetector = \"periodic\"\nenabled = false\n";

/// Sends a request with this body and these headers to a server that repeats a text 40 times. Returns whether the guard
/// ended the answer, and the number of unreadable requests.
fn asked(prompt: &str, headers: &str, body: &str) -> (bool, usize) {
    let upstream = server(|head, body, mut stream| {
        // The header of the proxy goes no further.
        assert!(!head.to_lowercase().contains("deadloop"), "{head}");
        let sent = SSE.to_owned() + &chunk("and again ").repeat(40) + "data: [DONE]\n\n";
        assert!(!body.is_empty());
        let _ = stream.write_all(sent.as_bytes());
    });
    let settings = SKIPPING.replace("PROMPT", prompt);
    let running = guarded(upstream, &settings, (10, Duration::from_secs(5)));
    let head = format!(
        "POST /v1/x HTTP/1.1\r\nHost: me\r\nContent-Length: {}\r\n",
        body.len()
    );
    let (_, got, whole) = get(running.at, &format!("{head}{headers}\r\n{body}"));
    assert!(whole);
    let got = String::from_utf8(got).unwrap();
    let ended = got.contains("\"finish_reason\":\"length\"");
    let unheard = running
        .metrics()
        .contains("deadloop_unheard_requests_total 1");
    (ended, usize::from(unheard))
}

/// Checks that the user's texts are read from the requests of each API, for `prompt = "skip"`, and the task from a
/// header.
#[test]
fn what_the_user_wrote_is_skipped_in_the_words_of_each_api() {
    let said = "and again ".repeat(60);
    let other = "Say it, ".repeat(60);
    let bodies = [
        r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"SAID"}]}"#,
        r#"{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"SAID"}]}],"system":"s"}"#,
        r#"{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"SAID"}]}]}"#,
        r#"{"model":"m","input":"SAID"}"#,
        r#"{"contents":[{"role":"user","parts":[{"text":"SAID"}]}]}"#,
        r#"{"model":"m","prompt":"SAID","options":{}}"#,
    ];
    let json = "Content-Type: application/json\r\n";
    for body in bodies {
        let own = body.replace("SAID", &said);
        assert_eq!(asked("skip", json, &own), (false, 0), "{body}");
        assert_eq!(asked("check", json, &own), (true, 0), "{body}");
        let others = body.replace("SAID", &other);
        assert_eq!(asked("skip", json, &others), (true, 0), "{body}");
    }
    let body = bodies[0].replace("SAID", &said);
    // Nobody can read these; where nobody has to, they are not counted.
    let packed = format!("{json}Content-Encoding: gzip\r\n");
    assert_eq!(asked("skip", &packed, &body), (true, 0));
    assert_eq!(asked("skip", "", &body), (true, 0));
    assert_eq!(asked("skip", json, &body[1..]), (true, 1));
    assert_eq!(asked("check", json, &body[1..]), (true, 0));
    let long = body.replace("\"m\"", &format!("\"{}\"", "m".repeat(4 << 20)));
    assert_eq!(asked("skip", json, &long), (true, 1));
    let task = "X-Deadloop-Task: Drill\r\n";
    assert_eq!(asked("check", &format!("{json}{task}"), &body), (false, 0));
    let task = "x-deadloop-task: drills\r\n";
    assert_eq!(asked("check", &format!("{json}{task}"), &body), (true, 0));
}
