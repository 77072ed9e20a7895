//! [`LogFormat`]: logs of chats and agents, each format as a table.
//!
//! A table has the place of the records, their marks, and the events that a record becomes. One reader reads all
//! formats. A format is a file `formats/<name>.toml`, or a file of the user.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::formats::shapes;
use crate::paths;
use crate::reader::{Intake, RecordReader};
use crate::sessions::conversation::{Conversation, written};
use crate::sessions::run_session::RunSession;
use crate::sessions::spans::words;
use crate::sessions::turn::Usage;
use crate::source::head::{FormatCertainty, SourceHead};
use crate::source::records::SourceRecord;
use deadloop_corpus::Body;
use deadloop_stream::fields::{self, Object};
use deadloop_stream::reasons::usual;
use deadloop_stream::wire::WireFault;

/// A format of logs, as its TOML file describes it.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LogFormat {
    /// The help on one line: the program and the kind of recording.
    pub(crate) help: String,
    /// Groups of marks. A record with all marks of a group ([`has_marks`]) is of the format.
    marks: Vec<String>,
    /// Whether records of other formats have such marks too.
    likely: bool,
    /// The lists of a document that hold its records. If empty, the document is the record.
    records: Vec<String>,
    /// Whether a document is a run. Otherwise all records of a file with the same id are one.
    whole: bool,
    /// The function that converts a document with a tree or versions to the shape that the paths expect.
    #[serde(deserialize_with = "shapes::deserialize_conversion")]
    shape: Option<shapes::ShapeConversion>,
    /// The paths of the id of the run.
    id: Vec<String>,
    /// The paths of the model.
    model: Vec<String>,
    /// The paths of the time of a record.
    time: Vec<String>,
    /// The paths of the reason why the model, or the run, stopped.
    reason: Vec<String>,
    /// The paths of the tokens of a turn.
    usage: Vec<String>,
    /// Unneeded fields without a place in a transcript, paths separated by blanks.
    unused: String,
    /// The rules for events. Every rule that holds for a record is applied, in order.
    #[serde(rename = "rule")]
    rules: Vec<LogRule>,
}

/// A rule: the marks of a record, and its events. Without an event, the record is data on the run.
///
/// Texts are paths in the record. An empty path is the record itself.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LogRule {
    when: String,
    /// A message of a conversation, with its speaker in the role.
    message: Option<String>,
    /// The results of tools in a record that is a message too.
    results: Option<String>,
    /// Thinking of the model.
    thought: Option<String>,
    /// An answer of the model. A piece (`delta`) belongs to the turn of the pieces around it.
    answer: Option<String>,
    /// The answer of a model, if no record before it held one.
    last: Option<String>,
    /// A user message.
    user: Option<String>,
    /// The summary of a compaction.
    compaction: Option<String>,
    call: Option<CallRule>,
    result: Option<CallResult>,
    /// The end of the run, with a word for its reason.
    ended: Option<String>,
}

/// A call of a tool. A name that is no path is the name of the tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallRule {
    id: String,
    name: String,
    arguments: String,
}

/// The result of a tool, and the path of its failure: a truth value, a status or an exit code.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallResult {
    id: String,
    content: Vec<String>,
    #[serde(default)]
    error: String,
}

