//! Sessions of GitHub Copilot CLI (`~/.copilot/session-state/<id>/events.jsonl`).
//!
//! Also its output with `--output-format json`. A line is `{type, data, id, timestamp, parentId}`. Deltas repeat the
//! messages.

use std::collections::HashSet;

use serde_json::Value;

use crate::reader::{Intake, keep_field, known_entry};
use crate::sessions::conversation::written;
use crate::sessions::run_session::{RunReader, RunSession};
use crate::sessions::spans::words;
use crate::sessions::turn::{TurnData, Usage};
use deadloop_corpus::Body;
use deadloop_stream::fields::{self, Object};
use deadloop_stream::wire::WireFault;

known_entry! { Copilot = is_copilot_cli, "copilot-cli", "sessions of GitHub Copilot CLI: events.jsonl"; }

fn is_copilot_cli(object: &Object) -> bool {
    let kind = fields::word(object, "type");
    let named = ["session.", "assistant.", "tool.execution_", "user.message"];
    let named = named.iter().any(|begin| kind.starts_with(begin));
    named && object.get("data").is_some_and(Value::is_object)
}

/// A reader of a file, which has one session.
#[derive(Default)]
struct Copilot {
    session: RunSession,
    /// Ids of calls that a message requested and whose execution has not begun.
    asked: HashSet<String>,
}

impl RunReader for Copilot {
    fn session(&mut self) -> &mut RunSession {
        &mut self.session
    }

    fn record(&mut self, line: &mut Object, out: &mut Intake) -> Result<(), WireFault> {
        let kind = fields::string(line, "type")?
            .ok_or_else(|| fields::missing("type", "an event of a session"))?;
        let stamp = fields::any(line, "timestamp");
        let t_ms = self.session.clock.at(stamp.as_ref());
        let mut data = fields::object(line, "data")?.unwrap_or_default();
        self.event(&kind, &mut data, t_ms, out)?;
        fields::away(line, "id parentId");
        out.losses.rest("data", &data);
        Ok(())
    }
}

impl Copilot {
    fn event(
        &mut self,
        kind: &str,
        data: &mut Object,
        t_ms: Option<f64>,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        match kind {
            "session.start" | "session.resume" => self.read_session_start(data)?,
            "session.model_change" => {
                self.session.model =
                    fields::string(data, "newModel")?.or(self.session.model.take());
            }
            "system.message" => {
                let prompt = fields::string(data, "content")?.unwrap_or_default();
                self.session.run.system(&prompt, t_ms);
            }
            "user.message" => {
                let text = fields::string(data, "content")?.unwrap_or_default();
                self.session.run.user(text, t_ms);
                // The message again, with its attachments.
                fields::any(data, "transformedContent");
            }
            "assistant.turn_start" => {
                let response = fields::label(data, "turnId");
                self.session.run.turn(TurnData {
                    response,
                    t_ms,
                    ..TurnData::default()
                });
            }
            "assistant.message" => self.message(data, t_ms, out)?,
            "assistant.usage" => self.read_usage(data)?,
            "tool.execution_start" => self.begin_tool(data, t_ms)?,
            "tool.execution_complete" => self.complete_tool(data, t_ms)?,
            "session.error" => self.session.reason = Some("error".to_owned()),
            "abort" => self.session.reason = Some("aborted".to_owned()),
            "session.idle" | "session.task_complete" => {
                self.session.reason = Some("stop".to_owned())
            }
            // The end of a turn has no new data.
            "assistant.turn_end" => data.clear(),
            other => {
                out.losses.add(&format!("[] ({other})"));
                data.clear();
            }
        }
        Ok(())
    }

    fn read_session_start(&mut self, data: &mut Object) -> Result<(), WireFault> {
        let session = &mut self.session;
        session.id = fields::label(data, "sessionId").or(session.id.take());
        session.model = fields::string(data, "selectedModel")?.or(session.model.take());
        keep_field(&mut session.about, "version", data, "copilotVersion");
        fields::away(data, "version producer startTime context");
        Ok(())
    }

    fn read_usage(&mut self, data: &mut Object) -> Result<(), WireFault> {
        self.session.model = fields::string(data, "model")?.or(self.session.model.take());
        let usage = Usage {
            sent: fields::count(data, "inputTokens")?,
            wrote: fields::count(data, "outputTokens")?,
            cached: fields::count(data, "cacheReadTokens")?,
        };
        self.session.run.add_usage(usage);
        Ok(())
    }

    fn message(
        &mut self,
        data: &mut Object,
        t_ms: Option<f64>,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        if let Some(thought) =
            fields::string(data, "reasoningText")?.filter(|text| !text.is_empty())
        {
            self.session.run.act(Body::Reasoning(thought), t_ms);
        }
        let text = fields::string(data, "content")?.unwrap_or_default();
        self.session.run.add_answer(text, t_ms, out);
        for request in fields::list(data, "toolRequests")?.unwrap_or_default() {
            let mut request = fields::as_object("toolRequests[]", request)?;
            let id = fields::label(&mut request, "toolCallId");
            self.asked.extend(id.clone());
            let body = call(id, &mut request, "name")?;
            self.session.run.act(body, t_ms);
            fields::any(&mut request, "type");
            out.losses.rest("data.toolRequests[]", &request);
        }
        if let Some(wrote) = fields::count(data, "outputTokens")? {
            self.session.run.add_usage(Usage {
                wrote: Some(wrote),
                ..Usage::default()
            });
        }
        fields::away(data, "messageId reasoningOpaque encryptedContent");
        Ok(())
    }

    /// Begins a tool. It is a call of its own if no message requested it.
    fn begin_tool(&mut self, data: &mut Object, t_ms: Option<f64>) -> Result<(), WireFault> {
        let id = fields::label(data, "toolCallId");
        if id.as_ref().is_some_and(|id| self.asked.remove(id)) {
            // The request has the same fields.
            fields::away(data, "toolName arguments");
            return Ok(());
        }
        let body = call(id, data, "toolName")?;
        self.session.run.act(body, t_ms);
        Ok(())
    }

    fn complete_tool(&mut self, data: &mut Object, t_ms: Option<f64>) -> Result<(), WireFault> {
        let success = fields::any(data, "success");
        let error = success.and_then(|success| Some(!success.as_bool()?));
        let content = |value: Option<Value>, names: [&str; 2]| match value {
            Some(Value::Object(mut object)) => {
                let found = names.into_iter().find_map(|name| object.remove(name));
                words(found)
            }
            other => words(other),
        };
        let given = content(fields::any(data, "result"), ["content", "detailedContent"]);
        let failure = content(fields::any(data, "error"), ["message", "code"]);
        let body = Body::ToolResult {
            id: fields::label(data, "toolCallId"),
            content: if given.is_empty() { failure } else { given },
            error,
        };
        self.session.run.push(body, t_ms);
        fields::away(data, "model interactionId toolTelemetry");
        Ok(())
    }
}

fn call(id: Option<String>, object: &mut Object, name: &str) -> Result<Body, WireFault> {
    Ok(Body::ToolCall {
        id,
        name: fields::string(object, name)?
            .ok_or_else(|| fields::missing(name, "the name of a tool"))?,
        arguments: fields::any(object, "arguments").map_or(Value::Null, written),
    })
}
