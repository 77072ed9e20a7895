//! `deadloop case`: a pinned case from a recording.

use std::path::PathBuf;

use clap::Args;
use deadloop_corpus::{RedactBy, Redactor, Selection, Transcript, text_hash};
use deadloop_detect::{Channel, Settings, Unit};
use deadloop_replay::text_of;
use deadloop_score::{Case, Class, Fired, Pinned, Span};

mod run;

use crate::args::{Global, OnBad};
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::pinning::{say, told};
use crate::settings;
use crate::show;
use crate::visible::escaped;
use deadloop_run::{Wanted, survey};

pub(crate) const HELP: &str = "Examples:\n  deadloop case recordings.jsonl t1 >> cases.toml\n  deadloop case recordings.jsonl t1 --redact --settings settings.toml >> cases.toml\n\nThe case expects what the label says: a loop is stopped within the latency that the settings have now, and clean text is left alone. If the settings get it wrong, the case is a todo. Without a label the case expects what the settings do now. --redact replaces words by other words (equal words by equal ones; letter by letter if that would move the alarm) and proves that the alarm stays; of a run it replaces results and the values of arguments too. Numbers below five digits and the model's name stay as they are; ids and metadata are left out; names of tools stay.\n\nOf a run the case holds the calls and their results, with the onset marked at a call.";

#[derive(Debug, Args)]
pub(crate) struct WriteCase {
    /// A corpus: a folder, or one .jsonl or .parquet file
    pub(crate) corpus: PathBuf,
    /// The id of a transcript
    pub(crate) transcript: String,
    /// The settings that the case tests [default: the recommended guard]
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// Replace the words and keep their repetition, so that the alarm stays where it is
    #[arg(long)]
    pub(crate) redact: bool,
    /// What to do with a bad line: stop, or leave it out
    #[arg(long, value_enum, default_value_t = OnBad::Fail)]
    pub(crate) on_bad: OnBad,
}

pub(super) fn run(args: &WriteCase, global: Global) -> Outcome {
    let settings = settings::settings(args.settings.as_deref(), &[])?;
    let found = survey(Wanted {
        path: &args.corpus,
        selection: Selection::default(),
        by: &[],
        entry: Some(&args.transcript),
        host: &Terminal::of(global),
    })?;
    let (entry, case) = found.one(
        &args.transcript,
        args.on_bad == OnBad::Skip,
        &Terminal::of(global),
    )?;
    let fired = said(&settings, &entry.transcript)?;
    let (name, transcript) = if args.redact {
        let name = format!("redacted {}", text_hash(&entry.transcript));
        (name, redacted(&settings, &entry.transcript, fired)?)
    } else {
        (case.id.to_string(), entry.transcript.clone())
    };
    let span = case.truth.as_ref().and_then(|truth| truth.first_loop());
    let written = Written {
        name: &name,
        case,
        transcript: &transcript,
        span,
        fired,
    };
    let text = written.toml()?;
    proved(&text, &settings, fired)?;
    if global.json {
        return show::print(&serde_json::json!({"name": name, "case": text}).to_string());
    }
    show::print(text.trim_end())?;
    let settings = args.settings.as_deref().map(show::typed);
    let settings = settings.map(|file| format!(" --settings {file}"));
    let next = format!(
        "deadloop check-cases cases.toml{}",
        settings.unwrap_or_default()
    );
    show::next(&[&next], global)
}

/// What is written is read, and the settings say the same of it, or it is not written.
fn proved(text: &str, settings: &Settings, fired: Option<Fired>) -> Outcome {
    let read = deadloop_score::parse_pinned(text)
        .map_err(|e| Code::Unexpected.error(format!("the case cannot be read again: {e}")))?;
    let transcript = read.first().and_then(Pinned::transcript);
    let transcript = transcript.ok_or_else(|| Code::Unexpected.error("the case is empty"))?;
    let again = said(settings, &transcript)?;
    if again == fired {
        Ok(())
    } else {
        Err(Code::TooLittle.error(format!(
            "{}, and of the case that was made of it: {}; expected a recording whose alarm hangs on its texts, calls and results alone",
            told(&Ok(fired)),
            told(&Ok(again))
        )))
    }
}

