//! Writes a pinned case from a labelled recording.

use deadloop_corpus::{Class, Entry};
use deadloop_detect::{Settings, Unit};
use deadloop_score::{Case, CaseEntry, FiredAlarm, Span, Truth, describe_alarm, parse_pinned};
use serde_json::{Map, Value, json};

use crate::cases::run_settings;
use crate::failure::{Code, RunResult};
use crate::host::Host;
use crate::visible::escaped;

/// The allowed latency in chars for a loop that the settings miss.
const MISSED_LATENCY_CHARS: u64 = 1000;
/// The allowed latency in calls or turns for a loop that the settings miss.
const MISSED_LATENCY_CALLS: u64 = 10;

/// Formats a recording as a `[[case]]` table. The case expects an alarm in a loop within the current latency of the
/// settings, no alarm in clean text, and the current alarm if there is no label. Errors of the settings are marked as
/// todos.
///
/// # Errors
/// Returns an error if a program does not start, or if the case does not give the same alarm as the recording.
pub(super) fn recorded_case(
    entry: &Entry,
    case: &Case,
    settings: &Settings,
    host: &dyn Host,
) -> RunResult<String> {
    let alarm = |transcript| {
        let answer = run_settings(settings, &[transcript], host)?.pop();
        answer
            .unwrap_or(Ok(None))
            .map_err(|e| Code::Unexpected.error(e))
    };
    let fired = alarm(&entry.transcript)?;
    let span = case.truth.as_ref().and_then(Truth::first_loop);
    let class = case.class().map_or("none", Class::name);
    let text = format!(
        "[[case]]\nname = {}\nwhy = \"recorded; label: {class}; when it was written: {}\"\ntranscript = '''\n{}\n'''\nexpect = {}\n",
        json!(&*case.id),
        describe_alarm(fired),
        transcript_line(entry, case, span)?,
        default_expectation(case, span, fired)
    );
    let read = parse_pinned(&text)
        .map_err(|e| Code::Unexpected.error(format!("the case cannot be read again: {e}")))?;
    let again = match read.first().and_then(CaseEntry::transcript) {
        Some(transcript) => alarm(&transcript)?,
        None => None,
    };
    if again == fired {
        return Ok(text);
    }
    let (before, now) = (describe_alarm(fired), describe_alarm(again));
    Err(Code::Unexpected.error(format!(
        "the recording has {before}, and the case that was made of it {now}"
    )))
}

/// Returns the transcript with its label as one line of JSON. The task is the only metadata kept.
fn transcript_line(entry: &Entry, case: &Case, span: Option<&Span>) -> RunResult<String> {
    let mut own = entry.clone();
    own.transcript.meta.retain(|name, _| name == "task");
    (own.transcript.profile, own.transcript.group) = (None, None);
    own.rest = Map::new();
    own.labels = case.class().map(|class| json!([label_json(class, span)]));
    let line = own.to_line().map_err(|e| Code::Unexpected.because(e))?;
    // Control and invisible chars are escaped for the terminal. Three quotes would end the text.
    let mut units = [0; 2];
    let shown = line.chars().map(|c| match escaped(c) {
        Some(_) => c
            .encode_utf16(&mut units)
            .iter()
            .map(|unit| format!("\\u{unit:04x}"))
            .collect(),
        None => c.to_string(),
    });
    Ok(shown
        .collect::<String>()
        .replace("'''", "\\u0027\\u0027\\u0027"))
}

fn label_json(class: Class, span: Option<&Span>) -> Value {
    match span {
        Some(span) => json!({
            "class": class.name(), "kind": span.kind, "channel": span.channel,
            "start": span.start.map(|at| at.count()), "onset": span.onset.count(),
            "earliest": span.earliest.count(), "end": (!span.open).then(|| span.end.count()), "period": span.period,
        }),
        None => json!({"class": class.name()}),
    }
}

