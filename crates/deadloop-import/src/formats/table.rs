//! Tables with one answer per record: JSON lines, CSV and Parquet.
//!
//! The columns are set by options, or guessed from common names ([`COMMON_COLUMNS`]). Data sets of Hugging Face (`messages`,
//! or `prompt` and `completion`) are read in the same way.
//!
//! Formats of tools that write one answer per record use the same reader with fixed columns
//! ([`columns`](super::columns)).
//!
//! Other columns with a number, a boolean or a short text are kept in `meta`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::columns::{COMMON_COLUMNS, Columns};
use crate::losses::Losses;
use crate::options::ImportFields;
use crate::paths;
use crate::reader::{ForeignFormat, FormatReader, Output, RecordReader, new_entry, set_field};
use crate::responses::envelope;
use crate::sessions::conversation::{Conversation, null_if_empty, prompt_group};
use crate::sessions::run_session::arguments_form;
use crate::source::head::FormatCertainty;
use crate::source::records::{self, FileShape, SourceRecord};
use deadloop_corpus::option::{
    FINISH_FIELD, GROUP_FIELD, ID_FIELD, MODEL_FIELD, REASONING_FIELD, RunOption, TEXT_FIELD,
    TIME_FIELD,
};
use deadloop_corpus::{Body, Place, RecordedEvent, Transcript, tool_call};
use deadloop_detect::harness::did_you_mean;
use deadloop_stream::fields::{Object, ReadFields, as_object, wrong_type};
use deadloop_stream::reader::families;
use deadloop_stream::reasons::normalize;
use deadloop_stream::wire::{WireFault, WireResult};

/// Columns that only data sets have. A record with an id and another text may be a transcript of deadloop.
const DATA_SET_COLUMNS: &str = "messages conversations prompt instruction question input completion response output generation";
const MESSAGE_COLUMNS: [&str; 2] = ["messages", "conversations"];

/// The maximum length of a text in `meta`, in chars.
const MAX_META_CHARS: usize = 200;
/// The maximum number of columns that a message lists.
const MAX_NAMED_COLUMNS: usize = 40;

pub(crate) const ENTRY: ForeignFormat = ForeignFormat {
    name: "table",
    help: "any JSON lines, CSV or Parquet by its columns; data sets of Hugging Face",
    format_reader: FormatReader::Code {
        certainty: |head| {
            let messages = head.any_object(|object| find_messages(object).is_some());
            let requested =
                |object: &Object| COMMON_COLUMNS.group.iter().any(|p| object.contains_key(p));
            let pair = head.any_object(|object| requested(object) && has_text(object));
            // Rows have every column, even an empty one.
            let rows = matches!(head.shape, FileShape::Csv | FileShape::Table);
            let column = |object: &Object| {
                COMMON_COLUMNS
                    .text
                    .iter()
                    .any(|name| find_column(object, name).is_some())
            };
            let text = head.any_object(has_text) || (rows && head.any_object(column));
            match (messages || pair, text) {
                (true, _) => FormatCertainty::Likely,
                (false, text) => FormatCertainty::Fallback.only_if(text),
            }
        },
        reader: || Box::new(TableReader::new(&COMMON_COLUMNS)),
    },
    shape: None,
    whole_folder: false,
};

/// Returns the column with the messages of a conversation.
fn find_messages(object: &Object) -> Option<&'static str> {
    let has = |message: &Value, name: &str| message.get(name).is_some();
    // ShareGPT's messages have `from` and `value`.
    let speaks =
        |message: &Value| has(message, "role") || has(message, "from") && has(message, "value");
    let list = |name: &&&str| {
        let messages = object.get_field(name).and_then(Value::as_array);
        messages.is_some_and(|messages| messages.iter().any(speaks))
    };
    MESSAGE_COLUMNS.iter().find(list).copied()
}

