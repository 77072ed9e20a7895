//! [`Traces`]: traces of observability tools as runs.
//!
//! Spans are ordered by their start. A model span has the whole request, of which only new messages are used. Tool calls
//! come from the answers of the model. A tool span has the result, and the call if no answer has it.

use std::collections::HashMap;

use serde_json::Value;

use crate::paths;
use crate::reader::{Output, set_field};
use crate::sessions::conversation::null_if_empty;
use crate::sessions::run_session::RunSession;
use crate::sessions::turn::{TurnData, Usage};
use crate::source::records;
use deadloop_corpus::{Body, Place, tool_call, tool_result};
use deadloop_stream::fields::{Object, ReadFields};

/// Kind of a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SpanKind {
    /// A model call.
    Model,
    /// A tool call.
    Tool,
    /// Any other span, such as a chain, an agent or a retrieval.
    #[default]
    Other,
}

/// A span in a form that is common to all tracers.
#[derive(Debug, Default)]
pub(crate) struct TraceSpan {
    pub(crate) kind: SpanKind,
    /// Name of the tool.
    pub(crate) name: String,
    /// Start time, in milliseconds since 1970.
    pub(crate) began: Option<f64>,
    /// Sort key of spans with the same start time.
    pub(crate) order: String,
    /// Messages of the request, prompts first.
    pub(crate) input: Vec<Object>,
    /// Arguments of a tool call.
    pub(crate) arguments: Option<Value>,
    /// Messages of the response.
    pub(crate) output: Vec<Object>,
    /// Result of a tool call.
    pub(crate) result: Option<String>,
    /// Id of a tool call.
    pub(crate) call: Option<String>,
    /// Whether the span failed, if known.
    pub(crate) error: Option<bool>,
    pub(crate) model: Option<String>,
    pub(crate) usage: Usage,
    pub(crate) agent: Option<String>,
    /// Finish reason.
    pub(crate) reason: Option<String>,
}

/// Builds the run of a trace. Unreadable messages are reported and skipped.
fn build_run(mut spans: Vec<TraceSpan>, place: &Place, out: &mut Output) -> RunSession {
    spans.sort_by(|a, b| {
        let began = |span: &TraceSpan| span.began.unwrap_or(0.0);
        let time = began(a).total_cmp(&began(b));
        time.then_with(|| a.order.cmp(&b.order))
    });
    let mut trace = TraceRun::default();
    trace.session.begin_at(place.clone());
    for span in spans {
        match span.kind {
            SpanKind::Model => trace.add_model_span(span, place, out),
            SpanKind::Tool => trace.add_tool_span(span),
            SpanKind::Other => out.losses.add("(spans of neither a model nor a tool)"),
        }
    }
    trace.session.run.finish(trace.session.reason.take());
    trace.session
}

/// Messages and data of a span's input or output.
#[derive(Debug, Default)]
pub(crate) struct SpanContent {
    pub(crate) messages: Vec<Object>,
    pub(crate) reason: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) usage: Usage,
}

/// Reads the input or output of a span, in the shape of any API. A string becomes a message of `role`.
pub(crate) fn read_span_content(value: Value, role: &str) -> SpanContent {
    let mut content = SpanContent::default();
    match value {
        Value::String(text) => content.messages.push(text_message(&text, role)),
        Value::Array(items) => {
            for item in items {
                let inner = read_span_content(item, role);
                content.messages.extend(inner.messages);
                content.reason = content.reason.take().or(inner.reason);
            }
        }
        Value::Object(mut object) => {
            content.model = object.take_label("model");
            content.usage = Usage::take_from(&mut paths::take_object(&mut object, "usage"));
            for name in ["finish_reason", "stop_reason"] {
                let reason = object.take_label(name);
                content.reason = content.reason.take().or(reason);
            }
            for list in ["choices", "messages", "message", "output"] {
                if let Some(inner) = object.remove(list).filter(|inner| !inner.is_null()) {
                    // Events of spans have a message as text.
                    let inner = read_span_content(parse_json(inner), role);
                    content.messages = inner.messages;
                    content.reason = content.reason.take().or(inner.reason);
                    return content;
                }
            }
            if object.contains_key("content") || object.contains_key("tool_calls") {
                object.entry("role").or_insert_with(|| role.into());
            }
            content.messages.extend(to_message(Value::Object(object)));
        }
        _ => {}
    }
    content
}

/// Parses a string as JSON. Other values and other strings are returned unchanged.
pub(crate) fn parse_json(value: Value) -> Value {
    match value {
        Value::String(text) => records::parse_nested(&text).unwrap_or(Value::String(text)),
        other => other,
    }
}

/// Creates a message from a text.
pub(crate) fn text_message(text: &str, role: &str) -> Object {
    let fields = [("role", role), ("content", text)];
    Object::from_iter(fields.map(|(name, value)| (name.to_owned(), value.into())))
}

/// Spans of a file, grouped by trace.
#[derive(Default)]
pub(crate) struct Traces {
    traces: Vec<TraceSpans>,
    indices: HashMap<String, usize>,
}