/// Returns whether a record has all marks, which are separated by blanks.
///
/// A mark is a path with a value (`a.b`), a path without a value (`!a.b`), or a path with one of several values
/// (`a.b=x|y`).
pub(crate) fn has_marks(object: &Object, marks: &str) -> bool {
    marks.split_ascii_whitespace().all(|mark| {
        if let Some(path) = mark.strip_prefix('!') {
            return paths::get(object, path).is_none();
        }
        let (path, says) = split_mark(mark);
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
fn split_mark(mark: &str) -> (&str, Option<&str>) {
    // Marks are short, and a search for long texts would take longer.
    let equal = mark.bytes().position(|byte| byte == b'=');
    equal.map_or((mark, None), |at| (&mark[..at], Some(&mark[at + 1..])))
}

impl LogFormat {
    /// Parses the file of a format.
    ///
    /// # Errors
    /// The text is not TOML, has an unknown key, or no rule.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let log: Self = toml::from_str(text).map_err(|e| e.to_string())?;
        if log.rules.is_empty() {
            return Err("no [[rule]]; expected one for each kind of record".to_owned());
        }
        Ok(log)
    }

    /// Returns the certainty that a file is of this format.
    pub(crate) fn knows(&self, head: &SourceHead) -> FormatCertainty {
        let of = |object: &Object| self.marks.iter().any(|marks| has_marks(object, marks));
        let sure = if self.likely {
            FormatCertainty::Likely
        } else {
            FormatCertainty::Certain
        };
        sure.when(head.any(of))
    }
}

/// A reader of a format of logs.
pub(crate) struct LogReader {
    log: &'static LogFormat,
    session: RunSession,
}

impl LogReader {
    pub(crate) fn new(log: &'static LogFormat) -> Self {
        Self {
            log,
            session: RunSession::default(),
        }
    }

    /// Reads a document. Returns whether any of its records matched a rule.
    fn document(&mut self, mut object: Object, out: &mut Intake) -> Result<bool, WireFault> {
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
        self.take_metadata(&mut object)?;
        for record in paths::all(&mut object, list) {
            let Value::Object(mut record) = record else {
                return Err(fields::wrong(list, &record, "an object"));
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
    fn id(&mut self, object: &mut Object, out: &mut Intake) -> Result<(), WireFault> {
        if let Some(id) = text_at(object, &self.log.id)? {
            let other = self.session.id.as_ref().is_some_and(|known| *known != id);
            if other && !self.log.whole {
                self.session.end(out);
            }
            self.session.id = Some(id);
        }
        Ok(())
    }

    /// Takes the data on the run from a document or a record.
    fn take_metadata(&mut self, object: &mut Object) -> Result<(), WireFault> {
        let log = self.log;
        if let Some(model) = text_at(object, &log.model)? {
            self.session.model = Some(model);
        }
        if let Some(reason) = text_at(object, &log.reason)? {
            self.session.reason = Some(usual(&reason));
        }
        for path in log.unused.split_ascii_whitespace() {
            paths::take(object, path);
        }
        Ok(())
    }

    /// Applies the rules to a record. Returns whether one held.
    fn record(&mut self, record: &mut Object, out: &mut Intake) -> Result<bool, WireFault> {
        let held = self.log.rules.iter();
        let held: Vec<&LogRule> = held.filter(|rule| has_marks(record, &rule.when)).collect();
        self.take_metadata(record)?;
        let stamp = paths::first(record, &self.log.time);
        let t_ms = self.session.clock.at(stamp.as_ref());
        let usage = paths::first(record, &self.log.usage);
        let mut usage = match usage {
            Some(Value::Object(usage)) => usage,
            _ => Object::new(),
        };
        let turns = self.session.run.turns();
        for rule in &held {
            self.apply(rule, record, t_ms, out)?;
        }
        if !usage.is_empty() {
            let used = Usage::take(&mut usage);
            let goes_on = self.session.run.turns() > turns || used != Usage::default();
            if goes_on {
                self.session.run.add_usage(used);
            }
            out.losses.rest("usage", &usage);
        }
        for rule in &held {
            let ids = rule.call.iter().map(|call| &call.id);
            for id in ids.chain(rule.result.iter().map(|result| &result.id)) {
                paths::take(record, id);
            }
        }
        let marks = held.iter();
        for mark in marks.flat_map(|rule| rule.when.split_ascii_whitespace()) {
            // The marks themselves are no losses.
            if let (path, Some(_)) = split_mark(mark) {
                paths::take(record, path);
            }
        }
        Ok(!held.is_empty())
    }

    fn apply(
        &mut self,
        rule: &LogRule,
        record: &mut Object,
        t_ms: Option<f64>,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        match rule.message.as_deref() {
            None => {}
            Some("") => self.message(std::mem::take(record), "[]", t_ms, out)?,
            Some(path) => match paths::take(record, path) {
                Some(Value::Object(message)) => self.message(message, path, t_ms, out)?,
                Some(other) => return Err(fields::wrong(path, &other, "a message")),
                None => {}
            },
        }
        if let Some(results) = &rule.results {
            let found = paths::all(record, results);
            let message = std::mem::take(record);
            self.message(message, "[]", t_ms, out)?;
            for result in found {
                let mut result = fields::as_object(results, result)?;
                result.insert("role".to_owned(), "tool".into());
                self.message(result, results, t_ms, out)?;
            }
        }
        self.events(rule, record, t_ms, out);
        Ok(())
    }

    fn message(
        &mut self,
        mut message: Object,
        path: &str,
        t_ms: Option<f64>,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        self.take_metadata(&mut message)?;
        let run = &mut self.session.run;
        run.message(message, path, t_ms, out)
    }

    /// Adds the events of a record that are not messages.
    fn events(&mut self, rule: &LogRule, record: &mut Object, t_ms: Option<f64>, out: &Intake) {
        let mut text = |path: &Option<String>| Some(words(paths::take(record, path.as_deref()?)));
        let run = &mut self.session.run;
        if let Some(text) = text(&rule.thought).filter(|text| !text.is_empty()) {
            run.act(Body::Reasoning(text), t_ms);
        }
        if let Some(text) = text(&rule.answer) {
            run.add_answer(text, t_ms, out);
        }
        if let Some(text) = text(&rule.last).filter(|_| !has_answer(run)) {
            run.add_answer(text, t_ms, out);
        }
        if let Some(text) = text(&rule.user) {
            run.user(text, t_ms);
        }
        if let Some(text) = text(&rule.compaction).filter(|text| !text.is_empty()) {
            run.system(&text, t_ms);
            run.mark_compaction();
        }
        if let Some(call) = &rule.call {
            let arguments = paths::take(record, &call.arguments).map_or(Value::Null, written);
            let call = Body::ToolCall {
                id: id_at(record, &call.id),
                name: match paths::take(record, &call.name) {
                    Some(Value::String(name)) => name,
                    // The name of the only field is the name of the tool.
                    Some(Value::Object(fields)) => {
                        fields.keys().next().cloned().unwrap_or_default()
                    }
                    _ => call.name.clone(),
                },
                arguments,
            };
            run.act(call, t_ms);
        }
        if let Some(result) = &rule.result {
            let error = paths::get(record, &result.error).map(Cow::into_owned);
            let result = Body::ToolResult {
                id: id_at(record, &result.id),
                content: words(paths::first(record, &result.content)),
                error: error.as_ref().and_then(read_failure),
            };
            run.push(result, t_ms);
        }
        if let Some(path) = &rule.ended {
            let word = paths::get(record, path);
            let word = word.as_deref().and_then(Value::as_str);
            self.session.reason = word.map(finish_reason).or(self.session.reason.take());
        }
    }
}

/// Returns the usual finish reason for the end of a run.
fn finish_reason(word: &str) -> String {
    match word {
        "success" | "turn.completed" => "stop".to_owned(),
        "turn.failed" => "error".to_owned(),
        word if word.starts_with("error") => "error".to_owned(),
        word => usual(word),
    }
}

/// Returns whether the run has an answer of the model.
fn has_answer(run: &Conversation) -> bool {
    let mut events = run.events.iter();
    events.any(|event| matches!(event.body, Body::Answer(_)))
}

/// Reads a failure of a tool from a truth value, an exit code or a status.
fn read_failure(value: &Value) -> Option<bool> {
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
fn text_at(object: &mut Object, places: &[String]) -> Result<Option<String>, WireFault> {
    for path in places {
        match paths::take(object, path) {
            None => {}
            Some(Value::String(text)) if text.is_empty() => {}
            Some(Value::String(text)) => return Ok(Some(text)),
            Some(Value::Number(number)) => return Ok(Some(number.to_string())),
            Some(other) => return Err(fields::wrong(path, &other, "a text")),
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

impl RecordReader for LogReader {
    fn take(&mut self, record: SourceRecord, out: &mut Intake) -> Result<(), WireFault> {
        let (place, object) = record.into_place_and_object()?;
        let taken = self.document(object, out);
        if self.log.whole || !matches!(taken, Ok(false)) {
            self.session.at(place);
        }
        if self.log.whole {
            let session = std::mem::take(&mut self.session);
            taken?;
            session.emit_whole(out);
            return Ok(());
        }
        taken.map(drop)
    }

    fn end(&mut self, out: &mut Intake) {
        self.session.end(out);
    }
}
