//! Rollouts of Codex (`~/.codex/sessions/<year>/<month>/<day>/rollout-*.jsonl`).
//!
//! A line is `{timestamp, type, payload}` with an item of OpenAI's Responses API as payload. Older files hold bare
//! items. Events (`event_msg`) repeat the items; only their tokens and the end of a task are read.

use serde_json::Value;

use crate::reader::{Intake, keep, keep_field, known_entry};
use crate::sessions::conversation::written;
use crate::sessions::run_session::{RunReader, RunSession};
use crate::sessions::spans::words;
use crate::sessions::turn::Usage;
use crate::source::records;
use deadloop_corpus::Body;
use deadloop_stream::fields::{self, Object};
use deadloop_stream::wire::WireFault;

known_entry! { Codex = is_codex, "codex", "rollouts of Codex: rollout-*.jsonl"; }

fn is_codex(object: &Object) -> bool {
    let kind = object.get("type").and_then(Value::as_str);
    let line = matches!(
        kind,
        Some("session_meta" | "response_item" | "event_msg" | "turn_context")
    );
    let bare = object.get("record_type").is_some_and(Value::is_string);
    line && object.get("payload").is_some_and(Value::is_object) || bare
}

/// The only session of a file.
#[derive(Default)]
struct Codex {
    session: RunSession,
}

impl RunReader for Codex {
    fn session(&mut self) -> &mut RunSession {
        &mut self.session
    }

    fn record(&mut self, line: &mut Object, out: &mut Intake) -> Result<(), WireFault> {
        let fields = fields::several(line, ["timestamp", "record_type", "payload", "type"]);
        let [stamp, state, payload, kind] = fields;
        let t_ms = self.session.clock.at(stamp.as_ref());
        if state.is_some() {
            out.losses.add("[] (state)");
            return Ok(());
        }
        let (kind, mut payload) = match payload {
            Some(payload) => {
                let payload = fields::as_object("payload", payload)?;
                (fields::text("type", kind)?.unwrap_or_default(), payload)
            }
            // Older files have a bare item, or the head of the file, which has no type.
            None => {
                let item = kind.as_ref().is_some_and(Value::is_string);
                let name = if item {
                    "response_item"
                } else {
                    "session_meta"
                };
                if let Some(kind) = kind {
                    line.insert("type".to_owned(), kind);
                }
                (name.to_owned(), std::mem::take(line))
            }
        };
        match kind.as_str() {
            "session_meta" => self.head(&mut payload, t_ms)?,
            "turn_context" => {
                self.session.model =
                    fields::string(&mut payload, "model")?.or(self.session.model.take())
            }
            "response_item" => self.item(&mut payload, t_ms, out)?,
            "event_msg" => self.event(&mut payload, out)?,
            other => {
                out.losses.add(&format!("[] ({other})"));
                payload.clear();
            }
        }
        out.losses.rest("payload", &payload);
        Ok(())
    }
}

impl Codex {
    fn head(&mut self, head: &mut Object, t_ms: Option<f64>) -> Result<(), WireFault> {
        self.session.id = fields::label(head, "id").or(self.session.id.take());
        keep(&mut self.session.about, "cwd", fields::any(head, "cwd"));
        keep_field(&mut self.session.about, "version", head, "cli_version");
        for name in ["base_instructions", "instructions"] {
            let prompt = match fields::any(head, name) {
                Some(Value::Object(mut prompt)) => prompt.remove("text"),
                other => other,
            };
            self.session.run.system(&words(prompt), t_ms);
        }
        // The time and the environment of the begin.
        fields::away(head, "timestamp originator source model_provider git");
        Ok(())
    }

