//! One connection: request after request goes to the server, and each response comes back as it arrives, up to where
//! its guard alarms.

use std::io::{self, ErrorKind, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use deadloop_corpus::StreamFormat;

use crate::Shared;
use crate::http::{Body, Head, Wire};
use crate::judge::{Judge, Verdict};
use crate::metrics::Counter;

/// How often a connection on which nothing comes is looked after.
const TICK: Duration = Duration::from_millis(500);
/// Ticks that a client may take for its next request, or for more of one.
const IDLE: u32 = 120;
/// How long a client may read nothing before it is taken for gone.
const PATIENCE: Duration = Duration::from_secs(300);

/// Why an exchange is over before its end.
enum Broken {
    /// The client went, or never said anything.
    Client,
    /// The server went in the middle of its response.
    Upstream,
}

/// Whether the client may send another request.
type Served = Result<bool, Broken>;

/// Answers a client that there are too many connections.
pub(crate) fn refuse(client: TcpStream) {
    let _ = client.set_write_timeout(Some(Duration::from_secs(1)));
    let _ = answer(
        &client,
        "503 Service Unavailable",
        "text/plain",
        "too many streams\n",
        true,
    );
}

/// Serves a connection to its end.
pub(crate) fn serve(client: TcpStream, shared: &Shared) {
    let ready = client
        .set_nodelay(true)
        .and_then(|()| client.set_read_timeout(Some(TICK)))
        .and_then(|()| client.set_write_timeout(Some(PATIENCE)));
    let mut wire = Wire::new(&client);
    if ready.is_ok() {
        while let Ok(true) = exchange(&client, &mut wire, shared) {}
    }
    let _ = client.shutdown(Shutdown::Both);
}

fn timed_out(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// A whole answer of the proxy's own.
fn answer(mut client: &TcpStream, status: &str, kind: &str, text: &str, close: bool) -> Served {
    let (n, keep) = (text.len(), if close { "close" } else { "keep-alive" });
    let all = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {n}\r\nConnection: {keep}\r\n\r\n{text}"
    );
    let written = client.write_all(all.as_bytes());
    written.map_err(|_| Broken::Client)?;
    Ok(!close)
}

/// One request and its response.
fn exchange(client: &TcpStream, wire: &mut Wire<&TcpStream>, shared: &Shared) -> Served {
    let Some(head) = next_head(wire, shared)? else {
        return Ok(false);
    };
    let bad = |what: &str| {
        shared.metrics.add(Counter::BadRequest, 1);
        answer(client, "400 Bad Request", "text/plain", what, true)
    };
    let Some(request) = Head::of_request(&head) else {
        return bad("no request of HTTP/1.1\n");
    };
    let (method, target) = (&request.start.0, &request.start.1);
    if (method.as_str(), target.as_str()) == ("GET", "/metrics") {
        let close = !request.is_1_1 || request.says("connection", "close");
        let kind = "text/plain; version=0.0.4";
        return answer(client, "200 OK", kind, &shared.metrics.text(), close);
    }
    let Some(body) = request.body(Body::Length(0)) else {
        return bad("the length of the body is not clear\n");
    };
    if !target.starts_with('/') || method == "CONNECT" {
        return bad("a path is wanted\n");
    }
    shared.metrics.add(Counter::Requests, 1);
    let unanswered = |what: &str| {
        shared.metrics.add(Counter::BadGateway, 1);
        answer(client, "502 Bad Gateway", "text/plain", what, true)
    };
    let Ok(upstream) = shared.options.upstream.connect() else {
        return unanswered("the server cannot be reached\n");
    };
    if request.says("expect", "100-continue") {
        let mut client = client;
        let go = client.write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
        go.map_err(|_| Broken::Client)?;
    }
    let sent = send((&request, body), wire, (&upstream, shared))?;
    let mut answered = Wire::new(&upstream);
    let Some(response) = response(&mut answered, client, shared)? else {
        return unanswered("the server did not answer\n");
    };
    let relay = Relay {
        client,
        request: &request,
        response: &response,
        shared,
    };
    let kept = relay.run(&mut answered)?;
    // What the server did not want is still on its way.
    Ok(kept && sent)
}

/// The head of the next request. `None` if the client is done or the proxy stops.
fn next_head(wire: &mut Wire<&TcpStream>, shared: &Shared) -> Result<Option<Vec<u8>>, Broken> {
    for _ in 0..IDLE {
        match wire.head() {
            Ok(head) => return Ok(head),
            Err(e) if timed_out(&e) => {
                if shared.stopping() && !wire.has_begun() {
                    return Ok(None);
                }
            }
            Err(_) => break,
        }
    }
    Err(Broken::Client)
}

/// Sends the request on; false where the server would not take all of it.
fn send(
    (request, mut body): (&Head, Body),
    wire: &mut Wire<&TcpStream>,
    (mut upstream, shared): (&TcpStream, &Shared),
) -> Result<bool, Broken> {
    let _ = upstream.set_nodelay(true);
    let _ = upstream.set_read_timeout(Some(TICK));
    let _ = upstream.set_write_timeout(Some(PATIENCE));
    let to = &shared.options.upstream;
    let (method, target) = (&request.start.0, &request.start.1);
    let chunked = body == Body::Size;
    // A packed response cannot be watched.
    let lead = format!(
        "{method} {}{target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAccept-Encoding: identity\r\n",
        to.prefix(),
        to.authority()
    );
    let mut bytes = lead.into_bytes();
    bytes.extend(request.passed(&["host", "accept-encoding", "expect"]));
    if chunked {
        bytes.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    if upstream.write_all(&bytes).is_err() {
        return Ok(false);
    }
    let (mut piece, mut idle) = (Vec::new(), 0);
    loop {
        piece.clear();
        match body.read(wire, &mut piece) {
            Ok(n) => {
                idle = 0;
                let written = match chunked {
                    true => write_chunk(upstream, &piece),
                    false => upstream.write_all(&piece),
                };
                match (n, written) {
                    (_, Err(_)) => return Ok(false),
                    (0, Ok(())) => return Ok(true),
                    _ => {}
                }
            }
            Err(e) if timed_out(&e) && idle < IDLE => idle += 1,
            Err(_) => return Err(Broken::Client),
        }
    }
}

/// A chunk; an empty one is the last.
fn write_chunk(mut to: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    let mut all = format!("{:x}\r\n", bytes.len()).into_bytes();
    all.extend_from_slice(bytes);
    all.extend_from_slice(b"\r\n");
    to.write_all(&all)
}

/// The head of the response; heads with a 1xx status are skipped. `None` if the server sent no head, or none that can
/// be read.
fn response(
    wire: &mut Wire<&TcpStream>,
    client: &TcpStream,
    shared: &Shared,
) -> Result<Option<Head>, Broken> {
    loop {
        match waiting(wire, client, shared)? {
            Ok(Some(head)) => match Head::of_response(&head) {
                Some(head) if head.start.0.starts_with('1') => {}
                known => return Ok(known),
            },
            _ => return Ok(None),
        }
    }
}

/// Reads a head from the server, however long that takes, as long as the client is there.
fn waiting(
    wire: &mut Wire<&TcpStream>,
    client: &TcpStream,
    shared: &Shared,
) -> Result<io::Result<Option<Vec<u8>>>, Broken> {
    loop {
        match wire.head() {
            Err(e) if timed_out(&e) => still_there(client, shared)?,
            other => return Ok(other),
        }
    }
}

/// A client that is gone ends the exchange.
fn still_there(client: &TcpStream, shared: &Shared) -> Result<(), Broken> {
    if is_gone(client) {
        shared.metrics.add(Counter::ClientGone, 1);
        return Err(Broken::Client);
    }
    Ok(())
}

/// Whether the other side has closed the connection.
fn is_gone(client: &TcpStream) -> bool {
    if client.set_nonblocking(true).is_err() {
        return true;
    }
    let peeked = client.peek(&mut [0]);
    let back = client.set_nonblocking(false);
    match peeked {
        Ok(n) => n == 0 || back.is_err(),
        Err(e) => e.kind() != ErrorKind::WouldBlock || back.is_err(),
    }
}

/// A response on its way to the client.
struct Relay<'a> {
    client: &'a TcpStream,
    request: &'a Head,
    response: &'a Head,
    shared: &'a Shared,
}

impl Relay<'_> {
    /// Passes it on; whether the connection can take another request.
    fn run(&self, wire: &mut Wire<&TcpStream>) -> Served {
        let status = self.response.start.0.as_str();
        let bare = self.request.start.0 == "HEAD" || matches!(status, "204" | "304");
        let framed = self.response.body(Body::Close);
        let Some(body) = framed.map(|body| if bare { Body::Length(0) } else { body }) else {
            self.shared.metrics.add(Counter::BadGateway, 1);
            let what = "the length of the server's answer is not clear\n";
            return answer(self.client, "502 Bad Gateway", "text/plain", what, true);
        };
        let watched = self.watched().filter(|_| !bare);
        let measured = matches!(body, Body::Length(_)) && watched.is_none();
        let chunked = !measured && self.request.is_1_1;
        let close = !self.request.is_1_1
            || self.request.says("connection", "close")
            || self.shared.stopping();
        let mut head = format!("HTTP/1.1 {status} {}\r\n", self.response.start.1).into_bytes();
        let drop_length: &[&str] = if measured { &[] } else { &["content-length"] };
        head.extend(self.response.passed(drop_length));
        head.extend_from_slice(if close { b"Connection: close\r\n" } else { b"" });
        head.extend_from_slice(if chunked {
            b"Transfer-Encoding: chunked\r\n"
        } else {
            b""
        });
        head.extend_from_slice(b"\r\n");
        self.write(&head)?;
        self.body(wire, body, (watched, chunked))?;
        Ok(!close && (measured || chunked))
    }

    /// How a response is written that a guard can watch.
    fn watched(&self) -> Option<StreamFormat> {
        let packed = self.response.value("content-encoding");
        if packed.is_some_and(|how| how != "identity") {
            return None;
        }
        let kind = self.response.value("content-type")?;
        match kind.split(';').next().unwrap_or_default().trim() {
            "text/event-stream" => Some(StreamFormat::Sse),
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" => {
                Some(StreamFormat::Jsonl)
            }
            _ => None,
        }
    }

    fn body(
        &self,
        wire: &mut Wire<&TcpStream>,
        mut body: Body,
        (watched, chunked): (Option<StreamFormat>, bool),
    ) -> Result<(), Broken> {
        let metrics = &self.shared.metrics;
        let mut judge = watched.map(|format| Judge::new(&self.shared.options, format));
        metrics.add(Counter::Watched, u64::from(judge.is_some()));
        let mut piece = Vec::new();
        loop {
            piece.clear();
            let (n, verdict) = self.next((wire, &mut body), &mut piece, judge.as_mut())?;
            for warning in judge.as_mut().map_or(Vec::new(), Judge::warnings) {
                metrics.warning(warning.kind);
                (self.shared.options.tell)(judge.as_ref().map_or("", Judge::model), &warning);
            }
            if let Verdict::Stop(kept, ending, alarm) = verdict {
                let model = judge.as_ref().map_or("", Judge::model);
                metrics.alarm(alarm.kind);
                (self.shared.options.tell)(model, &alarm);
                // Of a response that is over nothing can be cut.
                if n != Some(0) {
                    piece.truncate(kept);
                    piece.extend(ending);
                    self.pass(&piece, chunked)?;
                }
                break;
            }
            if n == Some(0) {
                break;
            }
            self.pass(&piece, chunked)?;
        }
        match chunked {
            true => self.gone(write_chunk(self.client, b"")),
            false => Ok(()),
        }
    }

    /// Reads the next bytes of the body and asks the guard about them. Returns how many bytes came (0 at the end of the
    /// body, `None` if nothing came for a while) and the verdict.
    fn next(
        &self,
        (wire, body): (&mut Wire<&TcpStream>, &mut Body),
        piece: &mut Vec<u8>,
        judge: Option<&mut Judge>,
    ) -> Result<(Option<usize>, Verdict), Broken> {
        match body.read(wire, piece) {
            Ok(n) => {
                let verdict = judge.map_or(Verdict::Pass, |judge| judge.judge(piece));
                Ok((Some(n), verdict))
            }
            Err(e) if timed_out(&e) => {
                still_there(self.client, self.shared)?;
                let verdict = judge.map_or(Verdict::Pass, Judge::silence);
                Ok((None, verdict))
            }
            // Without the last chunk the client knows that this is not the end.
            Err(_) => {
                self.shared.metrics.add(Counter::UpstreamGone, 1);
                Err(Broken::Upstream)
            }
        }
    }

    fn pass(&self, bytes: &[u8], chunked: bool) -> Result<(), Broken> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.shared.metrics.add(Counter::Bytes, bytes.len() as u64);
        match chunked {
            true => self.gone(write_chunk(self.client, bytes)),
            false => self.write(bytes),
        }
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Broken> {
        let mut client = self.client;
        self.gone(client.write_all(bytes))
    }

    fn gone(&self, written: io::Result<()>) -> Result<(), Broken> {
        written.map_err(|_| {
            self.shared.metrics.add(Counter::ClientGone, 1);
            Broken::Client
        })
    }
}
