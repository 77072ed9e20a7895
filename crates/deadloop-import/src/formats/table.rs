//! Tables with one answer per record: JSON lines, CSV and Parquet.
//!
//! Options set the columns, or common names give them ([`NAMES`]). Data sets of Hugging Face (`messages`, `prompt` and
//! `completion`) are read the same way.
//!
//! Files of tools that write one answer per record are rows of the same reader, with known columns
//! ([`columns`](super::columns)).
//!
//! Other columns with a number, a truth value or a short text are kept in `meta`.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::columns::{Columns, NAMES};
use crate::losses::Losses;
use crate::options::ImportFields;
use crate::paths;
use crate::reader::{ForeignFormat, FormatReader, Intake, RecordReader, entry, keep};
use crate::responses::envelope;
use crate::sessions::conversation::{Conversation, group_of, written};
use crate::sessions::run_session::arguments;
use crate::source::head::FormatCertainty;
use crate::source::records::{self, FileShape, SourceRecord};
use deadloop_corpus::option::{
    FINISH_FIELD, GROUP_FIELD, ID_FIELD, MODEL_FIELD, REASONING_FIELD, RunOption, TEXT_FIELD,
    TIME_FIELD,
};
use deadloop_corpus::{Body, Place, RecordedEvent, Transcript};
use deadloop_detect::harness::did_you_mean;
use deadloop_stream::fields::{self, Object};
use deadloop_stream::reader::families;
use deadloop_stream::reasons::usual;
use deadloop_stream::wire::WireFault;

/// The names of texts that only data sets have. With an id, other texts may be deadloop's own.
const OF_DATA: [&str; 8] = [
    "messages",
    "conversations",
    "prompt",
    "instruction",
    "question",
    "input",
    "completion",
    "response",
];
const MESSAGES: [&str; 2] = ["messages", "conversations"];

/// The maximum length of a text in `meta`, in chars.
const SHORT: usize = 200;
/// The maximum number of columns in a message.
const NAMED: usize = 40;

pub(crate) const ENTRY: ForeignFormat = ForeignFormat {
    name: "table",
    help: "any JSON lines, CSV or Parquet by its columns; data sets of Hugging Face",
    by: FormatReader::Code {
        knows: |head| {
            let messages = head.any(|object| messages_of(object).is_some());
            let asked = |object: &Object| NAMES.group.iter().any(|p| object.contains_key(p));
            let pair = head.any(|object| asked(object) && holds_text(object));
            // Rows have every column, even an empty one.
            let rows = matches!(head.shape, FileShape::Csv | FileShape::Table);
            let column =
                |object: &Object| NAMES.text.iter().any(|name| lookup(object, name).is_some());
            let text = head.any(holds_text) || (rows && head.any(column));
            match (messages || pair, text) {
                (true, _) => FormatCertainty::Likely,
                (false, text) => FormatCertainty::Fallback.when(text),
            }
        },
        reader: || Box::new(TableReader::new(&NAMES)),
    },
    shape: None,
    whole_folder: false,
};

fn messages_of(object: &Object) -> Option<&'static str> {
    let has = |message: &Value, name: &str| message.get(name).is_some();
    // ShareGPT's messages have `from` and `value`.
    let speaks =
        |message: &Value| has(message, "role") || has(message, "from") && has(message, "value");
    let list = |name: &&&str| {
        let messages = fields::get(object, name).and_then(Value::as_array);
        messages.is_some_and(|messages| messages.iter().any(speaks))
    };
    MESSAGES.iter().find(list).copied()
}

/// Returns whether a column has the name of a text and holds one.
fn holds_text(object: &Object) -> bool {
    let text = |name: &String| {
        lookup(object, name).is_some_and(|(_, value)| value.is_string() || value.is_array())
    };
    NAMES.text.iter().any(text) || says_thought(object)
}

