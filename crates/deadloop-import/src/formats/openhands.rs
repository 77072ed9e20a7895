//! Events of OpenHands: a trajectory, or a folder of event files.
//!
//! A trajectory is a list. Events have the form of the server (`action` and `observation`) or of the SDK (`kind`).
//!
//! Files of a folder with one event each are one run. A file with several events is a separate run.

use serde_json::{Value, json};

use crate::reader::{ForeignFormat, FormatReader, Output};
use crate::sessions::conversation::null_if_empty;
use crate::sessions::run_session::{RunReader, RunSession};
use crate::sessions::turn::{TurnData, Usage};
use crate::source::head::{FormatCertainty, SourceHead};
use deadloop_corpus::{Body, tool_call, tool_result};
use deadloop_stream::fields::{Object, ReadFields, missing_field};
use deadloop_stream::wire::WireResult;

pub(crate) const ENTRY: ForeignFormat = ForeignFormat {
    name: "openhands",
    help: "events of OpenHands: a trajectory, or a folder with a file for each event",
    format_reader: FormatReader::Code {
        certainty,
        reader: || Box::<OpenHands>::default(),
    },
    shape: None,
    whole_folder: true,
};

fn certainty(head: &SourceHead) -> FormatCertainty {
    let text = |object: &Object, name| object.get(name).is_some_and(Value::is_string);
    let event = |object: &Object| {
        let server = text(object, "action") || text(object, "observation");
        text(object, "source") && text(object, "timestamp") && (server || text(object, "kind"))
    };
    FormatCertainty::Certain.only_if(head.any_object(event))
}

/// A reader of a run of OpenHands.
#[derive(Default)]
struct OpenHands {
    session: RunSession,
    /// Response id of the model's last event.
    response: Option<String>,
}

impl RunReader for OpenHands {
    fn session(&mut self) -> &mut RunSession {
        &mut self.session
    }

    fn add_record(&mut self, event: &mut Object, out: &mut Output) -> WireResult {
        let stamp = event.take("timestamp");
        let source = event.take_string("source")?.unwrap_or_default();
        event.take("id");
        let t_ms = self.session.clock.at(stamp.as_ref());
        let mut turn = TurnData::starting_at(t_ms);
        let bodies = match event.take_string("kind")? {
            Some(kind) => self.read_sdk_event(&kind, &source, &mut turn, event, out)?,
            None => self.read_server_event(&source, &mut turn, event, out)?,
        };
        let is_outside = |body: &Body| matches!(body, Body::ToolResult { .. } | Body::User(_));
        if !bodies.iter().all(is_outside) {
            self.response = turn.response.clone();
            self.session.run.begin_turn(turn);
        }
        let run = &mut self.session.run;
        bodies.into_iter().for_each(|body| run.push(body, t_ms));
        Ok(())
    }
}

impl OpenHands {
    /// Reads an event in the form of the server. Sets the response and the token counts of its turn.
    fn read_server_event(
        &mut self,
        source: &str,
        turn: &mut TurnData,
        event: &mut Object,
        out: &mut Output,
    ) -> WireResult<Vec<Body>> {
        let mut call = event.take_object("tool_call_metadata")?.unwrap_or_default();
        let mut response = call.take_object("model_response")?.unwrap_or_default();
        let id = call.take_string("tool_call_id")?;
        let function = call.take_string("function_name")?;
        turn.response = response.take_string("id")?;
        // A description of the action, for display.
        let message = event.take_string("message")?;
        let Some(action) = event.take_string("action")? else {
            return Ok(Vec::from_iter(self.read_observation(id, event, out)?));
        };
        let mut bodies = Vec::new();
        let mut args = event.take_object("args")?.unwrap_or_default();
        let run = &mut self.session.run;
        if source == "user" {
            let text = args.take_string("content")?.or(message);
            run.add_user(text.unwrap_or_default(), turn.t_ms);
        } else if action == "system" {
            let prompt = args.take_string("content")?.or(message);
            run.add_system(&prompt.unwrap_or_default(), turn.t_ms);
        } else if source != "agent" || matches!(action.as_str(), "recall" | "null") {
            out.losses.add(&format!("[] (action {action})"));
        } else {
            if turn.response.is_none() || turn.response != self.response {
                bodies.extend(response_reasoning(&response));
            }
            turn.usage = self.take_usage(&mut response, out)?;
            out.losses.add_fields("[].tool_call_metadata", &call);
            self.read_action(&action, function, id, args, &mut bodies, out)?;
        }
        Ok(bodies)
    }