fn said(settings: &Settings, transcript: &Transcript) -> Outcome<Option<Fired>> {
    let said = say(settings, &[transcript])?.pop();
    said.unwrap_or(Ok(None))
        .map_err(|e| Code::Unexpected.error(e))
}

/// The transcript in other words, under which the settings say the very same: word by word, or
/// letter by letter where that moves the alarm.
fn redacted(
    settings: &Settings,
    transcript: &Transcript,
    fired: Option<Fired>,
) -> Outcome<Transcript> {
    for by in [RedactBy::Words, RedactBy::Letters] {
        let mut redactor = Redactor::new(by);
        let mut other = transcript.clone();
        for event in &mut other.events {
            run::redact(event, &mut redactor);
        }
        if said(settings, &other)? == fired {
            return Ok(other);
        }
    }
    let before = told(&Ok(fired));
    let what = "in other words these settings say something else; expected a detector that does not read meaning";
    Err(Code::TooLittle.error(format!("{before}: {what}")))
}

/// A case to be written.
struct Written<'a> {
    name: &'a str,
    case: &'a Case,
    transcript: &'a Transcript,
    span: Option<&'a Span>,
    fired: Option<Fired>,
}

impl Written<'_> {
    fn toml(&self) -> Outcome<String> {
        let (name, parts) = if run::is_run(self.transcript) {
            ("events", run::steps(self.marked()?, self.span))
        } else {
            ("text", self.parts()?.concat())
        };
        let model = quoted(&self.case.model);
        let class = self.case.class().map_or("nobody labelled it", Class::name);
        let fired = told(&Ok(self.fired));
        Ok(format!(
            "[[case]]\nname = {}\nwhy = \"recorded; label: {class}; when it was written: {fired}\"\nmodel = {model}\n{name} = [\n{parts}]\nexpect = {}\n",
            quoted(self.name),
            self.expected()
        ))
    }

    /// The transcript, if no text in it holds a mark of its own.
    fn marked(&self) -> Outcome<&Transcript> {
        let mut texts = self.transcript.events.iter().filter_map(text_of);
        if texts.any(|(_, text)| text.contains("⟦onset⟧") || text.contains("⟦alarm⟧")) {
            Err(Code::Usage.error("the text holds a mark of its own, which a case would take out"))
        } else {
            Ok(self.transcript)
        }
    }

    /// The text, channel by channel as it came.
    fn parts(&self) -> Outcome<Vec<String>> {
        let mut pieces: Vec<(Channel, String)> = Vec::new();
        for (channel, text) in self.transcript.events.iter().filter_map(text_of) {
            match pieces.last_mut() {
                Some((last, all)) if *last == channel => all.push_str(text),
                _ => pieces.push((channel, text.to_owned())),
            }
        }
        self.marked()?;
        let (mut parts, mut seen) = (Vec::new(), [0_u64; 2]);
        for (channel, text) in &pieces {
            let chars: Vec<char> = text.chars().collect();
            let before = &mut seen[usize::from(*channel == Channel::Answer)];
            let own = self.span.filter(|span| span.channel == *channel);
            let onset = own.and_then(|span| {
                let at = usize::try_from(span.onset.count().checked_sub(*before)?).ok()?;
                (at < chars.len()).then_some((at, span.period))
            });
            parts.extend(written(*channel, &chars, onset));
            *before += chars.len() as u64;
        }
        Ok(parts)
    }

    /// How far behind the onset the alarm is, if it is in the loop: in the unit of the label.
    fn latency(&self, span: &Span) -> Option<u64> {
        let fired = self.fired?;
        let at = match span.channel.unit() {
            Unit::Chars if fired.channel != span.channel => return None,
            Unit::Chars => fired.at,
            _ => fired.seen.count(span.channel),
        };
        let inside = (span.earliest.count()..=span.end.count()).contains(&at);
        inside.then(|| at.saturating_sub(span.onset.count()))
    }

    /// What is right by the label; without one, what was said.
    fn expected(&self) -> String {
        let todo = |wrong: bool, what: &str| {
            if wrong {
                format!(", todo = {}", quoted(what))
            } else {
                String::new()
            }
        };
        match (self.case.class(), self.span) {
            (Some(Class::Loop), Some(span)) => {
                let early = span.onset.count() - span.earliest.count().min(span.onset.count());
                let from = if early > 0 {
                    format!("onset-{early}")
                } else {
                    "onset".into()
                };
                let latency = self.latency(span);
                let within = match span.channel.unit() {
                    Unit::Chars => latency.unwrap_or(PROMISED).div_ceil(100) * 100,
                    _ => latency.unwrap_or(PROMISED_CALLS),
                };
                let todo = todo(latency.is_none(), "known miss");
                format!("{{ alarm = true, between = [\"{from}\", \"onset+{within}\"]{todo} }}")
            }
            (Some(Class::Clean | Class::Transient), _) => {
                let todo = todo(self.fired.is_some(), "known false alarm");
                format!("{{ alarm = false{todo} }}")
            }
            _ => match self.fired {
                Some(f) => {
                    // Positions in a run are its calls.
                    let of_run = run::is_run(self.transcript);
                    let at = if of_run { f.seen.tools.0 } else { f.at };
                    format!("{{ alarm = {at}, kind = \"{}\" }}", f.kind)
                }
                None => "{ alarm = false }".into(),
            },
        }
    }
}