/// Returns the column with a name, in any spelling.
fn lookup<'a>(object: &'a Object, name: &str) -> Option<(&'a str, &'a Value)> {
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

/// Takes the column with a name, and returns its spelling. A null column stays.
fn take_column<'n>(object: &mut Object, name: &'n str) -> Option<(Cow<'n, str>, Value)> {
    let column = match lookup(object, name)? {
        (_, Value::Null) => return None,
        (same, _) if same == name => Cow::Borrowed(name),
        (other, _) => Cow::Owned(other.to_owned()),
    };
    let value = object.remove(&*column)?;
    Some((column, value))
}

/// Returns whether an object has a column of a data set other than `answer` and `text`.
pub(super) fn has_more(object: &Object) -> bool {
    let data = OF_DATA.iter().chain(&["output", "generation"]);
    // A finish reason would be one of many unknown fields of a transcript.
    let mut names = data.copied().chain(NAMES.finish.iter().map(String::as_str));
    names.any(|name| object.contains_key(name))
}

/// Returns the author of a record, if the record names one other than the model.
fn foreign_role(object: &Object) -> Option<&str> {
    const OTHERS: [&str; 8] = [
        "user",
        "human",
        "system",
        "developer",
        "tool",
        "function",
        "prompter",
        "observation",
    ];
    let named = ["role", "from", "sender"].iter();
    let role = named
        .filter_map(|name| fields::get(object, name)?.as_str())
        .next()?;
    OTHERS
        .iter()
        .any(|other| role.eq_ignore_ascii_case(other))
        .then_some(role)
}

pub(crate) struct TableReader {
    columns: &'static Columns,
    /// The first record, and the names of its columns, for messages about missing columns.
    first: Option<Place>,
    seen: Vec<String>,
    /// Whether some record had the requested text.
    found: bool,
    /// Options with a column that no record had so far.
    unfound: Vec<(RunOption, String)>,
}

impl TableReader {
    pub(crate) fn new(columns: &'static Columns) -> Self {
        Self {
            columns,
            first: None,
            seen: Vec::new(),
            found: false,
            unfound: Vec::new(),
        }
    }

    /// Records which of the options' columns exist.
    fn record_columns(&mut self, asked: &ImportFields, object: &Object, place: &Place) {
        if self.first.is_none() {
            self.first = Some(place.clone());
            self.seen = paths::names(object, NAMED);
            let named = asked.options().into_iter();
            let named = named.filter_map(|(option, column)| Some((option, column?.clone())));
            self.unfound = named.collect();
        }
        let there = |path: &str| object.contains_key(path) || paths::get(object, path).is_some();
        self.unfound.retain(|(_, column)| !there(column));
    }

    /// Describes an option's column that does not exist.
    fn missing_column(&self, option: RunOption, column: &str) -> (String, String) {
        let what = format!(
            "no column `{column}`; the columns: {}",
            self.seen.join(", ")
        );
        // The last field of a path is a name too.
        let last = |name: &str| name.rsplit(['.', ']']).next().map(str::to_owned);
        let fields: Vec<String> = self.seen.iter().filter_map(|name| last(name)).collect();
        let meant = did_you_mean(column, self.seen.iter().chain(&fields).map(String::as_str));
        (what, format!("the column that {option} names{meant}"))
    }

    fn guesses(&self) -> bool {
        std::ptr::eq(self.columns, &*NAMES)
    }

    fn records(
        &mut self,
        mut object: Object,
        place: &Place,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        let lists = self.columns.records.iter();
        let list = lists.into_iter().find(|list| {
            let name = list.trim_end_matches("[]");
            paths::get(&object, name).is_some_and(|value| value.is_array())
        });
        let Some(list) = list else {
            return self.read_row(object, None, place, out);
        };
        let model = paths::first(&mut object, &self.columns.of_all);
        for record in paths::all(&mut object, list) {
            let record = fields::as_object(list, record)?;
            self.read_row(record, model.clone(), place, out)?;
        }
        columns(&mut Map::new(), object, &mut out.losses);
        Ok(())
    }

