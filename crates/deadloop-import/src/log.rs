//! [`Log`]: logs of chats and agents, each format as a table.
//!
//! A table has the place of the records, their marks, and the events that a record becomes. One reader reads all
//! formats. A format is a row of `formats/agent_logs.rs`, `exports.rs` or `logs.rs`.

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
use deadloop_corpus::Body;
use deadloop_stream::reasons::usual;
use deadloop_stream::take::{self, Object};
use deadloop_stream::wire::WireFault;

/// A format of logs.
pub(crate) struct Log {
    /// Groups of marks. A record with all marks of a group ([`marked`]) is of the format.
    pub(crate) marks: &'static [&'static str],
    /// The certainty of the format for a marked record.
    pub(crate) sure: Certainty,
    /// The lists of a document that hold its records. If empty, the document is the record.
    pub(crate) records: &'static [&'static str],
    /// Whether a document is a run. Otherwise all records of a file with the same id are one.
    pub(crate) whole: bool,
    /// Converts a document with a tree or versions to the shape that the paths expect.
    pub(crate) shape: Option<fn(&mut Object, &mut Out)>,
    /// The paths of data on the run.
    pub(crate) about: About,
    /// The rules for events. Every rule that holds for a record is applied, in order.
    pub(crate) rules: &'static [Rule],
}

/// Paths of data on a run or a turn.
pub(crate) struct About {
    pub(crate) id: &'static [&'static str],
    pub(crate) model: &'static [&'static str],
    /// The time of a record.
    pub(crate) time: &'static [&'static str],
    /// The reason why the model, or the run, stopped.
    pub(crate) reason: &'static [&'static str],
    /// The tokens of a turn.
    pub(crate) usage: &'static [&'static str],
    /// Unneeded fields without a place in a transcript, paths separated by blanks.
    pub(crate) beside: &'static str,
}

/// A rule: the marks of a record, and its meaning.
pub(crate) struct Rule {
    pub(crate) when: &'static str,
    pub(crate) is: Is,
}

impl Rule {
    pub(crate) const fn of(when: &'static str, is: Is) -> Self {
        Self { when, is }
    }
}

/// The meaning of a record. Texts are paths in the record. An empty path is the record itself.
pub(crate) enum Is {
    /// A message of a conversation, with its speaker in the role.
    Message(&'static str),
    /// A message that also holds the results of its tools.
    Step { results: &'static str },
    /// An answer of the model. A piece (`delta`) belongs to the turn of the pieces around it.
    Answer(&'static str),
    /// Thinking of the model.
    Thought(&'static str),
    /// A user message.
    User(&'static str),
    /// A call of a tool.
    Call {
        id: &'static str,
        name: &'static str,
        arguments: &'static str,
    },
    /// The result of a tool, and the path of its failure: a truth value, a status or an exit code.
    Result {
        id: &'static str,
        content: &'static [&'static str],
        error: &'static str,
    },
    /// Data on the run without an event.
    About,
    /// The answer of a model, if no record before it held one.
    Last(&'static str),
    /// The end of the run, with a word for its reason.
    Ended(&'static str),
}

/// Returns whether a record has all marks, which are separated by blanks.
///
/// A mark is a path with a value (`a.b`), a path without a value (`!a.b`), or a path with one of several values
/// (`a.b=x|y`).
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

/// Splits a mark into its path and its values.
fn said(mark: &str) -> (&str, Option<&str>) {
    // Marks are short, and a search for long texts would take longer.
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

/// A format with one record per line, without marks and rules.
pub(crate) const LINES: Log = Log {
    marks: &[],
    sure: Certainty::Certain,
    records: &[],
    whole: false,
    shape: None,
    about: NOTHING,
    rules: &[],
};

/// Paths for no data on the run.
pub(crate) const NOTHING: About = About {
    id: &[],
    model: &[],
    time: &[],
    reason: &[],
    usage: &[],
    beside: "",
};

impl Log {
    /// Returns the certainty that a file is of this format.
    pub(crate) fn knows(&self, head: &Head) -> Certainty {
        let of = |object: &Object| self.marks.iter().any(|marks| marked(object, marks));
        self.sure.when(head.any(of))
    }
}

/// A reader of a format of logs.
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

    /// Reads a document. Returns whether any of its records matched a rule.
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

    /// Takes the id of the document's run. Another id begins another run.
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

    /// Takes the data on the run from a document or a record.
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

    /// Applies the rules to a record. Returns whether one held.
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
            // The marks themselves are no losses.
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

    /// Adds the event of a record that is not a message.
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
                        // The name of the only field is the name of the tool.
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

/// Returns the usual finish reason for the end of a run.
fn ended(word: &str) -> String {
    match word {
        "success" | "turn.completed" => "stop".to_owned(),
        "turn.failed" => "error".to_owned(),
        word if word.starts_with("error") => "error".to_owned(),
        word => usual(word),
    }
}

/// Returns whether the run has an answer of the model.
fn answered(run: &Conversation) -> bool {
    let mut events = run.events.iter();
    events.any(|event| matches!(event.body, Body::Answer(_)))
}

/// Reads a failure of a tool from a truth value, an exit code or a status.
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

/// Takes the name or id at the first of these paths that has one.
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

/// Returns the id of a call without taking it, since a result in the same record has it too.
fn id_at(object: &Object, path: &str) -> Option<String> {
    match paths::get(object, path)?.as_ref() {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Returns the name of a record's kind, for losses, if no rule matches.
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
