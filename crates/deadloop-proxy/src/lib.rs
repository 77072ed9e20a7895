//! An HTTP/1.1 proxy that watches the responses of an LLM server.
//!
//! Each response has a separate guard.
//!
//! | to find | look in |
//! |---|---|
//! | the listener, its limits, and how to stop it | [`Proxy`] |
//! | one request and its response | `exchange` |
//! | heads and bodies of HTTP | `http` |
//! | rules for refusing requests | `strict` |
//! | task and user's texts of a request | `prompt` |
//! | encoding of a request for the server | `upstream_request` |
//! | the proxy's own responses, and closing | `reply` |
//! | connections after a protocol switch | `tunnel` |
//! | the server's address | `upstream` |
//! | the connection to the server, TLS | `server_connection` |
//! | the guard of a response | `response_guard` |
//! | counters and the server of `/metrics` | `metrics`, `scrape` |
//! | local web pages, for `label --serve` | `local_page` |
//! | reading and watching without connections, for tests and fuzzing | `offline` |
//!
//! Each connection has a thread with a stack of 256 KiB. A waiting thread uses only some pages of it. Only the bytes of
//! one read are buffered, so a slow client slows its server down (backpressure of TCP). TLS is
//! used only towards the server. For clients, another program can add it.

// These macros panic if the reader of the output is gone.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod exchange;
mod http;
mod local_page;
mod metrics;
#[doc(hidden)]
pub mod offline;
mod prompt;
mod reply;
mod response_guard;
mod scrape;
mod server_connection;
mod strict;
mod thread_group;
mod tunnel;
mod upstream;
mod upstream_request;

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use deadloop_corpus::ThinkRules;
use deadloop_detect::{Alarm, Guards};

pub use local_page::{LocalPage, LocalRequest, LocalResponse};
use metrics::{MetricCounter, Metrics};
pub use response_guard::AlarmEffect;
use thread_group::ThreadGroup;
pub use upstream::{Upstream, UpstreamError};

