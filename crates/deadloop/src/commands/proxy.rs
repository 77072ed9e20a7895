//! `deadloop proxy`: runs the guard between any client and any server.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use clap::Args;
use deadloop_detect::{Alarm, Feeds, Guards, Response, Setting, Settings};
use deadloop_proxy::{AlarmEffect, Proxy as ProxyServer, ProxyEvent, ProxyOptions, Upstream};

use crate::args::GlobalArgs;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::{interrupt, show};
use deadloop_run::settings::SettingsReader;
use deadloop_run::visible::visible;

/// The end of the help text.
pub(crate) const HELP: &str = "Examples:\n  deadloop proxy --listen 127.0.0.1:8080 --upstream http://127.0.0.1:8000 --settings tuned/settings.toml\n  deadloop proxy --upstream http://127.0.0.1:8000 --metrics 127.0.0.1:9090    # curl http://127.0.0.1:9090/metrics\n\nEvery request goes to the server, and every response comes back as it arrives. Each response that is a stream (text/event-stream of the OpenAI and Anthropic APIs, JSON lines of Ollama) has a guard. At an alarm the client's stream ends like an output that was too long (finish reason length or max_tokens, then its last event), and the connection to the server is closed, so that it stops generating. A stream without an alarm passes byte for byte. So does a refused call (response = \"refuse\"): the response ends before it. Guards that no response can feed, such as those on results of tools, are named at the start; with --strict the proxy does not begin then (exit code 2). With --metrics, GET /metrics at that address has counters for Prometheus; /metrics at --listen is the server's own. A request that two servers could read differently is refused with 400. At Ctrl-C or SIGTERM the proxy takes no new requests and gives open streams 30 seconds. The certificate of an https server is checked against the root certificates of the system, or of SSL_CERT_FILE and SSL_CERT_DIR. Clients of the proxy have no TLS: put a program that has it before the proxy.";

/// The time that open streams have to end after the program is stopped. It equals the default grace period of a pod in
/// Kubernetes.
const STREAM_GRACE_PERIOD: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
pub(crate) struct ProxyArgs {
    /// The address for clients
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080")]
    listen: String,
    /// The server, as http://HOST:PORT or https://HOST; a path in it is put before the path of each request
    #[arg(long, value_name = "URL")]
    upstream: Upstream,
    /// The address of GET /metrics, with counters for Prometheus [default: none]
    #[arg(long, value_name = "HOST:PORT")]
    metrics: Option<String>,
    /// The settings [default: the recommended guard]
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Change a parameter of the settings, as guard.params.NAME=VALUE; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The most connections at the same time; further ones get a 503
    #[arg(long, value_name = "N", default_value_t = 4096)]
    max_streams: usize,
    /// Refuse settings with a guard that no response can feed, as one on results of tools
    #[arg(long)]
    strict: bool,
}

pub(super) fn run(args: &ProxyArgs, global: GlobalArgs) -> Outcome {
    let path = args.settings.as_deref();
    let host = &Terminal::new(global);
    let reader = SettingsReader::new(host);
    let settings = reader.settings(path, &args.set)?;
    let guards = Guards::new(&settings).map_err(|e| Code::Usage.because(e))?;
    let blind = describe_blind_guards(&settings);
    if let Some(words) = blind.as_ref().filter(|_| args.strict) {
        return Err(Code::Usage.error(format!("--strict: {words}")));
    }
    let log = Arc::new(StderrLog::begin(global.quiet));
    if let Some(words) = blind {
        log.write_line(format!("deadloop: {words}"));
    }
    let event_log = Arc::clone(&log);
    let on_event = move |event: ProxyEvent<'_>| event_log.write_line(format_event(event));
    let options = ProxyOptions {
        upstream: args.upstream.clone(),
        guards,
        think: reader.think(path)?,
        max_connections: args.max_streams,
        on_event: Box::new(on_event),
    };
    let at = &args.listen;
    let proxy = ProxyServer::bind(at, options);
    let mut proxy = proxy.map_err(|e| Code::Usage.error(format!("--listen {at}: {e}")))?;
    let metrics = args.metrics.as_deref().map(|at| {
        let scraped = proxy.serve_metrics_at(at);
        scraped.map_err(|e| Code::Usage.error(format!("--metrics {at}: {e}")))
    });
    let metrics = metrics.transpose()?;
    let stopper = proxy.stop_handle()?;
    interrupt::add_handler(move || {
        stopper.stop();
        // The command ends by itself by then.
        std::thread::sleep(STREAM_GRACE_PERIOD + Duration::from_secs(5));
    });
    log.write_line(format!("listening at http://{}", proxy.address()?));
    if let Some(at) = metrics {
        log.write_line(format!("metrics at http://{at}/metrics"));
    }
    let open = proxy.run(STREAM_GRACE_PERIOD);
    log.wait_until_written();
    match open {
        0 => Ok(()),
        n => Err(Code::Interrupted.error(format!(
            "{n} connections were still open after {} s",
            STREAM_GRACE_PERIOD.as_secs()
        ))),
    }
}