    fn read_row(
        &mut self,
        mut object: Object,
        model: Option<Value>,
        place: &Place,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        if let Some(role) = foreign_role(&object) {
            let what = format!("[] (of the {role})");
            out.pass(&what);
            return Ok(());
        }
        let mut entry = entry(place.clone(), Vec::new());
        let transcript = &mut entry.transcript;
        let asked = out.options.fields.clone();
        self.record_columns(&asked, &object, place);
        // Requested columns are taken before any is guessed.
        let mut own = RecordParts::from_fields(&asked, &mut object)?;
        let messages = messages_of(&object).filter(|_| self.guesses() && asked.text.is_none());
        let said = match messages {
            Some(field) => {
                let messages = fields::list(&mut object, field)?.unwrap_or_default();
                add_messages(transcript, messages, field, out)?;
                true
            }
            None => self.texts(&asked, own.text.take(), transcript, &mut object, out)?,
        };
        if !said {
            let what = match asked.text.as_deref() {
                Some(text) => format!("[] (no `{text}`)"),
                None => "[] (no text)".to_owned(),
            };
            out.pass(&what);
            return Ok(());
        }
        self.found = true;
        self.add_thinking(&mut own, transcript, &mut object, out)?;
        self.set_metadata(own, model, transcript, &mut object, out)?;
        columns(&mut transcript.meta, object, &mut out.losses);
        out.emit(entry);
        Ok(())
    }

    /// Takes the value of a part: the requested column, or one of a known name.
    fn part(
        &self,
        asked: Option<Value>,
        names: &[String],
        option: RunOption,
        object: &mut Object,
        out: &mut Intake,
    ) -> Option<Value> {
        if asked.is_some() || out.options.fields.column_of(option).is_some() {
            return asked;
        }
        if !self.guesses() {
            return paths::first(object, names);
        }
        names.iter().find_map(|name| {
            let (column, value) = take_column(object, name)?;
            out.guess(option, &column);
            Some(value)
        })
    }

    /// Adds the events of the text. Returns `false` if there is no column for it.
    fn texts(
        &self,
        asked: &ImportFields,
        own: Option<Value>,
        transcript: &mut Transcript,
        object: &mut Object,
        out: &mut Intake,
    ) -> Result<bool, WireFault> {
        let several = self.columns.text.iter().find(|path| path.ends_with("[]"));
        if let Some(path) = several {
            let texts = paths::all(object, path);
            let there = !texts.is_empty();
            transcript.events = turns(texts, out);
            return Ok(there);
        }
        let field = asked.text.as_deref().unwrap_or("text");
        let text = self.part(own, &self.columns.text, TEXT_FIELD, object, out);
        match text {
            Some(Value::String(text)) => {
                if self.guesses() {
                    reject_api_json(&text)?;
                }
                transcript.events = out.split_thinking(text).map(RecordedEvent::new).collect();
            }
            Some(Value::Array(items)) if items.iter().all(|item| item.get("role").is_some()) => {
                let mut messages = match object.get("prompt") {
                    Some(Value::Array(_)) => fields::list(object, "prompt")?.unwrap_or_default(),
                    _ => Vec::new(),
                };
                messages.extend(items);
                add_messages(transcript, messages, field, out)?;
            }
            Some(Value::Array(items)) => transcript.events = turns(items, out),
            Some(other) => return Err(fields::wrong(field, &other, "a text")),
            // A cell without text is an output without text.
            None if asked
                .text
                .as_deref()
                .is_some_and(|text| object.contains_key(text)) => {}
            None if asked.text.is_none() && self.has_empty(object) => {}
            // A requested column that never occurs is a misspelled name.
            None if (asked.text.is_none() || self.found)
                && self.guesses()
                && says_thought(object) => {}
            None => return Ok(false),
        }
        Ok(true)
    }

    /// Returns whether a column of text exists and is empty.
    fn has_empty(&self, object: &Object) -> bool {
        let null = |name: &String| lookup(object, name).is_some();
        self.guesses() && self.columns.text.iter().any(null)
    }

