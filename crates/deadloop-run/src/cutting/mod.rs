//! A pinned case cut from a recording: what the label says is expected, equal stretches are written once, and what is written
//! is proved to alarm where the recording does.

use deadloop_corpus::{Entry, RedactBy, Redactor, Transcript, text_hash};
use deadloop_detect::{Channel, Settings, Unit};
use deadloop_replay::text_of;
use deadloop_score::{Case, Class, Fired, Pinned, Span, alarm_words, parse_pinned};

mod run;

use crate::failure::{Code, RunResult};
use crate::host::Host;
use crate::pinning::say;
use crate::visible::escaped;

/// What the settings of a case say of a transcript.
type Said<'a> = &'a dyn Fn(&Transcript) -> RunResult<Option<Fired>>;

/// A pinned case.
pub struct CutCase {
    /// Its name.
    pub name: String,
    /// A `[[case]]` table.
    pub text: String,
}

/// The case of a recording under settings. `redact`: in other words, under which the settings say the very same.
///
/// # Errors
/// The text holds a mark of its own, no other words keep the alarm, or the case does not alarm as the recording does.
pub fn cut(
    entry: &Entry,
    case: &Case,
    redact: bool,
    settings: &Settings,
    host: &dyn Host,
) -> RunResult<CutCase> {
    let said = |transcript: &Transcript| {
        let said = say(settings, &[transcript], host)?.pop();
        said.unwrap_or(Ok(None))
            .map_err(|e| Code::Unexpected.error(e))
    };
    let fired = said(&entry.transcript)?;
    let (name, transcript) = if redact {
        let name = format!("redacted {}", text_hash(&entry.transcript));
        (name, redacted(&entry.transcript, fired, &said)?)
    } else {
        (case.id.to_string(), entry.transcript.clone())
    };
    let written = Written {
        name: &name,
        case,
        transcript: &transcript,
        span: case.truth.as_ref().and_then(|truth| truth.first_loop()),
        fired,
    };
    let text = written.toml()?;
    proved(&text, fired, &said)?;
    Ok(CutCase { name, text })
}

/// What is written is read, and the settings say the same of it, or it is not written.
fn proved(text: &str, fired: Option<Fired>, said: Said<'_>) -> RunResult {
    let read = parse_pinned(text)
        .map_err(|e| Code::Unexpected.error(format!("the case cannot be read again: {e}")))?;
    let transcript = read.first().and_then(Pinned::transcript);
    let transcript = transcript.ok_or_else(|| Code::Unexpected.error("the case is empty"))?;
    let again = said(&transcript)?;
    if again == fired {
        Ok(())
    } else {
        Err(Code::TooLittle.error(format!(
            "{}, and of the case that was made of it: {}; expected a recording whose alarm hangs on its texts, calls and results alone",
            alarm_words(fired),
            alarm_words(again)
        )))
    }
}

/// The transcript in other words, under which the settings say the very same: word by word, or
/// letter by letter where that moves the alarm.
fn redacted(
    transcript: &Transcript,
    fired: Option<Fired>,
    said: Said<'_>,
) -> RunResult<Transcript> {
    for by in [RedactBy::Words, RedactBy::Letters] {
        let mut redactor = Redactor::new(by);
        let mut other = transcript.clone();
        for event in &mut other.events {
            run::redact(event, &mut redactor);
        }
        if said(&other)? == fired {
            return Ok(other);
        }
    }
    let before = alarm_words(fired);
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
    fn toml(&self) -> RunResult<String> {
        let (name, parts) = if run::is_run(self.transcript) {
            ("events", run::steps(self.marked()?, self.span))
        } else {
            ("text", self.parts()?.concat())
        };
        let model = quoted(&self.case.model);
        let class = self.case.class().map_or("nobody labelled it", Class::name);
        let fired = alarm_words(self.fired);
        Ok(format!(
            "[[case]]\nname = {}\nwhy = \"recorded; label: {class}; when it was written: {fired}\"\nmodel = {model}\n{name} = [\n{parts}]\nexpect = {}\n",
            quoted(self.name),
            self.expected()
        ))
    }

    /// The transcript, if no text in it holds a mark of its own.
    fn marked(&self) -> RunResult<&Transcript> {
        let mut texts = self.transcript.events.iter().filter_map(text_of);
        if texts.any(|(_, text)| text.contains("⟦onset⟧") || text.contains("⟦alarm⟧")) {
            Err(Code::Usage.error("the text holds a mark of its own, which a case would take out"))
        } else {
            Ok(self.transcript)
        }
    }

    /// The text, channel by channel as it came.
    fn parts(&self) -> RunResult<Vec<String>> {
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
                let todo = todo(self.fired.is_some(), "known wrong alarm");
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
