//! [`LogFormat`]: logs of chats and agents, each format as a table.
//!
//! A table has the place of the records, their marks, and the events that a record becomes. One reader reads all
//! formats. A format is a file `formats/<name>.toml`, or a file of the user.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;

use crate::formats::shapes;
use crate::paths;
use crate::reader::{Intake, RecordReader, keep};
use crate::sessions::conversation::{Conversation, written};
use crate::sessions::run_session::RunSession;
use crate::sessions::spans::words;
use crate::sessions::turn::{TurnData, Usage};
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
/// Texts are paths in the record, or several with `|` between, of which the first that has a value counts. An empty
/// path is the record itself.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LogRule {
    when: String,
    /// Data on the run, each as `name=path`: its `id`, its `model`, or a field of its `meta`.
    run: Vec<String>,
    /// A system prompt.
    prompt: Option<String>,
    /// The model's response whose turn begins.
    turn: Option<String>,
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
    /// The tokens of the last turn.
    usage: Option<String>,
    /// The end of the run, with a word for its reason.
    ended: Option<String>,
    /// The reason why the run ended. If empty, the run goes on.
    reason: Option<String>,
    /// Unneeded fields of these records alone, as [`LogFormat::unused`].
    unused: String,
}

/// A call of a tool. A name that is no path is the name of the tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallRule {
    /// The list of calls, if a record has several. The other paths are then those of its elements.
    each: Option<String>,
    /// Whether the list of an earlier record may hold the call.
    #[serde(default)]
    maybe_listed: bool,
    id: String,
    name: String,
    arguments: String,
}

