//! Results of tau2-bench: `{info, tasks, simulations}`, each simulation a run.
//!
//! A simulated user may have tools, whose calls and results are skipped.

use serde_json::Value;

use crate::reader::{Output, known_entry, move_field, set_field};
use crate::sessions::conversation::Conversation;
use crate::source::records::SourceRecord;
use deadloop_corpus::{Entry, Place};
use deadloop_stream::fields::{Object, ReadFields, as_object};
use deadloop_stream::time::EventClock;
use deadloop_stream::wire::WireResult;

known_entry! { @read_results = is_tau2, "tau2", "results of tau2-bench: simulations with their messages"; }

fn is_tau2(object: &Object) -> bool {
    let runs = object.get("simulations").is_some_and(Value::is_array);
    let info = object.get("info").and_then(Value::as_object);
    runs || info.is_some_and(|info| info.contains_key("agent_info"))
}

fn read_results(record: SourceRecord, out: &mut Output) -> WireResult {
    let (place, mut object) = record.into_place_and_object()?;
    let info = object.take_object("info")?.unwrap_or_default();
    let runs = object.require_list("simulations", "a list of runs")?;
    if runs.is_empty() {
        out.skip_record("simulations (none)");
        return Ok(());
    }
    let mut found = Vec::new();
    for run in runs {
        let run = as_object("simulations[]", run)?;
        found.push(read_simulation(run, &info, &place, out)?);
    }
    // Tasks with their correct answers.
    if object.take("tasks").is_some() {
        out.losses.add("tasks");
    }
    out.losses.add_fields("", &object);
    found.into_iter().for_each(|entry| out.emit(entry));
    Ok(())
}

fn read_simulation(
    mut run: Object,
    info: &Object,
    place: &Place,
    out: &mut Output,
) -> WireResult<Entry> {
    let task = run.take_label("task_id");
    let own = run.take_label("id");
    let trial = run.take_count("trial")?.unwrap_or(0);
    let (mut conversation, mut clock) = (Conversation::default(), EventClock::default());
    for message in run.take_list("messages")?.unwrap_or_default() {
        let mut message = as_object("messages[]", message)?;
        let several = message.take_list("tool_messages")?;
        let all = match several {
            Some(several) => several,
            None => vec![Value::Object(message)],
        };
        for message in all {
            let message = as_object("messages[]", message)?;
            add_message(&mut conversation, message, &mut clock, out)?;
        }
    }
    let reason = run.take_string("termination_reason")?;
    conversation.finish(reason.as_deref().map(map_reason).map(str::to_owned));
    let mut entry = conversation.into_entry(place.clone());
    let transcript = &mut entry.transcript;
    // A run without a task may have an id.
    match (task, own) {
        (Some(task), _) => {
            transcript.id = format!("{}/{task}-{trial}", out.stem());
            transcript.group = Some(format!("task-{task}"));
        }
        (None, Some(own)) => transcript.id = format!("{}/{own}", out.stem()),
        (None, None) => {}
    }
    let info = Value::Object(info.clone());
    let model = info.pointer("/agent_info/llm").and_then(Value::as_str);
    transcript.model = model.unwrap_or_default().to_owned();
    let domain = info.pointer("/environment_info/domain_name");
    set_field(&mut transcript.meta, "env", domain.cloned());
    set_field(&mut transcript.meta, "exit", reason.map(Value::from));
    let mut reward = run.take_object("reward_info")?.unwrap_or_default();
    move_field(&mut transcript.meta, "reward", &mut reward, "reward");
    if !reward.is_empty() {
        out.losses.add("simulations[].reward_info");
    }
    run.remove_fields("timestamp start_time end_time duration seed");
    out.losses.add_fields("simulations[]", &run);
    Ok(entry)
}

/// Adds a message. A tool result has the id of its call.
fn add_message(
    run: &mut Conversation,
    mut message: Object,
    clock: &mut EventClock,
    out: &mut Output,
) -> WireResult {
    let stamp = message.take("timestamp");
    let t_ms = clock.at(stamp.as_ref());
    message.remove_fields("turn_idx cost");
    if message.take("raw_data").is_some() {
        out.losses.add("messages[].raw_data");
    }
    let role = message.get_str("role");
    let of_user = message.get("requestor").and_then(Value::as_str) == Some("user");
    match role {
        "tool" if of_user => {
            out.losses.add("messages[] (a result of the user's tool)");
            return Ok(());
        }
        "tool" => {
            message.rename_fields(&[("id", "tool_call_id"), ("error", "is_error")]);
            message.take("requestor");
        }
        "user" => {
            for _ in message.take_list("tool_calls")?.unwrap_or_default() {
                out.losses.add("messages[] (a call of the user's tool)");
            }
            message.take("usage");
        }
        _ => {
            let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
            for call in calls.into_iter().flatten().filter_map(Value::as_object_mut) {
                call.remove("requestor");
            }
        }
    }
    run.add_message(message, "messages[]", t_ms, out)
}

/// Returns the normalized finish reason for the end of a run.
fn map_reason(reason: &str) -> &str {
    match reason {
        "user_stop" | "agent_stop" => "stop",
        "max_steps" => "limit",
        "too_many_errors" | "agent_error" | "user_error" => "error",
        other => other,
    }
}
