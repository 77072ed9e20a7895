//! `deadloop proxy`: the guard between any client and any server.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use deadloop_detect::{Alarm, Guards, Response};
use deadloop_proxy::{Proxy as Listening, ProxyOptions, Upstream};

use crate::args::Global;
use crate::exit::{Code, Outcome};
use crate::visible::visible;
use crate::{interrupt, settings, show};

/// What its help ends with.
pub(crate) const HELP: &str = "Example:\n  deadloop proxy --listen 127.0.0.1:8080 --upstream http://127.0.0.1:8000 --settings tuned/settings.toml\n\nEvery request goes to the server, and every response comes back as it arrives. Each response that is a stream (text/event-stream of the OpenAI and Anthropic APIs, JSON lines of Ollama) has a guard. At an alarm the client's stream ends like an output that was too long (finish reason length or max_tokens, then its last event), and the connection to the server is closed, so that it stops generating. A stream without an alarm passes byte for byte. GET /metrics has counters for Prometheus. At Ctrl-C or SIGTERM the proxy takes no new requests and gives open streams --grace seconds. TLS is not included: put a program that has it before or behind the proxy.";

#[derive(Debug, Args)]
pub(crate) struct Proxy {
    /// Where clients connect
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080")]
    listen: String,
    /// The server, as http://HOST:PORT; a path in it is put before the path of each request
    #[arg(long, value_name = "URL")]
    upstream: Upstream,
    /// The settings [default: the recommended guard]
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Change a parameter of the settings, as guard.params.NAME=VALUE; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The most connections at the same time; further ones get a 503
    #[arg(long, value_name = "N", default_value_t = 4096)]
    max_streams: usize,
    /// How long open streams may go on after the program is stopped
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
            show::remark(format_args!("deadloop: {model}: {lead}{}", visible(&said)));
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
        show::remark(format_args!("listening at http://{}", proxy.address()?));
    }
    match proxy.run(grace) {
        0 => Ok(()),
        n => Err(Code::Interrupted.error(format!("{n} connections were still open after --grace"))),
    }
}
