//! Logs of chats and agents, each as a table: where its records are, what tells them, and which
//! events a record becomes. One reader reads them all; a format is a row of `formats/agent_logs.rs`, `exports.rs` or `logs.rs`.

use std::borrow::Cow;

use serde_json::Value;

use super::conversation::{Conversation, written};
use super::cut::Record;
use super::head::{Certainty, Head};
use super::paths;
use super::reader::{Out, Reader};
use super::run::Session;
use super::spans::words;
use super::turn::Usage;
use crate::Body;
use crate::transcript::wire::WireFault;
use deadloop_stream::reasons::usual;
use deadloop_stream::take::{self, Object};

/// A format of logs.
pub(crate) struct Log {
    /// A record that has all marks ([`marked`]) of one of these is of the format.
    pub(crate) marks: &'static [&'static str],
    /// How certain that makes it.
    pub(crate) sure: Certainty,
    /// Lists of a document that its records are in; without any the document is the record.
    pub(crate) records: &'static [&'static str],
    /// Whether a document is a run; else all records of a file are one, as long as their id is.
    pub(crate) whole: bool,
    /// Makes of a document what the paths expect, where it is a tree or has versions.
    pub(crate) shape: Option<fn(&mut Object, &mut Out)>,
    /// What a document or a record says of its run.
    pub(crate) about: About,
    /// What records become: of a record every rule that holds is applied, in order.
    pub(crate) rules: &'static [Rule],
}

/// Paths of what is said of a run, or of a turn.
pub(crate) struct About {
    pub(crate) id: &'static [&'static str],
    pub(crate) model: &'static [&'static str],
    /// When a record was written.
    pub(crate) time: &'static [&'static str],
    /// Why the model, or the run, stopped.
    pub(crate) reason: &'static [&'static str],
    /// Tokens of a turn.
    pub(crate) usage: &'static [&'static str],
    /// What no transcript has a place for, and nobody misses; blanks are between the paths.
    pub(crate) beside: &'static str,
}

/// What a record with these marks becomes.
pub(crate) struct Rule {
    pub(crate) when: &'static str,
    pub(crate) is: Is,
}

impl Rule {
    pub(crate) const fn of(when: &'static str, is: Is) -> Self {
        Self { when, is }
    }
}