/// Returns the expectation that follows from the label, or else from the current alarm.
fn default_expectation(case: &Case, span: Option<&Span>, fired: Option<FiredAlarm>) -> String {
    let todo = |wrong: bool, what: &str| {
        if wrong {
            format!(", todo = \"{what}\"")
        } else {
            String::new()
        }
    };
    match (case.class(), span, fired) {
        (Some(Class::Loop), Some(span), _) => {
            let early = span.onset.count().saturating_sub(span.earliest.count());
            let from = match early {
                0 => "onset".to_owned(),
                early => format!("onset-{early}"),
            };
            let latency = fired.and_then(|fired| latency_within_loop(span, fired));
            let within = match span.channel.unit() {
                Unit::Chars => latency.unwrap_or(MISSED_LATENCY_CHARS).div_ceil(100) * 100,
                _ => latency.unwrap_or(MISSED_LATENCY_CALLS),
            };
            let todo = todo(latency.is_none(), "known miss");
            format!("{{ alarm = true, between = [\"{from}\", \"onset+{within}\"]{todo} }}")
        }
        (Some(Class::Clean | Class::Transient), ..) => {
            let todo = todo(fired.is_some(), "known wrong alarm");
            format!("{{ alarm = false{todo} }}")
        }
        (
            _,
            _,
            Some(FiredAlarm {
                at, channel, kind, ..
            }),
        ) => {
            format!("{{ alarm = {at}, channel = \"{channel}\", kind = \"{kind}\" }}")
        }
        (_, _, None) => "{ alarm = false }".into(),
    }
}

/// Returns the length from the onset to the alarm, in the unit of the label. `None` if the alarm is outside of the
/// loop.
fn latency_within_loop(span: &Span, fired: FiredAlarm) -> Option<u64> {
    let at = match span.channel.unit() {
        Unit::Chars if fired.channel != span.channel => return None,
        Unit::Chars => fired.at,
        _ => fired.seen.count(span.channel),
    };
    let inside = (span.earliest.count()..=span.end.count()).contains(&at);
    inside.then(|| at.saturating_sub(span.onset.count()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::SilentHost;
    use deadloop_corpus::Place;

    /// Checks that the expectation of a recording holds for its case, with any text between, and fails for a case with
    /// the text in another channel.
    #[test]
    fn a_case_holds_when_it_is_made() {
        let settings = Settings::parse("[[guard]]\ndetector = \"periodic\"\n").unwrap();
        let (loops, fine) = ("Wait, so it is. ".repeat(60), "It is four. ".to_owned());
        let (mut alarms, channels) = (0, ["reasoning", "answer"]);
        for n in 0..243_usize {
            let digit = |at: u32| n / 3_usize.pow(at) % 3;
            let event = |at: u32| {
                let text = if digit(at + 1) == 1 { &loops } else { &fine };
                let channel = channels.get(digit(at)).unwrap_or(&"user");
                json!({"type": channel, "text": format!("{n} {at}: {text}")})
            };
            let events = [event(0), event(2)];
            let labels = match digit(4) {
                0 => json!([]),
                1 => json!([{"class": "clean"}]),
                _ => json!([{"class": "loop", "channel": "answer", "onset": 8}]),
            };
            let line = json!({"id": "t", "model": "m", "events": events, "labels": labels});
            let of = |line: &str| {
                Entry::from_line(line.as_bytes(), Place::whole("t"), None)
                    .unwrap()
                    .0
            };
            let entry = of(&line.to_string());
            let (case, problems) = Case::from_entry(&entry, None, &[]);
            if !problems.is_empty() {
                continue;
            }
            let host = SilentHost::default();
            let text = recorded_case(&entry, &case, &settings, &host).unwrap();
            let holds = |text: &str| {
                let pinned = parse_pinned(text).unwrap().remove(0);
                let transcript = pinned.transcript().unwrap();
                let said = run_settings(&settings, &[&transcript], &host)
                    .unwrap()
                    .remove(0)
                    .unwrap();
                let expect = &pinned.expect[0];
                let marks = deadloop_score::CaseMarks::of_loop(&case);
                (
                    expect.holds(&marks, said),
                    expect.todo.is_some(),
                    said.is_some(),
                )
            };
            let (held, todo, alarm) = holds(&text);
            assert_ne!(held, todo, "{text}");
            alarms += u32::from(alarm);
            let (line, expect) = text.split_once("expect = ").unwrap();
            let line = line.replace("\"answer\"", "\"?\"");
            let line = line.replace("\"reasoning\"", "\"answer\"");
            let swapped = line.replace("\"?\"", "\"reasoning\"") + "expect = " + expect;
            if alarm && digit(4) == 0 {
                assert!(!holds(&swapped).0, "{swapped}");
            }
        }
        assert!(alarms > 40, "{alarms}");
    }
}