    /// Reads an observation, or a change of the agent's state that may end the run.
    fn read_observation(
        &mut self,
        id: Option<String>,
        event: &mut Object,
        out: &mut Output,
    ) -> WireResult<Option<Body>> {
        let observation = event.take_string("observation")?;
        let observation =
            observation.ok_or_else(|| missing_field("action", "`action` or `observation`"))?;
        let content = event.take("content");
        let mut extras = event.take_object("extras")?.unwrap_or_default();
        let success = event.take("success");
        let body = match observation.as_str() {
            "agent_state_changed" => {
                let state = extras.take_string("agent_state")?;
                let ends = |state: &String| {
                    ["finished", "error", "rejected", "stopped"].contains(&state.as_str())
                };
                self.session.reason = state.filter(ends).or(self.session.reason.take());
                None
            }
            // Without a call, this is not a result.
            "think" if id.is_none() => {
                out.losses.add("[] (observation think)");
                None
            }
            "null" | "recall" => {
                out.losses.add(&format!("[] (observation {observation})"));
                None
            }
            _ => {
                let error = match (observation.as_str(), success) {
                    ("error", _) => Some(true),
                    (_, Some(Value::Bool(success))) => Some(!success),
                    _ => take_exit_code(&mut extras).map(|code| code != 0),
                };
                Some(tool_result(id, join_texts(content, out), error))
            }
        };
        out.losses.add_fields("[].extras", &extras);
        Ok(body)
    }

    /// Reads an action of the agent: a message, a thought, the end, or a tool call.
    fn read_action(
        &mut self,
        action: &str,
        function: Option<String>,
        id: Option<String>,
        mut args: Object,
        bodies: &mut Vec<Body>,
        out: &mut Output,
    ) -> WireResult {
        let thought = args.take_string("thought")?.filter(|text| !text.is_empty());
        let name = function.unwrap_or_else(|| action.to_owned());
        match action {
            "message" => {
                let text = args.take_string("content")?.unwrap_or_default();
                bodies.extend(out.split_thinking(text));
            }
            // A thought with a call id was a tool call, which has a result.
            "think" if id.is_some() => {
                let arguments = thought.map_or(Value::Null, |thought| json!({"thought": thought}));
                bodies.push(tool_call(id, name, arguments));
            }
            "think" => bodies.extend(thought.map(Body::Reasoning)),
            _ => {
                bodies.extend(thought.iter().flat_map(|text| out.split_thinking(text)));
                if action == "finish" {
                    let last = args.take_string("final_thought")?.unwrap_or_default();
                    bodies.extend(out.split_thinking(last));
                    self.session.reason = Some("finish".to_owned());
                } else {
                    bodies.push(tool_call(id, name, std::mem::take(&mut args)));
                }
            }
        }
        out.losses.add_fields("[].args", &args);
        Ok(())
    }

    /// Takes the model and the token counts out of the response.
    fn take_usage(&mut self, response: &mut Object, out: &mut Output) -> WireResult<Usage> {
        if let Some(model) = response.take_string("model")? {
            self.session.model = Some(model);
        }
        let mut usage = response.take_object("usage")?.unwrap_or_default();
        let used = Usage::take_from(&mut usage);
        let path = "[].tool_call_metadata.model_response";
        out.losses.add_fields(&format!("{path}.usage"), &usage);
        // The action has the same text.
        response.take("choices");
        out.losses.add_fields(path, response);
        Ok(used)
    }

    /// Reads an event in the form of the SDK. Sets the response of its turn.
    fn read_sdk_event(
        &mut self,
        kind: &str,
        source: &str,
        turn: &mut TurnData,
        event: &mut Object,
        out: &mut Output,
    ) -> WireResult<Vec<Body>> {
        turn.response = event.take_string("llm_response_id")?;
        let id = event.take_string("tool_call_id")?;
        let name = event.take_string("tool_name")?;
        match kind {
            "ActionEvent" => return read_sdk_action(event, id, name.unwrap_or_default(), out),
            "ObservationEvent" => return Ok(vec![read_sdk_observation(event, id, out)?]),
            "AgentErrorEvent" => {
                let error = event.take_string("error")?.unwrap_or_default();
                return Ok(vec![tool_result(id, error, Some(true))]);
            }
            "MessageEvent" => return self.read_sdk_message(source, turn.t_ms, event, out),
            "SystemPromptEvent" => {
                let prompt = match event.take("system_prompt") {
                    Some(Value::Object(mut block)) => block.remove("text"),
                    other => other,
                };
                self.session
                    .run
                    .add_system(&join_texts(prompt, out), turn.t_ms);
            }
            other => {
                out.losses.add(&format!("[] ({other})"));
                event.clear();
            }
        }
        Ok(Vec::new())
    }

