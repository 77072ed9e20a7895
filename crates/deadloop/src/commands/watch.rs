//! `deadloop watch`: reports when the guard would abort the stream on stdin.
//!
//! One thread reads, and another judges and copies. The main thread waits for the end or for Ctrl-C, so that neither a
//! silent stream nor a client that does not read can block the program.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use clap::Args;
use deadloop_corpus::StreamFormat;
use deadloop_detect::{Alarm, BlindMember, Guards, Kind, ModelTask, Setting, Settings, Units};
use deadloop_repair::registry::Repairer;
use serde_json::json;

use deadloop_run::repair::{LiveRepair, idle};
use deadloop_run::watch::{
    SharedWatch, ThreadedInput, UNNAMED, WatchNews, WatchParts, WatchRecord, WatchState, WatchThink,
};

use crate::args::GlobalArgs;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::interrupt;
use crate::show;
use deadloop_run::option::RECORD;
use deadloop_run::option_words::{FORMATS, word};
use deadloop_run::prove_folder_of;
use deadloop_run::settings::SettingsReader;
use deadloop_run::visible::visible;

pub(crate) const HELP: &str = "Examples:\n  curl -N … | deadloop watch --settings settings.toml --model qwen3-8b\n  curl -N … | deadloop watch --settings settings.toml --passthrough | ./client\n  ollama run qwen3 'Plan my trip.' | deadloop watch --json\n  curl -N … | deadloop watch --think open    # the prompt ends with <think>\n\nThe stream is plain text (with <think>…</think> before the answer), JSON lines (events of a transcript, Ollama) or server-sent events (OpenAI chat completions and responses, Anthropic messages). The format is detected from the content. The guard is that of the first model that the stream names, or of --model. A guard that refuses (response = \"refuse\") is told, and the stream goes on. At an alarm the program ends at once, so that the writer of the stream finds the pipe closed. With --passthrough the copy ends with the event that raised the alarm: at its char in plain text, else at its line.\n\nExit codes: 0 the stream ended and no guard stopped it, 2 nothing came, or nothing that could be read, or with --strict a guard that the stream cannot feed, 10 alarm, 130 interrupted.";

/// The reason why the watch ended.
enum WatchEnd {
    /// The stream ended, or the guard raised an alarm.
    Stream(io::Result<()>),
    /// The watching thread panicked, which is a bug.
    Broken,
    /// Ctrl-C.
    Interrupted,
}

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// The settings [default: the recommended guard]
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// The model that writes the stream, whose guard in the settings is used [default: the one that the stream names,
    /// else `unknown`]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The task that the stream works at, by which settings may choose the guard
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) task: String,
    /// Change a parameter of the settings, as guard.params.NAME=VALUE; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The format of the stream [default: detected from its content]
    #[arg(long, value_parser = word::<StreamFormat>(FORMATS))]
    pub(crate) from: Option<StreamFormat>,
    /// The separation of thinking from the answer: open (the text begins as thinking, because the prompt opened the
    /// tag) or closed, first or all (blocks), off (no tags), or the tags that count, as `<think>`, `<|a|>...<|b|>` or
    /// `harmony` [default: as the think table of the settings says]
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    pub(crate) think: Vec<String>,
    /// Copy the stream to stdout as it arrives, up to the alarm; everything else goes to stderr
    #[arg(long)]
    pub(crate) passthrough: bool,
    /// Repair the stream with the repairers of this file, at most one of each kind, in the shape of a grid of deadloop
    /// repair. Text that is certain goes to stdout as JSON lines (reasoning, answer, action, tool_call, refused_call), everything else
    /// to stderr
    #[arg(long, value_name = "FILE", conflicts_with = "passthrough")]
    pub(crate) repair: Option<PathBuf>,
    /// Write the stream with its times as a transcript that deadloop replay reads, to a new file whose name ends as that
    /// of a corpus, such as .jsonl
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Refuse settings with a guard that this stream can never feed, as one on results of tools
    #[arg(long)]
    pub(crate) strict: bool,
}

/// The time that an interruption waits for the record.
const RECORD_GRACE_PERIOD: Duration = Duration::from_millis(300);

