//! An HTTP/1.1 proxy between LLM clients and a server.
//!
//! Each response has its own guard.
//!
//! | to find | look in |
//! |---|---|
//! | the listener, its limits, and its stop | [`Proxy`] |
//! | one request and its response | `exchange` |
//! | heads and bodies of HTTP | `http`, and the rules of refusal: `strict` |
//! | the task and prompt of a request, for its guard | `prompt` |
//! | a request on its way to the server | `upstream_request` |
//! | the proxy's own answers, and closing | `reply` |
//! | the connection after a 101 | `tunnel` |
//! | the server's address | `upstream` |
//! | the connection to the server, TLS | `server_connection` |
//! | the guard of a response | `response_guard` |
//! | the content of `/metrics`, and its address | `metrics`, `scrape` |
//! | a page for one person on this machine, for `label --serve` | `local_page` |
//! | heads, bodies and judging without a connection, for tests and fuzzing | `offline` |
//!
//! Each connection has a thread with a stack of 256 KiB. A waiting thread uses only some pages of it. Only the bytes of
//! one read are buffered, so a slow client slows its server down (backpressure of TCP). TLS is
//! spoken with the server alone; towards clients it is left to a program before the proxy.

#![deny(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "they panic where nobody reads any more"
)]

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

pub use local_page::{LocalAnswer, LocalPage, LocalRequest};
use metrics::{MetricCounter, Metrics};
pub use response_guard::AlarmEffect;
use thread_group::ThreadGroup;
pub use upstream::{Upstream, UpstreamError};

/// An event reported besides the counters.
#[derive(Clone, Copy, Debug)]
pub enum ProxyNews<'a> {
    /// An alarm: the model, the alarm and what followed.
    Alarm(&'a str, &'a Alarm, AlarmEffect),
    /// The first stream that no guard could read, because the server compressed it in this way although the request did
    /// not allow that.
    Packed(&'a str),
    /// A server with which TLS could not begin, for this reason.
    NoTls(&'a str),
}

/// The settings of a proxy between clients and a server.
pub struct ProxyOptions {
    /// The server.
    pub upstream: Upstream,
    /// The guards of all models.
    pub guards: Guards,
    /// The rules for splitting texts with think tags.
    pub think: ThinkRules,
    /// The maximum number of connections at once. Further ones get a 503.
    pub most: usize,
    /// The callback for alarms and other events.
    pub tell: Box<dyn Fn(ProxyNews<'_>) + Send + Sync>,
}

/// The stack of a connection's thread, in bytes. Buffers are on the heap.
const STACK_BYTES: usize = 256 << 10;
/// The maximum number of clients at once that get a 503 for too many connections. Further connections are just closed.
const MAX_REFUSALS: usize = 64;

/// A listening proxy.
pub struct Proxy {
    listener: TcpListener,
    /// The listener for `/metrics`.
    scraped: Option<TcpListener>,
    refusals: ThreadGroup,
    shared: Arc<ProxyState>,
}

/// The state shared by all connections.
pub(crate) struct ProxyState {
    pub(crate) options: ProxyOptions,
    pub(crate) metrics: Metrics,
    /// The number of held bytes of request bodies.
    pub(crate) held: AtomicUsize,
    stopping: AtomicBool,
    ended: AtomicBool,
}

impl ProxyState {
    /// Returns whether the proxy has ended: no connection is left, or the grace period is over.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Returns whether the proxy accepts no more requests.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }
}

/// A handle to stop a proxy from another thread.
#[derive(Clone)]
pub struct Stopper {
    shared: Arc<ProxyState>,
    at: SocketAddr,
}

impl Stopper {
    /// Stops accepting connections and further requests. Open streams continue.
    pub fn stop(&self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        wake(self.at);
    }
}

/// Wakes a waiting listener by connecting to it. If that fails, the listener does not wait.
fn wake(mut at: SocketAddr) {
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
            scraped: None,
            refusals: ThreadGroup::new(MAX_REFUSALS),
            shared: Arc::new(shared),
        })
    }

    /// Also serves `GET /metrics` at an address of its own, and returns that address. Without it there are no
    /// metrics, since all paths of the clients' address belong to the server.
    ///
    /// # Errors
    /// Returns an error if the address cannot be bound.
    pub fn metrics_at(&mut self, address: &str) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind(address)?;
        let at = listener.local_addr()?;
        self.scraped = Some(listener);
        Ok(at)
    }

    /// Returns the address of the listener.
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
    pub fn stopper(&self) -> io::Result<Stopper> {
        Ok(Stopper {
            shared: Arc::clone(&self.shared),
            at: self.address()?,
        })
    }

    /// Accepts connections until the proxy is stopped, then waits up to `grace` for those still open. Returns the
    /// number of connections that remain open.
    pub fn run(mut self, grace: Duration) -> usize {
        let scraped = self.scraped.take().and_then(|listener| {
            let (at, shared) = (listener.local_addr().ok()?, Arc::clone(&self.shared));
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            let serve = move || scrape::listen(&listener, &shared);
            thread.spawn(serve).ok().map(|_| at)
        });
        for client in self.listener.incoming() {
            if self.shared.is_stopping() {
                break;
            }
            match client {
                Ok(client) => self.take(client),
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
        if let Some(at) = scraped {
            wake(at);
        }
        open
    }

    fn take(&self, client: TcpStream) {
        let shared = Arc::clone(&self.shared);
        if shared.metrics.connections() >= shared.options.most {
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
