//! Data sets as Hugging Face holds them, in JSON lines or Parquet: `messages` (or `conversations`)
//! of role and content; `prompt` with `completion`, each a text or messages; a column of text, under
//! one of the usual names or the one that `--text-field` says, with the thinking in `reasoning` or not.
//!
//! Other columns that hold a number, a truth value or a short text are kept in `meta`.

use serde_json::{Map, Value};

use crate::import::Losses;
use crate::import::conversation::{Conversation, group_of};
use crate::import::cut::Record;
use crate::import::head::Certainty;
use crate::import::reader::{Foreign, Out, Reader, entry, keep};
use crate::import::run::arguments;
use crate::import::take::{self, Object};
use crate::think::split_think;
use crate::transcript::wire::{Fault, kind};
use crate::{Body, RecordedEvent, Transcript};

pub(crate) const ENTRY: Foreign = Foreign {
    name: "huggingface",
    help: "Hugging Face data sets: messages, prompt and completion, or a column of text",
    knows: |head| {
        let messages = head.any(|object| messages_of(object).is_some());
        let pair =
            head.any(|object| PROMPTS.iter().any(|p| object.contains_key(*p)) && says(object));
        let text = head.any(says);
        match (messages || pair, text) {
            (true, _) => Certainty::Likely,
            (false, text) => Certainty::Fallback.when(text),
        }
    },
    shape: None,
    whole_folder: false,
    reader: || Box::new(HuggingFace),
};

/// The column of what was thought before the text.
const REASONING: &str = "reasoning";

const MESSAGES: [&str; 2] = ["messages", "conversations"];
const PROMPTS: [&str; 4] = ["prompt", "instruction", "question", "input"];
const TEXTS: [&str; 6] = [
    "completion",
    "response",
    "output",
    "generation",
    "answer",
    "text",
];

/// Longest text of a column, in chars, that is kept in `meta`.
const SHORT: usize = 200;

fn messages_of(object: &Object) -> Option<&'static str> {
    let speaks = |message: &Value| message.get("role").is_some();
    let list = |name: &&&str| {
        let messages = object.get(**name).and_then(Value::as_array);
        messages.is_some_and(|messages| messages.iter().any(speaks))
    };
    MESSAGES.iter().find(list).copied()
}

fn text_of(object: &Object) -> Option<&'static str> {
    let said = |name: &&&str| {
        let value = object.get(**name);
        value.is_some_and(|value| value.is_string() || value.is_array())
    };
    TEXTS.iter().find(said).copied()
}

fn says(object: &Object) -> bool {
    text_of(object).is_some() || object.get(REASONING).is_some_and(Value::is_string)
}

/// Whether there is a column of a data set besides `answer` and `text`.
pub(super) fn has_more(object: &Object) -> bool {
    let texts = TEXTS
        .iter()
        .filter(|name| !["answer", "text"].contains(name));
    let mut names = MESSAGES.iter().chain(&PROMPTS).chain(texts);
    names.any(|name| object.contains_key(*name))
}

struct HuggingFace;

impl Reader for HuggingFace {
    fn take(&mut self, record: Record, out: &mut Out) -> Result<(), Fault> {
        let mut entry = entry(record.place.clone(), Vec::new());
        let mut object = record.object()?;
        let transcript = &mut entry.transcript;
        let model = match out.options.model_field.clone() {
            Some(path) => Some(column(&mut object, &path, "--model-field")?),
            None => None,
        };
        if let Some(path) = out.options.text_field.clone() {
            let text = column(&mut object, &path, "--text-field")?;
            transcript.events = thought(&mut object, split(&text, out))?;
            prompt(transcript, &mut object)?;
        } else if let Some(field) = messages_of(&object) {
            let messages = take::list(&mut object, field)?.unwrap_or_default();
            told(transcript, messages, field, out)?;
        } else if let Some(field) = text_of(&object) {
            match take::any(&mut object, field) {
                Some(Value::Array(completion)) => {
                    let mut messages = match object.get("prompt") {
                        Some(Value::Array(_)) => take::list(&mut object, "prompt")?,
                        _ => None,
                    }
                    .unwrap_or_default();
                    messages.extend(completion);
                    told(transcript, messages, field, out)?;
                }
                Some(Value::String(text)) => {
                    transcript.events = thought(&mut object, split(&text, out))?;
                }
                _ => {}
            }
            prompt(transcript, &mut object)?;
        } else if says(&object) {
            transcript.events = thought(&mut object, Vec::new())?;
            prompt(transcript, &mut object)?;
        } else {
            let expected =
                "`messages`, `prompt` and `completion`, or a column named by --text-field";
            return Err(Fault::new("no column that holds a text", expected));
        }
        name(transcript, &mut object)?;
        transcript.model = model.unwrap_or_else(|| std::mem::take(&mut transcript.model));
        columns(&mut transcript.meta, object, &mut out.losses);
        out.emit(entry);
        Ok(())
    }
}

