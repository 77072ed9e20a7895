//! [`Payload`]: an API's object without the envelope of its recorder. `envelope.toml` has the fields of envelopes.
//!
//! | written by | looks like |
//! |---|---|
//! | OpenAI's batches, vLLM's `run_batch` | `{"custom_id", "response": {"status_code", "body": {…}}}` |
//! | Anthropic's batches | `{"custom_id", "result": {"type": "succeeded", "message": {…}}}` |
//! | proxies | `{"request": {…}, "response": {…}}` |
//! | recorders of streams | `{"timestamp", "data": {…}}`, the data also as a string |
//! | LiteLLM's spend logs | `{"request_id", "model", "messages", "response": {…}}`, both also as strings |
//! | Helicone | `{"request_id", "request_body": {…}, "response_body": {…}}` |
//! | batches of Bedrock | `{"recordId", "modelInput": {…}, "modelOutput": {…}}` |
//! | invocation logs of Bedrock | `{"modelId", "input": {"inputBodyJson"}, "output": {"outputBodyJson"}}` |
//! | batches of Vertex AI | `{"request": {"contents"}, "response": {…}, "processed_time"}` |

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use crate::reader::Intake;
use crate::sessions::conversation::{Conversation, group_of};
use crate::source::records;
use deadloop_stream::PromptInfo;
use deadloop_stream::fields::{self, Object};
use deadloop_stream::time::millis;
use deadloop_stream::wire::WireFault;

/// An object without its envelope.
#[derive(Debug, Default)]
pub(crate) struct Payload {
    /// The object.
    pub(crate) object: Object,
    /// The id of the request.
    pub(crate) id: Option<String>,
    /// The time of recording, in milliseconds since 1970.
    pub(crate) at: Option<f64>,
    /// The time of recording, in milliseconds since the request.
    pub(crate) since: Option<f64>,
    /// The group, from the prompt of the request.
    pub(crate) group: Option<String>,
    /// The requested model.
    pub(crate) model: Option<String>,
    /// The user's messages in the request.
    pub(crate) user: Vec<String>,
}

/// The names of the fields of envelopes: `envelope.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnvelopeNames {
    inner: Vec<String>,
    request: Vec<String>,
    id: Vec<String>,
    clock: Vec<String>,
    millis: Vec<String>,
    seconds: Vec<String>,
}

static NAMES: LazyLock<EnvelopeNames> = LazyLock::new(|| {
    let names = toml::from_str(include_str!("envelope.toml"));
    names.unwrap_or_else(|why| unreachable!("envelope: {why}"))
});

/// The maximum number of envelopes inside each other.
const MAX_DEPTH: usize = 3;

/// Returns whether `known` recognizes this object or one inside, also as a string.
pub(crate) fn holds(object: &Object, known: &dyn Fn(&Object) -> bool) -> bool {
    fn contains_known(object: &Object, known: &dyn Fn(&Object) -> bool, depth: usize) -> bool {
        // Objects have few fields, and few of them have these names, so comparing is faster than hashing.
        let mut inner = object.iter().filter(|(name, _)| NAMES.inner.contains(name));
        let deeper = |(_, value): (&String, &Value)| match value {
            Value::Object(part) => contains_known(part, known, depth - 1),
            Value::String(text) => {
                parse_object(text).is_some_and(|part| contains_known(&part, known, depth - 1))
            }
            _ => false,
        };
        known(object) || (depth > 0 && inner.any(deeper))
    }
    contains_known(object, known, MAX_DEPTH)
}

/// Parses a text as an object.
fn parse_object(text: &str) -> Option<Object> {
    if !text.trim_ascii_start().starts_with('{') {
        return None;
    }
    match records::parse_nested(text) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    }
}

/// Unwraps an object that `known` recognizes from its envelopes.
pub(crate) fn open(
    object: Object,
    known: &dyn Fn(&Object) -> bool,
    out: &mut Intake,
) -> Result<Payload, WireFault> {
    let mut opened = Payload::default();
    let mut object = object;
    for _ in 0..=MAX_DEPTH {
        if known(&object) {
            opened.take_times(&mut object);
            opened.object = object;
            return Ok(opened);
        }
        let Some((name, inside)) = unwrap(&mut object, known) else {
            break;
        };
        opened.take_envelope(&mut object, out)?;
        out.losses
            .add_rest(if name == "body" { "response" } else { "" }, &object);
        object = inside;
    }
    Err(unknown_object(&object))
}

/// Takes the first part with a recognized object inside, or the first object if no part has one.
fn unwrap(object: &mut Object, known: &dyn Fn(&Object) -> bool) -> Option<(&'static str, Object)> {
    for name in &NAMES.inner {
        if let Some(Value::String(text)) = object.get(name)
            && let Some(inside) = parse_object(text)
        {
            object.insert(name.clone(), Value::Object(inside));
        }
    }
    let parts = || {
        let names = NAMES.inner.iter();
        names.filter_map(|name| Some((name, object.get(name)?.as_object()?)))
    };
    let held = parts().find(|(_, part)| holds(part, known));
    let (name, _) = held.or_else(|| parts().next())?;
    match object.remove(name) {
        Some(Value::Object(part)) => Some((name.as_str(), part)),
        _ => None,
    }
}

