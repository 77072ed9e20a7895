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
//! Messages are JSON text or OTLP values. A run without recorded messages has only the calls. `sessions/span_names.toml`
//! has the names of all attributes.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use crate::paths;
use crate::reader::{Intake, RecordReader, known_entry};
use crate::sessions::spans::{
    SpanKind, TraceSpan, Traces, join_words, parse_text, read_content, read_message,
};
use crate::sessions::turn::Usage;
use crate::source::records::SourceRecord;
use deadloop_corpus::Place;
use deadloop_stream::fields::{self, Object};
use deadloop_stream::reasons::usual;
use deadloop_stream::time::millis;
use deadloop_stream::wire::WireFault;

known_entry! { OpenTelemetry = is_opentelemetry, "opentelemetry", "spans of OpenTelemetry: OTLP JSON, console; GenAI, OpenInference, OpenLLMetry; Phoenix, MLflow, Braintrust"; }

/// The lists of spans in an export.
const SPAN_LISTS: [&str; 2] = ["resourceSpans[].scopeSpans[].spans[]", "data.spans[]"];

/// The names of fields and attributes in every convention: `span_names.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpanNames {
    trace: Vec<String>,
    id: Vec<String>,
    began: Vec<String>,
    renamed: Vec<[String; 2]>,
    groups: Vec<String>,
    kind: Vec<String>,
    model_kinds: Vec<String>,
    tool_kinds: Vec<String>,
    model_beginnings: Vec<String>,
    model: Vec<String>,
    input_tokens: Vec<String>,
    output_tokens: Vec<String>,
    cached_tokens: Vec<String>,
    input_messages: Vec<String>,
    output_messages: Vec<String>,
    input_value: Vec<String>,
    output_value: Vec<String>,
    tool: Vec<String>,
    call: Vec<String>,
    arguments: Vec<String>,
    result: Vec<String>,
}

static NAMES: LazyLock<SpanNames> = LazyLock::new(|| {
    let names = toml::from_str(include_str!("../sessions/span_names.toml"));
    names.unwrap_or_else(|why| unreachable!("span_names: {why}"))
});

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
        if !["resourceSpans", "data"]
            .iter()
            .any(|name| object.contains_key(*name))
        {
            if !is_opentelemetry(&object) {
                let expected = "an export of spans (resourceSpans), or a span with its context";
                return Err(fields::missing("resourceSpans", expected));
            }
            self.add_span(object, &place, out);
            return Ok(());
        }
        for list in ["resourceSpans", "data"] {
            if let Some(value) = object.get(list).filter(|v| !v.is_array() && !v.is_object()) {
                return Err(fields::wrong(list, value, "an export of spans"));
            }
        }
        let mut found = 0;
        for list in SPAN_LISTS {
            for span in paths::take_all(&mut object, list) {
                self.add_span(fields::as_object("spans[]", span)?, &place, out);
                found += 1;
            }
        }
        out.losses.add_rest("", &object);
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
    fn add_span(&mut self, mut span: Object, place: &Place, out: &mut Intake) {
        let trace = take_label(&mut span, &NAMES.trace);
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
            name: take_text(&mut span, "name").unwrap_or_default(),
            began: paths::take_first(&mut span, &NAMES.began)
                .as_ref()
                .and_then(millis),
            order: take_label(&mut span, &NAMES.id),
            agent: take_text(&mut about, "gen_ai.agent.name"),
            ..TraceSpan::default()
        };
        move_events(&mut span, &mut about);
        match take_kind(&mut about) {
            SpanKind::Model => fill_model_span(&mut made, &mut about, failed),
            SpanKind::Tool => fill_tool_span(&mut made, &mut about, failed, &status),
            SpanKind::Other => {}
        }
        if made.kind != SpanKind::Other {
            out.losses.add_rest("spans[].attributes", &about);
        }
        self.traces.push(trace, place, made);
    }
}