/// Spans of one trace.
pub(crate) struct TraceSpans {
    pub(crate) id: String,
    place: Place,
    /// Name of the trace, for `meta`.
    pub(crate) name: Option<Value>,
    /// Whether the whole trace failed.
    pub(crate) failed: bool,
    spans: Vec<TraceSpan>,
}

impl Traces {
    /// Returns the trace with this id, which is created if necessary.
    pub(crate) fn trace_mut(&mut self, id: &str, place: &Place) -> &mut TraceSpans {
        let next = self.traces.len();
        let at = *self.indices.entry(id.to_owned()).or_insert(next);
        if at == next {
            self.traces.push(TraceSpans {
                id: id.to_owned(),
                place: place.clone(),
                name: None,
                failed: false,
                spans: Vec::new(),
            });
        }
        &mut self.traces[at]
    }

    /// Adds a span to a trace.
    pub(crate) fn push(&mut self, id: String, place: &Place, span: TraceSpan) {
        self.trace_mut(&id, place).spans.push(span);
    }

    /// Emits every trace as a run.
    pub(crate) fn emit_runs(self, out: &mut Output) {
        for trace in self.traces {
            let mut session = build_run(trace.spans, &trace.place, out);
            session.reason = trace.failed.then(|| "error".to_owned());
            session.id = Some(trace.id);
            set_field(&mut session.metadata, "name", trace.name);
            session.emit_run(out);
        }
    }
}

/// The run of a trace under construction.
#[derive(Default)]
struct TraceRun {
    session: RunSession,
    /// Number of times that each input message was already used.
    used_messages: HashMap<String, u64>,
    /// Tool calls without a result, as id and name.
    open_calls: Vec<(String, String)>,
    /// Ids of tool calls with a result.
    answered_ids: Vec<String>,
}

impl TraceRun {
    fn add_model_span(&mut self, span: TraceSpan, place: &Place, out: &mut Output) {
        let t_ms = self.session.clock.since(span.began);
        let mut seen: HashMap<String, u64> = HashMap::new();
        for message in span.input {
            let role = message.get_str("role");
            let key = format!("{role} {}", Value::Object(message.clone()));
            let result = matches!(role, "tool" | "function");
            let model = matches!(role, "assistant" | "ai" | "model");
            let times = seen.entry(key.clone()).or_default();
            *times += 1;
            if model || *times <= self.used_messages.get(&key).copied().unwrap_or(0) {
                continue;
            }
            if result {
                self.add_result_message(message, t_ms);
                continue;
            }
            self.add_message(message, "(input)[]", t_ms, (place, out));
        }
        for (key, times) in seen {
            let used = self.used_messages.entry(key).or_default();
            *used = times.max(*used);
        }
        let before = self.session.run.events.len();
        let turn = || TurnData {
            agent: span.agent.clone(),
            usage: span.usage,
            t_ms,
            ..TurnData::default()
        };
        let mut begun = false;
        for message in span.output {
            if !std::mem::replace(&mut begun, true) {
                self.session.run.announce_turn(turn());
            }
            self.add_message(message, "(output)[]", t_ms, (place, out));
        }
        if !begun {
            self.session.run.begin_turn(turn());
        }
        for event in &self.session.run.events[before..] {
            if let Body::ToolCall { id, name, .. } = &event.body {
                let id = id.clone().unwrap_or_default();
                self.open_calls.push((id, name.clone()));
            }
        }
        let forgotten = self.open_calls.len().saturating_sub(MAX_REMEMBERED_CALLS);
        self.open_calls.drain(..forgotten);
        self.session.model = span.model.or(self.session.model.take());
        self.session.reason = span.reason;
    }

    fn add_message(
        &mut self,
        message: Object,
        path: &str,
        t_ms: Option<f64>,
        (place, out): (&Place, &mut Output),
    ) {
        let taken = self.session.run.add_message(message, path, t_ms, out);
        if let Err(fault) = taken {
            let problem = fault.at(place.clone());
            out.warn(place, &problem.what, &problem.expected);
            out.losses.add(&format!("{path} (cannot be read)"));
        }
    }

    /// Adds the tool result in a message of a request, unless its tool span already gave the result.
    fn add_result_message(&mut self, mut message: Object, t_ms: Option<f64>) {
        let id = message.take_label("tool_call_id");
        if id.as_ref().is_some_and(|id| self.answered_ids.contains(id)) {
            return;
        }
        let at = match &id {
            Some(id) => self.open_calls.iter().position(|(open, _)| open == id),
            None => (!self.open_calls.is_empty()).then_some(0),
        };
        let Some((open, _)) = at.map(|at| self.open_calls.remove(at)) else {
            return;
        };
        let content = to_text(message.remove("content"));
        let status = message.get("status").and_then(Value::as_str);
        let error = status.map(|status| status == "error");
        self.add_result(open, content, error, t_ms);
    }

