//! A guard between any client and any server of LLM streams: HTTP/1.1 in, HTTP/1.1 out, a guard a response.
//!
//! | to find | look in |
//! |---|---|
//! | the listener, its limits, how it stops | [`Proxy`] |
//! | one request and its response | `exchange` |
//! | heads and bodies of HTTP | `http`, and what of a request is refused: `strict` |
//! | what a request says to the guard of its response | `asking` |
//! | a request as the server gets it | `onward` |
//! | what the proxy answers itself, and how it closes | `reply` |
//! | what follows a 101 | `tunnel` |
//! | where requests go | `upstream` |
//! | bytes of a response in, what the client gets out | `judge` |
//! | what `/metrics` says, and its address | `metrics`, `scrape` |
//! | a page for one person on this machine, for `label --serve` | `local` |
//! | heads, bodies and judging without a connection, for tests and fuzzing | `parts` |
//!
//! A thread a connection, with a stack of 256 KiB: a thread that waits costs some pages of it. Nothing is
//! buffered beyond what one read gave, so a slow client slows its server down (backpressure of TCP). There is no
//! TLS here: it is left to what is before and behind.

#![deny(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "they panic where nobody reads any more"
)]

mod asking;
mod exchange;
mod few;
mod http;
mod judge;
mod local;
mod metrics;
mod onward;
#[doc(hidden)]
pub mod parts;
mod reply;
mod scrape;
mod strict;
mod tunnel;
mod upstream;

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use deadloop_corpus::ThinkRules;
use deadloop_detect::{Alarm, Guards};

use few::Few;
pub use judge::Followed;
pub use local::{Local, LocalAnswer, LocalRequest};
use metrics::{Counter, Metrics};
pub use upstream::{Upstream, UpstreamError};

/// What is told besides the counters.
#[derive(Clone, Copy, Debug)]
pub enum ProxyNews<'a> {
    /// An alarm: the model, the alarm and what followed.
    Alarm(&'a str, &'a Alarm, Followed),
    /// The first stream that no guard could read, because the server packed it in this way though it was asked not to.
    Packed(&'a str),
}

/// What is between clients and a server.
pub struct ProxyOptions {
    /// Where requests go.
    pub upstream: Upstream,
    /// The guards of all models.
    pub guards: Guards,
    /// How texts with think tags are split.
    pub think: ThinkRules,
    /// Connections at once; those above get a 503.
    pub most: usize,
    /// Is called with each alarm, and with what else is told.
    pub tell: Box<dyn Fn(ProxyNews<'_>) + Send + Sync>,
}

/// The stack of a connection's thread, in bytes: what it works on is on the heap.
const STACK: usize = 256 << 10;
/// Most clients at once that are told that there are too many; further ones are just closed.
const REFUSALS: usize = 64;

/// A listening proxy.
pub struct Proxy {
    listener: TcpListener,
    /// Where `/metrics` is.
    scraped: Option<TcpListener>,
    refusals: Few,
    shared: Arc<Shared>,
}

/// What all connections have in common.
pub(crate) struct Shared {
    pub(crate) options: ProxyOptions,
    pub(crate) metrics: Metrics,
    /// Bytes of requests' bodies that are held.
    pub(crate) held: AtomicUsize,
    stopping: AtomicBool,
    ended: AtomicBool,
}

impl Shared {
    /// Whether nothing is under way any more, or nothing is waited for.
    pub(crate) fn ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Whether no further request is taken.
    pub(crate) fn stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }
}

/// Stops a proxy from another thread.
#[derive(Clone)]
pub struct Stopper {
    shared: Arc<Shared>,
    at: SocketAddr,
}

impl Stopper {
    /// From now on no connection and no further request is taken; streams that are under way go on.
    pub fn stop(&self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        wake(self.at);
    }
}

/// Wakes a listener that waits; where that fails it does not wait.
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
    /// Listens.
    ///
    /// # Errors
    /// The address cannot be listened at.
    pub fn bind(listen: &str, options: ProxyOptions) -> io::Result<Self> {
        let shared = Shared {
            options,
            metrics: Metrics::default(),
            held: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
            ended: AtomicBool::new(false),
        };
        Ok(Self {
            listener: TcpListener::bind(listen)?,
            scraped: None,
            refusals: Few::new(REFUSALS),
            shared: Arc::new(shared),
        })
    }

    /// Also listens at an address for `GET /metrics`, and says which that is. Without one there are no metrics: a path of
    /// the address that clients use is the server's.
    ///
    /// # Errors
    /// The address cannot be listened at.
    pub fn metrics_at(&mut self, address: &str) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind(address)?;
        let at = listener.local_addr()?;
        self.scraped = Some(listener);
        Ok(at)
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// What stops it.
    ///
    /// # Errors
    /// The system does not say where it listens.
    pub fn stopper(&self) -> io::Result<Stopper> {
        Ok(Stopper {
            shared: Arc::clone(&self.shared),
            at: self.address()?,
        })
    }

    /// Takes connections until it is stopped, then waits up to `grace` for those under way. Returns how many
    /// were still open then.
    pub fn run(mut self, grace: Duration) -> usize {
        let scraped = self.scraped.take().and_then(|listener| {
            let (at, shared) = (listener.local_addr().ok()?, Arc::clone(&self.shared));
            let thread = thread::Builder::new().stack_size(STACK);
            let serve = move || scrape::listen(&listener, &shared);
            thread.spawn(serve).ok().map(|_| at)
        });
        for client in self.listener.incoming() {
            if self.shared.stopping() {
                break;
            }
            match client {
                Ok(client) => self.take(client),
                // Out of file handles: whoever waits is taken when some stream has ended.
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
            shared.metrics.add(Counter::Refused, 1);
            self.refusals.thread(move || exchange::refuse(&client));
            return;
        }
        let open = metrics::Open::new(shared);
        let thread = thread::Builder::new().stack_size(STACK);
        let serve = move || exchange::serve(client, open.shared());
        // Without a thread the connection is closed, as by a server that is full.
        drop(thread.spawn(serve));
    }
}