/// The latency that the design document promises, chars.
const PROMISED: u64 = 1000;

/// The same of a run, calls or turns: a guard of runs waits for some copies.
const PROMISED_CALLS: u64 = 10;

/// Copies from which on a repetition is written as one.
const COPIES: usize = 3;

/// One piece: up to the onset, the copies that follow it, the rest.
fn written(channel: Channel, chars: &[char], onset: Option<(usize, Option<u64>)>) -> Vec<String> {
    let of = match channel {
        Channel::Answer => ", channel = \"answer\"",
        _ => "",
    };
    let text = |chars: &[char]| chars.iter().collect::<String>();
    let literal = |text: &str| {
        if text.is_empty() {
            String::new()
        } else {
            format!("  {{ literal = {}{of} }},\n", quoted(text))
        }
    };
    let Some((at, period)) = onset else {
        return vec![literal(&text(chars))];
    };
    let (before, after) = chars.split_at(at);
    let marked = text(before) + "⟦onset⟧";
    let period = period.and_then(|p| usize::try_from(p).ok()).unwrap_or(0);
    let copies = copies(after, period);
    if copies < COPIES {
        return vec![literal(&(marked + &text(after)))];
    }
    let unit = text(&after[..period]);
    let repeat = format!(
        "  {{ repeat = {}, times = {copies}{of} }},\n",
        quoted(&unit)
    );
    vec![
        literal(&marked),
        repeat,
        literal(&text(&after[copies * period..])),
    ]
}

/// Whole copies of the first `period` chars, one after the other.
fn copies(chars: &[char], period: usize) -> usize {
    if period == 0 || chars.len() < period {
        return 0;
    }
    let unit = &chars[..period];
    chars
        .chunks_exact(period)
        .take_while(|copy| *copy == unit)
        .count()
}

/// A basic TOML string on one line.
fn quoted(text: &str) -> String {
    let one = |c: char| match c {
        '"' => "\\\"".into(),
        '\\' => "\\\\".into(),
        '\n' => "\\n".into(),
        '\r' => "\\r".into(),
        '\t' => "\\t".into(),
        // What a terminal would obey, and what nobody could see.
        _ if escaped(c).is_some() => format!("\\U{:08X}", u32::from(c)),
        _ => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(one).collect::<String>())
}