    /// Reads a message of the agent or of the user.
    fn read_sdk_message(
        &mut self,
        source: &str,
        t_ms: Option<f64>,
        event: &mut Object,
        out: &mut Output,
    ) -> WireResult<Vec<Body>> {
        let mut message = event.take_object("llm_message")?.unwrap_or_default();
        let text = join_texts(message.take("content"), out);
        message.take("role");
        let mut bodies = Vec::new();
        if source == "agent" {
            bodies.extend(take_thinking(&mut message)?);
            bodies.extend(out.split_thinking(text));
        } else {
            self.session.run.add_user(text, t_ms);
        }
        out.losses.add_fields("[].llm_message", &message);
        Ok(bodies)
    }
}

/// Reads a tool call of the agent, with the reasoning before it.
fn read_sdk_action(
    event: &mut Object,
    id: Option<String>,
    name: String,
    out: &mut Output,
) -> WireResult<Vec<Body>> {
    let mut bodies = Vec::from_iter(take_thinking(event)?);
    let thought = join_texts(event.take("thought"), out);
    bodies.extend(out.split_thinking(thought));
    let mut call = event.take_object("tool_call")?.unwrap_or_default();
    let arguments = call.take("arguments").map(null_if_empty);
    call.remove_fields("id name");
    out.losses.add_fields("[].tool_call", &call);
    // Parsed arguments of the same call.
    let action = event.take("action");
    let arguments = arguments.or(action).unwrap_or_default();
    bodies.push(tool_call(id, name, arguments));
    Ok(bodies)
}

/// Takes the exit code of a command.
fn take_exit_code(extras: &mut Object) -> Option<i64> {
    let inner = |extras: &mut Object| {
        let metadata = extras.get_mut("metadata")?.as_object_mut()?;
        metadata.remove("exit_code")
    };
    let code = extras.take("exit_code").or_else(|| inner(extras));
    code?.as_i64()
}

/// Reads a tool result.
fn read_sdk_observation(
    event: &mut Object,
    id: Option<String>,
    out: &mut Output,
) -> WireResult<Body> {
    let mut observation = event.take_object("observation")?.unwrap_or_default();
    let flag = observation.take("is_error");
    let error = flag.as_ref().and_then(Value::as_bool);
    let mut names = ["content", "output"].into_iter();
    let content = names.find_map(|name| observation.take(name));
    let content = join_texts(content, out);
    out.losses.add_fields("[].observation", &observation);
    Ok(tool_result(id, content, error))
}

/// Takes the reasoning of the model before an event of the SDK.
fn take_thinking(object: &mut Object) -> WireResult<Option<Body>> {
    let content = object
        .take_string("reasoning_content")?
        .filter(|text| !text.is_empty());
    let blocks = object.take_list("thinking_blocks")?.unwrap_or_default();
    let texts = blocks
        .iter()
        .filter_map(|block| block.get("thinking")?.as_str());
    let blocks = Some(texts.collect::<String>()).filter(|text| !text.is_empty());
    Ok(content.or(blocks).map(Body::Reasoning))
}

/// Returns the reasoning in the response that contained an action.
fn response_reasoning(response: &Object) -> Option<Body> {
    let choices = response.get("choices")?;
    let text = choices.get(0)?.get("message")?.get("reasoning_content")?;
    Some(Body::Reasoning(text.as_str()?.to_owned()))
}

/// Returns a text, or the joined texts of blocks. Other blocks count as losses.
fn join_texts(content: Option<Value>, out: &mut Output) -> String {
    match content {
        None => String::new(),
        Some(Value::String(text)) => text,
        Some(Value::Array(blocks)) => {
            let mut text = String::new();
            for block in &blocks {
                match block.get("text").unwrap_or(block).as_str() {
                    Some(part) => text.push_str(part),
                    None => {
                        let kind = block.get("type").and_then(Value::as_str);
                        let kind = kind.unwrap_or("of no kind");
                        out.losses.add(&format!("[] (a block {kind})"));
                    }
                }
            }
            text
        }
        Some(other) => other.to_string(),
    }
}