fn take_label(span: &mut Object, places: &[String]) -> String {
    match paths::take_first(span, places) {
        Some(Value::String(text)) => text,
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// Takes the attributes of a span by their full names. Fields of Braintrust become attributes.
fn take_attributes(span: &mut Object) -> Object {
    let mut about = read_attributes(fields::any(span, "attributes"));
    about.extend(take_with_prefix(span, "attributes."));
    for [theirs, ours] in &NAMES.renamed {
        if let Some(value) = paths::take(span, theirs) {
            about.entry(ours).or_insert(value);
        }
    }
    // Nested groups of names become flat names.
    let mut flat = Object::new();
    let mut open: Vec<(String, Value)> = about.into_iter().rev().collect();
    while let Some((name, value)) = open.pop() {
        match value {
            Value::Object(inner) if NAMES.groups.contains(&name) => {
                let inner = inner.into_iter().rev();
                open.extend(inner.map(|(inner, value)| (format!("{name}.{inner}"), value)));
            }
            value => drop(flat.insert(name, value)),
        }
    }
    flat
}

/// Takes the kind of a span, by the names of all conventions.
fn take_kind(about: &mut Object) -> SpanKind {
    let mut found = SpanKind::Other;
    for name in &NAMES.kind {
        let word = about.remove(name).map(parse_text);
        let word = word.as_ref().and_then(Value::as_str).unwrap_or_default();
        let word = word.to_lowercase();
        if found != SpanKind::Other {
            continue;
        }
        if NAMES.model_kinds.contains(&word) {
            found = SpanKind::Model;
        } else if NAMES.tool_kinds.contains(&word) {
            found = SpanKind::Tool;
        }
    }
    let begins = |key: &String| {
        NAMES
            .model_beginnings
            .iter()
            .any(|name| key.starts_with(name))
    };
    match found {
        SpanKind::Other if about.keys().any(begins) => SpanKind::Model,
        found => found,
    }
}

/// Moves the messages of events to the attributes of the span, where newer conventions have messages.
fn move_events(span: &mut Object, about: &mut Object) {
    let Some(Value::Array(events)) = fields::any(span, "events") else {
        return;
    };
    let (mut input, mut output) = (Vec::new(), Vec::new());
    for event in events {
        let Value::Object(mut event) = event else {
            continue;
        };
        let name = take_text(&mut event, "name").unwrap_or_default();
        let mut fields = read_attributes(fields::any(&mut event, "attributes"));
        fields.remove("gen_ai.system");
        let body = fields.remove("event_body").or(event.remove("body"));
        fields.extend(paths::object_or_empty(parse_text(body.unwrap_or_default())));
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

fn fill_model_span(span: &mut TraceSpan, about: &mut Object, failed: bool) {
    span.kind = SpanKind::Model;
    let model = take_attribute(about, &NAMES.model);
    span.model = model.and_then(|model| Some(model.as_str()?.to_owned()));
    let mut count = |names| take_attribute(about, names).as_ref().and_then(read_count);
    span.usage = Usage {
        input: count(&NAMES.input_tokens),
        output: count(&NAMES.output_tokens),
        cached: count(&NAMES.cached_tokens),
    };
    about.remove("gen_ai.request.model");
    let mut reasons = take_listed_messages(span, about);
    take_values(span, about, &mut reasons);
    let own = about
        .remove("gen_ai.response.finish_reasons")
        .map(parse_text);
    let own = own.and_then(|reasons| Some(reasons.get(0)?.as_str()?.to_owned()));
    let reason = own.or(reasons.into_iter().next());
    span.reason = if failed {
        Some("error".to_owned())
    } else {
        reason.map(|reason| usual(&reason))
    };
}

/// Takes the first of these attributes.
fn take_attribute(about: &mut Object, names: &[String]) -> Option<Value> {
    names.iter().find_map(|name| about.remove(name))
}

/// Fills the input and the output of a span from lists of messages. Returns the finish reasons.
fn take_listed_messages(span: &mut TraceSpan, about: &mut Object) -> Vec<String> {
    let system = about.remove("gen_ai.system_instructions").map(parse_text);
    if let Some(Value::Array(parts)) = system {
        let prompt = serde_json::json!({"role": "system", "parts": parts});
        span.input.extend(read_message(prompt));
    }
    let mut reasons = Vec::new();
    for name in &NAMES.input_messages {
        let messages = take_messages(about, name, &mut Vec::new());
        if span.input.is_empty() || name == "gen_ai.input.messages" {
            span.input.extend(messages);
        }
    }
    for name in &NAMES.output_messages {
        let messages = take_messages(about, name, &mut reasons);
        if span.output.is_empty() {
            span.output = messages;
        }
    }
    reasons
}

/// Fills the input and the output of a span from single values.
fn take_values(span: &mut TraceSpan, about: &mut Object, reasons: &mut Vec<String>) {
    let mut take = |names: &[String], role| {
        let values: Vec<Value> = names.iter().filter_map(|name| about.remove(name)).collect();
        let value = values.into_iter().next().map(parse_text);
        value
            .map(|value| read_content(value, role))
            .unwrap_or_default()
    };
    let input = take(&NAMES.input_value, "user");
    let output = take(&NAMES.output_value, "assistant");
    if span.input.is_empty() {
        span.input = input.messages;
        span.model = span.model.take().or(input.model);
    }
    if span.output.is_empty() {
        span.output = output.messages;
        reasons.extend(output.reason);
        span.model = output.model.or(span.model.take());
        if span.usage == Usage::default() {
            span.usage = output.usage;
        }
    }
}

/// Takes the messages of an attribute: a list, JSON text, or numbered attributes.
fn take_messages(about: &mut Object, name: &str, reasons: &mut Vec<String>) -> Vec<Object> {
    let list = match about.get(name) {
        // A plain text is the prompt or the answer itself.
        Some(Value::String(text)) if !text.trim_ascii_start().starts_with(['[', '{']) => None,
        Some(_) => about.remove(name).map(parse_text),
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
        let inner = paths::take_object(&mut fields, "message");
        fields.extend(inner);
        let inner = take_with_prefix(&mut fields, "message.");
        fields.extend(inner);
        let reason = fields.remove("finish_reason");
        reasons.extend(reason.and_then(|reason| Some(reason.as_str()?.to_owned())));
        join_calls(&mut fields);
        read_message(Value::Object(fields))
    };
    list.into_iter().filter_map(one).collect()
}

/// Takes the fields whose names have a prefix. Returns them without the prefix.
fn take_with_prefix(object: &mut Object, prefix: &str) -> Object {
    let names = object.keys().filter_map(|name| name.strip_prefix(prefix));
    let names: Vec<String> = names.map(str::to_owned).collect();
    let taken = names.into_iter().filter_map(|name| {
        let value = object.remove(&format!("{prefix}{name}"))?;
        Some((name, value))
    });
    taken.collect()
}

/// Takes the fields of numbered names (`gen_ai.prompt.0.role`), grouped by number.
fn take_numbered(about: &mut Object, name: &str) -> Vec<Value> {
    let prefix = format!("{name}.");
    let mut found: BTreeMap<u64, Object> = BTreeMap::new();
    for (name, value) in take_with_prefix(about, &prefix) {
        let numbered = name.split_once('.');
        match numbered.map(|(number, field)| (number.parse(), field)) {
            Some((Ok(number), field)) => {
                let fields = found.entry(number).or_default();
                fields.insert(field.to_owned(), value);
            }
            _ => drop(about.insert(format!("{prefix}{name}"), value)),
        }
    }
    found.into_values().map(Value::Object).collect()
}

/// Joins the calls of a message with numbered fields: `tool_calls.0.function.name`.
fn join_calls(fields: &mut Object) {
    let mut found = take_numbered(fields, "tool_calls");
    if found.is_empty() {
        found = paths::take_list(fields, "tool_calls");
    }
    let calls = found.into_iter().filter_map(|call| {
        let Value::Object(mut call) = call else {
            return None;
        };
        let mut made = Object::new();
        for name in ["id", "name", "arguments"] {
            let outer = if name == "id" {
                "tool_call"
            } else {
                "tool_call.function"
            };
            let paths = [
                name,
                &format!("{outer}.{name}"),
                &format!("function.{name}"),
            ];
            let value = paths::take_first(&mut call, &paths);
            made.extend(value.map(|value| (name.to_owned(), value)));
        }
        Some(Value::Object(made))
    });
    let calls: Vec<Value> = calls.collect();
    fields.remove("tool_calls");
    if !calls.is_empty() {
        fields.insert("tool_calls".to_owned(), calls.into());
    }
    let mut texts = Vec::new();
    for part in take_numbered(fields, "contents") {
        if let Value::Object(mut part) = part {
            texts.extend(paths::take_first(
                &mut part,
                &["message_content.text", "text"],
            ));
        }
    }
    if !texts.is_empty() {
        fields.insert("content".to_owned(), texts.into());
    }
}

fn fill_tool_span(span: &mut TraceSpan, about: &mut Object, failed: bool, status: &Value) {
    span.kind = SpanKind::Tool;
    let mut take = |names| take_attribute(about, names);
    if let Some(Value::String(name)) = take(&NAMES.tool) {
        span.name = name;
    }
    let call = take(&NAMES.call);
    span.call = call.and_then(|call| Some(call.as_str()?.to_owned()));
    span.arguments = take(&NAMES.arguments);
    span.error = Some(failed);
    let message = status.get("message").cloned().filter(|_| failed);
    span.result = Some(join_words(take(&NAMES.result).or(message)));
}

fn take_text(about: &mut Object, name: &str) -> Option<String> {
    match about.remove(name)? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Reads a whole number, which OTLP writes as text.
fn read_count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// Reads attributes: an object, or OTLP's list of keys and values.
fn read_attributes(attributes: Option<Value>) -> Object {
    let list = match attributes {
        Some(Value::Array(list)) => list,
        attributes => return attributes.map(paths::object_or_empty).unwrap_or_default(),
    };
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
        let items = paths::take_list(&mut list, "values").into_iter();
        return items.map(plain_json).collect();
    }
    if let Some(Value::Object(mut pairs)) = typed.remove("kvlistValue") {
        let pairs = paths::take_list(&mut pairs, "values");
        return read_attributes(Some(pairs.into())).into();
    }
    let mut names = ["stringValue", "intValue", "boolValue", "doubleValue"].into_iter();
    let value = names.find_map(|name| typed.remove(name));
    value.unwrap_or_else(|| Object::new().into())
}
