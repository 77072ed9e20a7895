//! Events of OpenHands: a trajectory, or a folder of event files.
//!
//! A trajectory is a list. Events have the form of the server (`action` and `observation`) or of the SDK (`kind`).
//!
//! Files of a folder with one event each are one run. A file with several events is a run of its own.

use serde_json::{Value, json};

use crate::reader::{ForeignFormat, FormatReader, Intake};
use crate::sessions::conversation::written;
use crate::sessions::run_session::{RunReader, RunSession};
use crate::sessions::turn::{TurnData, Usage};
use crate::source::head::{FormatCertainty, SourceHead};
use deadloop_corpus::Body;
use deadloop_stream::fields::{self, Object};
use deadloop_stream::wire::WireFault;

pub(crate) const ENTRY: ForeignFormat = ForeignFormat {
    name: "openhands",
    help: "events of OpenHands: a trajectory, or a folder with a file for each event",
    by: FormatReader::Code {
        knows,
        reader: || Box::<OpenHands>::default(),
    },
    shape: None,
    whole_folder: true,
};

fn knows(head: &SourceHead) -> FormatCertainty {
    let text = |object: &Object, name| object.get(name).is_some_and(Value::is_string);
    let event = |object: &Object| {
        let server = text(object, "action") || text(object, "observation");
        text(object, "source") && text(object, "timestamp") && (server || text(object, "kind"))
    };
    FormatCertainty::Certain.when(head.any(event))
}

/// The reader of a run of OpenHands.
#[derive(Default)]
struct OpenHands {
    session: RunSession,
    /// The response that contained the last event of the model.
    response: Option<String>,
}

impl RunReader for OpenHands {
    fn session(&mut self) -> &mut RunSession {
        &mut self.session
    }

    fn record(&mut self, event: &mut Object, out: &mut Intake) -> Result<(), WireFault> {
        let stamp = fields::any(event, "timestamp");
        let source = fields::string(event, "source")?.unwrap_or_default();
        fields::any(event, "id");
        let t_ms = self.session.clock.at(stamp.as_ref());
        let said = match fields::string(event, "kind")? {
            Some(kind) => self.sdk(&kind, (&source, t_ms), event, out)?,
            None => self.server((&source, t_ms), event, out)?,
        };
        let outside = |body: &Body| matches!(body, Body::ToolResult { .. } | Body::User(_));
        if !said.bodies.iter().all(outside) {
            self.response = said.response.clone();
            self.session.run.turn(TurnData {
                response: said.response,
                usage: said.usage,
                t_ms,
                ..TurnData::default()
            });
        }
        for body in said.bodies {
            self.session.run.push(body, t_ms);
        }
        Ok(())
    }
}

/// The contents of an event.
struct EventContent {
    bodies: Vec<Body>,
    /// The response of the model that contained the event.
    response: Option<String>,
    usage: Usage,
}

impl OpenHands {
    /// Reads an event in the server's form.
    fn server(
        &mut self,
        (source, t_ms): (&str, Option<f64>),
        event: &mut Object,
        out: &mut Intake,
    ) -> Result<EventContent, WireFault> {
        let mut call = fields::object(event, "tool_call_metadata")?.unwrap_or_default();
        let mut response = fields::object(&mut call, "model_response")?.unwrap_or_default();
        let id = fields::string(&mut call, "tool_call_id")?;
        let function = fields::string(&mut call, "function_name")?;
        let mut said = EventContent {
            bodies: Vec::new(),
            response: fields::string(&mut response, "id")?,
            usage: Usage::default(),
        };
        // The action in words, for people.
        let message = fields::string(event, "message")?;
        if let Some(action) = fields::string(event, "action")? {
            let mut args = fields::object(event, "args")?.unwrap_or_default();
            if source == "user" {
                let text = fields::string(&mut args, "content")?.or(message);
                self.session.run.user(text.unwrap_or_default(), t_ms);
                return Ok(said);
            }
            if action == "system" {
                let prompt = fields::string(&mut args, "content")?.or(message);
                self.session.run.system(&prompt.unwrap_or_default(), t_ms);
                return Ok(said);
            }
            if source != "agent" || matches!(action.as_str(), "recall" | "null") {
                out.losses.add(&format!("[] (action {action})"));
                return Ok(said);
            }
            if said.response.is_none() || said.response != self.response {
                said.bodies.extend(reasoning_of_response(&response));
            }
            said.usage = self.model(&mut response, out)?;
            out.losses.rest("[].tool_call_metadata", &call);
            self.read_action(&action, function, id, args, &mut said.bodies, out)?;
            return Ok(said);
        }
        said.bodies.extend(self.read_observation(id, event, out)?);
        Ok(said)
    }

