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
use crate::reader::{Output, RecordReader, known_entry};
use crate::sessions::spans::{
    SpanKind, TraceSpan, Traces, parse_json, read_span_content, to_message, to_text,
};
use crate::sessions::turn::Usage;
use crate::source::records::SourceRecord;
use deadloop_corpus::Place;
use deadloop_stream::fields::{Object, ReadFields, as_object, missing_field, wrong_type};
use deadloop_stream::reasons::normalize;
use deadloop_stream::time::parse_millis;
use deadloop_stream::wire::{WireFault, WireResult};

known_entry! { OpenTelemetry = is_opentelemetry, "opentelemetry", "spans of OpenTelemetry: OTLP JSON, console; GenAI, OpenInference, OpenLLMetry; Phoenix, MLflow, Braintrust"; }

/// Paths of the span lists in an export.
const SPAN_LISTS: [&str; 2] = ["resourceSpans[].scopeSpans[].spans[]", "data.spans[]"];

/// Names of fields and attributes in all conventions, from `span_names.toml`.
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

static SPAN_NAMES: LazyLock<SpanNames> = LazyLock::new(|| {
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

/// A reader of spans, grouped by trace.
#[derive(Default)]
struct OpenTelemetry {
    traces: Traces,
}

impl RecordReader for OpenTelemetry {
    fn take_record(&mut self, record: SourceRecord, out: &mut Output) -> WireResult {
        let (place, mut object) = record.into_place_and_object()?;
        if !["resourceSpans", "data"]
            .iter()
            .any(|name| object.contains_key(*name))
        {
            if !is_opentelemetry(&object) {
                let expected = "an export of spans (resourceSpans), or a span with its context";
                return Err(missing_field("resourceSpans", expected));
            }
            self.add_span(object, &place, out);
            return Ok(());
        }
        for list in ["resourceSpans", "data"] {
            if let Some(value) = object.get(list).filter(|v| !v.is_array() && !v.is_object()) {
                return Err(wrong_type(list, value, "an export of spans"));
            }
        }
        let mut found = 0;
        for list in SPAN_LISTS {
            for span in paths::take_all(&mut object, list) {
                self.add_span(as_object("spans[]", span)?, &place, out);
                found += 1;
            }
        }
        out.losses.add_fields("", &object);
        match found {
            0 => Err(WireFault::new(
                "an export without a span",
                "`resourceSpans[].scopeSpans[].spans`",
            )),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, out: &mut Output) {
        std::mem::take(&mut self.traces).emit_runs(out);
    }
}

impl OpenTelemetry {
    fn add_span(&mut self, mut span: Object, place: &Place, out: &mut Output) {
        let trace = take_label(&mut span, &SPAN_NAMES.trace);
        let mut attrs = take_attributes(&mut span);
        let status = span.take("status").unwrap_or_default();
        let codes = [status.get("code"), status.get("status_code")];
        let code = codes.into_iter().flatten().next().cloned();
        let code = code.or_else(|| span.take("status_code"));
        let error = |code: &Value| {
            let word = code.as_str().unwrap_or_default();
            *code == 2 || matches!(word, "STATUS_CODE_ERROR" | "ERROR")
        };
        let failed = code.as_ref().is_some_and(error) || attrs.remove("error.type").is_some();
        let mut made = TraceSpan {
            name: take_text(&mut span, "name").unwrap_or_default(),
            began: paths::take_first_of(&mut span, &SPAN_NAMES.began)
                .as_ref()
                .and_then(parse_millis),
            order: take_label(&mut span, &SPAN_NAMES.id),
            agent: take_text(&mut attrs, "gen_ai.agent.name"),
            ..TraceSpan::default()
        };
        move_events(&mut span, &mut attrs);
        match take_span_kind(&mut attrs) {
            SpanKind::Model => fill_model_span(&mut made, &mut attrs, failed),
            SpanKind::Tool => fill_tool_span(&mut made, &mut attrs, failed, &status),
            SpanKind::Other => {}
        }
        if made.kind != SpanKind::Other {
            out.losses.add_fields("spans[].attributes", &attrs);
        }
        self.traces.push(trace, place, made);
    }
}

fn take_label(span: &mut Object, places: &[String]) -> String {
    match paths::take_first_of(span, places) {
        Some(Value::String(text)) => text,
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// Removes the attributes from a span and returns them by their full names. Fields of Braintrust are returned as
/// attributes.
fn take_attributes(span: &mut Object) -> Object {
    let mut attrs = read_attributes(span.take("attributes"));
    attrs.extend(take_with_prefix(span, "attributes."));
    for [theirs, ours] in &SPAN_NAMES.renamed {
        if let Some(value) = paths::take_at(span, theirs) {
            attrs.entry(ours).or_insert(value);
        }
    }
    // Nested groups of names become flat names.
    let mut flat = Object::new();
    let mut open: Vec<(String, Value)> = attrs.into_iter().rev().collect();
    while let Some((name, value)) = open.pop() {
        match value {
            Value::Object(inner) if SPAN_NAMES.groups.contains(&name) => {
                let inner = inner.into_iter().rev();
                open.extend(inner.map(|(inner, value)| (format!("{name}.{inner}"), value)));
            }
            value => drop(flat.insert(name, value)),
        }
    }
    flat
}

/// Removes the kind of a span from its attributes and returns it. The names of all conventions are recognized.
fn take_span_kind(attrs: &mut Object) -> SpanKind {
    let mut found = SpanKind::Other;
    for name in &SPAN_NAMES.kind {
        let word = attrs.remove(name).map(parse_json);
        let word = word.as_ref().and_then(Value::as_str).unwrap_or_default();
        let word = word.to_lowercase();
        if found != SpanKind::Other {
            continue;
        }
        if SPAN_NAMES.model_kinds.contains(&word) {
            found = SpanKind::Model;
        } else if SPAN_NAMES.tool_kinds.contains(&word) {
            found = SpanKind::Tool;
        }
    }
    let begins = |key: &String| {
        SPAN_NAMES
            .model_beginnings
            .iter()
            .any(|name| key.starts_with(name))
    };
    match found {
        SpanKind::Other if attrs.keys().any(begins) => SpanKind::Model,
        found => found,
    }
}

/// Moves the messages in events to the span's attributes, where newer conventions have messages.
fn move_events(span: &mut Object, attrs: &mut Object) {
    let Some(Value::Array(events)) = span.take("events") else {
        return;
    };
    let (mut input, mut output) = (Vec::new(), Vec::new());
    for event in events {
        let Value::Object(mut event) = event else {
            continue;
        };
        let name = take_text(&mut event, "name").unwrap_or_default();
        let mut fields = read_attributes(event.take("attributes"));
        fields.remove("gen_ai.system");
        let body = fields.remove("event_body").or(event.remove("body"));
        fields.extend(paths::object_or_empty(parse_json(body.unwrap_or_default())));
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
            fields.rename_fields(&names);
            attrs.extend(fields);
        }
    }
    if !input.is_empty() {
        attrs.insert("gen_ai.input.messages".to_owned(), input.into());
    }
    if !output.is_empty() {
        attrs.insert("output.value".to_owned(), output.into());
    }
}

fn fill_model_span(span: &mut TraceSpan, attrs: &mut Object, failed: bool) {
    span.kind = SpanKind::Model;
    let model = take_attribute(attrs, &SPAN_NAMES.model);
    span.model = model.and_then(|model| Some(model.as_str()?.to_owned()));
    let mut count = |names| take_attribute(attrs, names).as_ref().and_then(read_count);
    span.usage = Usage {
        input: count(&SPAN_NAMES.input_tokens),
        output: count(&SPAN_NAMES.output_tokens),
        cached: count(&SPAN_NAMES.cached_tokens),
    };
    attrs.remove("gen_ai.request.model");
    let mut reasons = take_listed_messages(span, attrs);
    take_values(span, attrs, &mut reasons);
    let own = attrs
        .remove("gen_ai.response.finish_reasons")
        .map(parse_json);
    let own = own.and_then(|reasons| Some(reasons.get(0)?.as_str()?.to_owned()));
    let reason = own.or(reasons.into_iter().next());
    span.reason = if failed {
        Some("error".to_owned())
    } else {
        reason.map(|reason| normalize(&reason))
    };
}

/// Takes the first of these attributes that exists.
fn take_attribute(attrs: &mut Object, names: &[String]) -> Option<Value> {
    names.iter().find_map(|name| attrs.remove(name))
}

/// Fills the input and output of a span from message lists. Returns the finish reasons.
fn take_listed_messages(span: &mut TraceSpan, attrs: &mut Object) -> Vec<String> {
    let system = attrs.remove("gen_ai.system_instructions").map(parse_json);
    if let Some(Value::Array(parts)) = system {
        let prompt = serde_json::json!({"role": "system", "parts": parts});
        span.input.extend(to_message(prompt));
    }
    let mut reasons = Vec::new();
    for name in &SPAN_NAMES.input_messages {
        let messages = take_messages(attrs, name, &mut Vec::new());
        if span.input.is_empty() || name == "gen_ai.input.messages" {
            span.input.extend(messages);
        }
    }
    for name in &SPAN_NAMES.output_messages {
        let messages = take_messages(attrs, name, &mut reasons);
        if span.output.is_empty() {
            span.output = messages;
        }
    }
    reasons
}

/// Fills the input and output of a span from single values, unless they are already filled.
fn take_values(span: &mut TraceSpan, attrs: &mut Object, reasons: &mut Vec<String>) {
    let mut take = |names: &[String], role| {
        let values: Vec<Value> = names.iter().filter_map(|name| attrs.remove(name)).collect();
        let value = values.into_iter().next().map(parse_json);
        value
            .map(|value| read_span_content(value, role))
            .unwrap_or_default()
    };
    let input = take(&SPAN_NAMES.input_value, "user");
    let output = take(&SPAN_NAMES.output_value, "assistant");
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

/// Removes the messages of an attribute and returns them. They are a list, a JSON string, or numbered attributes.
fn take_messages(attrs: &mut Object, name: &str, reasons: &mut Vec<String>) -> Vec<Object> {
    let list = match attrs.get(name) {
        // A plain text is the prompt or the answer itself.
        Some(Value::String(text)) if !text.trim_ascii_start().starts_with(['[', '{']) => None,
        Some(_) => attrs.remove(name).map(parse_json),
        None => None,
    };
    let list = match list {
        Some(Value::Array(items)) => items,
        Some(_) => Vec::new(),
        None => take_numbered_fields(attrs, name),
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
        to_message(Value::Object(fields))
    };
    list.into_iter().filter_map(one).collect()
}

/// Removes the fields whose names have a prefix, and returns them without the prefix.
fn take_with_prefix(object: &mut Object, prefix: &str) -> Object {
    let names = object.keys().filter_map(|name| name.strip_prefix(prefix));
    let names: Vec<String> = names.map(str::to_owned).collect();
    let taken = names.into_iter().filter_map(|name| {
        let value = object.remove(&format!("{prefix}{name}"))?;
        Some((name, value))
    });
    taken.collect()
}

/// Takes the fields with numbered names (`gen_ai.prompt.0.role`), grouped by number.
fn take_numbered_fields(attrs: &mut Object, name: &str) -> Vec<Value> {
    let prefix = format!("{name}.");
    let mut found: BTreeMap<u64, Object> = BTreeMap::new();
    for (name, value) in take_with_prefix(attrs, &prefix) {
        let numbered = name.split_once('.');
        match numbered.map(|(number, field)| (number.parse(), field)) {
            Some((Ok(number), field)) => {
                let fields = found.entry(number).or_default();
                fields.insert(field.to_owned(), value);
            }
            _ => drop(attrs.insert(format!("{prefix}{name}"), value)),
        }
    }
    found.into_values().map(Value::Object).collect()
}

/// Joins the numbered fields of tool calls (`tool_calls.0.function.name`) into a list of calls.
fn join_calls(fields: &mut Object) {
    let mut found = take_numbered_fields(fields, "tool_calls");
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
            let value = paths::take_first_of(&mut call, &paths);
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
    for part in take_numbered_fields(fields, "contents") {
        if let Value::Object(mut part) = part {
            texts.extend(paths::take_first_of(
                &mut part,
                &["message_content.text", "text"],
            ));
        }
    }
    if !texts.is_empty() {
        fields.insert("content".to_owned(), texts.into());
    }
}

fn fill_tool_span(span: &mut TraceSpan, attrs: &mut Object, failed: bool, status: &Value) {
    span.kind = SpanKind::Tool;
    let mut take = |names| take_attribute(attrs, names);
    if let Some(Value::String(name)) = take(&SPAN_NAMES.tool) {
        span.name = name;
    }
    let call = take(&SPAN_NAMES.call);
    span.call = call.and_then(|call| Some(call.as_str()?.to_owned()));
    span.arguments = take(&SPAN_NAMES.arguments);
    span.error = Some(failed);
    let message = status.get("message").cloned().filter(|_| failed);
    span.result = Some(to_text(take(&SPAN_NAMES.result).or(message)));
}

fn take_text(attrs: &mut Object, name: &str) -> Option<String> {
    match attrs.remove(name)? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Reads a whole number, which OTLP writes as a string.
fn read_count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// Reads attributes: an object, or OTLP's list of key-value pairs.
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

/// Converts a typed OTLP value to plain JSON.
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
