//! Logs of Inspect AI. A transcript is one epoch of one sample.
//!
//! A log is a JSON document (`.json`), or an archive (`.eval`) with `header.json` and a member for each sample.
//!
//! Long texts may be stored once, in a sample's `attachments`, and be referred to elsewhere (`attachment://…`). Events
//! repeat the messages, so only the times, the tokens and the last finish reason of the model's events are kept.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::paths;
use crate::reader::{Output, RecordReader, head_entry, set_field};
use crate::sessions::conversation::Conversation;
use crate::sessions::log::meets_all;
use crate::source::records::SourceRecord;
use deadloop_corpus::{Body, Entry, Place, RecordedEvent};
use deadloop_stream::fields::{Object, ReadFields, as_object, missing_field};
use deadloop_stream::time::EventClock;
use deadloop_stream::wire::WireResult;

head_entry! { ENTRY: Inspect = |head| head.members.iter().any(|name| is_sample(name)) || head.any_object(is_inspect), None,
"inspect", "logs of Inspect AI: .eval archives and .json"; }

fn is_inspect(object: &Object) -> bool {
    let eval = object.get("eval").and_then(Value::as_object);
    eval.is_some_and(|eval| eval.contains_key("task") && eval.contains_key("model"))
}

fn is_sample(member: &str) -> bool {
    member.starts_with("samples/")
}

/// A reader of the samples of a log, with the data on all samples from the log's header.
#[derive(Default)]
struct Inspect {
    model: String,
    task: Option<Value>,
}

impl RecordReader for Inspect {
    fn take_record(&mut self, record: SourceRecord, out: &mut Output) -> WireResult {
        let (place, member) = (record.place.clone(), record.member.clone());
        let header = ["", "header.json", "_journal/start.json"].contains(&member.as_str());
        if !header && !is_sample(&member) {
            out.losses.add("(summaries)");
            return Ok(());
        }
        let mut object = record.into_object()?;
        if is_sample(&member) {
            let sample = self.read_sample(&mut object, place, out)?;
            out.losses.add_fields("", &object);
            out.emit(sample);
            return Ok(());
        }
        let header = object.take_object("eval")?;
        let mut header = header.ok_or_else(|| missing_field("eval", "an evaluation log"))?;
        self.model = header.take_string("model")?.unwrap_or_default();
        self.task = header.take("task");
        let samples = object.take_list("samples")?.unwrap_or_default();
        let mut found = Vec::new();
        for sample in samples {
            let mut sample = as_object("samples[]", sample)?;
            found.push(self.read_sample(&mut sample, place.clone(), out)?);
            out.losses.add_fields("samples[]", &sample);
        }
        out.losses.add_fields("eval", &header);
        out.losses.add_fields("", &object);
        found.into_iter().for_each(|sample| out.emit(sample));
        Ok(())
    }
}

impl Inspect {
    fn read_sample(
        &self,
        sample: &mut Object,
        place: Place,
        out: &mut Output,
    ) -> WireResult<Entry> {
        let attachments = sample.take_object("attachments")?.unwrap_or_default();
        let id = match sample.take("id") {
            Some(Value::String(id)) => id,
            Some(other) => other.to_string(),
            None => return Err(missing_field("id", "the id of a sample")),
        };
        let epoch = sample.take_count("epoch")?.unwrap_or(1);
        let (conversation, last) = read_conversation(sample, &attachments, out)?;
        let mut sampled = conversation.into_entry(place);
        let transcript = &mut sampled.transcript;
        transcript.id = format!("{}/{id}/{epoch}", out.stem());
        let mut output = sample.take_object("output")?.unwrap_or_default();
        let own = output
            .take_string("model")?
            .filter(|model| !model.is_empty());
        // The header has the provider too, as `openai/gpt-5`.
        transcript.model = Some(self.model.clone())
            .filter(|model| !model.is_empty())
            .or(own)
            .unwrap_or_default();
        let last = last.and_then(|last| Some(last.as_str()?.to_owned()));
        let reason = finish_reason(sample, &mut output)?.or(last).map(Some);
        let end = reason.map(|reason| RecordedEvent::new(Body::Finish { reason }));
        transcript.events.extend(end);
        let meta = &mut transcript.meta;
        set_field(meta, "task", self.task.clone());
        set_field(meta, "scores", read_scores(sample.take("scores")));
        set_field(meta, "usage", output.take("usage"));
        set_field(meta, "seconds", output.take("time"));
        for repeated in ["input", "target", "events", "store"] {
            if sample.take(repeated).is_some() {
                out.losses.add(repeated);
            }
        }
        // These fields repeat the last message.
        output.take("choices");
        output.take("completion");
        out.losses.add_fields("output", &output);
        Ok(sampled)
    }
}

