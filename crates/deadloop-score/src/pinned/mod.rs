//! Pinned cases: texts, runs or transcripts with their expected alarms.
//!
//! ```toml
//! [[case]]
//! name = "a menu that repeats"
//! why = "seen in production, ticket 12"             # optional
//! model = "qwen3-8b"                                 # optional: the model of the settings
//! text = [{ literal = "Fine. Let me see.\n" }, { repeat = "Try again.\n", times = 90 }]
//! expect = { alarm = true, between = [500, 1000], kind = "short-sequence" }
//! ```
//!
//! - `text` is a string or a list of parts (see [`text`]). `⟦onset⟧` and `⟦alarm⟧` mark positions.
//! - `events` is a list of the steps of a run (see [`events`]). `onset = true` and `alarm = true` mark calls.
//! - `transcript` is a line of a corpus with its labels, or the id of a transcript of a corpus.
//! - `expect` is a table, or a list of them (see [`Expectation`]).

mod events;
mod expectation;
mod text;

use deadloop_replay::corpus::{Body, Entry, Place, RecordedEvent, Transcript};
use deadloop_replay::detect::harness::read_toml;
use deadloop_replay::detect::{Channel, SettingsError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::{Spanned, Value};

pub use expectation::{CaseMarks, Expectation, FiredAlarm, describe_alarm};

use crate::truth::Case;

/// A case of a file of pinned cases.
#[derive(Clone, Debug)]
pub struct CaseEntry {
    /// The name of the case.
    pub name: String,
    /// The line of the case's name in the file.
    pub line: usize,
    /// The model whose guard watches the case.
    pub model: String,
    /// The text, run or transcript that the guard watches.
    pub input: CaseInput,
    /// The expected alarms.
    pub expect: Vec<Expectation>,
}

/// The input of a case.
#[derive(Clone, Debug)]
pub enum CaseInput {
    /// A text, as pieces of channels, and its marks.
    Text(Vec<(Channel, String)>, CaseMarks),
    /// An agent's run, as events, and its marks.
    Run(Vec<RecordedEvent>, CaseMarks),
    /// A transcript with its labels.
    Recording(Box<Transcript>, CaseMarks),
    /// The id of a transcript of a corpus.
    Transcript(String),
}

/// A file of cases, as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    #[serde(default)]
    case: Vec<CaseTable>,
}

/// A case, as written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseTable {
    name: Spanned<String>,
    /// A note for people, which is ignored.
    #[serde(rename = "why")]
    _why: Option<String>,
    model: Option<String>,
    text: Option<Spanned<Value>>,
    events: Option<Spanned<Vec<Value>>>,
    transcript: Option<Spanned<String>>,
    expect: Spanned<Value>,
}

/// Parses a file of pinned cases, and checks their settings and marks.
///
/// # Errors
/// Returns the first mistake with its line.
pub fn parse_pinned(file: &str) -> Result<Vec<CaseEntry>, SettingsError> {
    let wire: CaseFile = read_toml(file)?;
    wire.case
        .into_iter()
        .map(|case| parse_case(case, file))
        .collect()
}

fn parse_case(case: CaseTable, file: &str) -> Result<CaseEntry, SettingsError> {
    let error_at = |span, what: String| SettingsError::at(file, span, what);
    let name = case.name.span();
    let input = match (case.text, case.events, case.transcript) {
        (Some(text), None, None) => {
            let span = text.span();
            let (pieces, marks) = text::parse_parts(text.into_inner())
                .map_err(|what| error_at(span, format!("text: {what}")))?;
            CaseInput::Text(pieces, marks)
        }
        (None, Some(steps), None) => {
            let span = steps.span();
            let (events, marks) = events::parse_steps(steps.into_inner())
                .map_err(|what| error_at(span, format!("events: {what}")))?;
            CaseInput::Run(events, marks)
        }
        (None, None, Some(line)) if line.get_ref().trim_start().starts_with('{') => {
            let span = line.span();
            let (transcript, marks) = parse_recording(line.get_ref())
                .map_err(|what| error_at(span, format!("transcript: {what}")))?;
            CaseInput::Recording(Box::new(transcript), marks)
        }
        (None, None, Some(id)) => CaseInput::Transcript(id.into_inner()),
        _ => {
            let what = "expected one of text, events and transcript".into();
            return Err(error_at(name, what));
        }
    };
    let span = case.expect.span();
    let marks = match &input {
        CaseInput::Text(_, marks) | CaseInput::Run(_, marks) | CaseInput::Recording(_, marks) => {
            Some(marks)
        }
        CaseInput::Transcript(_) => None,
    };
    let expect = parse_list(case.expect.into_inner())
        .and_then(|tables| {
            let parse = |table| Expectation::new(table, marks);
            tables.into_iter().map(parse).collect::<Result<Vec<_>, _>>()
        })
        .map_err(|what| error_at(span, format!("expect: {what}")))?;
    Ok(CaseEntry {
        line: error_at(name, String::new()).line,
        name: case.name.into_inner(),
        model: match (case.model, &input) {
            (Some(model), _) => model,
            (None, CaseInput::Recording(transcript, _)) => transcript.model.clone(),
            (None, _) => "unknown".into(),
        },
        input,
        expect,
    })
}