    /// Adds thinking from its own column before the text, and the finish reason after it.
    fn add_thinking(
        &self,
        own: &mut RecordParts,
        transcript: &mut Transcript,
        object: &mut Object,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        let names = &self.columns.reasoning;
        match self.part(own.reasoning.take(), names, REASONING_FIELD, object, out) {
            Some(Value::String(text)) if !text.is_empty() => {
                let event = RecordedEvent::new(Body::Reasoning(text));
                transcript.events.insert(0, event);
            }
            None | Some(Value::String(_)) => {}
            Some(other) if self.guesses() && out.options.fields.reasoning.is_none() => {
                out.losses.value("(reasoning)", &other);
            }
            Some(other) => return Err(fields::wrong("reasoning", &other, "a text")),
        }
        let count = paths::first(object, &self.columns.tokens);
        let texts = transcript.events.iter_mut();
        let mut texts = texts.filter(|event| matches!(event.body, Body::Answer(_)));
        if let (Some(one), None) = (texts.next(), texts.next()) {
            one.tokens = count.and_then(|count| count.as_u64());
        }
        let names = &self.columns.finish;
        let reason = self.part(own.finish.take(), names, FINISH_FIELD, object, out);
        let reason = match reason {
            Some(Value::Array(mut several)) if several.len() == 1 => several.pop(),
            other => other,
        };
        match reason {
            Some(Value::String(reason)) if !reason.is_empty() => {
                let reason = Some(usual(&reason));
                let event = RecordedEvent::new(Body::Finish { reason });
                transcript.events.push(event);
            }
            Some(Value::String(_)) | None => {}
            Some(other) => out.losses.value("(finish)", &other),
        }
        Ok(())
    }

    /// Sets id, group, model, language and time.
    fn set_metadata(
        &self,
        own: RecordParts,
        model: Option<Value>,
        transcript: &mut Transcript,
        object: &mut Object,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        let names = self.columns;
        if let Some(id) = self.part(own.id, &names.id, ID_FIELD, object, out) {
            transcript.id = label("id", id)?;
        }
        let named = self.part(own.model, &names.model, MODEL_FIELD, object, out);
        if let Some(named) = named.or(model) {
            transcript.model = match (named, out.options.fields.model.is_some()) {
                (named @ (Value::String(_) | Value::Number(_)), _) => label("model", named)?,
                (other, true) => return Err(fields::wrong("model", &other, "a text")),
                (other, false) => {
                    out.losses.value("model", &other);
                    String::new()
                }
            };
        }
        let lang = fields::string(object, "lang")?;
        transcript.lang = lang.or(fields::string(object, "language")?);
        let group = match own.group {
            Some(group) => Some(group),
            None if own.grouped => None,
            None if self.guesses() => prompt(&names.group, object, out),
            None => paths::first(object, &names.group),
        };
        let group = match group {
            Some(Value::String(text)) => Some(text).filter(|text| !text.is_empty()),
            Some(Value::Null) | None => None,
            Some(other) => Some(other.to_string()),
        };
        let known = group.map(|text| {
            let name = text.chars().count() <= NAME && !text.contains(' ');
            if own.grouped && name {
                text
            } else {
                group_of(&text)
            }
        });
        transcript.group = known.or(transcript.group.take());
        let time = self.part(own.time, &names.time, TIME_FIELD, object, out);
        keep(&mut transcript.meta, "time", time);
        Ok(())
    }
}

/// The maximum length of a group's name, in chars. A longer text, or one with a space, is a prompt and is hashed.
const NAME: usize = 64;

/// The requested parts, taken out of a record.
#[derive(Default)]
struct RecordParts {
    text: Option<Value>,
    reasoning: Option<Value>,
    finish: Option<Value>,
    id: Option<Value>,
    group: Option<Value>,
    /// Whether a column for the group was requested.
    grouped: bool,
    model: Option<Value>,
    time: Option<Value>,
}

impl RecordParts {
    fn from_fields(fields: &ImportFields, object: &mut Object) -> Result<Self, WireFault> {
        let mut part = |path: &Option<String>, option: RunOption| match path {
            None => Ok(None),
            Some(path) => column(object, path, option),
        };
        let parts = Self {
            text: part(&fields.text, TEXT_FIELD)?,
            reasoning: part(&fields.reasoning, REASONING_FIELD)?,
            finish: part(&fields.finish, FINISH_FIELD)?,
            id: part(&fields.id, ID_FIELD)?,
            group: part(&fields.group, GROUP_FIELD)?,
            grouped: fields.group.is_some(),
            model: part(&fields.model, MODEL_FIELD)?,
            time: part(&fields.time, TIME_FIELD)?,
        };
        Ok(parts)
    }
}

