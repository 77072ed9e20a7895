//! [`LogFormat`]: a format of logs of chats and agents, as a table.
//!
//! The table has the places of the records, their marks, and the events of each kind of record. [`LogReader`] reads every
//! format. A format is a file `formats/<name>.toml`, or a file of the user.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;

use crate::formats::shapes;
use crate::paths;
use crate::reader::{Intake, RecordReader, keep};
use crate::sessions::conversation::{Conversation, written_arguments};
use crate::sessions::run_session::RunSession;
use crate::sessions::spans::join_words;
use crate::sessions::turn::{TurnData, Usage};
use crate::source::head::{FormatCertainty, SourceHead};
use crate::source::records::SourceRecord;
use deadloop_corpus::{Body, tool_call, tool_result};
use deadloop_stream::fields::{self, Object};
use deadloop_stream::reasons::usual;
use deadloop_stream::wire::WireFault;

/// A format of logs, as its TOML file describes it.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LogFormat {
    /// The help on one line: the program and the kind of recording.
    pub(crate) help: String,
    /// Groups of marks ([`has_marks`]). A file has the format if one of its first records has all marks of a group.
    marks: Vec<String>,
    /// Whether records of other formats have such marks too.
    likely: bool,
    /// A field that every document has. A document without it is refused.
    needed: String,
    /// The lists of a document that hold its records. If empty, the document is the record.
    records: Vec<String>,
    /// Whether a document is a run. Otherwise all records of a file with the same id are one.
    whole: bool,
    /// Whether the records of several runs alternate in a file. Otherwise another id ends the run before it.
    several: bool,
    /// The function that converts a document or record to the shape that the paths expect.
    #[serde(deserialize_with = "shapes::deserialize_conversion")]
    shape: Option<shapes::ShapeConversion>,
    /// The paths of the run's id.
    id: Vec<String>,
    /// The paths of the model.
    model: Vec<String>,
    /// The paths of the time of a record.
    time: Vec<String>,
    /// The paths of the finish reason of the model or of the run.
    reason: Vec<String>,
    /// The paths of a turn's tokens.
    usage: Vec<String>,
    /// The paths of fields that a transcript does not need, separated by blanks.
    unused: String,
    /// The rules for events. Every rule whose marks a record has is applied, in order.
    #[serde(rename = "rule")]
    rules: Vec<LogRule>,
}

/// A rule: the marks of a record, and its events. The record of a rule without events is data on the run.
///
/// Texts are paths in the record. Of several paths with `|` between, the first with a value counts. An empty path is the
/// record itself.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LogRule {
    when: String,
    /// Data on the run, each as `name=path`: its `id`, its `model`, its `reason`, or a field of its `meta`.
    run: Vec<String>,
    /// A system prompt.
    prompt: Option<String>,
    /// The id of the model's response. A turn begins, or the turn of the same response continues.
    turn: Option<String>,
    /// A message of a conversation, with its speaker in the role. Of a path after `[].`, losses show the whole path.
    message: Option<String>,
    /// The results of tools in a record that is a message too.
    results: Option<String>,
    /// Thinking of the model.
    thought: Option<String>,
    /// An answer of the model, or a piece of one.
    answer: Option<String>,
    /// The answer of the model in a run without an answer before.
    last: Option<String>,
    /// A user message.
    user: Option<String>,
    /// The summary of a compaction.
    compaction: Option<String>,
    call: Option<CallRule>,
    result: Option<CallResult>,
    /// The object with the tokens of the last turn.
    usage: Option<String>,
    /// The word for the finish reason of the run.
    ended: Option<String>,
    /// The finish reason of the run. If empty, the run goes on.
    reason: Option<String>,
    /// The paths of unneeded fields of these records, as in [`LogFormat::unused`].
    unused: String,
}

/// A tool call. A name that is no path is the name of the tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallRule {
    /// The list of calls, if a record has several. The other paths are then those of its elements.
    each: Option<String>,
    /// Whether the list of an earlier record may already have the call.
    #[serde(default)]
    maybe_listed: bool,
    id: String,
    name: String,
    arguments: String,
}

