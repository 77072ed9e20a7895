//! Sessions of opencode, from `opencode export` or from its database.
//!
//! OpenCode 1.2 to 1.18, `~/.local/share/opencode/opencode.db`: a session's messages and their parts as JSON.
//!
//! An export is `{"info": …, "messages": [{"info", "parts"}]}`. A row of the database is a message of a session. Each
//! step of a message of the model is a turn.

use serde_json::Value;

use crate::reader::{Output, RecordReader, known_entry, move_field};
use crate::sessions::run_session::RunSession;
use crate::sessions::spans::to_text;
use crate::sessions::turn::{TurnData, Usage, add_separate};
use crate::source::records::SourceRecord;
use deadloop_corpus::{Body, Place, RecordedEvent, tool_call, tool_result};
use deadloop_stream::fields::{Object, ReadFields, as_object, missing_field};
use deadloop_stream::wire::WireResult;

known_entry! { OpenCode = is_opencode, "opencode", "sessions of opencode, as `opencode export` writes them; its database (opencode.db)"; }

fn is_opencode(object: &Object) -> bool {
    let message = |message: &Value| message.get("info").is_some() && message.get("parts").is_some();
    let messages = object.get("messages").and_then(Value::as_array);
    let first = messages.is_some_and(|messages| messages.iter().take(4).any(message));
    first
        || object
            .get("info")
            .is_some_and(|info| info.get("projectID").is_some())
}

/// A reader of sessions. `open` is the database session whose rows are being read.
#[derive(Default)]
struct OpenCode {
    open: Option<SessionRecord>,
}

impl RecordReader for OpenCode {
    fn take_record(&mut self, record: SourceRecord, out: &mut Output) -> WireResult {
        let (place, mut object) = record.into_place_and_object()?;
        if let Some(id) = object.get("session").cloned() {
            return self.add_row(id, object, place, out);
        }
        let mut record = SessionRecord::default();
        record.session.begin_at(place);
        let messages = object.require_list("messages", "a list of messages")?;
        for message in messages {
            let message = as_object("messages[]", message)?;
            record.add_message(message, out)?;
        }
        record.info = object.take_object("info")?.unwrap_or_default();
        out.losses.add_fields("", &object);
        record.emit_session(out);
        Ok(())
    }

    fn finish(&mut self, out: &mut Output) {
        if let Some(record) = self.open.take() {
            record.emit_session(out);
        }
    }
}

impl OpenCode {
    /// Adds a message to the open session, or to a new session if the id differs.
    fn add_row(
        &mut self,
        id: Value,
        mut row: Object,
        place: Place,
        out: &mut Output,
    ) -> WireResult {
        let open = self.open.as_ref();
        if open.is_none_or(|record| record.info.get("id") != Some(&id)) {
            self.finish(out);
        }
        if !row.contains_key("info") {
            out.skip_record("(a session without messages)");
            return Ok(());
        }
        let record = self.open.get_or_insert_default();
        record.session.begin_at(place);
        row.rename_fields(&[("session", "id")]);
        for name in ["id", "title", "version", "directory"] {
            move_field(&mut record.info, name, &mut row, name);
        }
        record.add_message(row, out)
    }
}

/// A session with its data.
#[derive(Default)]
struct SessionRecord {
    session: RunSession,
    info: Object,
}

impl SessionRecord {
    /// Emits the session.
    fn emit_session(mut self, out: &mut Output) {
        self.session.id = self.info.take_label("id");
        self.info.rename_fields(&[("directory", "cwd")]);
        for name in ["title", "version", "cwd"] {
            move_field(&mut self.session.metadata, name, &mut self.info, name);
        }
        out.losses.add_fields("info", &self.info);
        self.session.emit_single(out);
    }

    fn add_message(&mut self, mut message: Object, out: &mut Output) -> WireResult {
        let mut info = message.take_object("info")?.unwrap_or_default();
        let role = info
            .take_string("role")?
            .ok_or_else(|| missing_field("role", "user or assistant"))?;
        let time = info.take_object("time")?.unwrap_or_default();
        let t_ms = self.session.clock.at(time.get("created"));
        let agent = info.take_string("agent")?.or(info.take_string("mode")?);
        if let Some(model) = info.take_string("modelID")? {
            self.session.model = Some(model);
        }
        let parts = message.take_list("parts")?.unwrap_or_default();
        if role != "assistant" {
            self.add_user_message(parts, t_ms, out)?;
        } else {
            for prompt in info.take_list("system")?.unwrap_or_default() {
                self.session.run.add_system(&to_text(Some(prompt)), t_ms);
            }
            for part in parts {
                let part = as_object("parts[]", part)?;
                self.add_part(part, (agent.as_deref(), t_ms), out)?;
            }
            self.session.reason = match info.take("error") {
                Some(error) if error["name"] == "MessageAbortedError" => Some("aborted".to_owned()),
                Some(_) => Some("error".to_owned()),
                None => info.take_string("finish")?,
            };
        }
        // Sums over the steps, and the working folder.
        info.remove_fields("id sessionID parentID providerID model tokens cost path");
        out.losses.add_fields("messages[].info", &info);
        out.losses.add_fields("messages[]", &message);
        Ok(())
    }