/// Returns whether a common text column holds a text.
fn has_text(object: &Object) -> bool {
    let text = |name: &String| {
        find_column(object, name).is_some_and(|(_, value)| value.is_string() || value.is_array())
    };
    COMMON_COLUMNS.text.iter().any(text) || has_thinking(object)
}

/// Returns the column with this name, ignoring case, spaces and hyphens.
fn find_column<'a>(object: &'a Object, name: &str) -> Option<(&'a str, &'a Value)> {
    let mut same = None;
    // Rows have few columns, so comparing names is faster than a hash.
    for (key, value) in object.iter().filter(|(key, _)| key.len() == name.len()) {
        if key == name {
            return Some((key, value));
        }
        let letters = key.bytes().map(|byte| match byte {
            b' ' | b'-' => b'_',
            byte => byte.to_ascii_lowercase(),
        });
        if same.is_none() && letters.eq(name.bytes()) {
            same = Some((key.as_str(), value));
        }
    }
    same
}

/// Takes the column with this name. Also returns its spelling. A null column remains.
fn take_column<'n>(object: &mut Object, name: &'n str) -> Option<(Cow<'n, str>, Value)> {
    let column = match find_column(object, name)? {
        (_, Value::Null) => return None,
        (same, _) if same == name => Cow::Borrowed(name),
        (other, _) => Cow::Owned(other.to_owned()),
    };
    let value = object.remove(&*column)?;
    Some((column, value))
}

/// Returns whether an object has a column that only data sets have.
pub(super) fn has_data_set_column(object: &Object) -> bool {
    // A finish reason would be one of many unknown fields of a transcript.
    let mut names = DATA_SET_COLUMNS
        .split(' ')
        .chain(COMMON_COLUMNS.finish.iter().map(String::as_str));
    names.any(|name| object.contains_key(name))
}

/// Returns the role of a record if it is not the model's.
fn other_role(object: &Object) -> Option<&str> {
    const OTHER_ROLES: &str = "user human system developer tool function prompter observation";
    let named = ["role", "from", "sender"].iter();
    let role = named
        .filter_map(|name| object.get_field(name)?.as_str())
        .next()?;
    let mut others = OTHER_ROLES.split(' ');
    others
        .any(|other| role.eq_ignore_ascii_case(other))
        .then_some(role)
}

pub(crate) struct TableReader {
    columns: &'static Columns,
    /// First record, for messages about missing columns.
    first: Option<Place>,
    /// Columns of the first record.
    names: Vec<String>,
    /// Whether any record had the requested text.
    found_text: bool,
    /// Options whose column no record had so far.
    missing_columns: Vec<(RunOption, String)>,
}

impl TableReader {
    pub(crate) fn new(columns: &'static Columns) -> Self {
        Self {
            columns,
            first: None,
            names: Vec::new(),
            found_text: false,
            missing_columns: Vec::new(),
        }
    }

    /// Removes the existing columns of a record from the missing ones.
    fn record_columns(&mut self, requested: &ImportFields, object: &Object, place: &Place) {
        if self.first.is_none() {
            self.first = Some(place.clone());
            self.names = paths::list_paths(object, MAX_NAMED_COLUMNS);
            let named = requested.options().into_iter();
            let named = named.filter_map(|(option, column)| Some((option, column?.clone())));
            self.missing_columns = named.collect();
        }
        let there = |path: &str| object.contains_key(path) || paths::get_at(object, path).is_some();
        self.missing_columns.retain(|(_, column)| !there(column));
    }

    /// Describes an option whose column does not exist.
    fn missing_column(&self, option: RunOption, column: &str) -> (String, String) {
        let what = format!(
            "no column `{column}`; the columns: {}",
            self.names.join(", ")
        );
        // The last field of a path may be the intended name.
        let last = |name: &str| name.rsplit(['.', ']']).next().map(str::to_owned);
        let fields: Vec<String> = self.names.iter().filter_map(|name| last(name)).collect();
        let meant = did_you_mean(column, self.names.iter().chain(&fields).map(String::as_str));
        (what, format!("the column that {option} names{meant}"))
    }