/// The result of a tool. `error` is the path of its failure: a truth value, a status or an exit code. After `!`, it is the
/// path of its success.
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
/// A mark is a path with a value (`a.b`, or `a|b` for one of two paths), a path without a value (`!a.b`), a path with one
/// of several values (`a.b=x|y`), or a path with one of several beginnings (`a.b^=x|y`).
pub(crate) fn has_marks(object: &Object, marks: &str) -> bool {
    marks.split_ascii_whitespace().all(|mark| {
        if let Some(path) = mark.strip_prefix('!') {
            return paths::get(object, path).is_none();
        }
        let (path, Some(words)) = split_mark(mark) else {
            return mark
                .split('|')
                .any(|path| paths::get(object, path).is_some());
        };
        let value = paths::get(object, path.trim_end_matches('^'));
        match (value.as_deref(), path.ends_with('^')) {
            (None, _) => false,
            (Some(Value::String(text)), true) => {
                words.split('|').any(|word| text.starts_with(word))
            }
            (Some(Value::String(text)), false) => words.split('|').any(|word| word == text),
            (Some(value), _) => value.to_string().as_str() == words,
        }
    })
}

/// Splits a mark into its path and its values.
fn split_mark(mark: &str) -> (&str, Option<&str>) {
    // A loop is faster than a search here, since marks are short.
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
    pub(crate) fn certainty(&self, head: &SourceHead) -> FormatCertainty {
        let is_marked = |object: &Object| self.marks.iter().any(|marks| has_marks(object, marks));
        let certainty = if self.likely {
            FormatCertainty::Likely
        } else {
            FormatCertainty::Certain
        };
        certainty.only_if(head.any(is_marked))
    }
}

/// A reader of a format of logs.
pub(crate) struct LogReader {
    log: &'static LogFormat,
    /// The run of the last record.
    session: RunSession,
    /// The other runs of a file in which several alternate.
    paused: Vec<RunSession>,
    /// The ids of listed calls that have not run.
    listed: HashSet<String>,
}

impl LogReader {
    pub(crate) fn new(log: &'static LogFormat) -> Self {
        Self {
            log,
            session: RunSession::default(),
            paused: Vec::new(),
            listed: HashSet::new(),
        }
    }

    /// Reads a document. Returns whether any of its records matched a rule.
    fn read_document(&mut self, mut object: Object, out: &mut Intake) -> Result<bool, WireFault> {
        let needed = self.log.needed.as_str();
        if !needed.is_empty() && !object.contains_key(needed) {
            return Err(fields::missing(needed, "a record of this format"));
        }
        if let Some(shape) = self.log.shape {
            shape(&mut object, out);
        }
        let lists = self.log.records.iter();
        let list = lists.into_iter().find(|list| {
            let there = paths::get(&object, list.trim_end_matches("[]"));
            there.is_some_and(|value| value.is_array())
        });
        let Some(list) = list else {
            self.take_id(&mut object, out)?;
            let unknown = self.apply_rules(&mut object, out)?;
            match &unknown {
                None => out.losses.add_rest("[]", &object),
                Some(kind) => out.pass(&format!("[] ({kind})")),
            }
            return Ok(unknown.is_none());
        };
        self.take_id(&mut object, out)?;
        self.take_metadata(&mut object)?;
        for record in paths::take_all(&mut object, list) {
            let Value::Object(mut record) = record else {
                return Err(fields::wrong(list, &record, "an object"));
            };
            match self.apply_rules(&mut record, out)? {
                None => out.losses.add_rest(list, &record),
                Some(kind) => out.losses.add(&format!("{list} ({kind})")),
            }
        }
        out.losses.add_rest("", &object);
        Ok(true)
    }

    /// Takes the id of the document's run. Another id begins or continues another run.
    fn take_id(&mut self, object: &mut Object, out: &mut Intake) -> Result<(), WireFault> {
        let id = take_text(object, &self.log.id)?;
        if self.log.several && id != self.session.id {
            let known = self.paused.iter().position(|run| run.id == id);
            let next = known.map(|at| self.paused.swap_remove(at));
            let last = std::mem::replace(&mut self.session, next.unwrap_or_default());
            self.paused.push(last);
        }
        if let Some(id) = id {
            let is_other = self.session.id.as_ref().is_some_and(|known| *known != id);
            if is_other && !self.log.whole {
                self.session.end(out);
            }
            self.session.id = Some(id);
        }
        Ok(())
    }

    /// Takes the data on the run from a document or a record.
    fn take_metadata(&mut self, object: &mut Object) -> Result<(), WireFault> {
        let log = self.log;
        if let Some(model) = take_text(object, &log.model)? {
            self.session.model = Some(model);
        }
        if let Some(reason) = take_text(object, &log.reason)? {
            self.session.reason = Some(usual(&reason));
        }
        for path in log.unused.split_ascii_whitespace() {
            paths::take(object, path);
        }
        Ok(())
    }

