//! Traces of observability tools as runs, from spans in the order of their starts.
//!
//! A model's span holds the whole request, which repeats earlier messages, so only the new messages of its input are
//! used. The calls of the model are taken from its answer. A tool's span gives the result, and the call if no answer
//! holds it.

use std::collections::HashMap;

use serde_json::Value;

use crate::source::records;

use crate::reader::{Intake, keep};
use crate::sessions::conversation::written;
use crate::sessions::run_session::RunSession;
use crate::sessions::turn::{TurnData, Usage};
use deadloop_corpus::{Body, Place};
use deadloop_stream::fields::{self, Object};

/// The kind of a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SpanKind {
    /// A call of a model.
    Model,
    /// A call of a tool.
    Tool,
    /// Anything else: a chain, an agent, a retrieval.
    #[default]
    Other,
}

/// A span, independent of the tool that wrote it.
#[derive(Debug, Default)]
pub(crate) struct TraceSpan {
    pub(crate) kind: SpanKind,
    /// The name of a tool.
    pub(crate) name: String,
    /// The start, in milliseconds since 1970.
    pub(crate) began: Option<f64>,
    /// The sort key of spans that began together.
    pub(crate) order: String,
    /// The messages of the request, prompts first. For a tool, its arguments.
    pub(crate) input: Vec<Object>,
    /// The arguments of a tool.
    pub(crate) arguments: Option<Value>,
    /// The messages of the response.
    pub(crate) output: Vec<Object>,
    /// The result of a tool.
    pub(crate) result: Option<String>,
    /// The id of the call of a tool's span, if recorded.
    pub(crate) call: Option<String>,
    /// Whether the span failed, if known.
    pub(crate) error: Option<bool>,
    pub(crate) model: Option<String>,
    pub(crate) usage: Usage,
    pub(crate) agent: Option<String>,
    /// The finish reason.
    pub(crate) reason: Option<String>,
}

/// Builds the run of a trace. A message that cannot be read is reported with the place of its trace and left out.
fn run(mut spans: Vec<TraceSpan>, place: &Place, out: &mut Intake) -> RunSession {
    spans.sort_by(|a, b| {
        let began = |span: &TraceSpan| span.began.unwrap_or(0.0);
        let time = began(a).total_cmp(&began(b));
        time.then_with(|| a.order.cmp(&b.order))
    });
    let mut trace = Trace::default();
    trace.session.at(place.clone());
    for span in spans {
        match span.kind {
            SpanKind::Model => trace.model(span, place, out),
            SpanKind::Tool => trace.tool(span),
            SpanKind::Other => out.losses.add("(spans of neither a model nor a tool)"),
        }
    }
    let mut session = trace.session;
    session.run.finish(session.reason.take());
    session
}

/// The content of a span's field: messages, in the shapes of the APIs that clients dump.
#[derive(Debug, Default)]
pub(crate) struct SpanContent {
    pub(crate) messages: Vec<Object>,
    pub(crate) reason: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) usage: Usage,
}

/// Reads a request or a response of an API, messages, a message, or a text of `role`.
pub(crate) fn read_content(value: Value, role: &str) -> SpanContent {
    let mut said = SpanContent::default();
    match value {
        Value::String(text) => said.messages.push(text_message(&text, role)),
        Value::Array(items) => {
            for item in items {
                let inner = self::read_content(item, role);
                said.messages.extend(inner.messages);
                said.reason = said.reason.take().or(inner.reason);
            }
        }
        Value::Object(mut object) => {
            said.model = fields::label(&mut object, "model");
            if let Some(Value::Object(mut usage)) = object.remove("usage") {
                said.usage = Usage::take(&mut usage);
            }
            for name in ["finish_reason", "stop_reason"] {
                let reason = fields::label(&mut object, name);
                said.reason = said.reason.take().or(reason);
            }
            for list in ["choices", "messages", "message", "output"] {
                if let Some(inner) = object.remove(list).filter(|inner| !inner.is_null()) {
                    let inside = match inner {
                        // Events of spans have a message as text.
                        Value::String(text) => {
                            records::parse_nested(&text).unwrap_or(Value::String(text))
                        }
                        other => other,
                    };
                    let inner = self::read_content(inside, role);
                    said.messages = inner.messages;
                    said.reason = said.reason.take().or(inner.reason);
                    return said;
                }
            }
            if object.contains_key("content") || object.contains_key("tool_calls") {
                object.entry("role").or_insert_with(|| role.into());
            }
            said.messages.extend(message(Value::Object(object)));
        }
        _ => {}
    }
    said
}

