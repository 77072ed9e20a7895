//! [`Metrics`]: the counters of `/metrics`, in the text format of Prometheus.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use deadloop_detect::Fault;
use deadloop_detect::Kind;

use crate::ProxyState;

/// Defines the counters with their names and help texts.
macro_rules! counters {
    ($($counter:ident = $name:literal: $help:literal,)*) => {
        /// A counter of `/metrics`.
        #[derive(Clone, Copy)]
        pub(crate) enum MetricCounter { $(#[doc = $help] $counter,)* }

        const COUNTERS: &[(MetricCounter, &str, &str)] = &[$((MetricCounter::$counter, $name, $help)),*];
    };
}

counters! {
    Requests = "requests_total": "requests passed on",
    Watched = "watched_total": "responses that a guard watched",
    Bytes = "bytes_total": "bytes of responses passed on",
    ClientGone = "client_gone_total": "clients gone before the end of their response",
    UpstreamGone = "upstream_gone_total": "servers gone before the end of their response",
    BadGateway = "bad_gateway_total": "requests that no server answered",
    BadRequest = "bad_request_total": "requests that could not be read",
    Refused = "refused_total": "connections above the limit",
    Unwatched = "unwatched_lines_total": "lines of watched responses that no guard could read",
    Tunnels = "tunnels_total": "requests that became something other than HTTP (101)",
    Unheard = "unheard_requests_total": "requests of which no guard could read what the user wrote",
    Packed = "packed_streams_total": "streams that no guard could read, because the server packed them",
}

/// The number of alarms of each kind.
#[derive(Default)]
struct KindCounts {
    loops: [AtomicU64; Kind::ALL.len()],
    faults: [AtomicU64; Fault::ALL.len()],
}

impl KindCounts {
    fn add(&self, kind: Kind) {
        let count = match kind {
            Kind::Fault(fault) => self.faults.get(fault as usize),
            kind => {
                let nth = Kind::ALL.iter().position(|known| *known == kind);
                nth.map(|nth| &self.loops[nth])
            }
        };
        if let Some(count) = count {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the label and count of each kind of loop, and of each kind of fault that occurred.
    fn label_counts(&self) -> Vec<(String, u64)> {
        let row = |name, n: &AtomicU64| (format!("{{kind=\"{name}\"}}"), n.load(Ordering::Relaxed));
        let loops = Kind::ALL.iter().zip(&self.loops);
        let loops = loops.map(|(kind, n)| row(kind.name(), n));
        let faults = Fault::ALL.iter().zip(&self.faults);
        let faults = faults
            .map(|(fault, n)| row(fault.name(), n))
            .filter(|(_, n)| *n > 0);
        loops.chain(faults).collect()
    }
}

/// The counters of a proxy.
#[derive(Default)]
pub(crate) struct Metrics {
    counts: [AtomicU64; COUNTERS.len()],
    alarms: KindCounts,
    warnings: KindCounts,
    connections: AtomicUsize,
}

impl Metrics {
    /// Adds `n` to a counter and returns its previous value.
    pub(crate) fn add(&self, counter: MetricCounter, n: u64) -> u64 {
        self.counts[counter as usize].fetch_add(n, Ordering::Relaxed)
    }

    /// Counts an alarm that ended a stream.
    pub(crate) fn count_alarm(&self, kind: Kind) {
        self.alarms.add(kind);
    }

    /// Counts an alarm that only warns or observes.
    pub(crate) fn count_warning(&self, kind: Kind) {
        self.warnings.add(kind);
    }

    /// Returns the number of open connections.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        let mut metric = |name: &str, kind: &str, help: &str, rows: &[(String, u64)]| {
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "# HELP deadloop_{name} {help}\n# TYPE deadloop_{name} {kind}"
            );
            for (labels, n) in rows {
                let _ = writeln!(text, "deadloop_{name}{labels} {n}");
            }
        };
        for &(counter, name, help) in COUNTERS {
            let n = self.counts[counter as usize].load(Ordering::Relaxed);
            metric(name, "counter", help, &[(String::new(), n)]);
        }
        let help = "streams that were ended, by kind of loop or fault";
        metric("alarms_total", "counter", help, &self.alarms.label_counts());
        let help = "alarms that only warn or observe, by kind of loop or fault";
        metric(
            "warnings_total",
            "counter",
            help,
            &self.warnings.label_counts(),
        );
        let open = [(String::new(), self.connections() as u64)];
        metric("connections", "gauge", "connections open now", &open);
        text
    }
}

/// Guard value that counts an open connection until it is dropped.
pub(crate) struct ConnectionCount(Arc<ProxyState>);

impl ConnectionCount {
    pub(crate) fn new(shared: Arc<ProxyState>) -> Self {
        shared.metrics.connections.fetch_add(1, Ordering::SeqCst);
        Self(shared)
    }

    pub(crate) fn shared(&self) -> &ProxyState {
        &self.0
    }
}

impl Drop for ConnectionCount {
    fn drop(&mut self) {
        self.0.metrics.connections.fetch_sub(1, Ordering::SeqCst);
    }
}