/// An event that the proxy reports to its operator, in addition to the counters.
#[derive(Clone, Copy, Debug)]
pub enum ProxyEvent<'a> {
    /// An alarm, with the model before it and the effect after it.
    Alarm(&'a str, &'a Alarm, AlarmEffect),
    /// The first stream that no guard could read because the server compressed it although the request did not allow
    /// that. Holds the content encoding.
    Compressed(&'a str),
    /// A failed TLS handshake with the server. Holds the reason.
    TlsFailed(&'a str),
}

/// The options of a proxy.
pub struct ProxyOptions {
    /// The server to which requests are forwarded.
    pub upstream: Upstream,
    /// The guards of all models.
    pub guards: Guards,
    /// The rules for splitting thinking from answers.
    pub think: ThinkRules,
    /// The maximum number of open connections. Further ones get a 503.
    pub max_connections: usize,
    /// The callback that reports alarms and other events.
    pub on_event: Box<dyn Fn(ProxyEvent<'_>) + Send + Sync>,
}

/// The stack size of a connection's thread, in bytes. Buffers are on the heap.
const STACK_BYTES: usize = 256 << 10;
/// The maximum number of simultaneous 503 answers because of too many connections. Further connections are closed.
const MAX_REFUSALS: usize = 64;

/// A listening proxy.
pub struct Proxy {
    listener: TcpListener,
    /// The listener for `/metrics`, if enabled.
    metrics_listener: Option<TcpListener>,
    refusals: ThreadGroup,
    shared: Arc<ProxyState>,
}

/// The state shared by all connections.
pub(crate) struct ProxyState {
    pub(crate) options: ProxyOptions,
    pub(crate) metrics: Metrics,
    /// The number of request body bytes held in memory.
    pub(crate) held: AtomicUsize,
    stopping: AtomicBool,
    ended: AtomicBool,
}

impl ProxyState {
    /// Returns whether the proxy has ended, because no connection is left or the grace period is over.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Returns whether the proxy accepts no further requests.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }
}

/// A handle for stopping a proxy from another thread.
#[derive(Clone)]
pub struct StopHandle {
    shared: Arc<ProxyState>,
    at: SocketAddr,
}

impl StopHandle {
    /// Stops accepting connections and requests. Open streams continue.
    pub fn stop(&self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        wake_listener(self.at);
    }
}

/// Wakes a waiting listener by connecting to it. If connecting fails, the listener is not waiting.
fn wake_listener(mut at: SocketAddr) {
    if at.ip().is_unspecified() {
        at.set_ip(if at.is_ipv4() {
            std::net::Ipv4Addr::LOCALHOST.into()
        } else {
            std::net::Ipv6Addr::LOCALHOST.into()
        });
    }
    drop(TcpStream::connect_timeout(&at, Duration::from_secs(1)));
}

impl Proxy {
    /// Binds the proxy to an address.
    ///
    /// # Errors
    /// Returns an error if the address cannot be bound.
    pub fn bind(listen: &str, options: ProxyOptions) -> io::Result<Self> {
        let shared = ProxyState {
            options,
            metrics: Metrics::default(),
            held: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
            ended: AtomicBool::new(false),
        };
        Ok(Self {
            listener: TcpListener::bind(listen)?,
            metrics_listener: None,
            refusals: ThreadGroup::new(MAX_REFUSALS),
            shared: Arc::new(shared),
        })
    }

    /// Makes the proxy serve `GET /metrics` at a separate address, and returns that address.
    ///
    /// Without it there are no metrics, because all paths of the clients' address belong to the server.
    ///
    /// # Errors
    /// Returns an error if the address cannot be bound.
    pub fn serve_metrics_at(&mut self, address: &str) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind(address)?;
        let at = listener.local_addr()?;
        self.metrics_listener = Some(listener);
        Ok(at)
    }

    /// Returns the address on which the proxy listens.
    ///
    /// # Errors
    /// Returns an error if the system does not report the address.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Returns a handle to stop the proxy.
    ///
    /// # Errors
    /// Returns an error if the system does not report the address of the listener.
    pub fn stop_handle(&self) -> io::Result<StopHandle> {
        Ok(StopHandle {
            shared: Arc::clone(&self.shared),
            at: self.address()?,
        })
    }

    /// Accepts connections until the proxy is stopped, then waits up to `grace` for open ones. Returns the number of
    /// connections still open.
    pub fn run(mut self, grace: Duration) -> usize {
        let metrics_listener = self.metrics_listener.take().and_then(|listener| {
            let (at, shared) = (listener.local_addr().ok()?, Arc::clone(&self.shared));
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            let serve = move || scrape::serve_metrics(&listener, &shared);
            thread.spawn(serve).ok().map(|_| at)
        });
        for client in self.listener.incoming() {
            if self.shared.is_stopping() {
                break;
            }
            match client {
                Ok(client) => self.serve_client(client),
                // Out of file handles: waiting clients are accepted when a stream has ended.
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        }
        drop(self.listener);
        let began = Instant::now();
        let open = loop {
            let open = self.shared.metrics.connections();
            if open == 0 || began.elapsed() >= grace {
                break open;
            }
            thread::sleep(Duration::from_millis(20));
        };
        self.shared.ended.store(true, Ordering::SeqCst);
        if let Some(at) = metrics_listener {
            wake_listener(at);
        }
        open
    }

    fn serve_client(&self, client: TcpStream) {
        let shared = Arc::clone(&self.shared);
        if shared.metrics.connections() >= shared.options.max_connections {
            shared.metrics.add(MetricCounter::Refused, 1);
            self.refusals.spawn(move || exchange::refuse(&client));
            return;
        }
        let open = metrics::ConnectionCount::new(shared);
        let thread = thread::Builder::new().stack_size(STACK_BYTES);
        let serve = move || exchange::serve(client, open.shared());
        // If no thread can start, the connection is closed, as by an overloaded server.
        drop(thread.spawn(serve));
    }
}