pub(super) fn run(args: &WatchArgs, global: GlobalArgs) -> Outcome {
    let host = &Terminal::new(global);
    let reader = SettingsReader::new(host);
    let settings = reader.settings(args.settings.as_deref(), &args.set)?;
    let guards = Guards::new(&settings).map_err(|e| Code::Usage.because(e))?;
    let mender = read_repairers(args, reader)?;
    let think = read_think_rules(args, mender.as_ref(), reader)?;
    let repairers = mender
        .as_ref()
        .map(LiveRepair::repairers)
        .unwrap_or_default()
        .to_vec();
    let shared = Arc::new(SharedWatch::default());
    let (sender, ends) = channel();
    let (interrupted, stops) = (sender.clone(), Arc::clone(&shared));
    interrupt::add_handler(move || {
        stops.stop();
        // A copy that nobody reads holds up the watch.
        std::thread::sleep(RECORD_GRACE_PERIOD);
        drop(interrupted.send(WatchEnd::Interrupted));
    });
    let record = args.record.as_deref().map(|path| {
        prove_folder_of(RECORD, path)?;
        WatchRecord::create(path).map_err(|e| Code::Usage.because(e))
    });
    let record = record.transpose()?;
    let parts = WatchParts {
        guards,
        think,
        mender,
        record,
        settings: settings.clone(),
        task: args.task.clone(),
    };
    spawn_watch(args, global, parts, &shared, sender);
    let end = ends.recv()?;
    let summary = WatchSummary {
        state: shared.snapshot(),
        args,
        settings,
        repairers,
        global,
    };
    summary.print_warnings();
    match (end, &summary.state.alarm) {
        (_, Some(alarm)) => summary.report_alarm(alarm),
        // The client of the copy closed the pipe, which is normal.
        (WatchEnd::Stream(Err(e)), None) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        _ if args.strict && !summary.state.blind.is_empty() => {
            let what = format!("--strict: {}", list_blind(&summary.state.blind));
            Err(Code::Usage.error(what))
        }
        (WatchEnd::Stream(Err(e)), None) => Err(e.into()),
        (WatchEnd::Stream(Ok(())), None) if !shared.stopped() => summary.report_end(),
        (WatchEnd::Broken, None) => Err(Code::Unexpected.error("the watch itself broke off")),
        (WatchEnd::Stream(Ok(())) | WatchEnd::Interrupted, None) => summary.report_interruption(),
    }
}

/// Returns the think rules of the settings and the options. They are switched off if a repairer separates thinking
/// itself.
fn read_think_rules(
    args: &WatchArgs,
    mender: Option<&LiveRepair>,
    reader: SettingsReader<'_>,
) -> Outcome<WatchThink> {
    let think = WatchThink {
        rules: reader.think(args.settings.as_deref())?,
        words: match mender {
            Some(mender) if mender.splits() => vec!["off".to_owned()],
            _ => args.think.clone(),
        },
    };
    let known = think.options_for(UNNAMED);
    known.map_err(|e| Code::Usage.error(format!("--think: {e}")))?;
    Ok(think)
}

/// Reads the repairers given by `--repair`.
fn read_repairers(args: &WatchArgs, reader: SettingsReader<'_>) -> Outcome<Option<LiveRepair>> {
    let Some(path) = &args.repair else {
        return Ok(None);
    };
    LiveRepair::parse(&reader.text(path)?)
        .map(Some)
        .map_err(|what| Code::Usage.error(format!("{}:{what}", path.display())))
}

/// Starts the watch on a separate thread, which is never joined.
fn spawn_watch(
    args: &WatchArgs,
    global: GlobalArgs,
    parts: WatchParts,
    shared: &Arc<SharedWatch>,
    sender: Sender<WatchEnd>,
) {
    let (shared, strict) = (Arc::clone(shared), args.strict);
    let from = args.from;
    let copies = args.passthrough || parts.mender.is_some();
    let model = args.model.clone();
    std::thread::spawn(move || {
        let watch = || {
            let watching = parts.watching(model, from, strict, &shared);
            let report = |news: WatchNews<'_>| {
                if !global.quiet {
                    print_news(news);
                }
            };
            let stdin = ThreadedInput::new(|| io::stdin().lock());
            if copies {
                watching.run(stdin, io::stdout().lock(), report)
            } else {
                watching.run(stdin, io::sink(), report)
            }
        };
        let end = catch_unwind(AssertUnwindSafe(watch)).map_or(WatchEnd::Broken, WatchEnd::Stream);
        // After Ctrl-C nobody receives this.
        drop(sender.send(end));
    });
}

