//! Trajectories of SWE-agent (`<instance>.traj`) and of mini-swe-agent (`.traj.json`).
//!
//! A step of SWE-agent has the answer of the model, the action parsed from it, and the observation. mini-swe-agent
//! writes messages.
//!
//! Queries and the history repeat the steps, and are left out.

use serde_json::{Map, Value};

use crate::reader::{Intake, RecordReader, keep, keep_field, known_entry};
use crate::sessions::conversation::Conversation;
use crate::sessions::turn::TurnData;
use crate::source::records::{self, SourceRecord};
use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_stream::fields::{self, Object};
use deadloop_stream::time::EventClock;
use deadloop_stream::wire::WireFault;

known_entry! { SweAgent = is_swe_agent, "swe-agent", "trajectories of SWE-agent and mini-swe-agent (.traj)"; }

fn is_swe_agent(object: &Object) -> bool {
    let steps = object.get("trajectory").and_then(Value::as_array);
    let step = |step: &Value| step.get("action").is_some() && step.get("observation").is_some();
    mini(object) || steps.is_some_and(|steps| steps.iter().take(4).any(step))
}

fn mini(object: &Object) -> bool {
    let format = object.get("trajectory_format").and_then(Value::as_str);
    format.is_some_and(|format| format.starts_with("mini-swe-agent"))
}

#[derive(Default)]
struct SweAgent;

impl RecordReader for SweAgent {
    fn take(&mut self, record: SourceRecord, out: &mut Intake) -> Result<(), WireFault> {
        let (place, mut object) = record.into_place_and_object()?;
        let run = if mini(&object) {
            messages(&mut object, out)?
        } else {
            steps(&mut object, out)?
        };
        let mut entry = run.entry(place);
        let transcript = &mut entry.transcript;
        let id = |event: &RecordedEvent| matches!(&event.body, Body::ToolCall { id: Some(_), .. });
        let read = transcript.meta.contains_key("args") && !transcript.events.iter().any(id);
        // The actions were parsed from the model's text.
        keep(&mut transcript.meta, "args", read.then(|| "text".into()));
        read_metadata(transcript, &mut object, out)?;
        out.losses.rest("", &object);
        transcript.id = out.stem().to_owned();
        out.emit(entry);
        Ok(())
    }
}

/// Reads the messages of mini-swe-agent.
fn messages(object: &mut Object, out: &mut Intake) -> Result<Conversation, WireFault> {
    let mut conversation = Conversation::default();
    let mut clock = EventClock::default();
    let mut asked = false;
    for message in fields::list(object, "messages")?.unwrap_or_default() {
        let mut message = fields::as_object("messages[]", message)?;
        // The last message only ends the run.
        if message.get("role").and_then(Value::as_str) == Some("exit") {
            continue;
        }
        let stamp = fields::any(&mut message, "timestamp");
        let t_ms = clock.at(stamp.as_ref());
        extra(&mut message);
        let role = message.get("role").and_then(Value::as_str);
        if role == Some("user") && std::mem::take(&mut asked) {
            conversation.push(read_observation(message), t_ms);
            continue;
        }
        let command = (role == Some("assistant"))
            .then(|| command(&message))
            .flatten();
        conversation.message(message, "messages[]", t_ms, out)?;
        if let Some(command) = command {
            asked = true;
            let call = Body::ToolCall {
                id: None,
                name: "bash".to_owned(),
                arguments: Value::String(command),
            };
            conversation.push(call, t_ms);
        }
    }
    Ok(conversation)
}

