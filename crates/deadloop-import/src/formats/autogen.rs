//! Conversations of AutoGen. Each message of an agent is a turn.
//!
//! A file has messages of AgentChat (`{type: TextMessage, source, …}`, one per line, as a list, or as the `messages` of
//! a task's result), or the `chat_history` of releases before 0.4.

use serde_json::Value;

use crate::reader::{Output, known_entry};
use crate::sessions::conversation::take_call;
use crate::sessions::run_session::{RunReader, RunSession};
use crate::sessions::spans::to_text;
use crate::sessions::turn::{TurnData, Usage};
use deadloop_corpus::{Body, tool_result};
use deadloop_stream::fields::{Object, ReadFields, as_object, missing_field, wrong_type};
use deadloop_stream::wire::WireResult;

known_entry! { AutoGen = is_autogen, "autogen", "messages of AutoGen AgentChat, and chat_history of AutoGen 0.2"; }

fn is_autogen(object: &Object) -> bool {
    let message = |object: &Object| {
        let kind = object.get_str("type");
        let named = kind.ends_with("Message") || kind.ends_with("Event");
        named
            && object.get("source").is_some_and(Value::is_string)
            && object.contains_key("content")
    };
    let all = object.get("messages").and_then(Value::as_array);
    let inside =
        all.is_some_and(|all| all.iter().take(4).filter_map(Value::as_object).any(message));
    message(object) || inside || object.get("chat_history").is_some_and(Value::is_array)
}

/// A reader of the conversation in a file.
#[derive(Default)]
struct AutoGen {
    session: RunSession,
    /// Agent that spoke last.
    speaker: Option<String>,
}

impl RunReader for AutoGen {
    const RECORD_PATH: &str = "";

    fn session(&mut self) -> &mut RunSession {
        &mut self.session
    }

    fn add_record(&mut self, object: &mut Object, out: &mut Output) -> WireResult {
        if let Some(history) = object.take_list("chat_history")? {
            for message in history {
                let message = as_object("chat_history[]", message)?;
                self.add_old_message(message, out)?;
            }
            object.remove_fields("chat_id summary cost human_input");
        } else if let Some(messages) = object.take_list("messages")? {
            for message in messages {
                let message = as_object("messages[]", message)?;
                self.add_message(message, out)?;
            }
            let reason = object.take_string("stop_reason")?;
            self.session.reason = reason.map(|reason| map_reason(&reason));
        } else {
            self.add_message(std::mem::take(object), out)?;
        }
        Ok(())
    }
}

impl AutoGen {
    fn add_message(&mut self, mut message: Object, out: &mut Output) -> WireResult {
        let kind = message
            .take_string("type")?
            .ok_or_else(|| missing_field("type", "a message of AgentChat"))?;
        let source = message.take_string("source")?.unwrap_or_default();
        let stamp = message.take("created_at");
        let t_ms = self.session.clock.at(stamp.as_ref());
        let usage = message.take_object("models_usage")?;
        let usage = Usage::take_from(&mut usage.unwrap_or_default());
        let content = message.take("content");
        match kind.as_str() {
            "ToolCallExecutionEvent" => self.add_results(content, t_ms)?,
            // The message repeats the results as text.
            "ToolCallSummaryMessage" => out.losses.add("[] (ToolCallSummaryMessage)"),
            "TextMessage" | "MultiModalMessage" | "StopMessage" if source == "user" => {
                self.speaker = None;
                self.session.run.add_user(to_text(content), t_ms);
            }
            "TextMessage" | "MultiModalMessage" | "StopMessage" | "StructuredMessage" => {
                self.begin_agent_turn(&source, usage, t_ms);
                self.session.run.push(Body::Answer(to_text(content)), t_ms);
            }
            "ThoughtEvent" => {
                self.begin_agent_turn(&source, usage, t_ms);
                self.session
                    .run
                    .push(Body::Reasoning(to_text(content)), t_ms);
            }
            "ToolCallRequestEvent" => {
                self.begin_agent_turn(&source, usage, t_ms);
                for call in as_list(content)? {
                    let mut call = as_object("content[]", call)?;
                    let body = take_call(&mut call)?;
                    self.session.run.push(body, t_ms);
                }
            }
            "HandoffMessage" => {
                let to = message.take_string("target")?.unwrap_or_default();
                self.session
                    .run
                    .push(Body::Handoff { from: source, to }, t_ms);
            }
            other => out.losses.add(&format!("[] ({other})")),
        }
        message.remove_fields("id metadata context");
        out.losses.add_fields("[]", &message);
        Ok(())
    }

    /// Begins a turn of an agent, or continues the turn if it has only reasoning so far.
    fn begin_agent_turn(&mut self, source: &str, usage: Usage, t_ms: Option<f64>) {
        let same = self.speaker.as_deref() == Some(source);
        if same && self.session.run.has_only_thinking() {
            self.session.run.add_usage(usage);
            return;
        }
        self.speaker = Some(source.to_owned());
        self.session.run.begin_turn(TurnData {
            agent: Some(source.to_owned()),
            usage,
            t_ms,
            ..TurnData::default()
        });
    }

    fn add_results(&mut self, content: Option<Value>, t_ms: Option<f64>) -> WireResult {
        for result in as_list(content)? {
            let mut result = as_object("content[]", result)?;
            let id = result.take_label("call_id");
            let content = to_text(result.take("content"));
            let error = result.take("is_error");
            let error = error.and_then(|error| error.as_bool());
            self.session.run.push(tool_result(id, content, error), t_ms);
        }
        Ok(())
    }

    /// Adds a message of a release before 0.4. The first message is the task, whatever its sender.
    fn add_old_message(&mut self, mut message: Object, out: &mut Output) -> WireResult {
        let name = message.take_string("name")?;
        for result in message.take_list("tool_responses")?.unwrap_or_default() {
            let result = as_object("tool_responses[]", result)?;
            self.add_api_message(result, out)?;
            // The content is all results, joined.
            message.take("content");
        }
        let first = self.session.run.events.is_empty();
        let role = match message.get("role").and_then(Value::as_str) {
            Some("system") => "system",
            _ if first => "user",
            _ => "assistant",
        };
        let has = |name: &&str| message.get(*name).is_some_and(|value| !value.is_null());
        let mut contents = ["content", "tool_calls", "function_call"].iter();
        if role == "assistant" && !contents.any(has) {
            return Ok(());
        }
        message.insert("role".to_owned(), role.into());
        if let Some(name) = name.filter(|_| role == "assistant") {
            message.insert("agent".to_owned(), name.into());
        }
        self.add_api_message(message, out)
    }

    fn add_api_message(&mut self, message: Object, out: &mut Output) -> WireResult {
        let run = &mut self.session.run;
        run.add_message(message, "chat_history[]", None, out)
    }
}

fn as_list(content: Option<Value>) -> WireResult<Vec<Value>> {
    match content {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items),
        Some(other) => Err(wrong_type("content", &other, "a list of calls or results")),
    }
}

/// Returns the normalized finish reason for the end of a task.
fn map_reason(reason: &str) -> String {
    let limit = reason.contains("Maximum") || reason.contains("maximum");
    if limit { "limit" } else { "stop" }.to_owned()
}
