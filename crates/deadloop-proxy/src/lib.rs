//! A guard between any client and any server of LLM streams: HTTP/1.1 in, HTTP/1.1 out, a guard a response.
//!
//! | to find | look in |
//! |---|---|
//! | the listener, its limits, how it stops | [`Proxy`] |
//! | one request and its response | `exchange` |
//! | heads and bodies of HTTP | `http` |
//! | where requests go | `upstream` |
//! | bytes of a stream in, the byte at which it would be aborted out | `judge` |
//! | what `/metrics` says | `metrics` |
//! | heads, bodies and judging without a connection, for tests and fuzzing | `parts` |
//!
//! A thread a connection, with a stack of 256 KiB: a thread that waits costs some pages of it. Nothing is
//! buffered beyond what one read gave, so a slow client slows its server down (backpressure of TCP). There is no
//! TLS here: it is left to what stands before and behind.

#![deny(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "they panic where nobody reads any more"
)]

mod exchange;
mod http;
mod judge;
mod metrics;
#[doc(hidden)]
pub mod parts;
mod upstream;

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use deadloop_corpus::ThinkRules;
use deadloop_detect::{Alarm, Guards};

use metrics::Metrics;
pub use upstream::{Upstream, UpstreamError};

/// What is told of each alarm, besides the counters: the model and the alarm.
pub type Tell = Box<dyn Fn(&str, &Alarm) + Send + Sync>;

/// What stands between clients and a server.
pub struct ProxyOptions {
    /// Where requests go.
    pub upstream: Upstream,
    /// The guards of all models.
    pub guards: Guards,
    /// How texts with think tags are split.
    pub think: ThinkRules,
    /// Connections at once; those above get a 503.
    pub most: usize,
    /// Is called with each alarm.
    pub tell: Tell,
}

/// The stack of a connection's thread, in bytes: what it works on is on the heap.
const STACK: usize = 256 << 10;

/// A listening proxy.
pub struct Proxy {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// What all connections have in common.
pub(crate) struct Shared {
    pub(crate) options: ProxyOptions,
    pub(crate) metrics: Metrics,
    stopping: AtomicBool,
}

impl Shared {
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
        // Wakes the listener; where that fails it is not waiting.
        drop(TcpStream::connect_timeout(&self.at, Duration::from_secs(1)));
    }
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
            stopping: AtomicBool::new(false),
        };
        Ok(Self {
            listener: TcpListener::bind(listen)?,
            shared: Arc::new(shared),
        })
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
        let mut at = self.address()?;
        if at.ip().is_unspecified() {
            at.set_ip(match at.is_ipv4() {
                true => std::net::Ipv4Addr::LOCALHOST.into(),
                false => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        Ok(Stopper {
            shared: Arc::clone(&self.shared),
            at,
        })
    }

    /// Takes connections until it is stopped, then waits up to `grace` for those under way. Returns how many
    /// were still open then.
    pub fn run(self, grace: Duration) -> usize {
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
        loop {
            let open = self.shared.metrics.connections();
            if open == 0 || began.elapsed() >= grace {
                return open;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn take(&self, client: TcpStream) {
        let shared = Arc::clone(&self.shared);
        if shared.metrics.connections() >= shared.options.most {
            shared.metrics.refused();
            exchange::refuse(client);
            return;
        }
        let open = metrics::Open::new(shared);
        let thread = thread::Builder::new().stack_size(STACK);
        let serve = move || exchange::serve(client, open.shared());
        // Without a thread the connection is closed, as by a server that is full.
        drop(thread.spawn(serve));
    }
}
