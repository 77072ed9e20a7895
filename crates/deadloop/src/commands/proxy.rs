//! `deadloop proxy`: the guard between any client and any server.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use deadloop_detect::{Alarm, Guards, Response};
use deadloop_proxy::{Proxy as Listening, ProxyOptions, Upstream};

use crate::args::Global;
use crate::exit::{Code, Outcome};
use crate::visible::visible;
use crate::{interrupt, settings};

/// What its help ends with.
pub(crate) const HELP: &str = "Example:\n  deadloop proxy --listen 127.0.0.1:8080 --upstream http://127.0.0.1:8000 --settings tuned/settings.toml\n\nEvery request goes to the server, every response comes back as it arrives. Responses that are streams (text/event-stream of the OpenAI and Anthropic APIs, JSON lines of Ollama) have a guard each: at an alarm the stream ends with the finish reason of an output that was cut short (length, max_tokens) and its last event, and the server's connection is closed, so that it stops. A stream without an alarm passes byte for byte. GET /metrics has counters for Prometheus. Ctrl-C and SIGTERM: no new requests, streams under way end within --grace seconds. TLS is left to what stands before and behind.";

#[derive(Debug, Args)]
pub(crate) struct Proxy {
    /// Where clients connect
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080")]
    listen: String,
    /// The server: http://HOST:PORT, a path after it goes before theirs
    #[arg(long, value_name = "URL")]
    upstream: Upstream,
    /// The settings [default: the recommended guard]
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Change settings on the way, as guard.params.NAME=VALUE; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Connections at once; those above get a 503
    #[arg(long, value_name = "N", default_value_t = 4096)]
    max_streams: usize,
    /// How long streams under way may go on when the program is stopped
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    grace: u64,
}

pub(super) fn run(args: &Proxy, global: Global) -> Outcome {
    let path = args.settings.as_deref();
    let settings = settings::settings(path, &args.set)?;
    let quiet = global.quiet;
    let tell = move |model: &str, alarm: &Alarm| {
        if !quiet {
            let (model, said) = (visible(model), alarm.log_line());
            let lead = match alarm.response {
                Response::Stop => String::new(),
                response => format!("{}: ", response.name()),
            };
            eprintln!("deadloop: {model}: {lead}{}", visible(&said));
        }
    };
    let options = ProxyOptions {
        upstream: args.upstream.clone(),
        guards: Guards::new(&settings).map_err(|e| Code::Usage.because(e))?,
        think: settings::think(path)?,
        most: args.max_streams,
        tell: Box::new(tell),
    };
    let at = &args.listen;
    let proxy = Listening::bind(at, options);
    let proxy = proxy.map_err(|e| Code::Usage.error(format!("--listen {at}: {e}")))?;
    let (stopper, grace) = (
        proxy.stopper()?,
        Duration::from_secs(args.grace.min(86_400)),
    );
    interrupt::also(move || {
        stopper.stop();
        // The command ends by itself, at the latest then.
        std::thread::sleep(grace + Duration::from_secs(5));
    });
    if !quiet {
        eprintln!("listening at http://{}", proxy.address()?);
    }
    match proxy.run(grace) {
        0 => Ok(()),
        n => Err(Code::Interrupted.error(format!("{n} connections were still open after --grace"))),
    }
}
