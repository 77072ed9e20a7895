//! The events of a run as the steps of a case.

use std::borrow::Cow;

use deadloop_corpus::{Body, RecordedEvent, Redactor, Transcript};
use deadloop_detect::{Channel, Unit};
use deadloop_score::Span;
use serde_json::{Map, Value};

use super::{COPIES, quoted};

/// Whether a transcript is a run: a guard of runs reads more of it than its texts.
pub(super) fn is_run(transcript: &Transcript) -> bool {
    let of_run = |event: &RecordedEvent| {
        matches!(
            event.body,
            Body::ToolCall { .. } | Body::ToolResult { .. } | Body::Turn
        )
    };
    transcript.events.iter().any(of_run)
}

/// The steps, a line each, equal stretches of them written once. `span`: the loop whose onset is marked.
pub(super) fn steps(transcript: &Transcript, span: Option<&Span>) -> String {
    let events = &transcript.events;
    let mut marked = Onset::of(span);
    let mut lines = Vec::new();
    let mut at = 0;
    while let Some(event) = events.get(at) {
        let mark = marked.at(event);
        let result = events.get(at + 1).filter(|next| answers(event, next));
        lines.push(step(event, result, mark));
        at += 1 + usize::from(result.is_some());
    }
    folded(&lines)
}

/// Where the label's onset is, as events pass by.
struct Onset {
    /// The channel of the label, and how much of it is still to come before the onset.
    left: Option<(Channel, u64)>,
}

/// How the onset is marked at a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    None,
    /// At the call or the turn itself.
    Here,
    /// Inside its text, after this number of chars.
    Inside(usize),
}

impl Onset {
    fn of(span: Option<&Span>) -> Self {
        let left = span.map(|span| (span.channel, span.onset.count()));
        Self { left }
    }

    /// Whether it is at this event, which is then behind it.
    fn at(&mut self, event: &RecordedEvent) -> Mark {
        let Some((channel, left)) = self.left else {
            return Mark::None;
        };
        let units = match (&event.body, channel) {
            (Body::Reasoning(text), Channel::Reasoning) | (Body::Answer(text), Channel::Answer) => {
                text.chars().count() as u64
            }
            (Body::ToolCall { .. }, Channel::Tools) | (Body::Turn, Channel::Turns) => 1,
            _ => return Mark::None,
        };
        if units <= left {
            self.left = Some((channel, left - units));
            return Mark::None;
        }
        self.left = None;
        match channel.unit() {
            Unit::Chars => Mark::Inside(usize::try_from(left).unwrap_or(usize::MAX)),
            _ => Mark::Here,
        }
    }
}

/// Whether an event is the result of the call before it, and nothing but their ids and texts is known of both: such a
/// call is written with its result, and gets another id.
fn answers(call: &RecordedEvent, result: &RecordedEvent) -> bool {
    match (&call.body, &result.body) {
        (
            Body::ToolCall { id: Some(one), .. },
            Body::ToolResult {
                id: Some(other), ..
            },
        ) => one == other && call.rest.is_empty() && result.rest.is_empty(),
        _ => false,
    }
}

/// One step, without line end.
fn step(event: &RecordedEvent, result: Option<&RecordedEvent>, mark: Mark) -> String {
    let mut fields: Vec<String> = Vec::new();
    let mut put = |name: &str, value: String| fields.push(format!("{name} = {value}"));
    match (&event.body, result.map(|result| &result.body)) {
        (
            Body::ToolCall {
                name, arguments, ..
            },
            Some(Body::ToolResult { content, error, .. }),
        ) => {
            put("call", quoted(name));
            if !arguments.is_null() {
                put("arguments", quoted(&raw(arguments)));
            }
            put("result", quoted(content));
            if let Some(error) = error {
                put("error", error.to_string());
            }
        }
        (Body::User(text), _) if event.rest.is_empty() => put("user", quoted(text)),
        (Body::Reasoning(text), _) => put("reasoning", quoted(&with(text, mark))),
        (Body::Answer(text), _) => put("answer", quoted(&with(text, mark))),
        (Body::Turn, _) if event.rest.is_empty() => put("turn", "true".into()),
        _ => long(event, &mut put),
    }
    if mark == Mark::Here {
        put("onset", "true".into());
    }
    format!("{{ {} }}", fields.join(", "))
}

/// A text with the mark in it, where the onset is in it.
fn with(text: &str, mark: Mark) -> Cow<'_, str> {
    let Mark::Inside(chars) = mark else {
        return text.into();
    };
    let at = text
        .char_indices()
        .nth(chars)
        .map_or(text.len(), |(at, _)| at);
    let (before, after) = text.split_at(at);
    format!("{before}⟦onset⟧{after}").into()
}