    /// Applies the rules to a record. Returns the kind of the record if no rule holds.
    fn apply_rules(
        &mut self,
        record: &mut Object,
        out: &mut Intake,
    ) -> Result<Option<String>, WireFault> {
        let held = self.log.rules.iter();
        let held: Vec<&LogRule> = held.filter(|rule| has_marks(record, &rule.when)).collect();
        let unknown = held.is_empty().then(|| record_kind(record));
        self.take_metadata(record)?;
        let stamp = paths::take_first(record, &self.log.time);
        let t_ms = self.session.clock.at(stamp.as_ref());
        let usage = paths::take_first(record, &self.log.usage);
        let mut usage = usage.map(paths::object_or_empty).unwrap_or_default();
        let turns = self.session.run.turns;
        for rule in &held {
            self.apply_rule(rule, record, t_ms, out)?;
        }
        if !usage.is_empty() {
            let used = Usage::take(&mut usage);
            if self.session.run.turns > turns || used != Usage::default() {
                self.session.run.add_usage(used);
            }
            out.losses.add_rest("usage", &usage);
        }
        for rule in &held {
            let ids = rule.call.iter().map(|call| &call.id);
            for id in ids.chain(rule.result.iter().map(|result| &result.id)) {
                take_first(record, id);
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

    fn apply_rule(
        &mut self,
        rule: &LogRule,
        record: &mut Object,
        t_ms: Option<f64>,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        self.take_run_data(rule, record)?;
        let mut messages = Vec::new();
        match rule.message.as_deref() {
            None => {}
            Some("") => messages.push((std::mem::take(record), "[]")),
            Some(path) => match paths::take(record, path.trim_start_matches("[].")) {
                Some(Value::Object(message)) => messages.push((message, path)),
                Some(other) => return Err(fields::wrong(path, &other, "a message")),
                None => {}
            },
        }
        if let Some(results) = &rule.results {
            let found = paths::take_all(record, results);
            messages.push((std::mem::take(record), "[]"));
            for result in found {
                let mut result = fields::as_object(results, result)?;
                result.insert("role".to_owned(), "tool".into());
                messages.push((result, results));
            }
        }
        for (mut message, path) in messages {
            self.take_metadata(&mut message)?;
            let run = &mut self.session.run;
            run.add_message(message, path, t_ms, out)?;
        }
        self.add_events(rule, record, t_ms, out)?;
        if let Some(path) = &rule.usage
            && let Some(Value::Object(mut usage)) = paths::take(record, path)
        {
            self.session.run.add_usage(Usage::take(&mut usage));
            rule.count_losses(path, usage, out);
        }
        for path in rule.unused.split_ascii_whitespace() {
            paths::take(record, path);
        }
        Ok(())
    }

    /// Takes the data on the run.
    fn take_run_data(&mut self, rule: &LogRule, record: &mut Object) -> Result<(), WireFault> {
        let session = &mut self.session;
        for data in &rule.run {
            let (name, path) = split_mark(data);
            let path = [path.unwrap_or(name).to_owned()];
            let text = match name {
                "id" => &mut session.id,
                "model" => &mut session.model,
                "reason" => &mut session.reason,
                _ => {
                    let value = paths::take_first(record, &path);
                    if !session.about.contains_key(name) {
                        keep(&mut session.about, name, value);
                    }
                    continue;
                }
            };
            *text = take_text(record, &path)?.or(text.take());
        }
        if let Some(reason) = &rule.reason {
            session.reason = Some(reason.clone()).filter(|reason| !reason.is_empty());
        }
        Ok(())
    }

    /// Adds the calls of a record: each of a list, or a single one that no earlier list had.
    fn add_calls(
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
                for element in paths::take_all(record, list) {
                    let mut element = fields::as_object(list, element)?;
                    let body = call.take_body(&mut element)?;
                    self.listed.extend(find_id(&element, &call.id));
                    self.session.run.add_action(body, t_ms);
                    take_first(&mut element, &call.id);
                    rule.count_losses(list, element, out);
                }
            }
            None => {
                let id = find_id(record, &call.id).filter(|_| call.maybe_listed);
                let body = call.take_body(record)?;
                if !id.is_some_and(|id| self.listed.remove(&id)) {
                    self.session.run.add_action(body, t_ms);
                }
            }
        }
        Ok(())
    }

    /// Adds the events of a record that are not messages.
    fn add_events(
        &mut self,
        rule: &LogRule,
        record: &mut Object,
        t_ms: Option<f64>,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        let mut text =
            |path: &Option<String>| Some(join_words(take_first(record, path.as_deref()?)));
        let run = &mut self.session.run;
        if let Some(text) = text(&rule.prompt) {
            run.add_system(&text, t_ms);
        }
        if let Some(response) = text(&rule.turn) {
            run.announce(TurnData {
                response: Some(response).filter(|name| !name.is_empty()),
                t_ms,
                ..TurnData::default()
            });
        }
        if let Some(text) = text(&rule.thought).filter(|text| !text.is_empty()) {
            run.add_action(Body::Reasoning(text), t_ms);
        }
        if let Some(text) = text(&rule.answer) {
            run.add_answer(text, t_ms, out);
        }
        if let Some(text) = text(&rule.last).filter(|_| !has_answer(run)) {
            run.add_answer(text, t_ms, out);
        }
        if let Some(text) = text(&rule.user) {
            run.add_user(text, t_ms);
        }
        if let Some(text) = text(&rule.compaction).filter(|text| !text.is_empty()) {
            run.add_system(&text, t_ms);
            run.mark_compaction();
        }
        self.add_calls(rule, record, t_ms, out)?;
        if let Some(result) = &rule.result {
            let path = result.error.trim_start_matches('!');
            let error = paths::get(record, path).and_then(|value| read_failure(&value));
            let error = error.map(|failed| failed != result.error.starts_with('!'));
            let id = find_id(record, &result.id);
            let content = join_words(paths::take_first(record, &result.content));
            self.session.run.push(tool_result(id, content, error), t_ms);
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
    fn count_losses(&self, path: &str, mut part: Object, out: &mut Intake) {
        for unused in self.unused.split_ascii_whitespace() {
            if unused == path {
                return;
            }
            if let Some(inner) = unused.strip_prefix(path).and_then(|p| p.strip_prefix('.')) {
                paths::take(&mut part, inner);
            }
        }
        out.losses.add_rest(path, &part);
    }
}

impl CallRule {
    /// Takes the call out of a record or an element of a list. The id stays.
    fn take_body(&self, record: &mut Object) -> Result<Body, WireFault> {
        // The name may be the field around the arguments.
        let arguments = take_first(record, &self.arguments).map_or(Value::Null, written_arguments);
        let name = match take_first(record, &self.name) {
            Some(Value::String(name)) => name,
            // The name of the only field is the name of the tool.
            Some(Value::Object(fields)) => fields.keys().next().cloned().unwrap_or_default(),
            None => self.name.rsplit('|').next().unwrap_or_default().to_owned(),
            Some(other) => return Err(fields::wrong("name", &other, "a string")),
        };
        Ok(tool_call(find_id(record, &self.id), name, arguments))
    }
}

/// Takes the value at the first of several paths, with `|` between, that has one.
fn take_first(record: &mut Object, several: &str) -> Option<Value> {
    several
        .split('|')
        .find_map(|path| paths::take(record, path))
}

/// Returns the usual finish reason for the end of a run.
fn finish_reason(word: &str) -> String {
    match word {
        "success" | "turn.completed" => "stop".to_owned(),
        "turn.failed" => "error".to_owned(),
        "error_max_turns" | "error_max_budget_usd" => "limit".to_owned(),
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
fn take_text(object: &mut Object, places: &[String]) -> Result<Option<String>, WireFault> {
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

/// Returns the id of a call. The id stays, since a result in the same record has it too.
fn find_id(object: &Object, several: &str) -> Option<String> {
    let mut several = several.split('|');
    let found = several.find_map(|path| paths::get(object, path))?;
    match found.as_ref() {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Returns the name of a record's kind, for the losses of a record without a rule.
fn record_kind(object: &Object) -> String {
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
        let taken = self.read_document(object, out);
        if self.log.whole || self.log.several || !matches!(taken, Ok(false)) {
            self.session.begin_at(place);
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
        let mut runs = std::mem::take(&mut self.paused);
        runs.push(std::mem::take(&mut self.session));
        if self.log.several {
            // A run that is only named, as in a summary, is no transcript.
            runs.retain(|session| !session.run.events.is_empty());
            runs.sort_by(|a, b| a.place.cmp(&b.place));
        }
        runs.iter_mut().for_each(|session| session.end(out));
    }
}