    /// Reads an observation, or a change of the agent's state, which may end the run.
    fn read_observation(
        &mut self,
        id: Option<String>,
        event: &mut Object,
        out: &mut Intake,
    ) -> Result<Option<Body>, WireFault> {
        let observation = fields::string(event, "observation")?;
        let observation =
            observation.ok_or_else(|| fields::missing("action", "`action` or `observation`"))?;
        let content = fields::any(event, "content");
        let mut extras = fields::object(event, "extras")?.unwrap_or_default();
        let success = fields::any(event, "success");
        let body = match observation.as_str() {
            "agent_state_changed" => {
                let state = fields::string(&mut extras, "agent_state")?;
                let over = |state: &String| {
                    matches!(
                        state.as_str(),
                        "finished" | "error" | "rejected" | "stopped"
                    )
                };
                self.session.reason = state.filter(over).or(self.session.reason.take());
                None
            }
            // A thought without a call, so this is no result.
            "think" if id.is_none() => {
                out.losses.add("[] (observation think)");
                None
            }
            "null" | "recall" => {
                out.losses.add(&format!("[] (observation {observation})"));
                None
            }
            _ => Some(Body::ToolResult {
                id,
                content: words(content, out),
                error: match (observation.as_str(), success) {
                    ("error", _) => Some(true),
                    (_, Some(Value::Bool(success))) => Some(!success),
                    _ => exit_code(&mut extras).map(|code| code != 0),
                },
            }),
        };
        out.losses.rest("[].extras", &extras);
        Ok(body)
    }

    /// Reads an action of the agent: a message, a thought, the end, or a call of a tool.
    fn read_action(
        &mut self,
        action: &str,
        function: Option<String>,
        id: Option<String>,
        mut args: Object,
        bodies: &mut Vec<Body>,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        let thought = fields::string(&mut args, "thought")?.filter(|text| !text.is_empty());
        match action {
            "message" => {
                let text = fields::string(&mut args, "content")?.unwrap_or_default();
                bodies.extend(out.split_thinking(text));
            }
            // A thought that was a call of a tool has a result.
            "think" if id.is_some() => bodies.push(Body::ToolCall {
                id,
                name: function.unwrap_or_else(|| action.to_owned()),
                arguments: thought.map_or(Value::Null, |thought| json!({"thought": thought})),
            }),
            "think" => {
                bodies.extend(thought.map(Body::Reasoning));
            }
            _ => {
                bodies.extend(thought.iter().flat_map(|text| out.split_thinking(text)));
                if action == "finish" {
                    let last = fields::string(&mut args, "final_thought")?.unwrap_or_default();
                    bodies.extend(out.split_thinking(last));
                    self.session.reason = Some("finish".to_owned());
                } else {
                    bodies.push(Body::ToolCall {
                        id,
                        name: function.unwrap_or_else(|| action.to_owned()),
                        arguments: Value::Object(std::mem::take(&mut args)),
                    });
                }
            }
        }
        out.losses.rest("[].args", &args);
        Ok(())
    }

    /// Takes the model and the tokens from the response.
    fn model(&mut self, response: &mut Object, out: &mut Intake) -> Result<Usage, WireFault> {
        if let Some(model) = fields::string(response, "model")? {
            self.session.model = Some(model);
        }
        let mut usage = fields::object(response, "usage")?.unwrap_or_default();
        let used = Usage::take(&mut usage);
        out.losses
            .rest("[].tool_call_metadata.model_response.usage", &usage);
        // The action has the same text.
        fields::any(response, "choices");
        out.losses
            .rest("[].tool_call_metadata.model_response", response);
        Ok(used)
    }