/// Prints an event of the watch on stderr.
fn print_news(news: WatchNews<'_>) {
    match news {
        WatchNews::Problem(problem) => show::eprint(format_args!("deadloop: {problem}")),
        WatchNews::Warning(alarm) => {
            show::eprint(format_args!(
                "deadloop: {}: {}",
                alarm.response.name(),
                alarm.log_line()
            ));
        }
        WatchNews::Refused(refused) => {
            let call = refused
                .name
                .as_deref()
                .map(|name| format!("call of {:?}: ", visible(name)));
            show::eprint(format_args!(
                "deadloop: refuse: {}{}",
                call.unwrap_or_default(),
                refused.alarm.log_line()
            ));
        }
        WatchNews::Blind(blind) => show::eprint(format_args!("deadloop: {}", list_blind(blind))),
    }
}

/// The alternatives to a guard that cannot judge the stream.
const BLIND_ALTERNATIVES: &str = "events as in a transcript (JSON lines with the calls, results and turns of the run), a guard in \
     the program that runs the tools, or settings without them";

/// Describes the guards that cannot judge the stream, with the reasons and the alternatives.
fn list_blind(blind: &[BlindMember]) -> String {
    let names: Vec<String> = blind.iter().map(ToString::to_string).collect();
    show::format_blind_guards("this stream", &names, BLIND_ALTERNATIVES)
}

/// The result of a watch, to print at its end.
struct WatchSummary<'a> {
    state: WatchState,
    args: &'a WatchArgs,
    settings: Settings,
    repairers: Vec<&'static Repairer>,
    global: GlobalArgs,
}

