//! Spans of model calls from tracers, one run per trace.
//!
//! | shape of the file | written by |
//! |---|---|
//! | `resourceSpans[].scopeSpans[].spans[]` | OTLP JSON: collectors, file exporters |
//! | one span per line, with `context.trace_id` | the console exporter of OpenTelemetry's SDKs; Phoenix, flat or nested |
//! | `{info, data: {spans}}` | MLflow 3, `Trace.to_json` |
//! | rows with `span_attributes`, `root_span_id` | Braintrust, exported logs |
//!
//! | fields of the messages | conventions |
//! |---|---|
//! | `gen_ai.input.messages`, `gen_ai.output.messages` | GenAI 1.37 and later |
//! | events `gen_ai.user.message`, `gen_ai.choice` | GenAI 1.28 to 1.36 |
//! | `gen_ai.prompt.0.content`, `gen_ai.completion.0.content` | OpenLLMetry (Traceloop) |
//! | `llm.input_messages.0.message.content` | OpenInference (Phoenix, Arize) |
//! | `mlflow.spanInputs`, `mlflow.spanOutputs`; `input`, `output` | MLflow, Braintrust |
//!
//! Messages are JSON text or OTLP values. Without recorded messages, a run has only the calls.

use serde_json::{Map, Value};

use crate::paths;
use crate::reader::{Intake, RecordReader, known_entry};
use crate::sessions::spans::{SpanKind, TraceSpan, Traces, message, read_content, words};
use crate::sessions::turn::Usage;
use crate::source::records::{self, SourceRecord};
use deadloop_corpus::Place;
use deadloop_stream::fields::{self, Object};
use deadloop_stream::reasons::usual;
use deadloop_stream::time::millis;
use deadloop_stream::wire::WireFault;

known_entry! { OpenTelemetry = is_opentelemetry, "opentelemetry", "spans of OpenTelemetry: OTLP JSON, console; GenAI, OpenInference, OpenLLMetry; Phoenix, MLflow, Braintrust"; }

/// The paths of spans in a file. The empty path is the record itself.
const SPANS: [&str; 3] = ["", "resourceSpans[].scopeSpans[].spans[]", "data.spans[]"];
const TRACE: [&str; 5] = [
    "traceId",
    "context.trace_id",
    "context.traceId",
    "trace_id",
    "root_span_id",
];
const ID: [&str; 5] = [
    "spanId",
    "context.span_id",
    "context.spanId",
    "span_id",
    "id",
];
const BEGAN: [&str; 5] = [
    "startTimeUnixNano",
    "start_time_unix_nano",
    "start_time",
    "metrics.start",
    "created",
];

fn is_opentelemetry(object: &Object) -> bool {
    let spans = object.get("resourceSpans").is_some_and(Value::is_array);
    let context = object.get("context").and_then(Value::as_object);
    let context = context.is_some_and(|context| context.contains_key("trace_id"));
    let attributes = object.keys().any(|key| key.starts_with("attributes"));
    let flat = object.contains_key("context.trace_id");
    let data = object.get("data").and_then(|data| data.get("spans"));
    let mlflow = object.contains_key("info") && data.is_some_and(Value::is_array);
    let braintrust = object.contains_key("span_attributes") && object.contains_key("root_span_id");
    spans || (attributes && (context || flat)) || mlflow || braintrust
}

/// The spans of a file by trace, in the order of the file.
#[derive(Default)]
struct OpenTelemetry {
    traces: Traces,
}

impl RecordReader for OpenTelemetry {
    fn take(&mut self, record: SourceRecord, out: &mut Intake) -> Result<(), WireFault> {
        let (place, mut object) = record.into_place_and_object()?;
        let whole = ["resourceSpans", "data"].iter();
        let whole = whole.filter(|name| object.contains_key(**name)).count() > 0;
        if !whole {
            if !is_opentelemetry(&object) {
                let expected = "an export of spans (resourceSpans), or a span with its context";
                return Err(fields::missing("resourceSpans", expected));
            }
            self.span(object, &place, out);
            return Ok(());
        }
        for list in ["resourceSpans", "data"] {
            if let Some(value) = object.get(list).filter(|v| !v.is_array() && !v.is_object()) {
                return Err(fields::wrong(list, value, "an export of spans"));
            }
        }
        let mut found = 0;
        for list in &SPANS[1..] {
            for span in paths::all(&mut object, list) {
                self.span(fields::as_object("spans[]", span)?, &place, out);
                found += 1;
            }
        }
        out.losses.rest("", &object);
        match found {
            0 => Err(WireFault::new(
                "an export without a span",
                "`resourceSpans[].scopeSpans[].spans`",
            )),
            _ => Ok(()),
        }
    }