    fn add_result(&mut self, id: String, content: String, error: Option<bool>, t_ms: Option<f64>) {
        let named = Some(id.clone()).filter(|id| !id.is_empty());
        let result = tool_result(named, content, error);
        self.session.run.push(result, t_ms);
        // Requests repeat old results; remembering the newest suffices.
        if self.answered_ids.len() >= MAX_REMEMBERED_CALLS {
            self.answered_ids.drain(..MAX_REMEMBERED_CALLS / 2);
        }
        self.answered_ids.push(id);
    }

    fn add_tool_span(&mut self, span: TraceSpan) {
        let t_ms = self.session.clock.since(span.began);
        let is_call = |(id, name): &(String, String)| match &span.call {
            Some(call) => call == id,
            None => *name == span.name,
        };
        let id = match self.open_calls.iter().position(is_call) {
            Some(at) => self.open_calls.remove(at).0,
            None => {
                let id = span.call.unwrap_or(span.order);
                let arguments = span.arguments.map_or(Value::Null, null_if_empty);
                let call = tool_call(Some(id.clone()), span.name, arguments);
                self.session.run.add_action(call, t_ms);
                id
            }
        };
        self.add_result(id, span.result.unwrap_or_default(), span.error, t_ms);
    }
}

/// The maximum number of remembered calls without a result, and of remembered ids with a result.
const MAX_REMEMBERED_CALLS: usize = 4096;

/// Returns the text of a message content: a string, the joined texts of blocks, or JSON.
pub(crate) fn to_text(content: Option<Value>) -> String {
    match content {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text,
        Some(Value::Array(mut parts)) if parts.iter().all(|part| part_text(part).is_some()) => {
            match &mut parts[..] {
                // The text of a single part is moved, not copied.
                [Value::Object(only)] => to_text(only.remove("text")),
                _ => parts.iter().filter_map(part_text).collect(),
            }
        }
        Some(other) => other.to_string(),
    }
}

/// Returns the text of a content part: the part itself, or its field `text`.
pub(crate) fn part_text(part: &Value) -> Option<&str> {
    part.as_str().or_else(|| part.get("text")?.as_str())
}

/// Converts a message of LangChain, OpenTelemetry or an API to OpenAI's fields. `None` if it is not a message.
pub(crate) fn to_message(value: Value) -> Option<Object> {
    let Value::Object(mut message) = value else {
        return None;
    };
    // LangChain's serialised objects hold their fields in `kwargs`, older ones in `data`.
    for inner in ["kwargs", "data"] {
        if let Some(Value::Object(fields)) = message.get_mut(inner) {
            let mut fields = std::mem::take(fields);
            if inner == "data" {
                fields.extend(message.remove("type").map(|kind| ("type".to_owned(), kind)));
            }
            message = fields;
        }
    }
    if !message.contains_key("role") {
        let kind = message.remove("type")?;
        let role = match kind.as_str()?.trim_end_matches("MessageChunk") {
            "human" | "HumanMessage" => "user",
            "ai" | "AIMessage" | "AI" => "assistant",
            "ToolMessage" => "tool",
            "SystemMessage" => "system",
            other => other,
        };
        message.insert("role".to_owned(), role.into());
    }
    use_raw_calls(&mut message);
    convert_parts(&mut message);
    let unneeded = "response_metadata additional_kwargs invalid_tool_calls id name";
    unneeded
        .split(' ')
        .for_each(|name| drop(message.remove(name)));
    Some(message)
}

/// Replaces LangChain's parsed tool calls by the raw calls of the API, whose arguments are text.
fn use_raw_calls(message: &mut Object) {
    let more = message.get_mut("additional_kwargs");
    let raw = more.and_then(|more| more.get_mut("tool_calls"));
    if let Some(calls @ Value::Array(_)) = raw.map(Value::take) {
        message.insert("tool_calls".to_owned(), calls);
    }
    if let Some(Value::Object(usage)) = message.remove("usage_metadata") {
        message.entry("usage").or_insert(Value::Object(usage));
    }
}

/// Converts OpenTelemetry's message parts to content blocks.
fn convert_parts(message: &mut Object) {
    let Some(Value::Array(parts)) = message.remove("parts") else {
        return;
    };
    message.remove("finish_reason");
    let mut blocks = Vec::new();
    let (mut call, mut response) = (None, None);
    for part in parts {
        let Value::Object(mut part) = part else {
            continue;
        };
        let kind = part.get_str("type").to_owned();
        match kind.as_str() {
            "tool_call_response" => {
                call = part.remove("id");
                response = part.remove("response").or_else(|| part.remove("result"));
                continue;
            }
            "tool_call" => {
                part.insert("type".to_owned(), "tool_use".into());
            }
            "reasoning" => part.rename_fields(&[("content", "reasoning")]),
            _ => part.rename_fields(&[("content", "text")]),
        }
        blocks.push(Value::Object(part));
    }
    if let Some(response) = response {
        message.insert("role".to_owned(), "tool".into());
        message.insert("content".to_owned(), to_text(Some(response)).into());
        message.extend(call.map(|id| ("tool_call_id".to_owned(), id)));
        return;
    }
    message.insert("content".to_owned(), Value::Array(blocks));
}