    /// Adds a user message. Text that opencode itself adds (synthetic) becomes a system prompt.
    fn add_user_message(
        &mut self,
        parts: Vec<Value>,
        t_ms: Option<f64>,
        out: &mut Output,
    ) -> WireResult {
        for part in parts {
            let mut part = as_object("parts[]", part)?;
            let made = part.take("synthetic") == Some(Value::Bool(true));
            match part.take_string("text")? {
                Some(text) if made => self.session.run.add_system(&text, t_ms),
                Some(text) => self.session.run.add_user(text, t_ms),
                None => {
                    let kind = part.take_string("type")?.unwrap_or_default();
                    out.losses.add(&format!("messages[].parts[] ({kind})"));
                }
            }
        }
        Ok(())
    }

    fn add_part(
        &mut self,
        mut part: Object,
        (agent, t_ms): (Option<&str>, Option<f64>),
        out: &mut Output,
    ) -> WireResult {
        let time = part.take_object("time")?.unwrap_or_default();
        let own = self.session.clock.at(time.get("start")).or(t_ms);
        let kind = part.take_string("type")?.unwrap_or_default();
        match kind.as_str() {
            "step-start" => self.session.run.begin_turn(TurnData {
                agent: agent.map(str::to_owned),
                t_ms,
                ..TurnData::default()
            }),
            "step-finish" => {
                let tokens = part.take_object("tokens")?.unwrap_or_default();
                self.session.run.add_usage(read_usage(tokens));
                part.remove_fields("cost reason");
            }
            "reasoning" => {
                let text = part.take_string("text")?.unwrap_or_default();
                self.session.run.add_action(Body::Reasoning(text), own);
            }
            "text" => {
                let text = part.take_string("text")?.unwrap_or_default();
                self.session.run.add_answer(text, own, out);
            }
            "tool" => self.add_tool(&mut part, t_ms)?,
            other => {
                out.losses.add(&format!("messages[].parts[] ({other})"));
                return Ok(());
            }
        }
        part.remove_fields("id sessionID messageID snapshot synthetic metadata");
        out.losses.add_fields("messages[].parts[]", &part);
        Ok(())
    }

    /// Adds a tool call, and its result if present.
    fn add_tool(&mut self, part: &mut Object, t_ms: Option<f64>) -> WireResult {
        let id = part.take_label("callID");
        let name = part.take_string("tool")?;
        let mut state = part.take_object("state")?.unwrap_or_default();
        let time = state.take_object("time")?.unwrap_or_default();
        let mut at = |name: &str| self.session.clock.at(time.get(name)).or(t_ms);
        let (began, ended) = (at("start"), at("end"));
        let name = name.ok_or_else(|| missing_field("tool", "the name of a tool"))?;
        let arguments = state.take("input").unwrap_or_default();
        self.session
            .run
            .add_action(tool_call(id.clone(), name, arguments), began);
        let status = state.take_string("status")?.unwrap_or_default();
        let (content, error) = match status.as_str() {
            "completed" => (state.take("output"), false),
            "error" => (state.take("error"), true),
            // The tool was interrupted, so the call stays open.
            _ => return Ok(()),
        };
        let result = tool_result(id, to_text(content), Some(error));
        // A step continues after the results of its calls.
        let result = RecordedEvent::at(result, ended);
        self.session.run.events.push(result);
        Ok(())
    }
}

/// Reads the token counts of a step, whose input excludes cached tokens.
fn read_usage(tokens: Object) -> Usage {
    let tokens = Value::Object(tokens);
    let count = |path: &str| tokens.pointer(path)?.as_u64();
    let cached = count("/cache/read");
    let with_cache = |input| add_separate(add_separate(input, cached), count("/cache/write"));
    Usage {
        input: count("/input").map(with_cache),
        output: count("/output").map(|output| add_separate(output, count("/reasoning"))),
        cached,
    }
}