/// Creates a message with one text.
pub(crate) fn text_message(text: &str, role: &str) -> Object {
    let said = [("role", role), ("content", text)];
    let said = said.map(|(name, value)| (name.to_owned(), value.into()));
    said.into_iter().collect()
}

/// The spans of a file by trace, in the order of the traces.
#[derive(Default)]
pub(crate) struct Traces {
    traces: Vec<TraceSpans>,
    numbers: HashMap<String, usize>,
}

/// The spans of one trace.
pub(crate) struct TraceSpans {
    pub(crate) id: String,
    place: Place,
    /// The name of the trace, for `meta`.
    pub(crate) name: Option<Value>,
    /// Whether the trace failed as a whole.
    pub(crate) failed: bool,
    spans: Vec<TraceSpan>,
}

impl Traces {
    /// Returns the trace with this id. A new trace begins at `place`.
    pub(crate) fn trace(&mut self, id: &str, place: &Place) -> &mut TraceSpans {
        let next = self.traces.len();
        let at = *self.numbers.entry(id.to_owned()).or_insert(next);
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
        self.trace(&id, place).spans.push(span);
    }

    /// Emits every trace as a run.
    pub(crate) fn end(self, out: &mut Intake) {
        for trace in self.traces {
            let mut session = run(trace.spans, &trace.place, out);
            session.reason = trace.failed.then(|| "error".to_owned());
            session.id = Some(trace.id);
            keep(&mut session.about, "name", trace.name);
            session.emit_whole(out);
        }
    }
}

#[derive(Default)]
struct Trace {
    session: RunSession,
    /// Number of times that each input text was used already.
    told: HashMap<String, u64>,
    /// Calls without a result: id and name.
    open: Vec<(String, String)>,
    /// Ids of calls with a result.
    answered: Vec<String>,
}

impl Trace {
    fn model(&mut self, span: TraceSpan, place: &Place, out: &mut Intake) {
        let t_ms = self.session.clock.since(span.began);
        let mut seen: HashMap<String, u64> = HashMap::new();
        for message in span.input {
            let role = fields::word(&message, "role");
            let key = format!("{role} {}", Value::Object(message.clone()));
            let result = matches!(role, "tool" | "function");
            let model = matches!(role, "assistant" | "ai" | "model");
            let times = seen.entry(key.clone()).or_default();
            *times += 1;
            if model || *times <= self.told.get(&key).copied().unwrap_or(0) {
                continue;
            }
            if result {
                self.result_of(message, t_ms);
                continue;
            }
            self.message(message, "(input)[]", t_ms, (place, out));
        }
        for (key, times) in seen {
            let told = self.told.entry(key).or_default();
            *told = times.max(*told);
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
                self.session.run.announce(turn());
            }
            self.message(message, "(output)[]", t_ms, (place, out));
        }
        if !begun {
            self.session.run.turn(turn());
        }
        let calls = self.session.run.events[before..]
            .iter()
            .filter_map(|event| match &event.body {
                Body::ToolCall { id, name, .. } => {
                    Some((id.clone().unwrap_or_default(), name.clone()))
                }
                _ => None,
            });
        self.open.extend(calls);
        let forgotten = self.open.len().saturating_sub(REMEMBERED);
        self.open.drain(..forgotten);
        self.session.model = span.model.or(self.session.model.take());
        self.session.reason = span.reason;
    }

    fn message(
        &mut self,
        message: Object,
        path: &str,
        t_ms: Option<f64>,
        (place, out): (&Place, &mut Intake),
    ) {
        let taken = self.session.run.message(message, path, t_ms, out);
        if let Err(fault) = taken {
            let problem = fault.at(place.clone());
            out.warn(place, &problem.what, &problem.expected);
            out.losses.add(&format!("{path} (cannot be read)"));
        }
    }

    /// Adds a result that only the next request records.
    fn result_of(&mut self, mut message: Object, t_ms: Option<f64>) {
        let id = fields::label(&mut message, "tool_call_id");
        if id.as_ref().is_some_and(|id| self.answered.contains(id)) {
            return;
        }
        let at = match &id {
            Some(id) => self.open.iter().position(|(open, _)| open == id),
            None => (!self.open.is_empty()).then_some(0),
        };
        // The span of a tool has already given a result without an open call.
        let Some((open, _)) = at.map(|at| self.open.remove(at)) else {
            return;
        };
        let content = words(message.remove("content"));
        let status = message.get("status").and_then(Value::as_str);
        let error = status.map(|status| status == "error");
        self.answer(open, content, error, t_ms);
    }

    fn answer(&mut self, id: String, content: String, error: Option<bool>, t_ms: Option<f64>) {
        let named = Some(id.clone()).filter(|id| !id.is_empty());
        self.session.run.push(
            Body::ToolResult {
                id: named,
                content,
                error,
            },
            t_ms,
        );
        // Requests repeat old results; remembering the newest suffices.
        if self.answered.len() >= REMEMBERED {
            self.answered.drain(..REMEMBERED / 2);
        }
        self.answered.push(id);
    }

    fn tool(&mut self, span: TraceSpan) {
        let t_ms = self.session.clock.since(span.began);
        let asked = |(id, name): &(String, String)| match &span.call {
            Some(call) => call == id,
            None => *name == span.name,
        };
        let id = match self.open.iter().position(asked) {
            Some(at) => self.open.remove(at).0,
            None => {
                let id = span.call.unwrap_or(span.order);
                let call = Body::ToolCall {
                    id: Some(id.clone()),
                    name: span.name,
                    arguments: span.arguments.map_or(Value::Null, written),
                };
                self.session.run.act(call, t_ms);
                id
            }
        };
        self.answer(id, span.result.unwrap_or_default(), span.error, t_ms);
    }
}