/// The result of a tool, and the path of its failure: a truth value, a status or an exit code. A path after `!` is that
/// of its success.
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
/// A mark is a path with a value (`a.b`), a path without a value (`!a.b`), a path with one of several values
/// (`a.b=x|y`), or with one of several beginnings (`a.b^=x|y`).
pub(crate) fn has_marks(object: &Object, marks: &str) -> bool {
    marks.split_ascii_whitespace().all(|mark| {
        if let Some(path) = mark.strip_prefix('!') {
            return paths::get(object, path).is_none();
        }
        let (path, says) = split_mark(mark);
        let value = paths::get(object, path.trim_end_matches('^'));
        match (value.as_deref(), says) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(Value::String(text)), Some(says)) => match path.strip_suffix('^') {
                Some(_) => says.split('|').any(|begin| text.starts_with(begin)),
                None => says.split('|').any(|word| word == text),
            },
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
    /// The ids of listed calls that have not run.
    listed: HashSet<String>,
}

impl LogReader {
    pub(crate) fn new(log: &'static LogFormat) -> Self {
        Self {
            log,
            session: RunSession::default(),
            listed: HashSet::new(),
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
            let unknown = self.record(&mut object, out)?;
            match &unknown {
                None => out.losses.rest("[]", &object),
                Some(kind) => out.pass(&format!("[] ({kind})")),
            }
            return Ok(unknown.is_none());
        };
        self.id(&mut object, out)?;
        self.take_metadata(&mut object)?;
        for record in paths::all(&mut object, list) {
            let Value::Object(mut record) = record else {
                return Err(fields::wrong(list, &record, "an object"));
            };
            match self.record(&mut record, out)? {
                None => out.losses.rest(list, &record),
                Some(kind) => out.losses.add(&format!("{list} ({kind})")),
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

    /// Applies the rules to a record. Returns the kind of a record for which none holds.
    fn record(
        &mut self,
        record: &mut Object,
        out: &mut Intake,
    ) -> Result<Option<String>, WireFault> {
        let held = self.log.rules.iter();
        let held: Vec<&LogRule> = held.filter(|rule| has_marks(record, &rule.when)).collect();
        let unknown = held.is_empty().then(|| kind(record));
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
                first(record, id);
            }
            for path in rule.unused.split_ascii_whitespace() {
                paths::take(record, path);
            }
        }
        let marks = held.iter();
        for mark in marks.flat_map(|rule| rule.when.split_ascii_whitespace()) {
            // The marks themselves are no losses.
            if let (path, Some(_)) = split_mark(mark) {
                paths::take(record, path.trim_end_matches('^'));
            }
        }
        Ok(unknown)
    }

    fn apply(
        &mut self,
        rule: &LogRule,
        record: &mut Object,
        t_ms: Option<f64>,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        self.run_data(rule, record)?;
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
        self.events(rule, record, t_ms, out)?;
        if let Some(path) = &rule.usage
            && let Some(Value::Object(mut usage)) = paths::take(record, path)
        {
            self.session.run.add_usage(Usage::take(&mut usage));
            rule.rest(path, usage, out);
        }
        Ok(())
    }

    /// Takes the data on the run, and begins a turn.
    fn run_data(&mut self, rule: &LogRule, record: &mut Object) -> Result<(), WireFault> {
        let session = &mut self.session;
        for data in &rule.run {
            let (name, path) = split_mark(data);
            let path = [path.unwrap_or(name).to_owned()];
            match name {
                "id" => session.id = text_at(record, &path)?.or(session.id.take()),
                "model" => session.model = text_at(record, &path)?.or(session.model.take()),
                _ => keep(&mut session.about, name, paths::first(record, &path)),
            }
        }
        if let Some(reason) = &rule.reason {
            session.reason = Some(reason.clone()).filter(|reason| !reason.is_empty());
        }
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

    /// Adds the calls of a record: each of a list, or the one that no list had.
    fn calls(
        &mut self,
        rule: &LogRule,
        record: &mut Object,
        t_ms: Option<f64>,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        let Some(call) = &rule.call else {
            return Ok(());
        };
        match &call.each {
            Some(list) => {
                for one in paths::all(record, list) {
                    let mut one = fields::as_object(list, one)?;
                    let body = call.body(&mut one)?;
                    self.listed.extend(id_at(&one, &call.id));
                    self.session.run.act(body, t_ms);
                    first(&mut one, &call.id);
                    rule.rest(list, one, out);
                }
            }
            None => {
                let id = id_at(record, &call.id).filter(|_| call.maybe_listed);
                let body = call.body(record)?;
                if !id.is_some_and(|id| self.listed.remove(&id)) {
                    self.session.run.act(body, t_ms);
                }
            }
        }
        Ok(())
    }

    /// Adds the events of a record that are not messages.
    fn events(
        &mut self,
        rule: &LogRule,
        record: &mut Object,
        t_ms: Option<f64>,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        let mut text = |path: &Option<String>| Some(words(first(record, path.as_deref()?)));
        let run = &mut self.session.run;
        if let Some(text) = text(&rule.prompt) {
            run.system(&text, t_ms);
        }
        if let Some(response) = text(&rule.turn) {
            run.turn(TurnData {
                response: Some(response).filter(|name| !name.is_empty()),
                t_ms,
                ..TurnData::default()
            });
        }
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
        self.calls(rule, record, t_ms, out)?;
        if let Some(result) = &rule.result {
            let (success, path) = match result.error.strip_prefix('!') {
                Some(path) => (true, path),
                None => (false, result.error.as_str()),
            };
            let error = paths::get(record, path).and_then(|value| read_failure(&value));
            let result = Body::ToolResult {
                id: id_at(record, &result.id),
                content: words(paths::first(record, &result.content)),
                error: error.map(|failed| failed != success),
            };
            self.session.run.push(result, t_ms);
        }
        if let Some(path) = &rule.ended {
            let word = paths::get(record, path);
            let word = word.as_deref().and_then(Value::as_str);
            self.session.reason = word.map(finish_reason).or(self.session.reason.take());
        }
        Ok(())
    }
}

impl LogRule {
    /// Counts the remaining fields of a part of a record as losses, without the unneeded ones.
    fn rest(&self, path: &str, mut part: Object, out: &mut Intake) {
        for unused in self.unused.split_ascii_whitespace() {
            if let Some(inner) = unused.strip_prefix(path).and_then(|p| p.strip_prefix('.')) {
                paths::take(&mut part, inner);
            }
        }
        out.losses.rest(path, &part);
    }
}

impl CallRule {
    /// Takes the call out of a record or an element of a list, but for its id.
    fn body(&self, record: &mut Object) -> Result<Body, WireFault> {
        // The name may be the field around the arguments.
        let arguments = first(record, &self.arguments).map_or(Value::Null, written);
        let name = match first(record, &self.name) {
            Some(Value::String(name)) => name,
            // The name of the only field is the name of the tool.
            Some(Value::Object(fields)) => fields.keys().next().cloned().unwrap_or_default(),
            None => self.name.rsplit('|').next().unwrap_or_default().to_owned(),
            Some(other) => return Err(fields::wrong("name", &other, "a string")),
        };
        Ok(Body::ToolCall {
            id: id_at(record, &self.id),
            name,
            arguments,
        })
    }
}

/// Takes the value at the first of several paths, with `|` between, that has one.
fn first(record: &mut Object, several: &str) -> Option<Value> {
    several
        .split('|')
        .find_map(|path| paths::take(record, path))
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
fn id_at(object: &Object, several: &str) -> Option<String> {
    let mut several = several.split('|');
    let found = several.find_map(|path| paths::get(object, path))?;
    match found.as_ref() {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Returns the name of a record's kind, for losses, if no rule matches.
fn kind(object: &Object) -> String {
    let names = [
        "payload.type",
        "type",
        "kind",
        "role",
        "event",
        "record_type",
    ];
    let named = names.iter().find_map(|name| paths::get(object, name));
    let named = named.as_ref().and_then(|named| named.as_str());
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
