//! [`LocalPage`]: a web page for one person on this machine.
//!
//! The page listens only on loopback, and every request must contain the token of its address. Pages of other programs
//! and users do not have the token.
//!
//! Threads read the requests, so that a silent connection of a browser does not block others. The caller's thread
//! answers them in turn.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::STACK_BYTES;
use crate::http::{BodyState, Connection, Framing, MessageHead};
use crate::reply::{self, ProxyReply};
use crate::thread_group::ThreadGroup;

/// The maximum number of connections being read. Further ones are closed.
const MAX_CONNECTIONS: usize = 32;
/// The time limit for reading a request and for writing its answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum length of a request's body, in bytes.
const MAX_BODY_BYTES: u64 = 64 << 10;
/// The length of the token, in bytes.
const TOKEN_BYTES: usize = 16;
/// The headers of every answer, which forbid caches, frames and other origins.
const SECURITY_HEADERS: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
                       Cross-Origin-Resource-Policy: same-origin\r\nContent-Security-Policy: frame-ancestors 'none'\r\n";

/// A web page that only programs on this machine can open.
pub struct LocalPage {
    listener: TcpListener,
    address: PageAddress,
}

/// A request with a valid token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalRequest {
    /// Whether the method is POST. If not, it is GET.
    pub posted: bool,
    /// The path after the token.
    pub path: String,
    /// The body, of at most 64 KiB.
    pub body: Vec<u8>,
}

/// The response of the page to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalResponse {
    /// The status, such as `200 OK`.
    pub status: &'static str,
    /// The content type of the text, such as `text/html`.
    pub kind: &'static str,
    /// The body of the response.
    pub text: String,
    /// Whether the page stops after this response.
    pub last: bool,
}

/// The address of a page, with its token.
#[derive(Clone, Debug)]
struct PageAddress {
    at: SocketAddr,
    token: String,
}

/// A request, and the connection that waits for its answer.
type PendingRequest = (LocalRequest, TcpStream);

impl LocalPage {
    /// Binds the page to 127.0.0.1. For port 0, the system chooses a free port.
    ///
    /// # Errors
    /// Returns an error if the port is taken, or if the system gives no random bytes for the token.
    pub fn bind(port: u16) -> io::Result<Self> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let at = listener.local_addr()?;
        Ok(Self {
            listener,
            address: PageAddress { at, token },
        })
    }

    /// Returns the URL to open, which contains the token.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://{}/{}/", self.address.at, self.address.token)
    }

    /// Answers requests in turn, until an answer is marked as the last.
    ///
    /// # Errors
    /// Returns the error of `answer`. Its request gets a 500.
    pub fn serve<E>(
        self,
        mut answer: impl FnMut(&LocalRequest) -> Result<LocalResponse, E>,
    ) -> Result<(), E> {
        let asked = self.spawn_readers();
        let closing = ThreadGroup::new(MAX_CONNECTIONS);
        for (request, client) in asked {
            let answer = match answer(&request) {
                Ok(answer) => answer,
                Err(error) => {
                    let what = "the program has ended; its terminal says why\n";
                    ProxyReply::from_text("500 Internal Server Error", what).finish(&client);
                    return Err(error);
                }
            };
            let reply = ProxyReply {
                status: answer.status,
                kind: answer.kind,
                headers: SECURITY_HEADERS,
                text: &answer.text,
            };
            reply.send(&client);
            if answer.last {
                reply::close(&client);
                return Ok(());
            }
            closing.spawn(move || reply::close(&client));
        }
        Ok(())
    }

    /// Reads requests on background threads, which also refuse invalid ones. The threads end with the program.
    fn spawn_readers(self) -> Receiver<PendingRequest> {
        let (send, asked) = channel();
        let Self { listener, address } = self;
        let readers = ThreadGroup::new(MAX_CONNECTIONS);
        let listen = move || {
            for client in listener.incoming() {
                match client {
                    Ok(client) => {
                        let (address, send) = (address.clone(), send.clone());
                        readers.spawn(move || address.receive_request(client, &send));
                    }
                    Err(_) => thread::sleep(Duration::from_millis(20)),
                }
            }
        };
        // If no thread can start, there are no requests and `serve` returns at once.
        drop(thread::Builder::new().stack_size(STACK_BYTES).spawn(listen));
        asked
    }
}

