//! Trajectories of SWE-agent (`<instance>.traj`) and of mini-swe-agent (`.traj.json`).
//!
//! A step of SWE-agent has the answer of the model, the action parsed from the answer, and the observation.
//! mini-swe-agent writes messages. Queries and the history repeat the steps, and are left out.

use serde_json::Value;

use crate::reader::{Output, known_entry, move_field, set_field};
use crate::sessions::conversation::Conversation;
use crate::sessions::turn::TurnData;
use crate::source::records::{self, SourceRecord};
use deadloop_corpus::{Body, RecordedEvent, Transcript, tool_call, tool_result};
use deadloop_stream::fields::{Object, ReadFields, as_object};
use deadloop_stream::time::EventClock;
use deadloop_stream::wire::WireResult;

known_entry! { @read_trajectory = is_swe_agent, "swe-agent", "trajectories of SWE-agent and mini-swe-agent (.traj)"; }

fn is_swe_agent(object: &Object) -> bool {
    let steps = object.get("trajectory").and_then(Value::as_array);
    let step = |step: &Value| step.get("action").is_some() && step.get("observation").is_some();
    is_mini_swe_agent(object) || steps.is_some_and(|steps| steps.iter().take(4).any(step))
}

fn is_mini_swe_agent(object: &Object) -> bool {
    let format = object.get("trajectory_format").and_then(Value::as_str);
    format.is_some_and(|format| format.starts_with("mini-swe-agent"))
}

fn read_trajectory(record: SourceRecord, out: &mut Output) -> WireResult {
    let (place, mut object) = record.into_place_and_object()?;
    let run = if is_mini_swe_agent(&object) {
        read_messages(&mut object, out)?
    } else {
        read_steps(&mut object, out)?
    };
    let mut entry = run.into_entry(place);
    let transcript = &mut entry.transcript;
    let has_id = |event: &RecordedEvent| matches!(&event.body, Body::ToolCall { id: Some(_), .. });
    // Actions without an id were parsed from the model's text.
    let parsed = transcript.meta.contains_key("args") && !transcript.events.iter().any(has_id);
    set_field(&mut transcript.meta, "args", parsed.then(|| "text".into()));
    read_metadata(transcript, &mut object, out)?;
    out.losses.add_fields("", &object);
    transcript.id = out.stem().to_owned();
    out.emit(entry);
    Ok(())
}

/// Reads the messages of mini-swe-agent.
fn read_messages(object: &mut Object, out: &mut Output) -> WireResult<Conversation> {
    let mut conversation = Conversation::default();
    let mut clock = EventClock::default();
    let mut asked = false;
    for message in object.take_list("messages")?.unwrap_or_default() {
        let mut message = as_object("messages[]", message)?;
        // The last message only ends the run.
        if message.get("role").and_then(Value::as_str) == Some("exit") {
            continue;
        }
        let stamp = message.take("timestamp");
        let t_ms = clock.at(stamp.as_ref());
        move_extra(&mut message);
        let role = message.get("role").and_then(Value::as_str);
        if role == Some("user") && std::mem::take(&mut asked) {
            conversation.push(read_observation(message), t_ms);
            continue;
        }
        let command = (role == Some("assistant")).then(|| find_command(&message));
        conversation.add_message(message, "messages[]", t_ms, out)?;
        if let Some(command) = command.flatten() {
            asked = true;
            conversation.push(tool_call(None, "bash", command), t_ms);
        }
    }
    Ok(conversation)
}

/// Returns the command in a model message without tool calls: the only shell block in the text.
fn find_command(message: &Object) -> Option<String> {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    if calls.is_some_and(|calls| !calls.is_empty()) {
        return None;
    }
    let said = message.get("content")?.as_str()?;
    let mut blocks = said.split("```").skip(1).step_by(2).filter_map(|block| {
        let (name, command) = block.split_once('\n')?;
        matches!(name.trim(), "bash" | "mswea_bash_command").then(|| command.trim().to_owned())
    });
    let only = blocks.next()?;
    blocks.next().is_none().then_some(only)
}

/// Reads the result of a command from a user message.
fn read_observation(mut message: Object) -> Body {
    let error = message.take("is_error").and_then(|error| error.as_bool());
    let content = join_texts(message.get("content"));
    let error = error.or_else(|| parse_return_code(&content).map(|code| code != 0));
    tool_result(None, content, error)
}

/// Returns the return code at the beginning of an observation.
fn parse_return_code(content: &str) -> Option<i64> {
    let rest = content.trim_start().strip_prefix("<returncode>")?;
    rest.split_once('<')?.0.trim().parse().ok()
}