/// Events and group of messages.
fn told(
    transcript: &mut Transcript,
    messages: Vec<Value>,
    field: &str,
    out: &mut Out,
) -> Result<(), Fault> {
    let path = format!("{field}[]");
    let mut conversation = Conversation::default();
    for message in messages {
        let message = take::as_object(&path, message)?;
        let think = out.options.think.clone();
        conversation.message(message, &path, None, think, &mut out.losses)?;
    }
    if conversation.turns() == 0 {
        return Err(Fault::new(
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

fn split(text: &str, out: &Out) -> Vec<RecordedEvent> {
    let pieces = split_think(text, out.options.think.clone()).into_iter();
    pieces
        .map(|(side, text)| RecordedEvent::of(side.body(text)))
        .collect()
}

/// What was thought in a column of its own, and then what was said.
fn thought(object: &mut Object, said: Vec<RecordedEvent>) -> Result<Vec<RecordedEvent>, Fault> {
    let reasoning = match object.get(REASONING) {
        Some(Value::String(_)) => take::string(object, REASONING)?,
        _ => None,
    };
    let reasoning = reasoning.filter(|text| !text.is_empty());
    let reasoning = reasoning.map(|text| RecordedEvent::of(Body::Reasoning(text)));
    Ok(reasoning.into_iter().chain(said).collect())
}

/// The text at a path of fields. Where it is not there the record is of no use. `option`: who names the path.
fn column(object: &mut Object, path: &str, option: &str) -> Result<String, Fault> {
    if let Some(value) = object.get(path) {
        let text = value.as_str().map(str::to_owned);
        let text = text.ok_or_else(|| take::wrong(path, value, "a string"))?;
        object.remove(path);
        return Ok(text);
    }
    let missing = |name: &str| take::missing(name, &format!("the column that {option} names"));
    let (first, rest) = path.split_once('.').ok_or_else(|| missing(path))?;
    match object.get_mut(first) {
        Some(Value::Object(inner)) => column(inner, rest, option),
        Some(Value::Array(items)) => {
            let count = items.len();
            let one = (count == 1).then(|| items[0].as_object_mut()).flatten();
            let found = one.map(|inner| column(inner, rest, option));
            found.unwrap_or_else(|| {
                let what = format!("`{first}` is a list of {count}");
                Err(Fault::new(what, "an object, or a list of one"))
            })
        }
        Some(other) => Err(Fault::new(
            format!("`{first}` is {}", kind(other)),
            "an object",
        )),
        None => Err(missing(first)),
    }
}

/// What the model was asked gives the transcript its group, and is not kept.
fn prompt(transcript: &mut Transcript, object: &mut Object) -> Result<(), Fault> {
    let mut asked = Vec::new();
    for field in PROMPTS {
        if object.get(field).is_some_and(Value::is_string) {
            asked.extend(take::string(object, field)?);
        }
    }
    if !asked.is_empty() {
        transcript.group = Some(group_of(&asked.join("\n")));
    }
    Ok(())
}

/// Id, model and language, under the names that data sets use.
pub(super) fn name(transcript: &mut Transcript, object: &mut Object) -> Result<(), Fault> {
    for field in ["id", "uuid", "conversation_id"] {
        if transcript.id.is_empty() {
            transcript.id = match take::any(object, field) {
                Some(Value::String(id)) => id,
                Some(Value::Number(id)) => id.to_string(),
                None => continue,
                Some(other) => return Err(take::wrong(field, &other, "a string or a number")),
            };
        }
    }
    transcript.model = take::string(object, "model")?.unwrap_or_default();
    let lang = take::string(object, "lang")?;
    transcript.lang = lang.or(take::string(object, "language")?);
    Ok(())
}

/// Keeps columns that a selection may ask for; others are lost.
pub(super) fn columns(meta: &mut Map<String, Value>, object: Object, losses: &mut Losses) {
    for (name, value) in object {
        let short = match &value {
            Value::Number(_) | Value::Bool(_) => true,
            Value::String(text) => !text.is_empty() && text.chars().count() <= SHORT,
            _ => false,
        };
        match short {
            true => drop(meta.insert(name, value)),
            false => losses.value(&name, &value),
        }
    }
}