    /// Reads the rows of a record: the elements of its list, or the record itself.
    fn read_rows(&mut self, mut object: Object, place: &Place, out: &mut Output) -> WireResult {
        let lists = self.columns.records.iter();
        let list = lists.into_iter().find(|list| {
            let list = paths::get_at(&object, list.trim_end_matches("[]"));
            list.is_some_and(|value| value.is_array())
        });
        let Some(list) = list else {
            return self.read_row(object, None, place, out);
        };
        let model = paths::take_first_of(&mut object, &self.columns.of_all);
        for record in paths::take_all(&mut object, list) {
            let record = as_object(list, record)?;
            self.read_row(record, model.clone(), place, out)?;
        }
        keep_short_columns(&mut Map::new(), object, &mut out.losses);
        Ok(())
    }

    fn read_row(
        &mut self,
        object: Object,
        model: Option<Value>,
        place: &Place,
        out: &mut Output,
    ) -> WireResult {
        if let Some(role) = other_role(&object) {
            let what = format!("[] (of the {role})");
            out.skip_record(&what);
            return Ok(());
        }
        let requested = out.options.fields.clone();
        self.record_columns(&requested, &object, place);
        let mut row = TableRow {
            columns: self.columns,
            requested,
            requested_values: BTreeMap::new(),
            object,
            transcript: Transcript::default(),
            out,
        };
        row.take_requested()?;
        if !row.add_texts(self.found_text)? {
            let text = row.requested.text.map(|text| format!("`{text}`"));
            let text = text.as_deref().unwrap_or("text");
            row.out.skip_record(&format!("[] (no {text})"));
            return Ok(());
        }
        self.found_text = true;
        row.add_thinking()?;
        row.set_metadata(model)?;
        keep_short_columns(&mut row.transcript.meta, row.object, &mut row.out.losses);
        let mut entry = new_entry(place.clone(), Vec::new());
        entry.transcript = row.transcript;
        row.out.emit(entry);
        Ok(())
    }
}

/// A row, and the transcript built from it.
struct TableRow<'a> {
    columns: &'static Columns,
    /// Requested columns.
    requested: ImportFields,
    /// Unused values of the requested columns, by option.
    requested_values: BTreeMap<RunOption, Value>,
    /// Unused columns.
    object: Object,
    transcript: Transcript,
    out: &'a mut Output,
}