/// Moves the token counts and the return code from mini-swe-agent's field `extra` to the fields of APIs.
fn move_extra(message: &mut Object) {
    let Some(Value::Object(extra)) = message.get_mut("extra") else {
        return;
    };
    let response = extra.get_mut("response").and_then(Value::as_object_mut);
    let usage = response.and_then(|response| response.remove("usage"));
    let code = extra.remove("returncode").filter(Value::is_i64);
    if let Some(usage) = usage.filter(Value::is_object) {
        message.insert("usage".to_owned(), usage);
    }
    if let Some(code) = code {
        message.insert("is_error".to_owned(), Value::Bool(code != 0));
    }
}

/// Reads the steps of SWE-agent.
fn read_steps(object: &mut Object, out: &mut Output) -> WireResult<Conversation> {
    let mut run = Conversation::default();
    let history = object.take_list("history")?.unwrap_or_default();
    for message in &history {
        let role = message.get("role").and_then(Value::as_str);
        if role == Some("system") {
            run.add_system(&join_texts(message.get("content")), None);
        }
    }
    run.add_user(find_task(&history).unwrap_or_default(), None);
    for step in object.require_list("trajectory", "a list of steps")? {
        let mut step = as_object("trajectory[]", step)?;
        run.begin_turn(TurnData::default());
        run.events.extend(read_step(&mut step, out)?);
        for repeated in ["query", "messages", "state"] {
            if step.take(repeated).is_some() {
                out.losses.add(&format!("trajectory[].{repeated}"));
            }
        }
        out.losses.add_fields("trajectory[]", &step);
    }
    if !history.is_empty() {
        out.losses.add("history");
    }
    Ok(run)
}

/// Reads the events of a step.
fn read_step(step: &mut Object, out: &Output) -> WireResult<Vec<RecordedEvent>> {
    let mut events = Vec::new();
    for block in step.take_list("thinking_blocks")?.unwrap_or_default() {
        let text = block.get("thinking").and_then(Value::as_str);
        events.extend(text.map(|text| RecordedEvent::new(Body::Reasoning(text.to_owned()))));
    }
    let thought = step.take_string("thought")?;
    let response = step
        .take_string("response")?
        .filter(|text| !text.is_empty());
    let text = response.or(thought).unwrap_or_default();
    events.extend(out.split_thinking(text).map(RecordedEvent::new));
    let action = step.take_string("action")?.unwrap_or_default();
    let observation = step.take_string("observation")?.unwrap_or_default();
    let seconds = step.take("execution_time");
    if let Some(name) = action.split_whitespace().next() {
        events.push(RecordedEvent::new(tool_call(None, name, action.clone())));
        let mut result = RecordedEvent::new(tool_result(None, observation, None));
        set_field(&mut result.rest, "execution_time", seconds);
        events.push(result);
    }
    Ok(events)
}

/// Returns the task: the first user message that is not a demonstration.
fn find_task(history: &[Value]) -> Option<String> {
    let asked = history.iter().find(|item| {
        let role = item.get("role").and_then(Value::as_str);
        role == Some("user") && item.get("is_demo") != Some(&Value::Bool(true))
    });
    asked.map(|message| join_texts(message.get("content")))
}

/// Returns the text of a content, or the joined texts of its blocks.
fn join_texts(content: Option<&Value>) -> String {
    let blocks = content.and_then(Value::as_array);
    let texts = blocks.into_iter().flatten();
    let text = content.and_then(Value::as_str).into_iter();
    text.chain(texts.filter_map(|block| block.get("text")?.as_str()))
        .collect()
}

/// Sets the model, the exit status and the cost.
fn read_metadata(transcript: &mut Transcript, object: &mut Object, out: &mut Output) -> WireResult {
    let mut info = object.take_object("info")?.unwrap_or_default();
    let reason = info.take_string("exit_status")?;
    if reason.is_some() {
        transcript
            .events
            .push(RecordedEvent::new(Body::Finish { reason }));
    }
    move_field(&mut transcript.meta, "usage", &mut info, "model_stats");
    move_field(&mut transcript.meta, "environment", object, "environment");
    let config = match object.take("replay_config") {
        // The configuration is JSON in a string.
        Some(Value::String(text)) => records::parse_nested(&text).unwrap_or(Value::Null),
        Some(other) => other,
        None => info.remove("config").unwrap_or_default(),
    };
    let names = ["/agent/model/name", "/model/model_name"];
    let mut names = names.into_iter();
    let name = names.find_map(|path| config.pointer(path)?.as_str());
    transcript.model = name.unwrap_or_default().to_owned();
    out.losses.add_fields("info", &info);
    Ok(())
}
