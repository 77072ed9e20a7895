//! [`LogFormat`]: a declarative format for logs of chats and agents.
//!
//! A format is a TOML file, `formats/<name>.toml` or a file of the user. It describes where the records are, how they are
//! recognized, and the events of each kind of record. [`LogReader`] interprets all formats.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;

use crate::formats::shapes;
use crate::paths;
use crate::reader::{Output, RecordReader, set_field};
use crate::sessions::conversation::{Conversation, null_if_empty};
use crate::sessions::run_session::RunSession;
use crate::sessions::spans::to_text;
use crate::sessions::turn::{TurnData, Usage};
use crate::source::head::{FormatCertainty, SourceHead};
use crate::source::records::SourceRecord;
use deadloop_corpus::{Body, tool_call, tool_result};
use deadloop_stream::fields::{Object, as_object, missing_field, wrong_type};
use deadloop_stream::reasons::normalize;
use deadloop_stream::wire::WireResult;

/// A log format, as its TOML file describes it.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LogFormat {
    /// Help text on one line: the program and the kind of recording.
    pub(crate) help: String,
    /// Sets of conditions ([`meets_all`]). A file has the format if one of its first records meets a set.
    marks: Vec<String>,
    /// Whether records of other formats may also meet the conditions, so that the format is only likely.
    likely: bool,
    /// A required field of every document.
    needed: String,
    /// Paths of the lists in a document that hold its records. If empty, the document is the record.
    records: Vec<String>,
    /// Whether each document is a run. Otherwise all records of a file with the same id form a run.
    whole: bool,
    /// Whether the records of several runs are interleaved. Otherwise a new id ends the previous run.
    several: bool,
    /// Function that converts a document or record to the shape for the paths.
    #[serde(deserialize_with = "shapes::deserialize_conversion")]
    shape: Option<shapes::ShapeConversion>,
    /// Paths of the run id.
    id: Vec<String>,
    /// Paths of the model.
    model: Vec<String>,
    /// Paths of a record's time.
    time: Vec<String>,
    /// Paths of the finish reason of the model or the run.
    reason: Vec<String>,
    /// Paths of a turn's token counts.
    usage: Vec<String>,
    /// Paths of fields that a transcript does not need, separated by spaces.
    unused: String,
    /// Rules for events. Every rule whose conditions a record meets is applied, in order.
    #[serde(rename = "rule")]
    rules: Vec<LogRule>,
}

/// A rule: the conditions of a record, and the events to add. A record whose rule adds no event is data on the run.
///
/// Strings are paths in the record. Several paths may be separated by `|`; the first with a value is used. An empty
/// path is the record itself.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LogRule {
    when: String,
    /// Data on the run, each as `name=path`. The name is `id`, `model`, `reason`, or a field of `meta`.
    run: Vec<String>,
    /// Path of a system prompt.
    prompt: Option<String>,
    /// Path of the response id. A turn begins, or the turn of the same response continues.
    turn: Option<String>,
    /// Path of a message whose role names the speaker. An optional prefix `[].` appears only in reported losses.
    message: Option<String>,
    /// Path of the tool results in a record that is also a message.
    results: Option<String>,
    /// Path of reasoning of the model.
    thought: Option<String>,
    /// Path of an answer of the model, or of a piece of an answer.
    answer: Option<String>,
    /// Path of the final answer, used only if the run has no answer yet.
    last: Option<String>,
    /// Path of a user message.
    user: Option<String>,
    /// Path of the summary that a compaction leaves.
    compaction: Option<String>,
    call: Option<CallRule>,
    result: Option<CallResult>,
    /// Path of the token counts of the last turn.
    usage: Option<String>,
    /// Path of the finish reason of the run, in the program's own words.
    ended: Option<String>,
    /// Finish reason of the run. If empty, the run continues.
    reason: Option<String>,
    /// Paths of fields that a transcript does not need, as in [`LogFormat::unused`].
    unused: String,
}

/// The rule for a tool call. A `name` without a value at its path is the tool name itself.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallRule {
    /// Path of the list of calls, if a record has several. The other paths are then relative to an element.
    each: Option<String>,
    /// Whether the call may repeat a call from the list of an earlier record.
    #[serde(default)]
    maybe_listed: bool,
    id: String,
    name: String,
    arguments: String,
}

/// The rule for a tool result.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallResult {
    id: String,
    content: Vec<String>,
    /// Path of the failure: a boolean, a status or an exit code. With a leading `!`, path of the success.
    #[serde(default)]
    error: String,
}