impl TableRow<'_> {
    /// Returns whether columns are guessed by their common names.
    fn uses_guesses(&self) -> bool {
        std::ptr::eq(self.columns, &*COMMON_COLUMNS)
    }

    /// Takes the requested columns, before any column is guessed.
    fn take_requested(&mut self) -> WireResult {
        for (option, path) in self.requested.options() {
            if let Some(path) = path
                && let Some(value) = take_path(&mut self.object, path, option)?
            {
                self.requested_values.insert(option, value);
            }
        }
        Ok(())
    }

    /// Removes the value of an option's column from the row and returns it. The column is the requested one, or one
    /// with these names.
    fn take_value(&mut self, option: RunOption, names: &[String]) -> Option<Value> {
        if self.requested.column_of(option).is_some() {
            return self.requested_values.remove(&option);
        }
        if !self.uses_guesses() {
            return paths::take_first_of(&mut self.object, names);
        }
        names.iter().find_map(|name| {
            let (column, value) = take_column(&mut self.object, name)?;
            self.out.record_guess(option, &column);
            Some(value)
        })
    }

    /// Adds the events of the text. Returns `false` if the row has no text column. `found_before` is whether an earlier
    /// row had the requested text.
    fn add_texts(&mut self, found_before: bool) -> WireResult<bool> {
        let is_asked = self.requested.text.is_some();
        let messages = find_messages(&self.object).filter(|_| self.uses_guesses() && !is_asked);
        if let Some(field) = messages {
            let messages = self.object.take_list(field)?;
            self.add_messages(messages.unwrap_or_default(), field)?;
            return Ok(true);
        }
        let names = &self.columns.text;
        if let Some(path) = names.iter().find(|path| path.ends_with("[]")) {
            let texts = paths::take_all(&mut self.object, path);
            let there = !texts.is_empty();
            self.transcript.events = read_turn_answers(texts, self.out);
            return Ok(there);
        }
        let field = self.requested.text.clone();
        let field = field.unwrap_or_else(|| "text".to_owned());
        match self.take_value(TEXT_FIELD, names) {
            Some(Value::String(text)) => {
                if self.uses_guesses() {
                    reject_api_json(&text)?;
                }
                let events = self.out.split_thinking(text);
                self.transcript.events = events.map(RecordedEvent::new).collect();
            }
            Some(Value::Array(items)) if items.iter().all(|item| item.get("role").is_some()) => {
                let mut messages = match self.object.get("prompt") {
                    Some(Value::Array(_)) => paths::take_list(&mut self.object, "prompt"),
                    _ => Vec::new(),
                };
                messages.extend(items);
                self.add_messages(messages, &field)?;
            }
            Some(Value::Array(items)) => {
                self.transcript.events = read_turn_answers(items, self.out)
            }
            Some(other) => return Err(wrong_type(&field, &other, "a text")),
            None => {
                // An empty cell counts as an output without text.
                let is_there = |name: &String| find_column(&self.object, name).is_some();
                let has_guess = || self.uses_guesses() && names.iter().any(is_there);
                let is_named = is_asked && self.object.contains_key(&field);
                let is_empty = is_named || (!is_asked && has_guess());
                // A requested column that never occurs is a misspelled name.
                let is_thinking = self.uses_guesses() && (!is_asked || found_before);
                return Ok(is_empty || is_thinking && has_thinking(&self.object));
            }
        }
        Ok(true)
    }

    /// Adds the events and the group of a list of messages.
    fn add_messages(&mut self, messages: Vec<Value>, field: &str) -> WireResult {
        let path = format!("{field}[]");
        let mut conversation = Conversation::default();
        for message in messages {
            let message = as_object(&path, message)?;
            conversation.add_message(message, &path, None, self.out)?;
        }
        if conversation.turns == 0 {
            let expected = "one with the role `assistant`";
            return Err(WireFault::new("no message of the model", expected));
        }
        let args = arguments_form(&conversation.events).map(Value::from);
        set_field(&mut self.transcript.meta, "args", args);
        self.transcript.group = conversation.group();
        self.transcript.events = conversation.events;
        Ok(())
    }

    /// Adds reasoning from its own column before the text, and the finish reason after the text.
    fn add_thinking(&mut self) -> WireResult {
        let names = &self.columns.reasoning;
        match self.take_value(REASONING_FIELD, names) {
            Some(Value::String(text)) if !text.is_empty() => {
                let event = RecordedEvent::new(Body::Reasoning(text));
                self.transcript.events.insert(0, event);
            }
            None | Some(Value::String(_)) => {}
            Some(other) if self.uses_guesses() && self.requested.reasoning.is_none() => {
                self.out.losses.add_value("(reasoning)", &other);
            }
            Some(other) => return Err(wrong_type("reasoning", &other, "a text")),
        }
        let count = paths::take_first_of(&mut self.object, &self.columns.tokens);
        let texts = self.transcript.events.iter_mut();
        let mut texts = texts.filter(|event| matches!(event.body, Body::Answer(_)));
        if let (Some(one), None) = (texts.next(), texts.next()) {
            one.tokens = count.and_then(|count| count.as_u64());
        }
        let reason = self.take_value(FINISH_FIELD, &self.columns.finish);
        let reason = match reason {
            Some(Value::Array(mut several)) if several.len() == 1 => several.pop(),
            other => other,
        };
        match reason {
            Some(Value::String(reason)) if !reason.is_empty() => {
                let reason = Some(normalize(&reason));
                let event = RecordedEvent::new(Body::Finish { reason });
                self.transcript.events.push(event);
            }
            Some(Value::String(_)) | None => {}
            Some(other) => self.out.losses.add_value("(finish)", &other),
        }
        Ok(())
    }

    /// Sets id, group, model, language and time.
    fn set_metadata(&mut self, model: Option<Value>) -> WireResult {
        let names = self.columns;
        if let Some(id) = self.take_value(ID_FIELD, &names.id) {
            self.transcript.id = read_label("id", id)?;
        }
        let named = self.take_value(MODEL_FIELD, &names.model);
        if let Some(named) = named.or(model) {
            self.transcript.model = match (named, self.requested.model.is_some()) {
                (named @ (Value::String(_) | Value::Number(_)), _) => read_label("model", named)?,
                (other, true) => return Err(wrong_type("model", &other, "a text")),
                (other, false) => {
                    self.out.losses.add_value("model", &other);
                    String::new()
                }
            };
        }
        let lang = self.object.take_string("lang")?;
        self.transcript.lang = lang.or(self.object.take_string("language")?);
        let is_requested = self.requested.group.is_some();
        let group = match self.requested_values.remove(&GROUP_FIELD) {
            Some(group) => Some(group),
            None if is_requested => None,
            None if self.uses_guesses() => take_prompt(&names.group, &mut self.object, self.out),
            None => paths::take_first_of(&mut self.object, &names.group),
        };
        let group = match group {
            Some(Value::String(text)) => Some(text).filter(|text| !text.is_empty()),
            Some(Value::Null) | None => None,
            Some(other) => Some(other.to_string()),
        };
        let known = group.map(|text| {
            let name = text.chars().count() <= MAX_GROUP_CHARS && !text.contains(' ');
            if is_requested && name {
                text
            } else {
                prompt_group(&text)
            }
        });
        self.transcript.group = known.or(self.transcript.group.take());
        let time = self.take_value(TIME_FIELD, &names.time);
        set_field(&mut self.transcript.meta, "time", time);
        Ok(())
    }
}