/// Takes the value at an option's path. A list in the path must be explicit: `[]` or `[0]`.
fn column(object: &mut Object, path: &str, option: RunOption) -> Result<Option<Value>, WireFault> {
    if path.contains("[]") {
        let mut all = paths::all(object, path);
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
    if let Some(found) = paths::take(object, path) {
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

fn label(name: &str, value: Value) -> Result<String, WireFault> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(fields::wrong(name, &other, "a string or a number")),
    }
}

fn says_thought(object: &Object) -> bool {
    let filled = |name: &String| lookup(object, name).is_some_and(|(_, value)| value.is_string());
    NAMES.reasoning.iter().any(filled)
}

/// Rejects a text that is the JSON of an API, since the answer is inside it.
fn reject_api_json(text: &str) -> Result<(), WireFault> {
    let trimmed = text.trim_ascii();
    if !(trimmed.starts_with('{') && trimmed.ends_with('}')) {
        return Ok(());
    }
    let Ok(Value::Object(inside)) = records::parse_nested(trimmed) else {
        return Ok(());
    };
    if envelope::holds(&inside, &|object| families::recognize(object).is_some()) {
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
    fn take(&mut self, record: SourceRecord, out: &mut Intake) -> Result<(), WireFault> {
        let (place, object) = record.into_place_and_object()?;
        self.records(object, &place, out)
    }

    fn end(&mut self, out: &mut Intake) {
        let Some(first) = self.first.take() else {
            return;
        };
        if self.found {
            for (option, column) in &self.unfound {
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
                    self.seen.join(", ")
                ),
                format!("the column that holds the text, said with {TEXT_FIELD}"),
            ),
        };
        out.nothing = Some(WireFault::new(what, expected));
    }
}

/// Adds the events and the group of messages.
fn add_messages(
    transcript: &mut Transcript,
    messages: Vec<Value>,
    field: &str,
    out: &mut Intake,
) -> Result<(), WireFault> {
    let path = format!("{field}[]");
    let mut conversation = Conversation::default();
    for message in messages {
        let message = fields::as_object(&path, message)?;
        conversation.message(message, &path, None, out)?;
    }
    if conversation.turns() == 0 {
        return Err(WireFault::new(
            "no message of the model",
            "one with the role `assistant`",
        ));
    }
    let args = arguments(&conversation.events).map(Value::from);
    keep(&mut transcript.meta, "args", args);
    transcript.group = conversation.group();
    transcript.events = conversation.events;
    Ok(())
}

/// Returns the answers of several turns. An answer that is not text is a call: the tool's name and arguments.
fn turns(answers: Vec<Value>, out: &mut Intake) -> Vec<RecordedEvent> {
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
                    run.act(
                        Body::ToolCall {
                            id: None,
                            name,
                            arguments: written(arguments),
                        },
                        None,
                    );
                    events.append(&mut run.events);
                }
            }
            Value::Null => {}
            other => out.losses.value("(answers)[]", &other),
        }
    }
    events
}

/// Takes the prompt, which gives the transcript its group and is not kept.
fn prompt(names: &[String], object: &mut Object, out: &mut Intake) -> Option<Value> {
    let mut asked = Vec::new();
    for name in names {
        if lookup(object, name).is_some_and(|(_, value)| value.is_string())
            && let Some((column, Value::String(text))) = take_column(object, name)
        {
            out.guess(GROUP_FIELD, &column);
            asked.push(text);
        }
    }
    (!asked.is_empty()).then(|| asked.join("\n").into())
}

/// Keeps columns that a selection may use. Others are losses.
fn columns(meta: &mut Map<String, Value>, object: Object, losses: &mut Losses) {
    for (name, value) in object {
        let short = match &value {
            Value::Number(_) | Value::Bool(_) => true,
            Value::String(text) => !text.is_empty() && text.chars().count() <= SHORT,
            _ => false,
        };
        if short {
            drop(meta.insert(name, value))
        } else {
            losses.value(&name, &value)
        }
    }
}
