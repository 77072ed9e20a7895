//! Traces of Langfuse with their `observations`, or observations alone.
//!
//! The API returns traces. Exports have observations, one per line or as a list.

use serde_json::Value;

use crate::paths;
use crate::reader::{Output, RecordReader, known_entry};
use crate::sessions::spans::{SpanKind, TraceSpan, Traces, text_message, to_message, to_text};
use crate::sessions::turn::Usage;
use crate::source::records::SourceRecord;
use deadloop_corpus::Place;
use deadloop_stream::fields::{Object, ReadFields, as_object, missing_field};
use deadloop_stream::time::parse_millis;
use deadloop_stream::wire::{WireFault, WireResult};

known_entry! { Langfuse = is_langfuse, "langfuse", "traces of Langfuse with their observations, or observations alone"; }

fn is_langfuse(object: &Object) -> bool {
    let one = |object: &Object| {
        let typed = object.get("type").is_some_and(Value::is_string);
        typed && object.contains_key("traceId") && object.contains_key("startTime")
    };
    let all = object.get("observations").and_then(Value::as_array);
    let trace = all.is_some_and(|all| all.iter().filter_map(Value::as_object).any(one));
    trace || one(object)
}

/// A reader of observations, grouped by trace.
#[derive(Default)]
struct Langfuse {
    traces: Traces,
}

impl RecordReader for Langfuse {
    fn take_record(&mut self, record: SourceRecord, out: &mut Output) -> WireResult {
        let (place, mut object) = record.into_place_and_object()?;
        let Some(all) = object.take_list("observations")? else {
            return self.add_observation(object, &place, None, out);
        };
        let trace = object.take_label("id").unwrap_or_default();
        if all.is_empty() {
            return Err(WireFault::new("a trace of no observations", "at least one"));
        }
        for object in all {
            let object = as_object("observations[]", object)?;
            self.add_observation(object, &place, Some(&trace), out)?;
        }
        self.traces.trace_mut(&trace, &place).name = object.take("name");
        out.losses.add_fields("", &object);
        Ok(())
    }

    fn finish(&mut self, out: &mut Output) {
        std::mem::take(&mut self.traces).emit_runs(out);
    }
}

impl Langfuse {
    fn add_observation(
        &mut self,
        mut object: Object,
        place: &Place,
        trace: Option<&str>,
        out: &mut Output,
    ) -> WireResult {
        let own = object.take_label("traceId");
        let trace = trace.map(str::to_owned).or(own).unwrap_or_default();
        let span = read_span(&mut object)?;
        object.remove_fields("endTime parentObservationId projectId createdAt updatedAt");
        out.losses.add_fields("observations[]", &object);
        self.traces.push(trace, place, span);
        Ok(())
    }
}

/// Converts an observation to a span. Input and output are read only for generations and tools.
fn read_span(object: &mut Object) -> WireResult<TraceSpan> {
    let kind = object
        .take_string("type")?
        .ok_or_else(|| missing_field("type", "an observation of Langfuse"))?;
    let level = object.take("level");
    let failed = level.as_ref().and_then(Value::as_str) == Some("ERROR");
    let usage = ["usageDetails", "usage"].map(|name| object.take(name));
    let usage = usage.into_iter().flatten().next();
    let mut span = TraceSpan {
        name: object.take_string("name")?.unwrap_or_default(),
        began: object.take("startTime").as_ref().and_then(parse_millis),
        order: object.take_label("id").unwrap_or_default(),
        model: object.take_string("model")?,
        ..TraceSpan::default()
    };
    let (input, output) = (object.take("input"), object.take("output"));
    let status = object.take("statusMessage");
    match kind.to_uppercase().as_str() {
        "GENERATION" => {
            span.kind = SpanKind::Model;
            let usage = usage.map(paths::object_or_empty);
            span.usage = Usage::take_from(&mut usage.unwrap_or_default());
            span.input = read_messages(input, "user");
            span.output = read_messages(output, "assistant");
            span.reason = failed.then(|| "error".to_owned());
        }
        "TOOL" => {
            span.kind = SpanKind::Tool;
            span.arguments = input;
            span.error = Some(failed);
            span.result = Some(to_text(output.or(status)));
        }
        _ => {}
    }
    Ok(span)
}

/// Reads messages in the shapes of integrations. A string becomes a message of `role`.
fn read_messages(value: Option<Value>, role: &str) -> Vec<Object> {
    match value {
        None => Vec::new(),
        Some(Value::Array(items)) => items.into_iter().filter_map(to_message).collect(),
        Some(Value::Object(mut object)) => match object.remove("messages") {
            Some(inner) => read_messages(Some(inner), role),
            None if object.contains_key("role") || object.contains_key("type") => {
                to_message(Value::Object(object)).into_iter().collect()
            }
            None => {
                object.insert("role".to_owned(), role.into());
                vec![object]
            }
        },
        Some(Value::String(text)) => vec![text_message(&text, role)],
        Some(other) => vec![text_message(&other.to_string(), role)],
    }
}