/// Returns whether a record meets all conditions, which are separated by spaces.
///
/// A condition is `a.b` for a path with a value, `a|b` for one of two paths, or `!a.b` for a path without a value. The
/// condition `a.b=x|y` requires one of several values, and `a.b^=x|y` one of several prefixes.
pub(crate) fn meets_all(object: &Object, conditions: &str) -> bool {
    conditions.split_ascii_whitespace().all(|condition| {
        if let Some(path) = condition.strip_prefix('!') {
            return paths::get_at(object, path).is_none();
        }
        let (path, Some(words)) = split_condition(condition) else {
            return condition
                .split('|')
                .any(|path| paths::get_at(object, path).is_some());
        };
        let value = paths::get_at(object, path.trim_end_matches('^'));
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

/// Splits a condition into its path and its allowed values.
fn split_condition(condition: &str) -> (&str, Option<&str>) {
    // A loop is faster than a search here, since conditions are short.
    let equal = condition.bytes().position(|byte| byte == b'=');
    equal.map_or((condition, None), |at| {
        (&condition[..at], Some(&condition[at + 1..]))
    })
}

impl LogFormat {
    /// Parses the TOML file of a format.
    ///
    /// # Errors
    /// The text is not TOML, has an unknown key, or has no rule.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let log: Self = toml::from_str(text).map_err(|e| e.to_string())?;
        if log.rules.is_empty() {
            return Err("no [[rule]]; expected one for each kind of record".to_owned());
        }
        Ok(log)
    }

    /// Rates how certainly a file with this head has the format.
    pub(crate) fn certainty(&self, head: &SourceHead) -> FormatCertainty {
        let meets_any = |object: &Object| self.marks.iter().any(|marks| meets_all(object, marks));
        let certainty = if self.likely {
            FormatCertainty::Likely
        } else {
            FormatCertainty::Certain
        };
        certainty.only_if(head.any_object(meets_any))
    }
}

/// A reader of log formats.
pub(crate) struct LogReader {
    log: &'static LogFormat,
    /// Run of the last record.
    session: RunSession,
    /// Other runs of a file with interleaved runs.
    paused: Vec<RunSession>,
    /// Ids of listed calls that were not executed yet.
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
    fn read_document(&mut self, mut object: Object, out: &mut Output) -> WireResult<bool> {
        let needed = self.log.needed.as_str();
        if !needed.is_empty() && !object.contains_key(needed) {
            return Err(missing_field(needed, "a record of this format"));
        }
        if let Some(shape) = self.log.shape {
            shape(&mut object, out);
        }
        let lists = self.log.records.iter();
        let list = lists.into_iter().find(|list| {
            let there = paths::get_at(&object, list.trim_end_matches("[]"));
            there.is_some_and(|value| value.is_array())
        });
        let Some(list) = list else {
            self.take_id(&mut object, out)?;
            let unknown = self.apply_rules(&mut object, out)?;
            match &unknown {
                None => out.losses.add_fields("[]", &object),
                Some(kind) => out.skip_record(&format!("[] ({kind})")),
            }
            return Ok(unknown.is_none());
        };
        self.take_id(&mut object, out)?;
        self.take_metadata(&mut object)?;
        for record in paths::take_all(&mut object, list) {
            let Value::Object(mut record) = record else {
                return Err(wrong_type(list, &record, "an object"));
            };
            match self.apply_rules(&mut record, out)? {
                None => out.losses.add_fields(list, &record),
                Some(kind) => out.losses.add(&format!("{list} ({kind})")),
            }
        }
        out.losses.add_fields("", &object);
        Ok(true)
    }

    /// Takes the run id of a document. A new id begins or resumes another run.
    fn take_id(&mut self, object: &mut Object, out: &mut Output) -> WireResult {
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
                self.session.emit_single(out);
            }
            self.session.id = Some(id);
        }
        Ok(())
    }

    /// Takes the model and the finish reason of a document or record, and drops the unneeded fields.
    fn take_metadata(&mut self, object: &mut Object) -> WireResult {
        let log = self.log;
        if let Some(model) = take_text(object, &log.model)? {
            self.session.model = Some(model);
        }
        if let Some(reason) = take_text(object, &log.reason)? {
            self.session.reason = Some(normalize(&reason));
        }
        for path in log.unused.split_ascii_whitespace() {
            paths::take_at(object, path);
        }
        Ok(())
    }

    /// Applies the matching rules to a record. Returns the kind of the record if no rule matches.
    fn apply_rules(&mut self, record: &mut Object, out: &mut Output) -> WireResult<Option<String>> {
        let rules = self.log.rules.iter();
        let rules: Vec<&LogRule> = rules.filter(|rule| meets_all(record, &rule.when)).collect();
        let unknown = rules.is_empty().then(|| record_kind(record));
        self.take_metadata(record)?;
        let stamp = paths::take_first_of(record, &self.log.time);
        let t_ms = self.session.clock.at(stamp.as_ref());
        let usage = paths::take_first_of(record, &self.log.usage);
        let mut usage = usage.map(paths::object_or_empty).unwrap_or_default();
        let turns = self.session.run.turns;
        for rule in &rules {
            self.apply_rule(rule, record, t_ms, out)?;
        }
        if !usage.is_empty() {
            let used = Usage::take_from(&mut usage);
            if self.session.run.turns > turns || used != Usage::default() {
                self.session.run.add_usage(used);
            }
            out.losses.add_fields("usage", &usage);
        }
        for rule in &rules {
            let ids = rule.call.iter().map(|call| &call.id);
            for id in ids.chain(rule.result.iter().map(|result| &result.id)) {
                take_any(record, id);
            }
        }
        let marks = rules.iter();
        for condition in marks.flat_map(|rule| rule.when.split_ascii_whitespace()) {
            // Fields with a required value are no losses.
            if let (path, Some(_)) = split_condition(condition) {
                paths::take_at(record, path.trim_end_matches('^'));
            }
        }
        Ok(unknown)
    }

    fn apply_rule(
        &mut self,
        rule: &LogRule,
        record: &mut Object,
        t_ms: Option<f64>,
        out: &mut Output,
    ) -> WireResult {
        self.take_run_data(rule, record)?;
        let mut messages = Vec::new();
        match rule.message.as_deref() {
            None => {}
            Some("") => messages.push((std::mem::take(record), "[]")),
            Some(path) => match paths::take_at(record, path.trim_start_matches("[].")) {
                Some(Value::Object(message)) => messages.push((message, path)),
                Some(other) => return Err(wrong_type(path, &other, "a message")),
                None => {}
            },
        }
        if let Some(results) = &rule.results {
            let found = paths::take_all(record, results);
            messages.push((std::mem::take(record), "[]"));
            for result in found {
                let mut result = as_object(results, result)?;
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
            && let Some(Value::Object(mut usage)) = paths::take_at(record, path)
        {
            self.session.run.add_usage(Usage::take_from(&mut usage));
            rule.count_losses(path, usage, out);
        }
        for path in rule.unused.split_ascii_whitespace() {
            paths::take_at(record, path);
        }
        Ok(())
    }

    /// Takes the data on the run that a rule names.
    fn take_run_data(&mut self, rule: &LogRule, record: &mut Object) -> WireResult {
        let session = &mut self.session;
        for data in &rule.run {
            let (name, path) = split_condition(data);
            let path = [path.unwrap_or(name).to_owned()];
            let text = match name {
                "id" => &mut session.id,
                "model" => &mut session.model,
                "reason" => &mut session.reason,
                _ => {
                    let value = paths::take_first_of(record, &path);
                    if !session.metadata.contains_key(name) {
                        set_field(&mut session.metadata, name, value);
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

    /// Adds the tool calls of a record, without a single call that an earlier list already had.
    fn add_calls(
        &mut self,
        rule: &LogRule,
        record: &mut Object,
        t_ms: Option<f64>,
        out: &mut Output,
    ) -> WireResult {
        let Some(call) = &rule.call else {
            return Ok(());
        };
        match &call.each {
            Some(list) => {
                for element in paths::take_all(record, list) {
                    let mut element = as_object(list, element)?;
                    let body = call.take_body(&mut element)?;
                    self.listed.extend(find_id(&element, &call.id));
                    self.session.run.add_action(body, t_ms);
                    take_any(&mut element, &call.id);
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
        out: &mut Output,
    ) -> WireResult {
        let mut text = |path: &Option<String>| Some(to_text(take_any(record, path.as_deref()?)));
        let run = &mut self.session.run;
        if let Some(text) = text(&rule.prompt) {
            run.add_system(&text, t_ms);
        }
        if let Some(response) = text(&rule.turn) {
            run.announce_turn(TurnData {
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
            let error = paths::get_at(record, path).and_then(|value| read_failure(&value));
            let error = error.map(|failed| failed != result.error.starts_with('!'));
            let id = find_id(record, &result.id);
            let content = to_text(paths::take_first_of(record, &result.content));
            self.session.run.push(tool_result(id, content, error), t_ms);
        }
        if let Some(path) = &rule.ended {
            let word = paths::get_at(record, path);
            let word = word.as_deref().and_then(Value::as_str);
            self.session.reason = word.map(map_reason).or(self.session.reason.take());
        }
        Ok(())
    }
}

impl LogRule {
    /// Counts the remaining fields of a part of a record as losses, except unneeded fields.
    fn count_losses(&self, path: &str, mut part: Object, out: &mut Output) {
        for unused in self.unused.split_ascii_whitespace() {
            if unused == path {
                return;
            }
            if let Some(inner) = unused.strip_prefix(path).and_then(|p| p.strip_prefix('.')) {
                paths::take_at(&mut part, inner);
            }
        }
        out.losses.add_fields(path, &part);
    }
}

impl CallRule {
    /// Takes the call out of a record or a list element. The id remains.
    fn take_body(&self, record: &mut Object) -> WireResult<Body> {
        // The name may be the field around the arguments.
        let arguments = take_any(record, &self.arguments).map_or(Value::Null, null_if_empty);
        let name = match take_any(record, &self.name) {
            Some(Value::String(name)) => name,
            // The name of the only field is the name of the tool.
            Some(Value::Object(fields)) => fields.keys().next().cloned().unwrap_or_default(),
            None => self.name.rsplit('|').next().unwrap_or_default().to_owned(),
            Some(other) => return Err(wrong_type("name", &other, "a string")),
        };
        Ok(tool_call(find_id(record, &self.id), name, arguments))
    }
}

/// Takes the value at the first of several paths that has one. The paths are separated by `|`.
fn take_any(record: &mut Object, alternatives: &str) -> Option<Value> {
    alternatives
        .split('|')
        .find_map(|path| paths::take_at(record, path))
}

/// Returns the normalized finish reason for the end of a run.
fn map_reason(word: &str) -> String {
    match word {
        "success" | "turn.completed" => "stop".to_owned(),
        "turn.failed" => "error".to_owned(),
        "error_max_turns" | "error_max_budget_usd" => "limit".to_owned(),
        word if word.starts_with("error") => "error".to_owned(),
        word => normalize(word),
    }
}

/// Returns whether the run has an answer of the model.
fn has_answer(run: &Conversation) -> bool {
    let mut events = run.events.iter();
    events.any(|event| matches!(event.body, Body::Answer(_)))
}

/// Reads whether a tool failed from a boolean, an exit code or a status.
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
fn take_text(object: &mut Object, candidates: &[String]) -> WireResult<Option<String>> {
    for path in candidates {
        match paths::take_at(object, path) {
            None => {}
            Some(Value::String(text)) if text.is_empty() => {}
            Some(Value::String(text)) => return Ok(Some(text)),
            Some(Value::Number(number)) => return Ok(Some(number.to_string())),
            Some(other) => return Err(wrong_type(path, &other, "a text")),
        }
    }
    Ok(None)
}

/// Returns the id of a call, which remains in the record. A result in the same record has the same id.
fn find_id(object: &Object, alternatives: &str) -> Option<String> {
    let mut alternatives = alternatives.split('|');
    let found = alternatives.find_map(|path| paths::get_at(object, path))?;
    match found.as_ref() {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Returns the kind of a record without a rule, for reported losses.
fn record_kind(object: &Object) -> String {
    let names = [
        "payload.type",
        "type",
        "kind",
        "role",
        "event",
        "record_type",
    ];
    let named = names.iter().find_map(|name| paths::get_at(object, name));
    let named = named.as_ref().and_then(|named| named.as_str());
    named.unwrap_or("another record").to_owned()
}

impl RecordReader for LogReader {
    fn take_record(&mut self, record: SourceRecord, out: &mut Output) -> WireResult {
        let (place, object) = record.into_place_and_object()?;
        let taken = self.read_document(object, out);
        if self.log.whole || self.log.several || !matches!(taken, Ok(false)) {
            self.session.begin_at(place);
        }
        if self.log.whole {
            let session = std::mem::take(&mut self.session);
            taken?;
            session.emit_run(out);
            return Ok(());
        }
        taken.map(drop)
    }

    fn finish(&mut self, out: &mut Output) {
        let mut runs = std::mem::take(&mut self.paused);
        runs.push(std::mem::take(&mut self.session));
        if self.log.several {
            // A run without events, such as one that only a summary names, is no transcript.
            runs.retain(|session| !session.run.events.is_empty());
            runs.sort_by(|a, b| a.place.cmp(&b.place));
        }
        runs.iter_mut().for_each(|session| session.emit_single(out));
    }
}