/// The maximum length of a group name, in chars. A longer text, or one with a space, is a prompt and is hashed.
const MAX_GROUP_CHARS: usize = 64;

/// Takes the value at an option's path. A list in the path must be explicit (`[]` or `[0]`).
fn take_path(object: &mut Object, path: &str, option: RunOption) -> WireResult<Option<Value>> {
    if path.contains("[]") {
        let mut all = paths::take_all(object, path);
        return Ok(match all.len() {
            0 => None,
            1 => all.pop(),
            _ => Some(Value::Array(all)),
        });
    }
    // A null field stays, so that it differs from a missing one.
    if object.get(path).is_some_and(Value::is_null) {
        return Ok(None);
    }
    if let Some(found) = paths::take_at(object, path) {
        return Ok(Some(found));
    }
    let first = path.split('.').next().unwrap_or_default();
    match object.get(first) {
        Some(Value::Array(items)) if !path.contains('[') && items.len() > 1 => {
            let what = format!("`{first}` is a list of {}", items.len());
            let more = path.strip_prefix(first).unwrap_or_default();
            let expected = format!("{option} {first}[0]{more} or {first}[]{more}");
            Err(WireFault::new(what, expected))
        }
        _ => Ok(None),
    }
}

fn read_label(name: &str, value: Value) -> WireResult<String> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(wrong_type(name, &other, "a string or a number")),
    }
}

/// Returns whether a common reasoning column holds a text.
fn has_thinking(object: &Object) -> bool {
    let filled =
        |name: &String| find_column(object, name).is_some_and(|(_, value)| value.is_string());
    COMMON_COLUMNS.reasoning.iter().any(filled)
}