/// What a record becomes; the texts are paths in it, empty ones the record.
pub(crate) enum Is {
    /// A message of a conversation: its role says whose.
    Message(&'static str),
    /// The record is a message, and holds what tools gave back for it.
    Step { results: &'static str },
    /// What the model said; of a piece of it (`delta`) all that follows is the same turn.
    Answer(&'static str),
    /// What it thought.
    Thought(&'static str),
    /// What the user said.
    User(&'static str),
    /// A call of a tool.
    Call {
        id: &'static str,
        name: &'static str,
        arguments: &'static str,
    },
    /// What a tool gave back, and what says that it failed: a truth value, a status, an exit code.
    Result {
        id: &'static str,
        content: &'static [&'static str],
        error: &'static str,
    },
    /// What the run is about, and no event.
    About,
    /// The answer of a model, where no record before it held one.
    Last(&'static str),
    /// The run ended, and a word says how.
    Ended(&'static str),
}

/// Whether all marks are on a record; blanks are between them. A mark is a path where something is (`a.b`), where nothing
/// is (`!a.b`), or where one of several values is (`a.b=x|y`).
pub(crate) fn marked(object: &Object, marks: &str) -> bool {
    marks.split_ascii_whitespace().all(|mark| {
        if let Some(path) = mark.strip_prefix('!') {
            return paths::get(object, path).is_none();
        }
        let (path, says) = said(mark);
        let value = paths::get(object, path);
        match (value.as_deref(), says) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(Value::String(text)), Some(says)) => says.split('|').any(|word| word == text),
            (Some(value), Some(says)) => value.to_string().as_str() == says,
        }
    })
}

/// The path of a mark, and the values that it names.
fn said(mark: &str) -> (&str, Option<&str>) {
    // A mark is short: a search that is made for long texts takes longer.
    let equal = mark.bytes().position(|byte| byte == b'=');
    equal.map_or((mark, None), |at| (&mark[..at], Some(&mark[at + 1..])))
}

impl Is {
    pub(crate) const fn call(
        id: &'static str,
        name: &'static str,
        arguments: &'static str,
    ) -> Self {
        Self::Call {
            id,
            name,
            arguments,
        }
    }

    pub(crate) const fn result(
        id: &'static str,
        content: &'static [&'static str],
        error: &'static str,
    ) -> Self {
        Self::Result { id, content, error }
    }
}

/// A format whose records are a line each, and say nothing yet.
pub(crate) const LINES: Log = Log {
    marks: &[],
    sure: Certainty::Certain,
    records: &[],
    whole: false,
    shape: None,
    about: NOTHING,
    rules: &[],
};

/// Nothing is said of the run.
pub(crate) const NOTHING: About = About {
    id: &[],
    model: &[],
    time: &[],
    reason: &[],
    usage: &[],
    beside: "",
};

impl Log {
    /// How certain it is that a file is of this format.
    pub(crate) fn knows(&self, head: &Head) -> Certainty {
        let of = |object: &Object| self.marks.iter().any(|marks| marked(object, marks));
        self.sure.when(head.any(of))
    }
}

/// Reads the files of a format of logs.
pub(crate) struct Reading {
    log: &'static Log,
    session: Session,
}

impl Reading {
    pub(crate) fn of(log: &'static Log) -> Self {
        Self {
            log,
            session: Session::default(),
        }
    }

    /// Whether anything of it was understood.
    fn document(&mut self, mut object: Object, out: &mut Out) -> Result<bool, WireFault> {
        if let Some(shape) = self.log.shape {
            shape(&mut object, out);
        }
        let lists = self.log.records.iter();
        let list = lists.into_iter().find(|list| {
            let there = paths::get(&object, list.trim_end_matches("[]"));
            there.is_some_and(|value| value.is_array())
        });
        let Some(list) = list else {
            self.id(&mut object, out)?;
            let known = self.record(&mut object, out)?;
            if known {
                out.losses.rest("[]", &object)
            } else {
                out.pass(&format!("[] ({})", kind(&object)))
            }
            return Ok(known);
        };
        self.id(&mut object, out)?;
        self.about(&mut object)?;
        for record in paths::all(&mut object, list) {
            let Value::Object(mut record) = record else {
                return Err(take::wrong(list, &record, "an object"));
            };
            let known = self.record(&mut record, out)?;
            if known {
                out.losses.rest(list, &record)
            } else {
                out.losses.add(&format!("{list} ({})", kind(&record)))
            }
        }
        out.losses.rest("", &object);
        Ok(true)
    }

    /// The id of the run that a document is, or is a part of: with another one another run begins.
    fn id(&mut self, object: &mut Object, out: &mut Out) -> Result<(), WireFault> {
        if let Some(id) = text_at(object, self.log.about.id)? {
            let other = self.session.id.as_ref().is_some_and(|known| *known != id);
            if other && !self.log.whole {
                self.session.end(out);
            }
            self.session.id = Some(id);
        }
        Ok(())
    }

    /// What a document or a record says of its run.
    fn about(&mut self, object: &mut Object) -> Result<(), WireFault> {
        let about = &self.log.about;
        if let Some(model) = text_at(object, about.model)? {
            self.session.model = Some(model);
        }
        if let Some(reason) = text_at(object, about.reason)? {
            self.session.reason = Some(usual(&reason));
        }
        for path in about.beside.split_ascii_whitespace() {
            paths::take(object, path);
        }
        Ok(())
    }

    /// Applies the rules to a record; whether one held.
    fn record(&mut self, record: &mut Object, out: &mut Out) -> Result<bool, WireFault> {
        let held = self.log.rules.iter();
        let held: Vec<&Rule> = held.filter(|rule| marked(record, rule.when)).collect();
        self.about(record)?;
        let stamp = paths::first(record, self.log.about.time);
        let t_ms = self.session.clock.at(stamp.as_ref());
        let usage = paths::first(record, self.log.about.usage);
        let mut usage = match usage {
            Some(Value::Object(usage)) => usage,
            _ => Object::new(),
        };
        let turns = self.session.run.turns();
        for rule in &held {
            self.apply(&rule.is, record, t_ms, out)?;
        }
        if !usage.is_empty() {
            let used = Usage::taken(&mut usage);
            let goes_on = self.session.run.turns() > turns || used != Usage::default();
            if goes_on {
                self.session.run.used(used);
            }
            out.losses.rest("usage", &usage);
        }
        for rule in &held {
            if let Is::Call { id, .. } | Is::Result { id, .. } = rule.is {
                paths::take(record, id);
            }
        }
        let marks = held.iter();
        for mark in marks.flat_map(|rule| rule.when.split_ascii_whitespace()) {
            // What told the record is understood.
            if let (path, Some(_)) = said(mark) {
                paths::take(record, path);
            }
        }
        Ok(!held.is_empty())
    }

    fn apply(
        &mut self,
        is: &Is,
        record: &mut Object,
        t_ms: Option<f64>,
        out: &mut Out,
    ) -> Result<(), WireFault> {
        match is {
            Is::Message("") => {
                let message = std::mem::take(record);
                return self.message(message, "[]", t_ms, out);
            }
            Is::Message(path) => {
                let message = match paths::take(record, path) {
                    Some(Value::Object(message)) => message,
                    Some(other) => return Err(take::wrong(path, &other, "a message")),
                    None => return Ok(()),
                };
                return self.message(message, path, t_ms, out);
            }
            Is::Step { results } => {
                let found = paths::all(record, results);
                let message = std::mem::take(record);
                self.message(message, "[]", t_ms, out)?;
                for result in found {
                    let mut result = take::as_object(results, result)?;
                    result.insert("role".to_owned(), "tool".into());
                    self.message(result, results, t_ms, out)?;
                }
                return Ok(());
            }
            _ => {}
        }
        self.event(is, record, t_ms, out);
        Ok(())
    }

    fn message(
        &mut self,
        mut message: Object,
        path: &str,
        t_ms: Option<f64>,
        out: &mut Out,
    ) -> Result<(), WireFault> {
        self.about(&mut message)?;
        let run = &mut self.session.run;
        run.message(message, path, t_ms, out)
    }

    /// What a record says that is no message.
    fn event(&mut self, is: &Is, record: &mut Object, t_ms: Option<f64>, out: &Out) {
        let text = |record: &mut Object, path: &str| words(paths::take(record, path));
        let run = &mut self.session.run;
        match is {
            Is::Answer(path) => run.say(text(record, path), t_ms, out),
            Is::Last(path) => {
                let text = text(record, path);
                if !answered(run) {
                    run.say(text, t_ms, out);
                }
            }
            Is::Thought(path) => {
                let text = text(record, path);
                if !text.is_empty() {
                    run.act(Body::Reasoning(text), t_ms);
                }
            }
            Is::User(path) => run.user(text(record, path), t_ms),
            Is::Call {
                id,
                name,
                arguments,
            } => {
                let arguments = paths::take(record, arguments).map_or(Value::Null, written);
                let call = Body::ToolCall {
                    id: id_at(record, id),
                    name: match paths::take(record, name) {
                        Some(Value::String(name)) => name,
                        // The tool is what the only field is called.
                        Some(Value::Object(fields)) => {
                            fields.keys().next().cloned().unwrap_or_default()
                        }
                        _ => (*name).to_owned(),
                    },
                    arguments,
                };
                run.act(call, t_ms);
            }
            Is::Result { id, content, error } => {
                let error = paths::get(record, error).map(Cow::into_owned);
                let result = Body::ToolResult {
                    id: id_at(record, id),
                    content: words(paths::first(record, content)),
                    error: error.as_ref().and_then(failed),
                };
                run.push(result, t_ms);
            }
            Is::Ended(path) => {
                let word = paths::get(record, path);
                let word = word.as_deref().and_then(Value::as_str);
                self.session.reason = word.map(ended).or(self.session.reason.take());
            }
            Is::About | Is::Message(_) | Is::Step { .. } => {}
        }
    }
}

/// How a run ended, in the words that finishes have.
fn ended(word: &str) -> String {
    match word {
        "success" | "turn.completed" => "stop".to_owned(),
        "turn.failed" => "error".to_owned(),
        word if word.starts_with("error") => "error".to_owned(),
        word => usual(word),
    }
}

/// Whether the model has said something.
fn answered(run: &Conversation) -> bool {
    let mut events = run.events.iter();
    events.any(|event| matches!(event.body, Body::Answer(_)))
}

/// What says that a tool failed: a truth value, an exit code, a status.
fn failed(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(failed) => Some(*failed),
        Value::Number(code) => Some(code.as_i64() != Some(0)),
        Value::String(status) => match status.as_str() {
            "error" | "failed" | "failure" => Some(true),
            "success" | "completed" | "ok" => Some(false),
            _ => None,
        },
        Value::Object(_) => Some(true),
        _ => None,
    }
}

/// A name or id at the first of these paths that has one.
fn text_at(object: &mut Object, places: &[&str]) -> Result<Option<String>, WireFault> {
    for path in places {
        match paths::take(object, path) {
            None => {}
            Some(Value::String(text)) if text.is_empty() => {}
            Some(Value::String(text)) => return Ok(Some(text)),
            Some(Value::Number(number)) => return Ok(Some(number.to_string())),
            Some(other) => return Err(take::wrong(path, &other, "a text")),
        }
    }
    Ok(None)
}

/// The id of a call stays where it is: a result in the same record has it too.
fn id_at(object: &Object, path: &str) -> Option<String> {
    match paths::get(object, path)?.as_ref() {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// What a record that no rule is for calls itself.
fn kind(object: &Object) -> String {
    let names = ["type", "kind", "role", "event"];
    let named = names.iter().find_map(|name| object.get(*name)?.as_str());
    named.unwrap_or("another record").to_owned()
}

impl Reader for Reading {
    fn take(&mut self, record: Record, out: &mut Out) -> Result<(), WireFault> {
        let (place, object) = record.placed()?;
        let taken = self.document(object, out);
        if self.log.whole || !matches!(taken, Ok(false)) {
            self.session.at(place);
        }
        if self.log.whole {
            let session = std::mem::take(&mut self.session);
            taken?;
            session.whole(out);
            return Ok(());
        }
        taken.map(drop)
    }

    fn end(&mut self, out: &mut Out) {
        self.session.end(out);
    }
}