fn unknown_object(object: &Object) -> WireFault {
    const EXPECTED: &str = "a response or a chunk of this format";
    if let Some(error) = object.get("error").filter(|error| !error.is_null()) {
        let mut text = error.to_string();
        text.truncate(text.floor_char_boundary(200));
        return WireFault::new(format!("a request that failed: {text}"), EXPECTED);
    }
    let keys: Vec<&str> = object.keys().take(8).map(String::as_str).collect();
    let what = if keys.is_empty() {
        "an empty object".to_owned()
    } else {
        format!("an object with the fields {}", keys.join(", "))
    };
    WireFault::new(what, EXPECTED)
}

impl Payload {
    /// Creates a payload without an envelope. `rest` holds the fields that no API has.
    pub(crate) fn without_envelope(rest: Option<&mut Object>) -> Self {
        let mut opened = Self::default();
        if let Some(rest) = rest {
            opened.take_times(rest);
        }
        opened
    }

    /// Takes the times that recorders add to the fields of a chunk.
    fn take_times(&mut self, object: &mut Object) {
        let since = take_time(object, &NAMES.millis, Value::as_f64);
        self.since = self.since.or(since);
        self.at = self.at.or(take_time(object, &["received_at"], millis));
    }

    /// Takes the fields of the envelope itself.
    fn take_envelope(&mut self, envelope: &mut Object, out: &mut Intake) -> Result<(), WireFault> {
        if self.id.is_none() {
            let mut names = NAMES.id.iter();
            self.id = names.find_map(|name| fields::label(envelope, name));
        }
        if self.model.is_none() {
            let names = ["model", "modelId"];
            self.model = names.iter().find_map(|name| fields::label(envelope, name));
        }
        let since = take_time(envelope, &NAMES.millis, Value::as_f64);
        let since =
            since.or_else(|| take_time(envelope, &NAMES.seconds, |s| Some(s.as_f64()? * 1e3)));
        self.since = self.since.or(since);
        let at = || take_time(envelope, &NAMES.clock, millis);
        self.at = self.at.or_else(at);
        if let Some(mut request) = take_request(envelope) {
            let model = fields::label(&mut request, "model");
            self.model = self.model.take().or(model);
            self.user = PromptInfo::in_request(&request);
            self.group = take_group(&mut request, out)?;
            out.losses.add_rest("request", &request);
        }
        Ok(())
    }
}

/// Takes the request out of the envelope: a field, a nested field, a string, or the messages alone.
fn take_request(envelope: &mut Object) -> Option<Object> {
    for name in &NAMES.request {
        let inside = match envelope.get(name) {
            Some(Value::Object(_)) => fields::any(envelope, name),
            Some(Value::String(text)) => parse_object(text).map(Value::Object),
            _ => None,
        };
        if let Some(Value::Object(mut inside)) = inside {
            envelope.remove(name);
            return match inside.get("inputBodyJson") {
                Some(Value::Object(_)) => take_request(&mut inside),
                _ => Some(inside),
            };
        }
    }
    let messages = match envelope.get("messages")? {
        Value::String(text) => records::parse_nested(text).ok()?,
        list => list.clone(),
    };
    envelope.remove("messages");
    let messages = Some(messages).filter(Value::is_array)?;
    Some(Object::from_iter([("messages".to_owned(), messages)]))
}

/// Takes the first of these fields that is a time.
fn take_time(
    object: &mut Object,
    names: &[impl AsRef<str>],
    read: fn(&Value) -> Option<f64>,
) -> Option<f64> {
    let mut names = names.iter().map(AsRef::as_ref);
    let name = names.find(|name| fields::get(object, name).is_some_and(|v| read(v).is_some()))?;
    read(&object.remove(name)?)
}

/// Takes the prompt out of a request. Returns the group of the prompt.
fn take_group(request: &mut Object, out: &mut Intake) -> Result<Option<String>, WireFault> {
    if let Some(text) = fields::any(request, "prompt") {
        return Ok(text.as_str().map(group_of));
    }
    let mut conversation = Conversation::default();
    let messages = match fields::list(request, "messages")? {
        Some(messages) => Some(messages),
        None => fields::list(request, "contents")?,
    };
    for message in messages.unwrap_or_default() {
        let mut message = fields::as_object("request.messages[]", message)?;
        if message.contains_key("parts") {
            message.entry("role").or_insert_with(|| "user".into());
        }
        // Only user messages are kept of the messages before the response.
        let of_user = message.get("role").and_then(Value::as_str) == Some("user");
        if conversation.prompt.is_some() && !of_user {
            out.losses.add("request.messages[]");
        }
        conversation.add_message(message, "request.messages[]", None, out)?;
    }
    Ok(conversation.group())
}