/// An event with its type and all its fields.
fn long(event: &RecordedEvent, put: &mut impl FnMut(&str, String)) {
    let text = |name: &Option<String>| name.as_deref().map(quoted);
    let (kind, known) = match &event.body {
        Body::ToolCall {
            id,
            name,
            arguments,
        } => (
            "tool_call",
            vec![
                ("id", text(id)),
                ("name", Some(quoted(name))),
                (
                    "arguments",
                    (!arguments.is_null()).then(|| quoted(&raw(arguments))),
                ),
            ],
        ),
        Body::ToolResult { id, content, error } => (
            "tool_result",
            vec![
                ("id", text(id)),
                ("content", Some(quoted(content))),
                ("error", error.map(|error| error.to_string())),
            ],
        ),
        Body::User(said) => ("user", vec![("text", Some(quoted(said)))]),
        Body::Reasoning(said) => ("reasoning", vec![("text", Some(quoted(said)))]),
        Body::Answer(said) => ("answer", vec![("text", Some(quoted(said)))]),
        Body::Turn => ("turn", Vec::new()),
        Body::System => ("system", Vec::new()),
        Body::Handoff { from, to } => (
            "handoff",
            vec![("from", Some(quoted(from))), ("to", Some(quoted(to)))],
        ),
        Body::Finish { reason } => ("finish", vec![("reason", text(reason))]),
    };
    put("type", quoted(kind));
    for (name, value) in known {
        value.into_iter().for_each(|value| put(name, value));
    }
    for (name, value) in &event.rest {
        toml(value)
            .into_iter()
            .for_each(|value| put(&key(name), value));
    }
}

/// The text of arguments: that of an object has its keys in their order, and TOML has no null.
fn raw(arguments: &Value) -> Cow<'_, str> {
    match arguments {
        Value::String(text) => text.into(),
        other => other.to_string().into(),
    }
}

fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.chars().all(bare) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// A value on one line of TOML; nothing for null, which TOML does not have, and for numbers beyond it.
fn toml(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(one) => Some(one.to_string()),
        Value::Number(n) if n.is_f64() || n.as_i64().is_some() => Some(n.to_string()),
        Value::Number(_) => None,
        Value::String(text) => Some(quoted(text)),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().filter_map(toml).collect();
            Some(format!("[{}]", items.join(", ")))
        }
        Value::Object(map) => {
            let field = |(name, value): (&String, &Value)| {
                Some(format!("{} = {}", key(name), toml(value)?))
            };
            let fields: Vec<String> = map.iter().filter_map(field).collect();
            Some(format!("{{ {} }}", fields.join(", ")))
        }
    }
}

/// Steps of a stretch that is written once, at most.
const LONGEST: usize = 12;

/// The lines of the steps: what comes three times in a row and more is written once.
fn folded(lines: &[String]) -> String {
    let mut text = String::new();
    let mut at = 0;
    while at < lines.len() {
        let times = |period: usize| {
            let unit = &lines[at..(at + period).min(lines.len())];
            let copies = lines[at..]
                .chunks_exact(period)
                .take_while(|copy| *copy == unit)
                .count();
            // What stands for a number in a repetition would be one.
            let plain = unit.iter().all(|line| !line.contains("{n}"));
            (copies >= COPIES && plain).then_some((copies * period, period, copies))
        };
        let longest = (1..=LONGEST).filter_map(times);
        match longest.max_by_key(|(covered, period, _)| (*covered, LONGEST - period)) {
            Some((covered, period, copies)) => {
                let unit = lines[at..at + period].join(", ");
                text += &format!("  {{ repeat = [{unit}], times = {copies} }},\n");
                at += covered;
            }
            None => {
                text += &format!("  {},\n", lines[at]);
                at += 1;
            }
        }
    }
    text
}

/// Another run that says the same in other words: texts, results and the values of arguments. Names of tools and keys of
/// arguments are the program's, and stay.
pub(super) fn redact(event: &mut RecordedEvent, redactor: &mut Redactor) {
    match &mut event.body {
        Body::Reasoning(text) | Body::Answer(text) | Body::User(text) => {
            *text = redactor.text(text)
        }
        Body::ToolResult { content, .. } => *content = redactor.text(content),
        Body::ToolCall { arguments, .. } => redact_arguments(arguments, redactor),
        Body::Handoff { from, to } => {
            for name in [from, to] {
                *name = redactor.text(name);
            }
        }
        Body::Turn | Body::System | Body::Finish { .. } => {}
    }
    redact_fields(&mut event.rest, redactor);
}

/// A text that is JSON is redacted as the value that it is, and written again as it would be.
fn redact_arguments(arguments: &mut Value, redactor: &mut Redactor) {
    match arguments {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(mut value) if value.is_object() && value.to_string().as_str() == text.as_str() => {
                redact_value(&mut value, redactor);
                *text = value.to_string();
            }
            _ => *text = redactor.text(text),
        },
        other => redact_value(other, redactor),
    }
}

fn redact_value(value: &mut Value, redactor: &mut Redactor) {
    match value {
        Value::String(text) => *text = redactor.text(text),
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| redact_value(item, redactor)),
        Value::Object(fields) => {
            fields
                .values_mut()
                .for_each(|field| redact_value(field, redactor));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What else is known of an event: hashes stay, they are compared and tell nothing.
fn redact_fields(fields: &mut Map<String, Value>, redactor: &mut Redactor) {
    let open = fields.iter_mut().filter(|(name, _)| *name != "sha256");
    open.for_each(|(_, value)| redact_value(value, redactor));
}