    fn end(&mut self, out: &mut Intake) {
        std::mem::take(&mut self.traces).end(out);
    }
}

impl OpenTelemetry {
    fn span(&mut self, mut span: Object, place: &Place, out: &mut Intake) {
        let trace = label(&mut span, &TRACE);
        let mut about = take_attributes(&mut span);
        let status = fields::any(&mut span, "status").unwrap_or_default();
        let codes = [status.get("code"), status.get("status_code")];
        let code = codes.into_iter().flatten().next().cloned();
        let code = code.or_else(|| fields::any(&mut span, "status_code"));
        let error = |code: &Value| {
            let word = code.as_str().unwrap_or_default();
            *code == 2 || matches!(word, "STATUS_CODE_ERROR" | "ERROR")
        };
        let failed = code.as_ref().is_some_and(error) || about.remove("error.type").is_some();
        let mut made = TraceSpan {
            name: text(&mut span, "name").unwrap_or_default(),
            began: paths::first(&mut span, &BEGAN).as_ref().and_then(millis),
            order: label(&mut span, &ID),
            agent: text(&mut about, "gen_ai.agent.name"),
            ..TraceSpan::default()
        };
        events(&mut span, &mut about);
        match kind(&mut about) {
            SpanKind::Model => model(&mut made, &mut about, failed),
            SpanKind::Tool => tool(&mut made, &mut about, failed, &status),
            SpanKind::Other => {}
        }
        if made.kind != SpanKind::Other {
            out.losses.rest("spans[].attributes", &about);
        }
        self.traces.push(trace, place, made);
    }
}