    /// Reads an event in the SDK's form.
    fn sdk(
        &mut self,
        kind: &str,
        from: (&str, Option<f64>),
        event: &mut Object,
        out: &mut Intake,
    ) -> Result<EventContent, WireFault> {
        let response = fields::string(event, "llm_response_id")?;
        let id = fields::string(event, "tool_call_id")?;
        let name = fields::string(event, "tool_name")?;
        let bodies = match kind {
            "ActionEvent" => action(event, id, name.unwrap_or_default(), out)?,
            "ObservationEvent" => vec![observation(event, id, out)?],
            "AgentErrorEvent" => vec![Body::ToolResult {
                id,
                content: fields::string(event, "error")?.unwrap_or_default(),
                error: Some(true),
            }],
            "MessageEvent" => self.message(from, event, out)?,
            "SystemPromptEvent" => {
                let prompt = words(prompt(fields::any(event, "system_prompt")), out);
                self.session.run.system(&prompt, from.1);
                Vec::new()
            }
            other => {
                out.losses.add(&format!("[] ({other})"));
                event.clear();
                Vec::new()
            }
        };
        Ok(EventContent {
            bodies,
            response,
            usage: Usage::default(),
        })
    }

    /// Reads a message of the agent or of the user.
    fn message(
        &mut self,
        (source, t_ms): (&str, Option<f64>),
        event: &mut Object,
        out: &mut Intake,
    ) -> Result<Vec<Body>, WireFault> {
        let mut message = fields::object(event, "llm_message")?.unwrap_or_default();
        let text = words(fields::any(&mut message, "content"), out);
        fields::any(&mut message, "role");
        let mut bodies = Vec::new();
        if source == "agent" {
            bodies.extend(read_thinking(&mut message)?);
            bodies.extend(out.split_thinking(text));
        } else {
            self.session.run.user(text, t_ms);
        }
        out.losses.rest("[].llm_message", &message);
        Ok(bodies)
    }
}

/// Reads the thinking of the agent and the call after it.
fn action(
    event: &mut Object,
    id: Option<String>,
    name: String,
    out: &mut Intake,
) -> Result<Vec<Body>, WireFault> {
    let mut bodies = Vec::from_iter(read_thinking(event)?);
    let thought = words(fields::any(event, "thought"), out);
    bodies.extend(out.split_thinking(thought));
    let mut call = fields::object(event, "tool_call")?.unwrap_or_default();
    let arguments = fields::any(&mut call, "arguments").map(written);
    for repeated in ["id", "name"] {
        fields::any(&mut call, repeated);
    }
    out.losses.rest("[].tool_call", &call);
    // The parsed arguments of the same call.
    let action = fields::any(event, "action");
    bodies.push(Body::ToolCall {
        id,
        name,
        arguments: arguments.or(action).unwrap_or_default(),
    });
    Ok(bodies)
}

/// Takes the return code of a command.
fn exit_code(extras: &mut Object) -> Option<i64> {
    let inner = |extras: &mut Object| {
        let metadata = extras.get_mut("metadata")?.as_object_mut()?;
        metadata.remove("exit_code")
    };
    let code = fields::any(extras, "exit_code").or_else(|| inner(extras));
    code?.as_i64()
}

/// Takes the text of a prompt from its block.
fn prompt(block: Option<Value>) -> Option<Value> {
    match block? {
        Value::Object(mut block) => block.remove("text"),
        other => Some(other),
    }
}

/// Reads the result of a tool.
fn observation(
    event: &mut Object,
    id: Option<String>,
    out: &mut Intake,
) -> Result<Body, WireFault> {
    let mut observation = fields::object(event, "observation")?.unwrap_or_default();
    let flag = fields::any(&mut observation, "is_error");
    let error = flag.as_ref().and_then(Value::as_bool);
    let content = ["content", "output"]
        .into_iter()
        .find_map(|f| fields::any(&mut observation, f));
    let content = words(content, out);
    out.losses.rest("[].observation", &observation);
    Ok(Body::ToolResult { id, content, error })
}

/// Reads the thinking of the model before an event of the SDK.
fn read_thinking(object: &mut Object) -> Result<Option<Body>, WireFault> {
    let content = fields::string(object, "reasoning_content")?.filter(|text| !text.is_empty());
    let blocks = fields::list(object, "thinking_blocks")?.unwrap_or_default();
    let texts = blocks
        .iter()
        .filter_map(|block| block.get("thinking")?.as_str());
    let blocks = Some(texts.collect::<String>()).filter(|text| !text.is_empty());
    Ok(content.or(blocks).map(Body::Reasoning))
}

/// Reads the thinking of the model from the response that contained an action.
fn reasoning_of_response(response: &Object) -> Option<Body> {
    let choices = response.get("choices")?;
    let text = choices.get(0)?.get("message")?.get("reasoning_content")?;
    Some(Body::Reasoning(text.as_str()?.to_owned()))
}

/// Returns a text, or the joined texts of blocks. Other blocks count as losses.
fn words(content: Option<Value>, out: &mut Intake) -> String {
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
