//! Spans of OpenTelemetry's GenAI conventions in OTLP JSON (`resourceSpans`), a document or an export a
//! line: `chat` spans are turns, `execute_tool` spans results. All spans of a trace are one transcript.
//!
//! Messages stand in `gen_ai.input.messages` and `gen_ai.output.messages` (conventions 1.37 and later),
//! as JSON text or as OTLP values; where an instrumentation does not record them, the calls alone are there.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::Place;
use crate::import::cut::Record;
use crate::import::head::Certainty;
use crate::import::reader::{Foreign, Out, Reader};
use crate::import::run::Usage;
use crate::import::spans::{self, Kind, Span, message, words};
use crate::import::take::{self, Object};
use crate::import::time::millis;
use crate::transcript::wire::Fault;

pub(crate) const ENTRY: Foreign = Foreign {
    name: "opentelemetry",
    help: "OpenTelemetry GenAI spans in OTLP JSON (resourceSpans)",
    knows: |head| Certainty::Certain.when(head.any(known)),
    shape: None,
    whole_folder: false,
    reader: || Box::<OpenTelemetry>::default(),
};

fn known(object: &Object) -> bool {
    object.get("resourceSpans").is_some_and(Value::is_array)
}

/// The spans of a file by trace, in the order of the file.
#[derive(Default)]
struct OpenTelemetry {
    traces: BTreeMap<u64, (String, Place, Vec<Span>)>,
    numbers: BTreeMap<String, u64>,
}

impl Reader for OpenTelemetry {
    fn take(&mut self, record: Record, out: &mut Out) -> Result<(), Fault> {
        let place = record.place.clone();
        let mut object = record.object()?;
        let resources = take::list(&mut object, "resourceSpans")?;
        let resources =
            resources.ok_or_else(|| take::missing("resourceSpans", "an export of spans"))?;
        let mut found = 0;
        for resource in resources {
            let mut resource = take::as_object("resourceSpans[]", resource)?;
            for scope in take::list(&mut resource, "scopeSpans")?.unwrap_or_default() {
                let mut scope = take::as_object("scopeSpans[]", scope)?;
                for span in take::list(&mut scope, "spans")?.unwrap_or_default() {
                    let span = take::as_object("spans[]", span)?;
                    self.span(span, &place, out)?;
                    found += 1;
                }
            }
        }
        out.losses.rest("", &object);
        match found {
            0 => Err(Fault::new(
                "an export without a span",
                "`resourceSpans[].scopeSpans[].spans`",
            )),
            _ => Ok(()),
        }
    }

    fn end(&mut self, out: &mut Out) {
        for (id, place, spans) in std::mem::take(&mut self.traces).into_values() {
            let (run, model) = spans::run(spans, &place, out);
            let mut entry = run.entry(place);
            entry.transcript.id = id;
            entry.transcript.model = model.unwrap_or_default();
            out.emit(entry);
        }
    }
}

impl OpenTelemetry {
    fn span(&mut self, mut span: Object, place: &Place, out: &mut Out) -> Result<(), Fault> {
        let trace = take::label(&mut span, "traceId").unwrap_or_default();
        let mut about = attributes(take::list(&mut span, "attributes")?.unwrap_or_default());
        let status = take::object(&mut span, "status")?.unwrap_or_default();
        let code = status.get("code").cloned().unwrap_or_default();
        let failed = code == 2 || code.as_str() == Some("STATUS_CODE_ERROR");
        let mut made = Span {
            began: take::any(&mut span, "startTimeUnixNano")
                .as_ref()
                .and_then(millis),
            order: take::label(&mut span, "spanId").unwrap_or_default(),
            agent: text(&mut about, "gen_ai.agent.name"),
            ..Span::default()
        };
        let failed = failed || about.remove("error.type").is_some();
        let operation = text(&mut about, "gen_ai.operation.name").unwrap_or_default();
        match operation.as_str() {
            "chat" | "generate_content" | "text_completion" => model(&mut made, &mut about, failed),
            "execute_tool" => tool(&mut made, &mut about, failed, &status),
            _ => {}
        }
        if made.kind != Kind::Other {
            out.losses.rest("spans[].attributes", &about);
        }
        let next = self.numbers.len() as u64;
        let number = *self.numbers.entry(trace.clone()).or_insert(next);
        let held = self.traces.entry(number);
        let (_, _, spans) = held.or_insert_with(|| (trace, place.clone(), Vec::new()));
        spans.push(made);
        Ok(())
    }
}

fn model(span: &mut Span, about: &mut Object, failed: bool) {
    span.kind = Kind::Model;
    let named = ["gen_ai.response.model", "gen_ai.request.model"];
    let named = named.map(|name| text(about, name));
    span.model = named.into_iter().flatten().next();
    let mut count = |name: &str| about.remove(name).as_ref().and_then(number);
    span.usage = Usage {
        sent: count("gen_ai.usage.input_tokens"),
        wrote: count("gen_ai.usage.output_tokens"),
        cached: count("gen_ai.usage.cache_read.input_tokens"),
    };
    let system = about.remove("gen_ai.system_instructions").map(inside);
    if let Some(Value::Array(parts)) = system {
        let fields = [
            ("role", Value::from("system")),
            ("parts", Value::Array(parts)),
        ];
        let prompt: Object = fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        span.input.extend(message(Value::Object(prompt)));
    }
    let mut messages = |name: &str| match about.remove(name).map(inside) {
        Some(Value::Array(items)) => items.into_iter().filter_map(message).collect(),
        _ => Vec::new(),
    };
    span.input.extend(messages("gen_ai.input.messages"));
    span.output = messages("gen_ai.output.messages");
    let reasons = about.remove("gen_ai.response.finish_reasons").map(inside);
    let reason = reasons.and_then(|reasons| Some(reasons.get(0)?.as_str()?.to_owned()));
    span.reason = match failed {
        true => Some("error".to_owned()),
        false => reason,
    };
}

fn tool(span: &mut Span, about: &mut Object, failed: bool, status: &Object) {
    span.kind = Kind::Tool;
    span.name = text(about, "gen_ai.tool.name").unwrap_or_default();
    span.call = text(about, "gen_ai.tool.call.id");
    span.arguments = about.remove("gen_ai.tool.call.arguments");
    span.error = Some(failed);
    let result = about.remove("gen_ai.tool.call.result");
    let said = status.get("message").cloned().filter(|_| failed);
    span.result = Some(words(result.or(said)));
}

fn text(about: &mut Object, name: &str) -> Option<String> {
    match about.remove(name)? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// A whole number, which OTLP writes as text.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// The value that a text holds as JSON.
fn inside(value: Value) -> Value {
    match value {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    }
}

/// Attributes by name.
fn attributes(list: Vec<Value>) -> Object {
    let pair = |attribute: Value| {
        let Value::Object(mut attribute) = attribute else {
            return None;
        };
        let name = attribute.remove("key")?.as_str()?.to_owned();
        Some((name, plain(attribute.remove("value")?)))
    };
    list.into_iter().filter_map(pair).collect()
}

/// A value of OTLP, which names its type, as plain JSON.
fn plain(value: Value) -> Value {
    let Value::Object(mut typed) = value else {
        return value;
    };
    if let Some(Value::Object(mut list)) = typed.remove("arrayValue") {
        let items = match list.remove("values") {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        return Value::Array(items.into_iter().map(plain).collect());
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