/// Returns the command in a message of a model without tools: the only block of shell in its text.
fn command(message: &Object) -> Option<String> {
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

/// Reads the result of a command, which is a user message.
fn read_observation(mut message: Object) -> Body {
    let error = fields::any(&mut message, "is_error").and_then(|error| error.as_bool());
    let content = text(&Value::Object(message));
    Body::ToolResult {
        id: None,
        error: error.or(return_code(&content).map(|code| code != 0)),
        content,
    }
}

/// Returns the return code at the beginning of an observation.
fn return_code(content: &str) -> Option<i64> {
    let rest = content.trim_start().strip_prefix("<returncode>")?;
    rest.split_once('<')?.0.trim().parse().ok()
}

/// Moves mini-swe-agent's additions to a message into its fields: the tokens, and a command's return code.
fn extra(message: &mut Object) {
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

fn steps(object: &mut Object, out: &mut Intake) -> Result<Conversation, WireFault> {
    let mut run = Conversation::default();
    let history = fields::list(object, "history")?.unwrap_or_default();
    for message in &history {
        let role = message.get("role").and_then(Value::as_str);
        if role == Some("system") {
            run.system(&text(message), None);
        }
    }
    run.user(task(&history).unwrap_or_default(), None);
    for step in fields::need_list(object, "trajectory", "a list of steps")? {
        let mut step = fields::as_object("trajectory[]", step)?;
        run.turn(TurnData::default());
        run.events.extend(events(&mut step, out)?);
        for repeated in ["query", "messages", "state"] {
            if fields::any(&mut step, repeated).is_some() {
                out.losses.add(&format!("trajectory[].{repeated}"));
            }
        }
        out.losses.rest("trajectory[]", &step);
    }
    if !history.is_empty() {
        out.losses.add("history");
    }
    Ok(run)
}

/// Returns the events of a step.
fn events(step: &mut Object, out: &Intake) -> Result<Vec<RecordedEvent>, WireFault> {
    let mut events = Vec::new();
    for block in fields::list(step, "thinking_blocks")?.unwrap_or_default() {
        let text = block.get("thinking").and_then(Value::as_str);
        events.extend(text.map(|text| RecordedEvent::new(Body::Reasoning(text.to_owned()))));
    }
    let thought = fields::string(step, "thought")?;
    let response = fields::string(step, "response")?.filter(|text| !text.is_empty());
    let text = response.or(thought).unwrap_or_default();
    events.extend(out.split_thinking(text).map(RecordedEvent::new));
    let action = fields::string(step, "action")?.unwrap_or_default();
    let observation = fields::string(step, "observation")?.unwrap_or_default();
    let seconds = fields::any(step, "execution_time");
    if let Some(name) = action.split_whitespace().next() {
        events.push(RecordedEvent::new(Body::ToolCall {
            id: None,
            name: name.to_owned(),
            arguments: Value::String(action.clone()),
        }));
        let mut result = RecordedEvent::new(Body::ToolResult {
            id: None,
            content: observation,
            error: None,
        });
        keep(&mut result.rest, "execution_time", seconds);
        events.push(result);
    }
    Ok(events)
}

/// Returns the task: the first user message that is not a demonstration.
fn task(history: &[Value]) -> Option<String> {
    let asked = history.iter().find(|item| {
        let role = item.get("role").and_then(Value::as_str);
        role == Some("user") && item.get("is_demo") != Some(&Value::Bool(true))
    });
    asked.map(text)
}

/// Returns the text of a message of the history.
fn text(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => {
            let texts = blocks
                .iter()
                .filter_map(|block| block.get("text")?.as_str());
            texts.collect()
        }
        _ => String::new(),
    }
}

/// Adds the data besides the steps: the model, the reason of the end, the cost.
fn read_metadata(
    transcript: &mut Transcript,
    object: &mut Object,
    out: &mut Intake,
) -> Result<(), WireFault> {
    let mut info = fields::object(object, "info")?.unwrap_or_default();
    let reason = fields::string(&mut info, "exit_status")?;
    if reason.is_some() {
        transcript
            .events
            .push(RecordedEvent::new(Body::Finish { reason }));
    }
    keep_field(&mut transcript.meta, "usage", &mut info, "model_stats");
    keep_field(&mut transcript.meta, "environment", object, "environment");
    let config = match fields::any(object, "replay_config") {
        // The configuration is JSON in a string.
        Some(Value::String(text)) => records::parse_nested(&text).unwrap_or(Value::Null),
        Some(other) => other,
        None => Value::Object(
            info.remove("config")
                .map(object_or_empty)
                .unwrap_or_default(),
        ),
    };
    let names = ["/agent/model/name", "/model/model_name"];
    let name = names
        .into_iter()
        .find_map(|path| config.pointer(path)?.as_str());
    transcript.model = name.unwrap_or_default().to_owned();
    out.losses.rest("info", &info);
    Ok(())
}

fn object_or_empty(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
