//! Runs of LangSmith from its client and its bulk export.
//!
//! A file has one run per line, a list of runs, or a root with `child_runs`. All runs of a trace are one transcript:
//! `llm` runs are turns, and `tool` runs are results.

use serde_json::Value;

use crate::reader::{Output, RecordReader, known_entry};
use crate::sessions::spans::{SpanKind, TraceSpan, Traces, text_message, to_message, to_text};
use crate::sessions::turn::Usage;
use crate::source::records::SourceRecord;
use deadloop_corpus::Place;
use deadloop_stream::fields::{Object, ReadFields, as_object, missing_field};
use deadloop_stream::time::parse_millis;
use deadloop_stream::wire::WireResult;

known_entry! { LangSmith = is_langsmith, "langsmith", "runs of LangSmith (run_type, trace_id): a line each, a list, or child_runs"; }

fn is_langsmith(object: &Object) -> bool {
    let typed = object.get("run_type").is_some_and(Value::is_string);
    typed && (object.contains_key("inputs") || object.contains_key("start_time"))
}

/// A reader of runs, grouped by trace.
#[derive(Default)]
struct LangSmith {
    traces: Traces,
}

impl RecordReader for LangSmith {
    fn take_record(&mut self, record: SourceRecord, out: &mut Output) -> WireResult {
        let (place, object) = record.into_place_and_object()?;
        // Without recursion, deep nesting cannot overflow the stack.
        let mut open = vec![object];
        while let Some(mut run) = open.pop() {
            let children = run.take_list("child_runs")?.unwrap_or_default();
            for child in children.into_iter().rev() {
                open.push(as_object("child_runs[]", child)?);
            }
            self.add_run(run, &place, out)?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Output) {
        std::mem::take(&mut self.traces).emit_runs(out);
    }
}

impl LangSmith {
    fn add_run(&mut self, mut run: Object, place: &Place, out: &mut Output) -> WireResult {
        let id = run.take_label("id").unwrap_or_default();
        let trace = run.take_label("trace_id").unwrap_or_else(|| id.clone());
        let parent = run.take("parent_run_id");
        let kind = run
            .take_string("run_type")?
            .ok_or_else(|| missing_field("run_type", "a run of LangSmith"))?;
        let name = run.take_string("name")?.unwrap_or_default();
        let inputs = run.take("inputs");
        let outputs = run.take("outputs");
        let failed = run.take("error");
        let mut span = TraceSpan {
            name: name.clone(),
            began: run.take("start_time").as_ref().and_then(parse_millis),
            order: run.take_label("dotted_order").unwrap_or_else(|| id.clone()),
            ..TraceSpan::default()
        };
        match kind.as_str() {
            "llm" => fill_model_span(&mut span, &mut run, inputs, outputs),
            "tool" => fill_tool_span(&mut span, inputs, outputs, failed.as_ref()),
            _ => {}
        }
        run.remove_fields("end_time extra session_id status events tags child_run_ids");
        out.losses.add_fields("[]", &run);
        let held = self.traces.trace_mut(&trace, place);
        if parent.is_none() {
            held.name = Some(name).filter(|name| !name.is_empty()).map(Value::from);
            held.failed = failed.is_some();
        }
        self.traces.push(trace, place, span);
        Ok(())
    }
}

/// Fills the span of a model call with its input and output, as LangChain or a wrapped client writes them.
fn fill_model_span(
    span: &mut TraceSpan,
    run: &mut Object,
    inputs: Option<Value>,
    outputs: Option<Value>,
) {
    span.kind = SpanKind::Model;
    span.input = read_messages(inputs);
    let extra = run.get("extra");
    let metadata = extra.and_then(|extra| extra.get("metadata"));
    let named = metadata.and_then(|metadata| metadata.get("ls_model_name")?.as_str());
    let invoked = extra.and_then(|extra| extra.get("invocation_params"));
    let invoked =
        invoked.and_then(|params| params.get("model").or(params.get("model_name"))?.as_str());
    span.model = named.or(invoked).map(str::to_owned);
    let Some(Value::Object(mut outputs)) = outputs else {
        return;
    };
    let usage = ["usage_metadata", "usage"];
    let usage = usage
        .into_iter()
        .find_map(|name| outputs.get(name)?.as_object().cloned());
    span.usage = Usage::take_from(&mut usage.unwrap_or_default());
    if span.usage == Usage::default() {
        span.usage = Usage::take_from(run);
    }
    let choices = outputs.get("choices");
    if let Some(choice) = choices.and_then(|choices| choices.get(0)).cloned() {
        let reason = choice.get("finish_reason").and_then(Value::as_str);
        span.reason = reason.map(str::to_owned);
        let answer = choice.get("message").cloned();
        span.output.extend(answer.and_then(to_message));
        return;
    }
    let mut generation = outputs.remove("generations").unwrap_or_default();
    while let Value::Array(mut first) = generation {
        generation = if first.is_empty() {
            Value::Null
        } else {
            first.swap_remove(0)
        };
    }
    let answer = generation.get("message").cloned();
    if let Some(answer) = answer.and_then(to_message) {
        span.output.push(answer);
    } else if let Some(text) = generation.get("text").and_then(Value::as_str) {
        span.output.push(text_message(text, "assistant"));
    } else {
        span.output = read_messages(Some(Value::Object(outputs)));
    }
}

/// Reads the messages of an object or a list.
fn read_messages(value: Option<Value>) -> Vec<Object> {
    let list = match value {
        Some(Value::Object(mut object)) => {
            let names = ["messages", "output", "message", "input"];
            let found = names.into_iter().find_map(|name| object.remove(name));
            match found {
                Some(found) => found,
                None => Value::Object(object),
            }
        }
        Some(other) => other,
        None => return Vec::new(),
    };
    match list {
        // A batch is a list of lists, of which one is recorded.
        Value::Array(mut items) if items.first().is_some_and(Value::is_array) => {
            read_messages(Some(items.swap_remove(0)))
        }
        Value::Array(items) => items.into_iter().filter_map(to_message).collect(),
        Value::String(text) => vec![text_message(&text, "user")],
        other => to_message(other).into_iter().collect(),
    }
}

/// Fills the span of a tool call with its arguments and its result.
fn fill_tool_span(
    span: &mut TraceSpan,
    inputs: Option<Value>,
    outputs: Option<Value>,
    failed: Option<&Value>,
) {
    span.kind = SpanKind::Tool;
    span.arguments = match inputs {
        Some(Value::Object(mut inputs)) if inputs.len() == 1 && inputs.contains_key("input") => {
            inputs.remove("input")
        }
        other => other,
    };
    let output = match outputs {
        Some(Value::Object(mut outputs)) if outputs.contains_key("output") => {
            outputs.remove("output")
        }
        other => other,
    };
    let message = output.clone().and_then(to_message);
    let message = message.filter(|message| message.contains_key("content"));
    let (content, status) = match message {
        Some(mut message) => {
            span.call = message.take_label("tool_call_id");
            let status = message.take("status");
            (to_text(message.remove("content")), status)
        }
        None => (to_text(output), None),
    };
    let failure = failed.map(|error| to_text(Some(error.clone())));
    let status = status.as_ref().and_then(Value::as_str) == Some("error");
    span.error = Some(status || failure.is_some());
    span.result = Some(match (content.is_empty(), failure) {
        (true, Some(failure)) => failure,
        _ => content,
    });
}