/// Parses a line of a corpus. Returns the transcript, and the positions of its first labelled loop.
fn parse_recording(line: &str) -> Result<(Transcript, CaseMarks), String> {
    let entry = Entry::from_line(line.trim().as_bytes(), Place::whole("transcript"), None);
    let (entry, _) = entry.map_err(|e| format!("{}; expected {}", e.what, e.expected))?;
    let (case, problems) = Case::from_entry(&entry, None, &[]);
    match problems.first() {
        Some(e) => Err(format!("{}; expected {}", e.what, e.expected)),
        None => Ok((entry.transcript, CaseMarks::of_loop(&case))),
    }
}

/// Parses one table, or a list of tables.
fn parse_list<T: DeserializeOwned>(value: Value) -> Result<Vec<T>, String> {
    let one = |value: Value| {
        value
            .try_into()
            .map_err(|e: toml::de::Error| e.message().to_owned())
    };
    match value {
        Value::Array(items) => items.into_iter().map(one).collect(),
        one_table => Ok(vec![one(one_table)?]),
    }
}

impl CaseEntry {
    /// Returns the text, run or recording as a transcript. `None` if the case names a transcript of a corpus.
    pub fn transcript(&self) -> Option<Transcript> {
        let event = |(channel, text): &(Channel, String)| {
            RecordedEvent::new(match channel {
                Channel::Answer => Body::Answer(text.clone()),
                _ => Body::Reasoning(text.clone()),
            })
        };
        let events = match &self.input {
            CaseInput::Text(pieces, _) => pieces.iter().map(event).collect(),
            CaseInput::Run(events, _) => events.clone(),
            CaseInput::Recording(transcript, _) => {
                return Some(Transcript {
                    model: self.model.clone(),
                    ..(**transcript).clone()
                });
            }
            CaseInput::Transcript(_) => return None,
        };
        Some(Transcript {
            id: self.name.clone(),
            model: self.model.clone(),
            events,
            ..Transcript::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_replay::detect::{ChannelLengths, Kind};

    fn one(text: &str) -> Result<CaseEntry, String> {
        let file = format!("[[case]]\nname = \"n\"\n{text}\n");
        let read = parse_pinned(&file).map(|mut all| all.remove(0));
        read.map_err(|e| e.to_string())
    }

    fn fired(at: u64) -> Option<FiredAlarm> {
        Some(FiredAlarm {
            channel: Channel::Reasoning,
            at,
            seen: ChannelLengths::default(),
            kind: Kind::Paragraph,
        })
    }

    #[test]
    fn marks_give_places_and_are_no_text() {
        let case = one(
            "text = [\"ab⟦onset⟧c思d\", { repeat = \"x\", times = 3 }]\nexpect = { alarm = true, between = [\"onset\", \"onset+3\"], kind = \"paragraph\" }",
        )
        .unwrap();
        let CaseInput::Text(pieces, marks) = &case.input else {
            panic!("a text");
        };
        assert_eq!(pieces[..], [(Channel::Reasoning, "abc思dxxx".to_owned())]);
        assert_eq!((marks.onset, marks.end), (Some(2), Some(8)));
        let holds: Vec<bool> = (1..7)
            .map(|at| case.expect[0].holds(marks, fired(at)))
            .collect();
        assert_eq!(holds, [false, true, true, true, true, false]);
        assert!(!case.expect[0].holds(marks, None));
        assert!(case.expect[0].settings.is_none() && case.line == 2);
    }

    #[test]
    fn what_is_expected_follows_from_what_is_said() {
        let quiet = one("text = \"a\"\nexpect = { alarm = false, todo = \"known\" }").unwrap();
        let (marks, expect) = (CaseMarks::default(), &quiet.expect[0]);
        assert!(expect.holds(&marks, None) && !expect.holds(&marks, fired(1)));
        assert_eq!(expect.todo.as_deref(), Some("known"));
        let exact = one("text = \"ab⟦alarm⟧c\"\nexpect = [{}, { alarm = 3 }]").unwrap();
        let CaseInput::Text(_, marks) = &exact.input else {
            panic!("a text");
        };
        let at = |i: usize| {
            (0..5)
                .filter(|at| exact.expect[i].holds(marks, fired(*at)))
                .collect()
        };
        let (mark, number): (Vec<u64>, Vec<u64>) = (at(0), at(1));
        assert_eq!((mark, number), (vec![2], vec![3]));
        let onset = one("text = \"ab⟦onset⟧c\"\nexpect = { alarm = true }").unwrap();
        let CaseInput::Text(_, marks) = &onset.input else {
            panic!("a text");
        };
        let early = onset.expect[0].holds(marks, fired(1));
        assert!(!early && onset.expect[0].holds(marks, fired(99)));
        let other =
            one("text = \"a\"\nexpect = { preset = \"document\", detector = \"checkpoint\" }");
        assert!(other.unwrap().expect[0].settings.is_some());
    }

    #[test]
    fn an_alarm_of_a_run_is_held_against_its_calls_whatever_it_was_told_in() {
        let run = one("events = [{ call = \"ls\" }, { call = \"ls\", onset = true }, { call = \"ls\" }]\nexpect = { alarm = true, between = [\"onset\", \"onset+1\"] }").unwrap();
        let CaseInput::Run(events, marks) = &run.input else {
            panic!("a run");
        };
        assert_eq!(events.len(), 3);
        let told = |channel, calls: u64| FiredAlarm {
            channel,
            at: 99,
            seen: ChannelLengths::default().plus(Channel::Tools, calls),
            kind: Kind::Paragraph,
        };
        let holds = |channel, calls| run.expect[0].holds(marks, Some(told(channel, calls)));
        for channel in [Channel::Tools, Channel::Turns, Channel::Answer] {
            let all = [0, 1, 2, 3].map(|calls| holds(channel, calls));
            assert_eq!(all, [false, true, true, false], "{channel}");
        }
    }

    #[test]
    fn a_recording_brings_its_label_and_its_model() {
        let line = r#"{"id":"r","model":"m","answer":"abab","labels":[{"class":"loop","channel":"answer","onset":2}]}"#;
        let of = |line: &str, expect: &str| {
            one(&format!("transcript = '''\n{line}'''\nexpect = {expect}"))
        };
        let case = of(line, "{ alarm = true, between = [\"onset\", \"onset+1\"] }").unwrap();
        let CaseInput::Recording(_, marks) = &case.input else {
            panic!("a recording");
        };
        assert_eq!(
            (marks.onset, marks.channel),
            (Some(2), Some(Channel::Answer))
        );
        assert_eq!(
            (case.model.as_str(), case.transcript().unwrap().answer()),
            ("m", "abab".into())
        );
        let e = of(r#"{"id":"r"}"#, "{}").unwrap_err();
        assert!(
            e.starts_with("3:transcript: ") || e.contains("transcript: "),
            "{e}"
        );
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let wrong = |text: &str| one(text).unwrap_err();
        let e = wrong("text = \"a\"\nexpect = { between = [\"onset\", 3] }");
        assert!(e.starts_with("4:") && e.contains("⟦onset⟧"), "{e}");
        let e = wrong("text = \"a\"\nexpect = { kind = \"paragraf\" }");
        assert!(e.starts_with("4:") && e.contains("paragraf"), "{e}");
        let e = wrong("text = [{ repeat = \"a\" }]\nexpect = {}");
        assert!(e.starts_with("3:") && e.contains("times"), "{e}");
        let e = wrong("expect = {}");
        assert!(
            e.starts_with("2:") && e.contains("text, events and transcript"),
            "{e}"
        );
        let e = wrong("text = \"a\"\nexpect = { detector = \"checkpoynt\" }");
        assert!(e.contains("unknown detector"), "{e}");
        let e = wrong("text = \"a\"\nexpect = { between = [5, 3] }");
        assert!(e.contains("between"), "{e}");
        let e = wrong("text = \"a\"\nexpect = { alarm = false, between = [1, 3] }");
        assert!(e.contains("between"), "{e}");
    }
}
