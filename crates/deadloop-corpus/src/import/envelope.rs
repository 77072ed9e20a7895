//! What recorders wrap around an API's objects: a time, a request's id, the request itself.
//!
//! | written by | looks like |
//! |---|---|
//! | OpenAI's batches, vLLM's `run_batch` | `{"custom_id", "response": {"status_code", "body": {…}}}` |
//! | Anthropic's batches | `{"custom_id", "result": {"type": "succeeded", "message": {…}}}` |
//! | proxies | `{"request": {…}, "response": {…}}` |
//! | recorders of streams | `{"timestamp", "data": {…}}`, the data also as a string |

use serde_json::Value;

use super::Losses;
use super::conversation::{Conversation, group_of};
use super::take::{self, Object};
use super::time::millis;
use crate::think::ThinkOptions;
use crate::transcript::wire::Fault;

/// An object out of its envelope.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    /// What was in it.
    pub(crate) object: Object,
    /// The id of the request.
    pub(crate) id: Option<String>,
    /// When it was recorded, in milliseconds since 1970.
    pub(crate) at: Option<f64>,
    /// When it was recorded, in milliseconds since the request.
    pub(crate) since: Option<f64>,
    /// The group, by the prompt of the request.
    pub(crate) group: Option<String>,
    /// The model that was asked for.
    pub(crate) model: Option<String>,
}

/// Where the object may be, outermost first.
const INNER: [&str; 10] = [
    "response", "body", "result", "message", "data", "chunk", "event", "raw", "payload", "line",
];
/// Names of times on a clock.
const CLOCK: [&str; 8] = [
    "timestamp",
    "time",
    "ts",
    "received_at",
    "created_at",
    "at",
    "date",
    "t",
];
/// Names of milliseconds and of seconds since the request.
const MILLIS: [&str; 3] = ["t_ms", "elapsed_ms", "ms"];
const SECONDS: [&str; 3] = ["elapsed", "elapsed_s", "offset"];
const DEPTH: usize = 3;

/// The object that `known` knows: this one, or one that it wraps. A string that holds JSON is not
/// looked into here but where it is read.
pub(crate) fn inner<'a>(object: &'a Object, known: &dyn Fn(&Object) -> bool) -> Option<&'a Object> {
    fn look<'a>(
        object: &'a Object,
        known: &dyn Fn(&Object) -> bool,
        depth: usize,
    ) -> Option<&'a Object> {
        if known(object) {
            return Some(object);
        }
        let parts = INNER
            .iter()
            .filter_map(|name| object.get(*name)?.as_object());
        let deeper = |part: &'a Object| look(part, known, depth - 1);
        (depth > 0).then(|| parts.into_iter().find_map(deeper))?
    }
    look(object, known, DEPTH)
}

/// Takes an object that `known` knows out of what is wrapped around it.
pub(crate) fn open(
    object: Object,
    known: &dyn Fn(&Object) -> bool,
    think: ThinkOptions,
    losses: &mut Losses,
) -> Result<Opened, Fault> {
    let mut opened = Opened::default();
    let mut object = object;
    for _ in 0..=DEPTH {
        if known(&object) {
            opened.times(&mut object);
            opened.object = object;
            return Ok(opened);
        }
        let Some((name, inside)) = unwrap(&mut object, known) else {
            break;
        };
        opened.note(&mut object, think.clone(), losses)?;
        losses.rest(if name == "body" { "response" } else { "" }, &object);
        object = inside;
    }
    Err(unknown(&object))
}

/// The first part that holds what is known; else the first that is an object.
fn unwrap(object: &mut Object, known: &dyn Fn(&Object) -> bool) -> Option<(&'static str, Object)> {
    for name in INNER {
        if let Some(Value::String(text)) = object.get(name)
            && text.trim_ascii_start().starts_with('{')
            && let Ok(Value::Object(parsed)) = serde_json::from_str(text)
        {
            object.insert(name.to_owned(), Value::Object(parsed));
        }
    }
    let parts = || {
        INNER
            .into_iter()
            .filter(|name| object.get(*name).is_some_and(Value::is_object))
    };
    let holds = |name: &&str| {
        let part = object.get(*name).and_then(Value::as_object);
        part.is_some_and(|part| inner(part, known).is_some())
    };
    let name = parts().find(holds).or_else(|| parts().next())?;
    match object.remove(name) {
        Some(Value::Object(part)) => Some((name, part)),
        _ => None,
    }
}

fn unknown(object: &Object) -> Fault {
    const EXPECTED: &str = "a response or a chunk of this format";
    if let Some(error) = object.get("error").filter(|error| !error.is_null()) {
        let mut text = error.to_string();
        text.truncate(text.floor_char_boundary(200));
        return Fault::new(format!("a request that failed: {text}"), EXPECTED);
    }
    let keys: Vec<&str> = object.keys().take(8).map(String::as_str).collect();
    let what = match keys.is_empty() {
        true => "an empty object".to_owned(),
        false => format!("an object with the fields {}", keys.join(", ")),
    };
    Fault::new(what, EXPECTED)
}

impl Opened {
    /// Of an object without an envelope; `rest`: its fields that no API has.
    pub(crate) fn bare(rest: Option<&mut Object>) -> Self {
        let mut opened = Self::default();
        if let Some(rest) = rest {
            opened.times(rest);
        }
        opened
    }

    /// What recorders put among the fields of a chunk itself.
    fn times(&mut self, object: &mut Object) {
        self.since = self.since.or(time(object, &MILLIS, Value::as_f64));
        self.at = self.at.or(time(object, &["received_at"], millis));
    }

    /// What the envelope itself says.
    fn note(
        &mut self,
        envelope: &mut Object,
        think: ThinkOptions,
        losses: &mut Losses,
    ) -> Result<(), Fault> {
        let named = take::label(envelope, "custom_id");
        self.id = self.id.take().or(named);
        let since = time(envelope, &MILLIS, Value::as_f64);
        let since = since.or_else(|| time(envelope, &SECONDS, |s| Some(s.as_f64()? * 1e3)));
        self.since = self.since.or(since);
        self.at = self.at.or_else(|| time(envelope, &CLOCK, millis));
        if let Some(Value::Object(mut request)) = envelope.remove("request") {
            let model = take::label(&mut request, "model");
            self.model = self.model.take().or(model);
            self.group = prompt(&mut request, think, losses)?;
            losses.rest("request", &request);
        }
        Ok(())
    }
}

/// Takes the first of these fields that is a time.
fn time(object: &mut Object, names: &[&str], read: fn(&Value) -> Option<f64>) -> Option<f64> {
    // Nearly always there is none, which is seen without a look-up for each name.
    if !object.keys().any(|key| names.contains(&key.as_str())) {
        return None;
    }
    let is_time = |name: &&&str| {
        object
            .get(**name)
            .is_some_and(|value| read(value).is_some())
    };
    let name = names.iter().find(is_time)?;
    read(&object.remove(*name)?)
}

/// The group of a request.
fn prompt(
    request: &mut Object,
    think: ThinkOptions,
    losses: &mut Losses,
) -> Result<Option<String>, Fault> {
    if let Some(text) = take::any(request, "prompt") {
        return Ok(text.as_str().map(group_of));
    }
    let mut conversation = Conversation::default();
    for message in take::list(request, "messages")?.unwrap_or_default() {
        let message = take::as_object("request.messages[]", message)?;
        // The transcript is of the response: what was said before it is not kept.
        if conversation.prompt.is_some() {
            losses.add("request.messages[]");
        }
        conversation.message(message, "request.messages[]", None, think.clone(), losses)?;
    }
    Ok(conversation.group())
}