impl PageAddress {
    /// Reads a request and sends it to the answering thread with its connection. Refuses an invalid request.
    fn receive_request(&self, client: TcpStream, send: &Sender<PendingRequest>) {
        let ready = client
            .set_read_timeout(Some(REQUEST_TIMEOUT))
            .and_then(|()| client.set_write_timeout(Some(REQUEST_TIMEOUT)));
        let request = ready.map(|()| self.read_request(&client));
        match request {
            // The answering thread may have ended.
            Ok(Ok(Some(request))) => drop(send.send((request, client))),
            Ok(Err((status, what))) => {
                let reply = ProxyReply {
                    status,
                    kind: "text/plain",
                    headers: SECURITY_HEADERS,
                    text: what,
                };
                reply.finish(&client);
            }
            Ok(Ok(None)) | Err(_) => {}
        }
    }

    /// Reads a request. `None` if the connection ended or stayed silent. An error is the status and the text of the
    /// refusal.
    fn read_request(
        &self,
        client: &TcpStream,
    ) -> Result<Option<LocalRequest>, (&'static str, &'static str)> {
        const BAD_REQUEST: &str = "400 Bad Request";
        let mut wire = Connection::of_client(client);
        let head = match wire.read_head() {
            Ok(Some(head)) => head,
            Err(e) if e.kind() == io::ErrorKind::InvalidData => {
                return Err((BAD_REQUEST, "a request of HTTP/1.1 is wanted\n"));
            }
            Ok(None) | Err(_) => return Ok(None),
        };
        let head = MessageHead::of_request(&head).map_err(|what| (BAD_REQUEST, what))?;
        let path = self
            .path_of(&head)
            .map_err(|what| ("403 Forbidden", what))?;
        let posted = match head.start.0.as_str() {
            "GET" => false,
            "POST" => true,
            _ => return Err(("405 Method Not Allowed", "GET or POST is wanted\n")),
        };
        let length = match head.framing() {
            Ok(Framing::None) => 0,
            Ok(Framing::Length(length)) if length <= MAX_BODY_BYTES => length,
            _ => {
                return Err((
                    "413 Content Too Large",
                    "a body of at most 64 KiB is wanted\n",
                ));
            }
        };
        let (mut body, mut left) = (Vec::new(), BodyState::Length(length));
        while left
            .read(&mut wire, &mut body)
            .map_err(|_| (BAD_REQUEST, "the body ends early\n"))?
            > 0
        {}
        Ok(Some(LocalRequest { posted, path, body }))
    }

    /// Returns the path after the token. Refuses a request for another host, without the token, or from another page.
    fn path_of(&self, head: &MessageHead) -> Result<String, &'static str> {
        let port = self.at.port();
        let host = head.lowercase_value("host").unwrap_or_default();
        if host != self.at.to_string() && host != format!("localhost:{port}") {
            return Err("another Host\n");
        }
        let origin = head.lowercase_value("origin");
        if origin.is_some_and(|origin| origin != format!("http://{host}")) {
            return Err("another origin\n");
        }
        let site = head.lowercase_value("sec-fetch-site");
        if site.is_some_and(|site| site != "same-origin" && site != "none") {
            return Err("from another site\n");
        }
        let mut parts = head.start.1.splitn(3, '/').skip(1);
        let (token, rest) = (parts.next().unwrap_or_default(), parts.next());
        match rest.filter(|_| equal_in_constant_time(token, &self.token)) {
            Some(rest) => Ok(rest.to_owned()),
            None => Err("without the token: open the address that the terminal shows\n"),
        }
    }
}

/// Compares two texts in a time that does not depend on the position of the first difference.
fn equal_in_constant_time(one: &str, other: &str) -> bool {
    let differs = one
        .bytes()
        .zip(other.bytes())
        .fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && differs == 0
}
