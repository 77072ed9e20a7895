//! Serving of a client's connection, request by request.
//!
//! Each request is sent to the server, and its response is relayed as it arrives, up to an alarm of its guard.

use std::io::{self, ErrorKind, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use deadloop_corpus::StreamFormat;

use crate::http::{BodyState, Connection, Framing, MessageHead};
use crate::metrics::MetricCounter;
use crate::prompt::PromptReader;
use crate::reply::{self, ProxyReply};
use crate::response_guard::{AlarmEffect, ResponseGuard};
use crate::server_connection::ServerConnection;
use crate::tunnel;
use crate::upstream_request::{UpstreamRequest, write_chunk};
use crate::{ProxyEvent, ProxyOptions, ProxyState};

/// The timeout of one read. After each, a connection without bytes is checked.
const READ_TIMEOUT: Duration = Duration::from_millis(500);
/// The maximum number of read timeouts before the next request, or within a request.
const MAX_IDLE_READS: u32 = 120;
/// The maximum time without a read of the client. Then it is disconnected.
const WRITE_TIMEOUT: Duration = Duration::from_secs(300);

/// The reasons why an exchange ends early.
enum ExchangeError {
    /// The client disconnected or sent no request.
    Client,
    /// The server disconnected during its response.
    Upstream,
    /// The request is refused for this reason, and its rest is not read.
    Request(String),
    /// The server sent no valid response, for this reason.
    Unanswered(String),
}

/// The end of an exchange: whether the client may send another request.
type ExchangeResult = Result<bool, ExchangeError>;

/// Answers a client with a 503 because of too many connections, and closes the connection.
pub(crate) fn refuse(client: &TcpStream) {
    let _ = client.set_write_timeout(Some(Duration::from_secs(1)));
    ProxyReply::from_text("503 Service Unavailable", "too many streams\n").finish(client);
}

/// Serves a client's connection until it ends.
pub(crate) fn serve(client: TcpStream, shared: &ProxyState) {
    let ready = client
        .set_nodelay(true)
        .and_then(|()| client.set_read_timeout(Some(READ_TIMEOUT)))
        .and_then(|()| client.set_write_timeout(Some(WRITE_TIMEOUT)));
    reply::enable_keepalive(&client);
    let mut wire = Connection::of_client(&client);
    let mut end = ready.map(|()| true).map_err(|_| ExchangeError::Client);
    while let Ok(true) = end {
        end = handle_request(&client, &mut wire, shared);
    }
    match end {
        Err(ExchangeError::Request(what)) => {
            shared.metrics.add(MetricCounter::BadRequest, 1);
            ProxyReply::from_text("400 Bad Request", &(what + "\n")).finish(&client);
        }
        Err(ExchangeError::Unanswered(what)) => {
            shared.metrics.add(MetricCounter::BadGateway, 1);
            ProxyReply::from_text("502 Bad Gateway", &what).finish(&client);
        }
        Err(ExchangeError::Client) => drop(client.shutdown(Shutdown::Both)),
        Ok(_) | Err(ExchangeError::Upstream) => reply::close(&client),
    }
}

fn unanswered_error(what: &str) -> ExchangeError {
    ExchangeError::Unanswered(what.to_owned())
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Handles one request and its response.
fn handle_request(
    client: &TcpStream,
    wire: &mut Connection<&TcpStream>,
    shared: &ProxyState,
) -> ExchangeResult {
    let Some(head) = read_request_head(wire, shared)? else {
        return Ok(false);
    };
    let refused = |what: &str| ExchangeError::Request(what.to_owned());
    let request = MessageHead::of_request(&head).map_err(refused)?;
    let framing = request.framing().map_err(refused)?;
    shared.metrics.add(MetricCounter::Requests, 1);
    let upstream = connect(shared)?;
    if request.list_has("expect", "100-continue") {
        let mut client = client;
        let go = client.write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
        go.map_err(|_| ExchangeError::Client)?;
    }
    let forwarded = UpstreamRequest {
        head: &request,
        framing,
    };
    let mut answer = ServerAnswer::new(&upstream, client, shared);
    let mut prompt = PromptReader::new(&request, shared);
    let sent = send_request(&forwarded, (wire, &mut prompt), &mut answer)?;
    let Some(response) = answer.read_head()? else {
        return Err(unanswered_error("the server did not answer\n"));
    };
    let relay = Relay {
        client,
        request: &request,
        response: &response,
        // The client may still be sending the part of the request that the server refused.
        is_last: !sent,
        shared,
    };
    match response.start.0.as_str() {
        "101" => relay.switch_protocol(wire, &answer.wire),
        _ => relay.forward_response(&mut answer.wire, prompt),
    }
}

/// Connects to the server.
fn connect(shared: &ProxyState) -> Result<ServerConnection, ExchangeError> {
    let ProxyOptions {
        upstream, on_event, ..
    } = &shared.options;
    let failed =
        |why: &str| ExchangeError::Unanswered(format!("the server cannot be reached{why}\n"));
    let socket = upstream.connect().map_err(|_| failed(""))?;
    reply::enable_keepalive(&socket);
    ServerConnection::new(socket, upstream.tls()).map_err(|why| {
        on_event(ProxyEvent::TlsFailed(&why));
        failed(&format!(": {why}"))
    })
}

/// Reads the head of the next request. `None` if the client is done.
///
/// While the proxy stops, a client that has not begun a request is treated as disconnected.
fn read_request_head(
    wire: &mut Connection<&TcpStream>,
    shared: &ProxyState,
) -> Result<Option<Vec<u8>>, ExchangeError> {
    for _ in 0..MAX_IDLE_READS {
        match wire.read_head() {
            Ok(head) => return Ok(head),
            Err(e) if is_timeout(&e) => {
                if shared.is_stopping() && !wire.has_begun() {
                    return Err(ExchangeError::Client);
                }
            }
            Err(e) if e.kind() == ErrorKind::InvalidData => {
                return Err(ExchangeError::Request(e.to_string()));
            }
            Err(_) => break,
        }
    }
    Err(ExchangeError::Client)
}

/// Sends the request to the server. Returns whether the server accepted all of it.
fn send_request(
    forwarded: &UpstreamRequest<'_>,
    (wire, prompt): (&mut Connection<&TcpStream>, &mut PromptReader<'_>),
    answer: &mut ServerAnswer<'_>,
) -> Result<bool, ExchangeError> {
    let mut upstream = answer.upstream;
    let _ = upstream.socket().set_nodelay(true);
    let _ = upstream.socket().set_read_timeout(Some(READ_TIMEOUT));
    let _ = upstream.socket().set_write_timeout(Some(WRITE_TIMEOUT));
    let head = forwarded.encode_head(&answer.shared.options.upstream);
    if upstream.write_all(&head).is_err() {
        return Ok(false);
    }
    let mut body = forwarded.framing.body(BodyState::Length(0));
    let (mut piece, mut idle) = (Vec::new(), 0);
    loop {
        piece.clear();
        let read = body.read(wire, &mut piece);
        if !matches!(read, Ok(0)) && answer.is_refusal() {
            return Ok(false);
        }
        match read {
            Ok(n) => {
                idle = 0;
                prompt.push(&piece);
                match (n, upstream.write_all(&forwarded.encode_piece(&piece))) {
                    (_, Err(_)) => return Ok(false),
                    (0, Ok(())) => return Ok(true),
                    _ => {}
                }
            }
            Err(e) if is_timeout(&e) && idle < MAX_IDLE_READS => idle += 1,
            Err(e) if e.kind() == ErrorKind::InvalidData => {
                return Err(ExchangeError::Request(e.to_string()));
            }
            Err(_) => return Err(ExchangeError::Client),
        }
    }
}

/// The server's side of an exchange.
struct ServerAnswer<'a> {
    upstream: &'a ServerConnection,
    wire: Connection<&'a ServerConnection>,
    /// The head of a response that arrived before the request was completely sent.
    early_head: Option<MessageHead>,
    client: &'a TcpStream,
    shared: &'a ProxyState,
}

impl<'a> ServerAnswer<'a> {
    fn new(upstream: &'a ServerConnection, client: &'a TcpStream, shared: &'a ProxyState) -> Self {
        Self {
            upstream,
            wire: Connection::of_server(upstream),
            early_head: None,
            client,
            shared,
        }
    }

    /// Returns whether the server refused an incomplete request or disconnected.
    fn is_refusal(&mut self) -> bool {
        while self.early_head.is_none() && self.has_begun() {
            match self.wire.read_head() {
                Ok(Some(head)) => match MessageHead::of_response(&head) {
                    Some(head) if is_interim(&head) => {}
                    Some(head) => self.early_head = Some(head),
                    None => return true,
                },
                // The rest of the head comes later.
                Err(e) if is_timeout(&e) => break,
                _ => return true,
            }
        }
        let status = self.early_head.as_ref().map(|head| head.start.0.as_str());
        status.is_some_and(|status| status >= "400")
    }

    /// Returns whether part of a response has arrived.
    fn has_begun(&self) -> bool {
        let peek = || self.upstream.peek();
        self.wire.has_begun() || count_unread(self.upstream.socket(), peek).is_ok_and(|n| n > 0)
    }

    /// Reads the head of the response, for as long as the client is connected. Skips heads with a 1xx status other than
    /// 101. `None` if the server sent no valid head.
    fn read_head(&mut self) -> Result<Option<MessageHead>, ExchangeError> {
        if let Some(early) = self.early_head.take() {
            return Ok(Some(early));
        }
        loop {
            match self.wire.read_head() {
                Ok(Some(head)) => match MessageHead::of_response(&head) {
                    Some(head) if is_interim(&head) => {}
                    known => return Ok(known),
                },
                Err(e) if is_timeout(&e) => check_connected(self.client, self.shared)?,
                _ => return Ok(None),
            }
        }
    }
}

/// Returns whether a head precedes that of the final response.
fn is_interim(head: &MessageHead) -> bool {
    head.start.0.starts_with('1') && head.start.0 != "101"
}

/// Checks that the client is still connected.
fn check_connected(client: &TcpStream, shared: &ProxyState) -> Result<(), ExchangeError> {
    // A client that has closed only its sending side may wait for its answer. If it has closed both sides, its system
    // reports that to a probe or to the next write.
    let lost = client.take_error();
    if matches!(lost, Ok(None)) && count_unread(client, || client.peek(&mut [0])).is_ok() {
        return Ok(());
    }
    shared.metrics.add(MetricCounter::ClientGone, 1);
    Err(ExchangeError::Client)
}

/// Returns the number of bytes that `peek` finds unread, without waiting. Also 0 if the other side has finished sending.
///
/// # Errors
///
/// The connection is broken.
fn count_unread(stream: &TcpStream, peek: impl FnOnce() -> io::Result<usize>) -> io::Result<usize> {
    stream.set_nonblocking(true)?;
    let peeked = peek();
    stream.set_nonblocking(false)?;
    match peeked {
        Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(0),
        peeked => peeked,
    }
}

/// The relay of one response to the client.
struct Relay<'a> {
    client: &'a TcpStream,
    request: &'a MessageHead,
    response: &'a MessageHead,
    /// Whether the connection takes no further requests.
    is_last: bool,
    shared: &'a ProxyState,
}

impl Relay<'_> {
    /// Relays the response. Returns whether the connection can take another request.
    fn forward_response(
        &self,
        wire: &mut Connection<&ServerConnection>,
        prompt: PromptReader<'_>,
    ) -> ExchangeResult {
        let status = self.response.start.0.as_str();
        let bare = self.request.start.0 == "HEAD" || matches!(status, "204" | "304");
        let Ok(framing) = self.response.framing() else {
            let what = "the length of the server's answer is not clear\n";
            return Err(unanswered_error(what));
        };
        let body = if bare {
            BodyState::Length(0)
        } else {
            framing.body(BodyState::Close)
        };
        let watched = self.watched_format().filter(|_| !bare);
        let guard = watched
            .map(|written| ResponseGuard::new(&self.shared.options, written, prompt.into_prompt()));
        // A response that may be cut has no length.
        let out = match framing {
            Framing::Length(_) if guard.is_none() && status != "204" => framing,
            _ if bare || !self.request.is_1_1 => Framing::None,
            _ => Framing::Chunked,
        };
        let close = self.is_last
            || !self.request.is_1_1
            || self.request.list_has("connection", "close")
            || self.shared.is_stopping();
        let connection = if close { "Connection: close\r\n" } else { "" };
        self.write_head(&[connection, &out.header()])?;
        self.relay_body(wire, body, (guard, out == Framing::Chunked))?;
        Ok(!close && (bare || out != Framing::None))
    }

    /// Relays a switch to another protocol, then the bytes of both sides.
    fn switch_protocol(
        &self,
        wire: &Connection<&TcpStream>,
        answer: &Connection<&ServerConnection>,
    ) -> ExchangeResult {
        let asked = self.request.upgrade();
        let Some(to) = self
            .response
            .lowercase_value("upgrade")
            .filter(|to| Some(to) == asked.as_ref())
        else {
            let what = "the server speaks something that it was not asked to\n";
            return Err(unanswered_error(what));
        };
        self.shared.metrics.add(MetricCounter::Tunnels, 1);
        self.write_head(&["Connection: Upgrade\r\n", &format!("Upgrade: {to}\r\n")])?;
        let ((client, sent), (server, begun)) = (wire.parts(), answer.parts());
        tunnel::relay_both_ways((client, sent), (server, begun));
        Ok(false)
    }

    /// Writes the head of the response, with additional header lines of the proxy.
    fn write_head(&self, own_headers: &[&str]) -> Result<(), ExchangeError> {
        let (status, reason) = &self.response.start;
        let mut head = format!("HTTP/1.1 {status} {reason}\r\n").into_bytes();
        head.extend(self.response.forwarded_headers(&[]));
        head.extend_from_slice(own_headers.concat().as_bytes());
        head.extend_from_slice(b"\r\n");
        self.write(&head)
    }

    /// Returns the format of the response. `None` if no guard can watch it.
    fn watched_format(&self) -> Option<StreamFormat> {
        let kind = self.response.lowercase_value("content-type")?;
        let format = match kind.split(';').next().unwrap_or_default().trim() {
            "text/event-stream" => StreamFormat::Sse,
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" => {
                StreamFormat::Jsonl
            }
            _ => return None,
        };
        let packed = self.response.lowercase_value("content-encoding");
        let Some(how) = packed.filter(|how| how != "identity") else {
            return Some(format);
        };
        // Reported once, since a server that compresses one response compresses all.
        if self.shared.metrics.add(MetricCounter::Packed, 1) == 0 {
            (self.shared.options.on_event)(ProxyEvent::Compressed(&how));
        }
        None
    }

    fn relay_body(
        &self,
        wire: &mut Connection<&ServerConnection>,
        mut body: BodyState,
        (mut guard, chunked): (Option<ResponseGuard>, bool),
    ) -> Result<(), ExchangeError> {
        let metrics = &self.shared.metrics;
        metrics.add(MetricCounter::Watched, u64::from(guard.is_some()));
        let (mut piece, mut counted) = (Vec::new(), 0);
        loop {
            piece.clear();
            let (n, ended) = self.read_piece((wire, &mut body), &mut piece, guard.as_mut())?;
            let unread = guard.as_ref().map_or(0, ResponseGuard::unread);
            metrics.add(MetricCounter::Unwatched, unread - counted);
            counted = unread;
            if let Some(guard) = &mut guard {
                self.report_alarms(guard);
            }
            self.forward_bytes(&piece, chunked)?;
            if ended || n == Some(0) {
                break;
            }
        }
        if chunked {
            self.check_written(write_chunk(self.client, b""))
        } else {
            Ok(())
        }
    }

    /// Counts and reports the new alarms of the guard.
    fn report_alarms(&self, guard: &mut ResponseGuard) {
        let ProxyState {
            metrics, options, ..
        } = self.shared;
        for (alarm, followed) in guard.take_alarms() {
            match followed {
                AlarmEffect::Nothing => metrics.count_warning(alarm.kind),
                AlarmEffect::Ended => metrics.count_alarm(alarm.kind),
            }
            (options.on_event)(ProxyEvent::Alarm(guard.model(), &alarm, followed));
        }
    }

    /// Reads the next bytes of the body, passes them to the guard, and leaves the bytes for the client in `piece`.
    ///
    /// Returns the number of bytes read, and whether the guard ended the response. The number is 0 at the end of the
    /// body, and `None` if no bytes arrived before the timeout.
    fn read_piece(
        &self,
        (wire, body): (&mut Connection<&ServerConnection>, &mut BodyState),
        piece: &mut Vec<u8>,
        guard: Option<&mut ResponseGuard>,
    ) -> Result<(Option<usize>, bool), ExchangeError> {
        match body.read(wire, piece) {
            Ok(n) => {
                let ended = guard.is_some_and(|guard| guard.check_bytes(piece));
                Ok((Some(n), ended))
            }
            Err(e) if is_timeout(&e) => {
                check_connected(self.client, self.shared)?;
                let ended = guard.is_some_and(|guard| guard.check_silence(piece));
                Ok((None, ended))
            }
            // Since the last chunk is missing, the client can tell that the response is incomplete.
            Err(_) => {
                self.shared.metrics.add(MetricCounter::UpstreamGone, 1);
                Err(ExchangeError::Upstream)
            }
        }
    }

    fn forward_bytes(&self, bytes: &[u8], chunked: bool) -> Result<(), ExchangeError> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.shared
            .metrics
            .add(MetricCounter::Bytes, bytes.len() as u64);
        if chunked {
            self.check_written(write_chunk(self.client, bytes))
        } else {
            self.write(bytes)
        }
    }

    fn write(&self, bytes: &[u8]) -> Result<(), ExchangeError> {
        let mut client = self.client;
        self.check_written(client.write_all(bytes))
    }

    fn check_written(&self, written: io::Result<()>) -> Result<(), ExchangeError> {
        written.map_err(|_| {
            self.shared.metrics.add(MetricCounter::ClientGone, 1);
            ExchangeError::Client
        })
    }
}