/// The maximum number of remembered calls without a result, and of ids of calls with one.
const REMEMBERED: usize = 4096;

/// Returns a text, the joined texts of blocks, or the JSON of any other value.
pub(crate) fn words(content: Option<Value>) -> String {
    match content {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text,
        Some(Value::Array(mut parts)) if parts.iter().all(|part| text_of(part).is_some()) => {
            match &mut parts[..] {
                [Value::Object(only)] => only
                    .get_mut("text")
                    .map(Value::take)
                    .map(|text| words(Some(text)))
                    .unwrap_or_default(),
                _ => parts.iter().filter_map(text_of).collect(),
            }
        }
        Some(other) => other.to_string(),
    }
}

fn text_of(part: &Value) -> Option<&str> {
    part.as_str().or_else(|| part.get("text")?.as_str())
}

/// Converts a message of LangChain, OpenTelemetry or an API to OpenAI's fields. `None` if it is not a message.
pub(crate) fn message(value: Value) -> Option<Object> {
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
    raw_calls(&mut message);
    parts(&mut message);
    for beside in [
        "response_metadata",
        "additional_kwargs",
        "invalid_tool_calls",
        "id",
        "name",
    ] {
        message.remove(beside);
    }
    Some(message)
}

/// Takes the calls that LangChain kept as the API wrote them, with their arguments as text.
fn raw_calls(message: &mut Object) {
    let more = message.get_mut("additional_kwargs");
    let raw = more.and_then(|more| more.get_mut("tool_calls"));
    if let Some(calls @ Value::Array(_)) = raw.map(Value::take) {
        message.insert("tool_calls".to_owned(), calls);
    }
    if let Some(Value::Object(usage)) = message.remove("usage_metadata") {
        message.entry("usage").or_insert(Value::Object(usage));
    }
}

/// Converts the parts of OpenTelemetry's messages to the blocks of APIs.
fn parts(message: &mut Object) {
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
        let kind = fields::word(&part, "type").to_owned();
        match kind.as_str() {
            "tool_call_response" => {
                call = part.remove("id");
                response = part.remove("response").or_else(|| part.remove("result"));
                continue;
            }
            "tool_call" => {
                part.insert("type".to_owned(), "tool_use".into());
            }
            "reasoning" => fields::rename(&mut part, &[("content", "reasoning")]),
            _ => fields::rename(&mut part, &[("content", "text")]),
        }
        blocks.push(Value::Object(part));
    }
    if let Some(response) = response {
        message.insert("role".to_owned(), "tool".into());
        message.insert("content".to_owned(), words(Some(response)).into());
        message.extend(call.map(|id| ("tool_call_id".to_owned(), id)));
        return;
    }
    message.insert("content".to_owned(), Value::Array(blocks));
}