    fn item(
        &mut self,
        item: &mut Object,
        t_ms: Option<f64>,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        let kind = fields::string(item, "type")?
            .ok_or_else(|| fields::missing("type", "an item of a response"))?;
        let call = fields::label(item, "call_id");
        match kind.as_str() {
            "message" => self.message(item, t_ms, out)?,
            "reasoning" => {
                let texts = ["summary", "content"].map(|name| words(fields::any(item, name)));
                for text in texts.into_iter().filter(|text| !text.is_empty()) {
                    self.session.run.act(Body::Reasoning(text), t_ms);
                }
                // Encrypted content is no text.
                fields::any(item, "encrypted_content");
            }
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                let name =
                    fields::string(item, "name")?.unwrap_or_else(|| "local_shell".to_owned());
                let arguments = ["arguments", "input", "action"];
                let arguments = arguments
                    .into_iter()
                    .find_map(|name| fields::any(item, name));
                let body = Body::ToolCall {
                    id: call.or_else(|| fields::label(item, "id")),
                    name,
                    arguments: arguments.map_or(Value::Null, written),
                };
                self.session.run.act(body, t_ms);
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                let output = fields::any(item, "output");
                let (content, error) = output.map_or((String::new(), None), result);
                self.session.run.push(
                    Body::ToolResult {
                        id: call,
                        content,
                        error,
                    },
                    t_ms,
                );
            }
            other => {
                out.losses.add(&format!("payload ({other})"));
                item.clear();
            }
        }
        fields::away(item, "id status");
        Ok(())
    }

    fn message(
        &mut self,
        item: &mut Object,
        t_ms: Option<f64>,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        let role = fields::get(item, "role").and_then(Value::as_str);
        let asked = (role == Some("user")).then(|| words(item.get("content").cloned()));
        match (role, asked) {
            (Some("assistant"), _) => {
                fields::any(item, "role");
                let text = words(fields::any(item, "content"));
                self.session.run.add_answer(text, t_ms, out);
                Ok(())
            }
            (_, Some(text)) if is_context(&text) => {
                self.session.run.system(&text, t_ms);
                item.clear();
                Ok(())
            }
            _ => {
                let message = std::mem::take(item);
                self.session.run.message(message, "payload", t_ms, out)
            }
        }
    }

    fn event(&mut self, event: &mut Object, out: &mut Intake) -> Result<(), WireFault> {
        let kind = fields::string(event, "type")?.unwrap_or_default();
        match kind.as_str() {
            "token_count" => {
                let info = fields::object(event, "info")?.unwrap_or_default();
                if let Some(Value::Object(last)) = info.get("last_token_usage") {
                    self.session.run.add_usage(Usage::take(&mut last.clone()));
                }
                fields::any(event, "rate_limits");
            }
            "task_started" | "turn_started" => self.session.reason = None,
            "task_complete" | "turn_complete" => self.session.reason = Some("stop".to_owned()),
            "turn_aborted" => self.session.reason = Some("aborted".to_owned()),
            "error" | "stream_error" => self.session.reason = Some("error".to_owned()),
            other => out.losses.add(&format!("payload (event {other})")),
        }
        event.clear();
        Ok(())
    }
}

/// Returns whether a user message is Codex's description of the environment.
fn is_context(text: &str) -> bool {
    const BEGIN: [&str; 4] = [
        "<environment_context>",
        "<user_instructions>",
        "<permissions",
        "# AGENTS.md instructions",
    ];
    let text = text.trim_start();
    BEGIN.iter().any(|begin| text.starts_with(begin))
}

/// Returns the output of a tool and whether the tool failed. The return code is in JSON text, or named in the text.
fn result(output: Value) -> (String, Option<bool>) {
    let flag = output
        .get("success")
        .and_then(Value::as_bool)
        .map(|success| !success);
    let text = match output {
        Value::Object(mut output) if output.contains_key("content") => {
            words(output.remove("content"))
        }
        other => words(Some(other)),
    };
    let code = |text: &str| {
        let json = records::parse_nested(text).ok()?;
        json.get("metadata")?.get("exit_code")?.as_i64()
    };
    let named = |text: &str| {
        let line = text.lines().take(4).find_map(|line| {
            let rest = line.strip_prefix("Exit code: ");
            rest.or_else(|| line.strip_prefix("Process exited with code "))
        });
        line?.trim().parse::<i64>().ok()
    };
    let whole = text.starts_with('{').then(|| code(&text)).flatten();
    let code = whole.or_else(|| named(&text));
    (text, flag.or(code.map(|code| code != 0)))
}