fn label(span: &mut Object, places: &[&str]) -> String {
    match paths::first(span, places) {
        Some(Value::String(text)) => text,
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// Takes the attributes by full names, in any form. Fields of Braintrust are renamed to attributes.
fn take_attributes(span: &mut Object) -> Object {
    let mut about = match fields::any(span, "attributes") {
        Some(Value::Array(list)) => attributes(list),
        Some(Value::Object(named)) => named,
        _ => Object::new(),
    };
    let names: Vec<String> = span.keys().cloned().collect();
    for name in names {
        if let Some(short) = name.strip_prefix("attributes.")
            && let Some(value) = span.remove(&name)
        {
            about.insert(short.to_owned(), value);
        }
    }
    for (theirs, ours) in [
        ("span_attributes.type", "kind"),
        ("span_kind", "kind"),
        ("input", "input.value"),
        ("output", "output.value"),
        ("metadata.model", "llm.model_name"),
        ("metrics.prompt_tokens", "llm.token_count.prompt"),
        ("metrics.completion_tokens", "llm.token_count.completion"),
    ] {
        if let Some(value) = paths::take(span, theirs) {
            about.entry(ours).or_insert(value);
        }
    }
    // Nested groups of names become flat names.
    let mut flat = Object::new();
    let mut open: Vec<(String, Value)> = about.into_iter().rev().collect();
    while let Some((name, value)) = open.pop() {
        match value {
            Value::Object(inner)
                if matches!(
                    name.as_str(),
                    "llm"
                        | "gen_ai"
                        | "openinference"
                        | "tool"
                        | "llm.token_count"
                        | "openinference.span"
                        | "tool_call"
                        | "input"
                        | "output"
                        | "mlflow"
                ) =>
            {
                let inner = inner.into_iter().rev();
                open.extend(inner.map(|(inner, value)| (format!("{name}.{inner}"), value)));
            }
            value => drop(flat.insert(name, value)),
        }
    }
    flat
}

/// Returns the kind of a span, by the names of all conventions.
fn kind(about: &mut Object) -> SpanKind {
    const NAMES: [&str; 6] = [
        "gen_ai.operation.name",
        "openinference.span.kind",
        "traceloop.span.kind",
        "llm.request.type",
        "mlflow.spanType",
        "kind",
    ];
    let mut found = SpanKind::Other;
    for name in NAMES {
        let word = about.remove(name).map(nested);
        let word = word.as_ref().and_then(Value::as_str).unwrap_or_default();
        let word = word.to_lowercase();
        let of = match word.as_str() {
            "chat" | "generate_content" | "text_completion" | "completion" | "llm"
            | "chat_model" => SpanKind::Model,
            "execute_tool" | "tool" => SpanKind::Tool,
            _ => SpanKind::Other,
        };
        if found == SpanKind::Other {
            found = of;
        }
    }
    let said = [
        "gen_ai.completion.",
        "llm.output_messages",
        "gen_ai.output.messages",
    ];
    let says = about
        .keys()
        .any(|key| said.iter().any(|name| key.starts_with(name)));
    match found {
        SpanKind::Other if says => SpanKind::Model,
        found => found,
    }
}

/// Adds the messages of events as attributes of the span, where newer conventions have them.
fn events(span: &mut Object, about: &mut Object) {
    let Some(Value::Array(events)) = fields::any(span, "events") else {
        return;
    };
    let (mut input, mut output) = (Vec::new(), Vec::new());
    for event in events {
        let Value::Object(mut event) = event else {
            continue;
        };
        let name = text(&mut event, "name").unwrap_or_default();
        let mut fields = match fields::any(&mut event, "attributes") {
            Some(Value::Array(list)) => attributes(list),
            Some(Value::Object(named)) => named,
            _ => Object::new(),
        };
        fields.remove("gen_ai.system");
        if let Some(Value::Object(body)) = fields
            .remove("event_body")
            .or(event.remove("body"))
            .map(nested)
        {
            fields.extend(body);
        }
        let own = name.strip_prefix("gen_ai.");
        if let Some(role) = own.and_then(|own| own.strip_suffix(".message")) {
            fields.entry("role").or_insert_with(|| role.into());
            if let Some(id) = fields.remove("id") {
                fields.insert("tool_call_id".to_owned(), id);
            }
            input.push(Value::Object(fields));
        } else if name == "gen_ai.choice" {
            output.push(Value::Object(fields));
        } else {
            // One event has all messages, or the two texts of older instrumentations.
            let names = [
                ("gen_ai.prompt", "input.value"),
                ("gen_ai.completion", "output.value"),
            ];
            fields::rename(&mut fields, &names);
            about.extend(fields);
        }
    }
    if !input.is_empty() {
        about.insert("gen_ai.input.messages".to_owned(), input.into());
    }
    if !output.is_empty() {
        about.insert("output.value".to_owned(), output.into());
    }
}

fn model(span: &mut TraceSpan, about: &mut Object, failed: bool) {
    span.kind = SpanKind::Model;
    let mut first = |names: &[&str]| names.iter().find_map(|name| about.remove(*name));
    let named = first(&[
        "gen_ai.response.model",
        "gen_ai.request.model",
        "llm.model_name",
        "llm.request.model",
        "model",
    ]);
    span.model = named.and_then(|named| Some(named.as_str()?.to_owned()));
    span.usage = take_usage(about);
    about.remove("gen_ai.request.model");
    let mut reasons = listed_messages(span, about);
    values(span, about, &mut reasons);
    let told = about.remove("gen_ai.response.finish_reasons").map(nested);
    let told = told.and_then(|told| Some(told.get(0)?.as_str()?.to_owned()));
    let reason = told.or(reasons.into_iter().next());
    span.reason = if failed {
        Some("error".to_owned())
    } else {
        reason.map(|reason| usual(&reason))
    };
}

/// Takes the tokens of a call of a model.
fn take_usage(about: &mut Object) -> Usage {
    let mut count = |names: &[&str]| {
        let found = names.iter().find_map(|name| about.remove(*name));
        found.as_ref().and_then(number)
    };
    Usage {
        sent: count(&[
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.prompt_tokens",
            "llm.token_count.prompt",
        ]),
        wrote: count(&[
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
        ]),
        cached: count(&["gen_ai.usage.cache_read.input_tokens"]),
    }
}

/// Fills the input and the output of a span from lists of messages. Returns the finish reasons.
fn listed_messages(span: &mut TraceSpan, about: &mut Object) -> Vec<String> {
    let system = about.remove("gen_ai.system_instructions").map(nested);
    if let Some(Value::Array(parts)) = system {
        let prompt = serde_json::json!({"role": "system", "parts": parts});
        span.input.extend(message(prompt));
    }
    let mut reasons = Vec::new();
    let input = [
        "gen_ai.input.messages",
        "gen_ai.prompt",
        "llm.input_messages",
    ];
    for name in input {
        let messages = take_messages(about, name, &mut Vec::new());
        if span.input.is_empty() || name == "gen_ai.input.messages" {
            span.input.extend(messages);
        }
    }
    for name in [
        "gen_ai.output.messages",
        "gen_ai.completion",
        "llm.output_messages",
    ] {
        let messages = take_messages(about, name, &mut reasons);
        if span.output.is_empty() {
            span.output = messages;
        }
    }
    reasons
}

/// Fills input and output from single values.
fn values(span: &mut TraceSpan, about: &mut Object, reasons: &mut Vec<String>) {
    let mut value = |names: [&str; 2]| {
        let found = names.map(|name| about.remove(name));
        found.into_iter().flatten().next().map(nested)
    };
    let sent = value(["mlflow.spanInputs", "input.value"]);
    let came = value(["mlflow.spanOutputs", "output.value"]);
    if span.input.is_empty() {
        let asked = sent
            .map(|sent| read_content(sent, "user"))
            .unwrap_or_default();
        span.input = asked.messages;
        span.model = span.model.take().or(asked.model);
    }
    if span.output.is_empty()
        && let Some(came) = came
    {
        let answered = read_content(came, "assistant");
        span.output = answered.messages;
        reasons.extend(answered.reason);
        span.model = answered.model.or(span.model.take());
        if span.usage == Usage::default() {
            span.usage = answered.usage;
        }
    }
}

/// Takes the messages under a name: a list, as JSON text or not, or numbered names of fields.
fn take_messages(about: &mut Object, name: &str, reasons: &mut Vec<String>) -> Vec<Object> {
    let list = match about.get(name) {
        // A plain text is the prompt or the answer itself.
        Some(Value::String(text)) if !text.trim_ascii_start().starts_with(['[', '{']) => None,
        Some(_) => about.remove(name).map(nested),
        None => None,
    };
    let list = match list {
        Some(Value::Array(items)) => items,
        Some(_) => Vec::new(),
        None => take_numbered(about, name),
    };
    let one = |value: Value| {
        let Value::Object(mut fields) = value else {
            return None;
        };
        // OpenInference wraps each message in `message`, nested or in the names.
        if let Some(Value::Object(inner)) = fields.remove("message") {
            fields.extend(inner);
        }
        let names: Vec<String> = fields.keys().cloned().collect();
        for name in names {
            if let Some(short) = name.strip_prefix("message.")
                && let Some(value) = fields.remove(&name)
            {
                fields.insert(short.to_owned(), value);
            }
        }
        let reason = fields.remove("finish_reason");
        reasons.extend(reason.and_then(|reason| Some(reason.as_str()?.to_owned())));
        calls(&mut fields);
        message(Value::Object(fields))
    };
    list.into_iter().filter_map(one).collect()
}

/// Takes the fields of numbered names (`gen_ai.prompt.0.role`), grouped by number.
fn take_numbered(about: &mut Object, name: &str) -> Vec<Value> {
    let begin = format!("{name}.");
    let names = about.keys().filter(|key| key.starts_with(&begin));
    let names: Vec<String> = names.cloned().collect();
    let mut found: std::collections::BTreeMap<u64, Object> = std::collections::BTreeMap::new();
    for name in names {
        let rest = name.strip_prefix(&begin);
        let rest = rest.and_then(|rest| rest.split_once('.'));
        let Some((Ok(at), field)) = rest.map(|(at, field)| (at.parse(), field)) else {
            continue;
        };
        if let Some(value) = about.remove(&name) {
            found.entry(at).or_default().insert(field.to_owned(), value);
        }
    }
    found.into_values().map(Value::Object).collect()
}

/// Joins the calls of a message with numbered fields: `tool_calls.0.function.name`.
fn calls(fields: &mut Object) {
    let mut found = take_numbered(fields, "tool_calls");
    if found.is_empty()
        && let Some(Value::Array(listed)) = fields.get_mut("tool_calls").map(Value::take)
    {
        found = listed;
    }
    let calls = found.into_iter().filter_map(|call| {
        let Value::Object(mut call) = call else {
            return None;
        };
        let mut made = Object::new();
        for (ours, theirs) in [
            ("id", ["id", "tool_call.id", "id"]),
            ("name", ["name", "tool_call.function.name", "function.name"]),
            (
                "arguments",
                [
                    "arguments",
                    "tool_call.function.arguments",
                    "function.arguments",
                ],
            ),
        ] {
            let value = paths::first(&mut call, &theirs);
            made.extend(value.map(|value| (ours.to_owned(), value)));
        }
        Some(Value::Object(made))
    });
    let calls: Vec<Value> = calls.collect();
    if calls.is_empty() {
        fields.remove("tool_calls");
    } else {
        fields.insert("tool_calls".to_owned(), calls.into());
    }
    let mut texts = Vec::new();
    for part in take_numbered(fields, "contents") {
        if let Value::Object(mut part) = part {
            texts.extend(paths::first(&mut part, &["message_content.text", "text"]));
        }
    }
    if !texts.is_empty() {
        fields.insert("content".to_owned(), texts.into());
    }
}

fn tool(span: &mut TraceSpan, about: &mut Object, failed: bool, status: &Value) {
    span.kind = SpanKind::Tool;
    let mut first = |names: &[&str]| names.iter().find_map(|name| about.remove(*name));
    let name = first(&["gen_ai.tool.name", "tool.name", "traceloop.entity.name"]);
    if let Some(Value::String(name)) = name {
        span.name = name;
    }
    let call = first(&["gen_ai.tool.call.id", "tool_call.id"]);
    span.call = call.and_then(|call| Some(call.as_str()?.to_owned()));
    span.arguments = first(&[
        "gen_ai.tool.call.arguments",
        "traceloop.entity.input",
        "mlflow.spanInputs",
        "input.value",
    ]);
    span.error = Some(failed);
    let result = first(&[
        "gen_ai.tool.call.result",
        "traceloop.entity.output",
        "mlflow.spanOutputs",
        "output.value",
    ]);
    let told = status.get("message").cloned().filter(|_| failed);
    span.result = Some(words(result.or(told)));
}

fn text(about: &mut Object, name: &str) -> Option<String> {
    match about.remove(name)? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Reads a whole number, which OTLP writes as text.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// Parses a text as JSON. Other values, and other texts, stay as they are.
fn nested(value: Value) -> Value {
    match value {
        Value::String(text) => records::parse_nested(&text).unwrap_or(Value::String(text)),
        other => other,
    }
}

/// Converts a list of attributes to an object.
fn attributes(list: Vec<Value>) -> Object {
    let pair = |attribute: Value| {
        let Value::Object(mut attribute) = attribute else {
            return None;
        };
        let name = attribute.remove("key")?.as_str()?.to_owned();
        Some((name, plain_json(attribute.remove("value")?)))
    };
    list.into_iter().filter_map(pair).collect()
}

/// Converts a typed value of OTLP to plain JSON.
fn plain_json(value: Value) -> Value {
    let Value::Object(mut typed) = value else {
        return value;
    };
    if let Some(Value::Object(mut list)) = typed.remove("arrayValue") {
        let items = match list.remove("values") {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        return Value::Array(items.into_iter().map(plain_json).collect());
    }
    if let Some(Value::Object(mut pairs)) = typed.remove("kvlistValue") {
        let pairs = match pairs.remove("values") {
            Some(Value::Array(pairs)) => pairs,
            _ => Vec::new(),
        };
        return Value::Object(attributes(pairs));
    }
    let names = ["stringValue", "intValue", "boolValue", "doubleValue"];
    names
        .into_iter()
        .find_map(|name| typed.remove(name))
        .unwrap_or_else(|| Value::Object(Map::new()))
}
