//! `deadloop proxy`: the guard between any client and any server.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use clap::Args;
use deadloop_detect::{Alarm, Feeds, Guards, Response, Setting, Settings};
use deadloop_proxy::{AlarmEffect, Proxy as Listening, ProxyNews, ProxyOptions, Upstream};

use crate::args::GlobalArgs;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::{interrupt, show};
use deadloop_run::settings::SettingsReader;
use deadloop_run::visible::visible;

/// The end of the help text.
pub(crate) const HELP: &str = "Examples:\n  deadloop proxy --listen 127.0.0.1:8080 --upstream http://127.0.0.1:8000 --settings tuned/settings.toml\n  deadloop proxy --upstream http://127.0.0.1:8000 --metrics 127.0.0.1:9090    # curl http://127.0.0.1:9090/metrics\n\nEvery request goes to the server, and every response comes back as it arrives. Each response that is a stream (text/event-stream of the OpenAI and Anthropic APIs, JSON lines of Ollama) has a guard. At an alarm the client's stream ends like an output that was too long (finish reason length or max_tokens, then its last event), and the connection to the server is closed, so that it stops generating. A stream without an alarm passes byte for byte. So does a refused call (response = \"refuse\"): the response ends before it. Guards that no response can feed, such as those on results of tools, are named at the start; with --strict the proxy does not begin then (exit code 2). With --metrics, GET /metrics at that address has counters for Prometheus; /metrics at --listen is the server's own. A request that two servers could read differently is refused with 400. At Ctrl-C or SIGTERM the proxy takes no new requests and gives open streams 30 seconds. The certificate of an https server is checked against the root certificates of the system, or of SSL_CERT_FILE and SSL_CERT_DIR. Clients of the proxy have no TLS: put a program that has it before the proxy.";

/// The time that open streams have after the program is stopped. It is the default grace period of a pod in Kubernetes.
const GRACE: Duration = Duration::from_secs(30);

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
    let blind = blind_words(&settings);
    if let Some(words) = blind.as_ref().filter(|_| args.strict) {
        return Err(Code::Usage.error(format!("--strict: {words}")));
    }
    let log = Arc::new(StderrLog::begin(global.quiet));
    if let Some(words) = blind {
        log.line(format!("deadloop: {words}"));
    }
    let told = Arc::clone(&log);
    let tell = move |news: ProxyNews<'_>| told.line(news_line(news));
    let options = ProxyOptions {
        upstream: args.upstream.clone(),
        guards,
        think: reader.think(path)?,
        most: args.max_streams,
        tell: Box::new(tell),
    };
    let at = &args.listen;
    let proxy = Listening::bind(at, options);
    let mut proxy = proxy.map_err(|e| Code::Usage.error(format!("--listen {at}: {e}")))?;
    let metrics = args.metrics.as_deref().map(|at| {
        let scraped = proxy.metrics_at(at);
        scraped.map_err(|e| Code::Usage.error(format!("--metrics {at}: {e}")))
    });
    let metrics = metrics.transpose()?;
    let stopper = proxy.stopper()?;
    interrupt::also(move || {
        stopper.stop();
        // The command ends by itself by then.
        std::thread::sleep(GRACE + Duration::from_secs(5));
    });
    log.line(format!("listening at http://{}", proxy.address()?));
    if let Some(at) = metrics {
        log.line(format!("metrics at http://{at}/metrics"));
    }
    let open = proxy.run(GRACE);
    log.wait_until_written();
    match open {
        0 => Ok(()),
        n => Err(Code::Interrupted.error(format!(
            "{n} connections were still open after {} s",
            GRACE.as_secs()
        ))),
    }
}

/// Formats the line of the log about news of the proxy.
fn news_line(news: ProxyNews<'_>) -> String {
    match news {
        ProxyNews::Alarm(model, alarm, followed) => line_of(model, alarm, followed),
        ProxyNews::Packed(how) => format!(
            "deadloop: the server packs its streams ({}) though it is asked not to: no guard can read them, and they pass",
            visible(&first_chars(how, NAME))
        ),
        ProxyNews::NoTls(why) => {
            format!(
                "deadloop: the server cannot be reached: {}",
                visible(&first_chars(why, LONGEST))
            )
        }
    }
}

/// Names the guards that no response can feed. `None` if there are none.
fn blind_words(settings: &Settings) -> Option<String> {
    let blind = |guard: &Setting| guard.blind(Feeds::RESPONSE);
    let general = blind(settings.guard()).into_iter();
    let mut names: Vec<String> = general.map(|blind| blind.to_string()).collect();
    for (glob, guard) in settings.overrides() {
        let of_model = |blind| format!("{blind} (for {glob})");
        names.extend(blind(guard).into_iter().map(of_model));
    }
    let instead =
        "a guard in the program that runs the tools (docs/agents.md), or settings without them";
    (!names.is_empty()).then(|| show::blind_words("a response", &names, instead))
}

/// The maximum number of chars of a line of the log, and of a model's name in it. Both come from the server.
const LONGEST: usize = 1000;
const NAME: usize = 100;

/// Formats an alarm as a line of the log.
fn line_of(model: &str, alarm: &Alarm, followed: AlarmEffect) -> String {
    let lead = match (alarm.response, followed) {
        (Response::Stop, _) => "",
        (Response::Refuse, AlarmEffect::Ended) => {
            "refuse: the response was ended before the call: "
        }
        (response, _) => &format!("{}: ", response.name()),
    };
    let said = format!("{}: {lead}{}", first_chars(model, NAME), alarm.log_line());
    format!("deadloop: {}", visible(&first_chars(&said, LONGEST)))
}

/// Returns the first chars of a text.
fn first_chars(text: &str, most: usize) -> String {
    let mut start: String = text.chars().take(most).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}

/// The maximum number of lines that wait for a slow reader of the log. Further ones are dropped and counted.
const WAITING: usize = 1000;
/// The longest wait for a reader at the end of the program.
const LAST: Duration = Duration::from_secs(1);

/// The log on stderr, written by a separate thread, so that no stream waits for a slow reader.
struct StderrLog {
    /// The channel to the thread. `None` if the log is off.
    lines: Option<SyncSender<LogEntry>>,
    lost: Arc<AtomicU64>,
}

/// An entry for the thread of the log.
enum LogEntry {
    /// A line to write.
    Line(String),
    /// A request for an answer when all lines before it are written.
    Asked(Sender<()>),
}

impl StderrLog {
    fn begin(quiet: bool) -> Self {
        let (lines, entries) = sync_channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&lost);
        let write = move || {
            for entry in entries {
                match entry {
                    LogEntry::Line(line) => show::remark(line),
                    LogEntry::Asked(whoever) => drop(whoever.send(())),
                }
                match counted.swap(0, Ordering::Relaxed) {
                    0 => {}
                    n => show::remark(format_args!("deadloop: {n} lines of this log were lost")),
                }
            }
        };
        let begun = !quiet && std::thread::Builder::new().spawn(write).is_ok();
        Self {
            lines: begun.then_some(lines),
            lost,
        }
    }

    fn line(&self, line: String) {
        let Some(lines) = &self.lines else {
            return;
        };
        if lines.try_send(LogEntry::Line(line)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits a moment until all lines are written.
    fn wait_until_written(&self) {
        let (send, done) = channel();
        let asked = |lines: &SyncSender<LogEntry>| lines.try_send(LogEntry::Asked(send)).is_ok();
        if self.lines.as_ref().is_some_and(asked) {
            let _ = done.recv_timeout(LAST);
        }
    }
}