/// Reads the messages of a sample, with times and token counts. Also returns the finish reason of the model's last
/// reply.
fn read_conversation(
    sample: &mut Object,
    attachments: &Object,
    out: &mut Output,
) -> WireResult<(Conversation, Option<Value>)> {
    let mut replies = take_replies(sample);
    let mut clock = EventClock::default();
    let mut last = None;
    let mut conversation = Conversation::default();
    for message in sample.take_list("messages")?.unwrap_or_default() {
        let mut message = as_object("messages[]", message)?;
        let values = message.values_mut();
        values.for_each(|value| insert_attachments(value, attachments));
        if is_example(&mut message) {
            out.losses.add("messages[].content (examples)");
            continue;
        }
        rename_error(&mut message);
        let id = message.take_label("id");
        let mut t_ms = None;
        if let Some(mut reply) = id.and_then(|id| replies.remove(&id)) {
            t_ms = clock.at(reply.get("timestamp"));
            let usage = paths::take_at(&mut reply, "output.usage");
            message.extend(usage.map(|usage| ("usage".to_owned(), usage)));
            last = paths::take_at(&mut reply, "output.choices[0].stop_reason");
        }
        conversation.add_message(message, "messages[]", t_ms, out)?;
    }
    Ok((conversation, last))
}

/// Removes the events of the model's replies from a sample, and returns them by message id.
fn take_replies(sample: &mut Object) -> HashMap<String, Object> {
    let events = paths::take_all(sample, "events[]");
    let replies = events.into_iter().filter_map(|event| match event {
        Value::Object(event) if meets_all(&event, "event=model") => {
            let id = paths::get_at(&event, "output.choices[0].message.id")?;
            Some((id.as_str()?.to_owned(), event))
        }
        _ => None,
    });
    replies.collect()
}

/// Replaces references to attachments by their texts.
fn insert_attachments(value: &mut Value, attachments: &Map<String, Value>) {
    match value {
        Value::String(text) => {
            let name = text.strip_prefix("attachment://");
            if let Some(found) = name.and_then(|name| attachments.get(name)) {
                *value = found.clone();
            }
        }
        Value::Array(items) => {
            let items = items.iter_mut();
            items.for_each(|item| insert_attachments(item, attachments));
        }
        Value::Object(fields) => {
            let fields = fields.values_mut();
            fields.for_each(|field| insert_attachments(field, attachments));
        }
        _ => {}
    }
}

/// Returns whether a model message was an example in the input.
fn is_example(message: &mut Object) -> bool {
    let source = message.take("source");
    let role = message.get("role").and_then(Value::as_str);
    role == Some("assistant") && source.as_ref().and_then(Value::as_str) == Some("input")
}

/// Converts a tool error to the fields of other APIs.
fn rename_error(message: &mut Object) {
    let Some(Value::Object(error)) = message.get("error") else {
        return;
    };
    let what = error.get("message").cloned();
    message.remove("error");
    message.insert("is_error".to_owned(), Value::Bool(true));
    let content = message.get_str("content");
    if content.is_empty() {
        message.insert("content".to_owned(), what.unwrap_or_default());
    }
}

/// Returns the reason why a sample ended: an error, a limit, or the finish reason of the model.
fn finish_reason(sample: &mut Object, output: &mut Object) -> WireResult<Option<String>> {
    if sample.take("error").is_some() {
        return Ok(Some("error".to_owned()));
    }
    if let Some(mut limit) = sample.take_object("limit")? {
        return limit.take_string("type");
    }
    let choice = output.get("choices").and_then(|choices| choices.get(0));
    let reason = choice.and_then(|choice| choice.get("stop_reason")?.as_str());
    Ok(reason.map(str::to_owned))
}

/// Returns the value of each score.
fn read_scores(scores: Option<Value>) -> Option<Value> {
    let Some(Value::Object(scores)) = scores else {
        return None;
    };
    let value = |score: Value| score.get("value").cloned().unwrap_or(score);
    let values = scores.into_iter().map(|(name, score)| (name, value(score)));
    Some(Value::Object(values.collect()))
}