/// Rejects a text that is the JSON of an API response, since the answer is inside the JSON.
fn reject_api_json(text: &str) -> WireResult {
    let trimmed = text.trim_ascii();
    if !(trimmed.starts_with('{') && trimmed.ends_with('}')) {
        return Ok(());
    }
    let Ok(Value::Object(inside)) = records::parse_nested(trimmed) else {
        return Ok(());
    };
    if envelope::contains_known(&inside, &|object| families::recognize(object).is_some()) {
        Err(WireFault::new(
            "a text that is the JSON of an API",
            format!(
                "what the model said, or {TEXT_FIELD} with a path into it (response.choices[0].message.content)"
            ),
        ))
    } else {
        Ok(())
    }
}

impl RecordReader for TableReader {
    fn take_record(&mut self, record: SourceRecord, out: &mut Output) -> WireResult {
        let (place, object) = record.into_place_and_object()?;
        self.read_rows(object, &place, out)
    }

    fn finish(&mut self, out: &mut Output) {
        let Some(first) = self.first.take() else {
            return;
        };
        if self.found_text {
            for (option, column) in &self.missing_columns {
                let (what, expected) = self.missing_column(*option, column);
                out.warn(&first, &what, &expected);
            }
            return;
        }
        let (what, expected) = match &out.options.fields.text {
            Some(text) => self.missing_column(TEXT_FIELD, text),
            None => (
                format!(
                    "no column that holds a text; the columns: {}",
                    self.names.join(", ")
                ),
                format!("the column that holds the text, said with {TEXT_FIELD}"),
            ),
        };
        out.no_output = Some(WireFault::new(what, expected));
    }
}

/// Converts the answers of several turns to events. An answer that is not text is a tool call with a name and
/// arguments.
fn read_turn_answers(answers: Vec<Value>, out: &mut Output) -> Vec<RecordedEvent> {
    let mut run = Conversation::default();
    let several = answers.len() > 1;
    let mut open: Vec<Value> = answers.into_iter().rev().collect();
    let mut events = Vec::new();
    let mut number = 0_u64;
    while let Some(answer) = open.pop() {
        match answer {
            Value::Array(inside) => open.extend(inside.into_iter().rev()),
            Value::String(text) => {
                if several {
                    let mut turn = RecordedEvent::new(Body::Turn);
                    turn.rest.insert("index".to_owned(), number.into());
                    events.push(turn);
                    number += 1;
                }
                events.extend(out.split_thinking(text).map(RecordedEvent::new));
            }
            Value::Object(call) if call.len() == 1 => {
                for (name, arguments) in call {
                    run.add_action(tool_call(None, name, null_if_empty(arguments)), None);
                    events.append(&mut run.events);
                }
            }
            Value::Null => {}
            other => out.losses.add_value("(answers)[]", &other),
        }
    }
    events
}

/// Removes the prompt from a row and returns it. The group of the transcript is computed from the prompt.
fn take_prompt(names: &[String], object: &mut Object, out: &mut Output) -> Option<Value> {
    let mut requested = Vec::new();
    for name in names {
        if find_column(object, name).is_some_and(|(_, value)| value.is_string())
            && let Some((column, Value::String(text))) = take_column(object, name)
        {
            out.record_guess(GROUP_FIELD, &column);
            requested.push(text);
        }
    }
    (!requested.is_empty()).then(|| requested.join("\n").into())
}

/// Moves short columns, which a selection may use, to `meta`. Other columns are losses.
fn keep_short_columns(meta: &mut Map<String, Value>, object: Object, losses: &mut Losses) {
    for (name, value) in object {
        let short = match &value {
            Value::Number(_) | Value::Bool(_) => true,
            Value::String(text) => !text.is_empty() && text.chars().count() <= MAX_META_CHARS,
            _ => false,
        };
        if short {
            drop(meta.insert(name, value))
        } else {
            losses.add_value(&name, &value)
        }
    }
}
