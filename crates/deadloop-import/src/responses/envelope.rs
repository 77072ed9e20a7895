//! [`Payload`]: an API object without the envelope of its recorder.
//!
//! `envelope.toml` lists the field names of envelopes.
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

use crate::reader::Output;
use crate::sessions::conversation::{Conversation, prompt_group};
use crate::source::records;
use deadloop_stream::PromptInfo;
use deadloop_stream::fields::{Object, ReadFields, as_object};
use deadloop_stream::time::parse_millis;
use deadloop_stream::wire::{WireFault, WireResult};

/// An API object without its envelope.
#[derive(Debug, Default)]
pub(crate) struct Payload {
    /// The API object.
    pub(crate) object: Object,
    /// Id of the request.
    pub(crate) id: Option<String>,
    /// Recording time, in milliseconds since 1970.
    pub(crate) clock: Option<f64>,
    /// Recording time, in milliseconds since the request.
    pub(crate) elapsed: Option<f64>,
    /// Group, computed from the prompt of the request.
    pub(crate) group: Option<String>,
    /// Model named by the request.
    pub(crate) model: Option<String>,
    /// User messages of the request.
    pub(crate) user: Vec<String>,
}

/// Field names of envelopes, from `envelope.toml`.
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

static FIELD_NAMES: LazyLock<EnvelopeNames> = LazyLock::new(|| {
    let names = toml::from_str(include_str!("envelope.toml"));
    names.unwrap_or_else(|why| unreachable!("envelope: {why}"))
});

/// The maximum number of nested envelopes.
const MAX_ENVELOPE_DEPTH: usize = 3;

/// Returns whether `is_known` holds for this object or an object in its envelopes, also inside JSON strings.
pub(crate) fn contains_known(object: &Object, is_known: &dyn Fn(&Object) -> bool) -> bool {
    fn is_known_within(object: &Object, is_known: &dyn Fn(&Object) -> bool, depth: usize) -> bool {
        // Objects have few fields, and few of them have these names, so comparing is faster than hashing.
        let mut inner = object
            .iter()
            .filter(|(name, _)| FIELD_NAMES.inner.contains(name));
        let deeper = |(_, value): (&String, &Value)| match value {
            Value::Object(part) => is_known_within(part, is_known, depth - 1),
            Value::String(text) => {
                parse_object(text).is_some_and(|part| is_known_within(&part, is_known, depth - 1))
            }
            _ => false,
        };
        is_known(object) || (depth > 0 && inner.any(deeper))
    }
    is_known_within(object, is_known, MAX_ENVELOPE_DEPTH)
}

/// Parses a text as a JSON object.
fn parse_object(text: &str) -> Option<Object> {
    if !text.trim_ascii_start().starts_with('{') {
        return None;
    }
    match records::parse_nested(text) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    }
}

/// Removes the envelopes around an object for which `is_known` holds.
///
/// # Errors
/// No such object is inside.
pub(crate) fn unwrap_envelopes(
    object: Object,
    is_known: &dyn Fn(&Object) -> bool,
    out: &mut Output,
) -> WireResult<Payload> {
    let mut payload = Payload::default();
    let mut object = object;
    for _ in 0..=MAX_ENVELOPE_DEPTH {
        if is_known(&object) {
            payload.take_times(&mut object);
            payload.object = object;
            return Ok(payload);
        }
        let Some((name, inside)) = take_inner(&mut object, is_known) else {
            break;
        };
        payload.take_fields(&mut object, out)?;
        out.losses
            .add_fields(if name == "body" { "response" } else { "" }, &object);
        object = inside;
    }
    Err(unknown_object_fault(&object))
}

/// Removes the inner object that contains a known object, or else the first inner object. Returns it with the name of
/// its field.
fn take_inner(
    object: &mut Object,
    is_known: &dyn Fn(&Object) -> bool,
) -> Option<(&'static str, Object)> {
    for name in &FIELD_NAMES.inner {
        if let Some(Value::String(text)) = object.get(name)
            && let Some(inside) = parse_object(text)
        {
            object.insert(name.clone(), Value::Object(inside));
        }
    }
    let parts = || {
        let names = FIELD_NAMES.inner.iter();
        names.filter_map(|name| Some((name, object.get(name)?.as_object()?)))
    };
    let held = parts().find(|(_, part)| contains_known(part, is_known));
    let (name, _) = held.or_else(|| parts().next())?;
    match object.remove(name) {
        Some(Value::Object(part)) => Some((name.as_str(), part)),
        _ => None,
    }
}

fn unknown_object_fault(object: &Object) -> WireFault {
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
    /// Creates a payload without an envelope. `rest` contains the fields that are not part of any API.
    pub(crate) fn without_envelope(rest: Option<&mut Object>) -> Self {
        let mut payload = Self::default();
        if let Some(rest) = rest {
            payload.take_times(rest);
        }
        payload
    }

    /// Removes the times that recorders add to a chunk, and stores them.
    fn take_times(&mut self, object: &mut Object) {
        let elapsed = take_time(object, &FIELD_NAMES.millis, Value::as_f64);
        self.elapsed = self.elapsed.or(elapsed);
        self.clock = self
            .clock
            .or(take_time(object, &["received_at"], parse_millis));
    }

    /// Removes the id, the model, the times and the request from an envelope, and stores them.
    fn take_fields(&mut self, envelope: &mut Object, out: &mut Output) -> WireResult {
        if self.id.is_none() {
            let mut names = FIELD_NAMES.id.iter();
            self.id = names.find_map(|name| envelope.take_label(name));
        }
        if self.model.is_none() {
            let names = ["model", "modelId"];
            self.model = names.iter().find_map(|name| envelope.take_label(name));
        }
        let elapsed = take_time(envelope, &FIELD_NAMES.millis, Value::as_f64);
        let elapsed = elapsed
            .or_else(|| take_time(envelope, &FIELD_NAMES.seconds, |s| Some(s.as_f64()? * 1e3)));
        self.elapsed = self.elapsed.or(elapsed);
        let clock = || take_time(envelope, &FIELD_NAMES.clock, parse_millis);
        self.clock = self.clock.or_else(clock);
        if let Some(mut request) = take_request(envelope) {
            let model = request.take_label("model");
            self.model = self.model.take().or(model);
            self.user = PromptInfo::read_user_texts(&request);
            self.group = take_group(&mut request, out)?;
            out.losses.add_fields("request", &request);
        }
        Ok(())
    }
}

/// Takes the request out of the envelope: an object, a nested object, a JSON string, or a bare list of messages.
fn take_request(envelope: &mut Object) -> Option<Object> {
    for name in &FIELD_NAMES.request {
        let inside = match envelope.get(name) {
            Some(Value::Object(_)) => envelope.take(name),
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
    parse: fn(&Value) -> Option<f64>,
) -> Option<f64> {
    let mut names = names.iter().map(AsRef::as_ref);
    let name = names.find(|name| object.get_field(name).is_some_and(|v| parse(v).is_some()))?;
    parse(&object.remove(name)?)
}

/// Takes the prompt out of a request. Returns the prompt's group.
fn take_group(request: &mut Object, out: &mut Output) -> WireResult<Option<String>> {
    if let Some(text) = request.take("prompt") {
        return Ok(text.as_str().map(prompt_group));
    }
    let mut conversation = Conversation::default();
    let messages = match request.take_list("messages")? {
        Some(messages) => Some(messages),
        None => request.take_list("contents")?,
    };
    for message in messages.unwrap_or_default() {
        let mut message = as_object("request.messages[]", message)?;
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