/// Formats an event of the proxy as a line of the log.
fn format_event(event: ProxyEvent<'_>) -> String {
    match event {
        ProxyEvent::Alarm(model, alarm, followed) => format_alarm(model, alarm, followed),
        ProxyEvent::Compressed(how) => format!(
            "deadloop: the server packs its streams ({}) though it is asked not to: no guard can read them, and they pass",
            visible(&shorten(how, MAX_NAME))
        ),
        ProxyEvent::TlsFailed(why) => {
            format!(
                "deadloop: the server cannot be reached: {}",
                visible(&shorten(why, MAX_LINE))
            )
        }
    }
}

/// Describes the guards that cannot judge a response. `None` if there are none.
fn describe_blind_guards(settings: &Settings) -> Option<String> {
    let blind = |guard: &Setting| guard.blind(Feeds::RESPONSE);
    let general = blind(settings.guard()).into_iter();
    let mut names: Vec<String> = general.map(|blind| blind.to_string()).collect();
    for (glob, guard) in settings.overrides() {
        let of_model = |blind| format!("{blind} (for {glob})");
        names.extend(blind(guard).into_iter().map(of_model));
    }
    let instead =
        "a guard in the program that runs the tools (docs/agents.md), or settings without them";
    (!names.is_empty()).then(|| show::format_blind_guards("a response", &names, instead))
}

/// The maximum number of chars of a line of the log, which quotes the server.
const MAX_LINE: usize = 1000;
/// The maximum number of chars of a model's name in the log.
const MAX_NAME: usize = 100;

/// Formats an alarm as a line of the log. `followed` is what the proxy did.
fn format_alarm(model: &str, alarm: &Alarm, followed: AlarmEffect) -> String {
    let lead = match (alarm.response, followed) {
        (Response::Stop, _) => "",
        (Response::Refuse, AlarmEffect::Ended) => {
            "refuse: the response was ended before the call: "
        }
        (response, _) => &format!("{}: ", response.name()),
    };
    let line = format!("{}: {lead}{}", shorten(model, MAX_NAME), alarm.log_line());
    format!("deadloop: {}", visible(&shorten(&line, MAX_LINE)))
}

/// Returns the first `most` chars of a text, with `…` if the text is longer.
fn shorten(text: &str, most: usize) -> String {
    let mut start: String = text.chars().take(most).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}

/// The maximum number of lines waiting for a slow reader of the log. Further lines are dropped and counted.
const MAX_WAITING_LINES: usize = 1000;
/// The maximum time to wait for the log at the end of the program.
const MAX_FINAL_WAIT: Duration = Duration::from_secs(1);

/// The log on stderr, written by a separate thread, so that no stream waits for a slow reader.
struct StderrLog {
    /// The channel to the writing thread. `None` if the log is off.
    lines: Option<SyncSender<LogMessage>>,
    /// The number of dropped lines that were not yet reported.
    lost: Arc<AtomicU64>,
}

/// A message to the writing thread.
enum LogMessage {
    /// A line to write.
    Line(String),
    /// A request to signal when all earlier lines are written.
    Flush(Sender<()>),
}

impl StderrLog {
    fn begin(quiet: bool) -> Self {
        let (lines, entries) = sync_channel(MAX_WAITING_LINES);
        let lost = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&lost);
        let write = move || {
            for entry in entries {
                match entry {
                    LogMessage::Line(line) => show::eprint(line),
                    LogMessage::Flush(done) => drop(done.send(())),
                }
                match counted.swap(0, Ordering::Relaxed) {
                    0 => {}
                    n => show::eprint(format_args!("deadloop: {n} lines of this log were lost")),
                }
            }
        };
        let begun = !quiet && std::thread::Builder::new().spawn(write).is_ok();
        Self {
            lines: begun.then_some(lines),
            lost,
        }
    }

    fn write_line(&self, line: String) {
        let Some(lines) = &self.lines else {
            return;
        };
        if lines.try_send(LogMessage::Line(line)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until all lines are written, for at most [`MAX_FINAL_WAIT`].
    fn wait_until_written(&self) {
        let (send, done) = channel();
        let flush =
            |lines: &SyncSender<LogMessage>| lines.try_send(LogMessage::Flush(send)).is_ok();
        if self.lines.as_ref().is_some_and(flush) {
            let _ = done.recv_timeout(MAX_FINAL_WAIT);
        }
    }
}