impl WatchSummary<'_> {
    /// Returns the name of the model whose guard watched.
    fn model(&self) -> &str {
        let named = self.args.model.as_deref();
        named.or(self.state.model.as_deref()).unwrap_or(UNNAMED)
    }

    fn setting(&self) -> &Setting {
        self.settings.for_model(ModelTask {
            model: self.model(),
            task: &self.args.task,
        })
    }

    /// Prints warnings that apply to any kind of end.
    fn print_warnings(&self) {
        if self.global.quiet {
            return;
        }
        for error in &self.state.errors {
            show::eprint(format_args!(
                "deadloop: the server reports an error: {}",
                visible(error)
            ));
        }
        for name in idle(&self.repairers, self.state.format) {
            show::eprint(format_args!(
                "deadloop: --repair: {name} had nothing to do: nothing of this stream reaches it"
            ));
        }
        if self.setting().members.is_empty() {
            show::eprint(format_args!(
                "deadloop: no guard is switched on for the model {:?}: nothing could alarm",
                self.model()
            ));
        }
    }

    fn report_alarm(&self, alarm: &Alarm) -> Outcome {
        // The exit code is the same whether or not the output is read.
        let _ = self.print_result("alarm", || {
            let (kind, channel) = (alarm.kind, alarm.channel);
            let title = format!("{kind} in {channel}, by {}/{}", alarm.detector, alarm.check);
            show::table(&["would abort", &title], &self.alarm_rows(alarm), 2)
        });
        if !self.global.quiet {
            show::eprint(alarm.user_message());
        }
        Err(Code::Alarm.error(alarm.log_line()))
    }

    /// Reports a stream that ended without an alarm. Returns an error if nothing could be read.
    fn report_end(&self) -> Outcome {
        self.print_result("end", || format!("no alarm: {}", self.format_counts()))?;
        let seen = &self.state;
        if seen.bytes == 0 {
            let what = "nothing came: stdin was empty; expected a stream";
            return Err(Code::Usage.error(what));
        }
        if let Some(name) = seen.unmended.first() {
            let calls = show::several(seen.unmended.len() as u64, "call");
            let what = format!(
                "--repair: the arguments of {calls} could not be repaired, the first of {:?}; each is written as refused_call, with its arguments as they came",
                visible(name)
            );
            return Err(Code::Usage.error(what));
        }
        if seen.received.reasoning.0
            + seen.received.answer.0
            + seen.received.calls.0
            + seen.received.arguments.0
            > 0
        {
            return Ok(());
        }
        if let Some(error) = seen.errors.first() {
            let what = format!("no text came, only an error of the server: {error}");
            return Err(Code::Usage.error(what));
        }
        if seen.bad_lines > 0 {
            let format = seen.format.map_or("text", StreamFormat::name);
            let what = format!(
                "nothing could be read as {format}: {}",
                show::several(seen.bad_lines, "line")
            );
            let first = seen.problems.first().map(|p| format!("; the first: {p}"));
            return Err(Code::Usage.error(what + &first.unwrap_or_default()));
        }
        Ok(())
    }

    fn report_interruption(&self) -> Outcome {
        if self.global.json {
            self.print(&self.result_json("interrupted")?)?;
        }
        let what = format!("interrupted without an alarm: {}", self.format_counts());
        Err(Code::Interrupted.error(what))
    }

    /// Prints the result as JSON, or else as the text returned by `words`. `ended` names the kind of end.
    fn print_result(&self, ended: &str, words: impl FnOnce() -> String) -> Outcome {
        match self.global {
            GlobalArgs { json: true, .. } => self.print(&self.result_json(ended)?),
            GlobalArgs { quiet: true, .. } => Ok(()),
            _ => self.print(&words()),
        }
    }

    /// Prints a text on stdout, or on stderr if stdout is the copy of the stream.
    fn print(&self, text: &str) -> Outcome {
        if self.args.passthrough || self.args.repair.is_some() {
            show::eprint(text);
            return Ok(());
        }
        show::print(text)
    }

    fn result_json(&self, ended: &str) -> Outcome<String> {
        let seen = &self.state;
        let refused: Vec<_> = seen
            .refused
            .iter()
            .map(|one| json!({"alarm": one.alarm, "id": one.id, "name": one.name}))
            .collect();
        show::to_json(&json!({
            "ended": ended,
            "alarm": seen.alarm,
            "warnings": seen.warnings,
            "seen": {
                "reasoning": seen.received.reasoning,
                "answer": seen.received.answer,
                "arguments": seen.received.arguments,
                "calls": seen.received.calls,
            },
            "refused": refused,
            "bytes": seen.bytes,
            "format": seen.format.map(StreamFormat::name),
            "bad_lines": seen.bad_lines,
            "problems": seen.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "errors": seen.errors,
            "model": self.model(),
            "setting": self.setting().id(),
        }))
    }

    fn format_counts(&self) -> String {
        let seen = &self.state;
        let format = seen.format.map_or("nothing came", StreamFormat::name);
        let bad = match seen.bad_lines {
            0 => String::new(),
            n => format!(", {} that could not be read", show::several(n, "line")),
        };
        let calls = match seen.received.calls.0 {
            0 => String::new(),
            n => format!(", {}", show::several(n, "tool call")),
        };
        let model = match self.settings.overrides().next() {
            Some(_) => format!(", model {}", visible(self.model())),
            None => String::new(),
        };
        format!(
            "{} chars of reasoning and {} of answer{calls} ({format}{bad}{model})",
            show::count(seen.received.reasoning.0),
            show::count(seen.received.answer.0),
        )
    }

    fn alarm_rows(&self, alarm: &Alarm) -> Vec<Vec<String>> {
        let units = |at: Units| format!("{} {}", show::count(at.count()), at.unit());
        let (begins, what, of) = match (alarm.kind, alarm.period.count()) {
            (Kind::Fault(_), _) => ("from about", "what came", alarm.unit.clone()),
            (_, period) => {
                let begins = ["repeats from about", "second copy at"][usize::from(period > 0)];
                let of = format!("{}: {:?}", alarm.what(), alarm.unit);
                (begins, "what repeats", of)
            }
        };
        let rows = [
            ("known after", units(alarm.exact)),
            ("arrived by", units(alarm.delivered)),
            (begins, units(alarm.onset)),
            (what, of),
            ("seen", self.format_counts()),
        ];
        rows.map(|(name, value)| vec![name.into(), value]).into()
    }
}
