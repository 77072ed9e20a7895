//! Results of tau2-bench: `{info, tasks, simulations}`, each simulation a run.
//!
//! A simulated user may have tools, whose calls and results are skipped.

use serde_json::Value;

use crate::reader::{Intake, known_entry, move_field, set_field};
use crate::sessions::conversation::Conversation;
use crate::source::records::SourceRecord;
use deadloop_corpus::{Entry, Place};
use deadloop_stream::fields::{self, Object};
use deadloop_stream::time::EventClock;
use deadloop_stream::wire::WireResult;

known_entry! { @read_results = is_tau2, "tau2", "results of tau2-bench: simulations with their messages"; }

fn is_tau2(object: &Object) -> bool {
    let runs = object.get("simulations").is_some_and(Value::is_array);
    let info = object.get("info").and_then(Value::as_object);
    runs || info.is_some_and(|info| info.contains_key("agent_info"))
}

fn read_results(record: SourceRecord, out: &mut Intake) -> WireResult {
    let (place, mut object) = record.into_place_and_object()?;
    let info = fields::object(&mut object, "info")?.unwrap_or_default();
    let runs = fields::need_list(&mut object, "simulations", "a list of runs")?;
    if runs.is_empty() {
        out.skip_record("simulations (none)");
        return Ok(());
    }
    let mut found = Vec::new();
    for run in runs {
        let run = fields::as_object("simulations[]", run)?;
        found.push(read_simulation(run, &info, &place, out)?);
    }
    // Tasks with their correct answers.
    if fields::any(&mut object, "tasks").is_some() {
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
    out: &mut Intake,
) -> WireResult<Entry> {
    let task = fields::label(&mut run, "task_id");
    let own = fields::label(&mut run, "id");
    let trial = fields::count(&mut run, "trial")?.unwrap_or(0);
    let (mut conversation, mut clock) = (Conversation::default(), EventClock::default());
    for message in fields::list(&mut run, "messages")?.unwrap_or_default() {
        let mut message = fields::as_object("messages[]", message)?;
        let several = fields::list(&mut message, "tool_messages")?;
        let all = match several {
            Some(several) => several,
            None => vec![Value::Object(message)],
        };
        for message in all {
            let message = fields::as_object("messages[]", message)?;
            add_message(&mut conversation, message, &mut clock, out)?;
        }
    }
    let reason = fields::string(&mut run, "termination_reason")?;
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
    let mut reward = fields::object(&mut run, "reward_info")?.unwrap_or_default();
    move_field(&mut transcript.meta, "reward", &mut reward, "reward");
    if !reward.is_empty() {
        out.losses.add("simulations[].reward_info");
    }
    fields::remove_all(&mut run, "timestamp start_time end_time duration seed");
    out.losses.add_fields("simulations[]", &run);
    Ok(entry)
}

/// Adds a message. A tool result has the id of its call.
fn add_message(
    run: &mut Conversation,
    mut message: Object,
    clock: &mut EventClock,
    out: &mut Intake,
) -> WireResult {
    let stamp = fields::any(&mut message, "timestamp");
    let t_ms = clock.at(stamp.as_ref());
    fields::remove_all(&mut message, "turn_idx cost");
    if fields::any(&mut message, "raw_data").is_some() {
        out.losses.add("messages[].raw_data");
    }
    let role = fields::word(&message, "role");
    let of_user = message.get("requestor").and_then(Value::as_str) == Some("user");
    match role {
        "tool" if of_user => {
            out.losses.add("messages[] (a result of the user's tool)");
            return Ok(());
        }
        "tool" => {
            fields::rename(
                &mut message,
                &[("id", "tool_call_id"), ("error", "is_error")],
            );
            fields::any(&mut message, "requestor");
        }
        "user" => {
            for _ in fields::list(&mut message, "tool_calls")?.unwrap_or_default() {
                out.losses.add("messages[] (a call of the user's tool)");
            }
            fields::any(&mut message, "usage");
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
