//! Sessions of opencode, from `opencode export` or from its database.
//!
//! OpenCode 1.2 to 1.18, `~/.local/share/opencode/opencode.db`: a session's messages and their parts as JSON.
//!
//! An export is `{"info": …, "messages": [{"info", "parts"}]}`. A row of the database is a message of a session. A
//! message of the model may hold several steps, and each step is a turn.

use serde_json::Value;

use crate::reader::{Intake, RecordReader, keep_field, known_entry};
use crate::sessions::run_session::RunSession;
use crate::sessions::spans::words;
use crate::sessions::turn::{TurnData, Usage, add_separate};
use crate::source::records::SourceRecord;
use deadloop_corpus::{Body, Place};
use deadloop_stream::fields::{self, Object};
use deadloop_stream::wire::WireFault;

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

/// The session of a database whose rows are being read.
#[derive(Default)]
struct OpenCode {
    open: Option<SessionRecord>,
}

impl RecordReader for OpenCode {
    fn take(&mut self, record: SourceRecord, out: &mut Intake) -> Result<(), WireFault> {
        let (place, mut object) = record.into_place_and_object()?;
        if let Some(id) = object.get("session").cloned() {
            return self.row(id, object, place, out);
        }
        let mut told = SessionRecord::default();
        told.session.at(place);
        let messages = fields::need_list(&mut object, "messages", "a list of messages")?;
        for message in messages {
            let message = fields::as_object("messages[]", message)?;
            told.message(message, out)?;
        }
        told.info = fields::object(&mut object, "info")?.unwrap_or_default();
        out.losses.rest("", &object);
        told.emit_session(out);
        Ok(())
    }

    fn end(&mut self, out: &mut Intake) {
        if let Some(told) = self.open.take() {
            told.emit_session(out);
        }
    }
}

impl OpenCode {
    /// Adds a message to the open session, or begins the next one.
    fn row(
        &mut self,
        id: Value,
        mut row: Object,
        place: Place,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        let same = self
            .open
            .as_ref()
            .is_some_and(|told| told.info.get("id") == Some(&id));
        if !same {
            self.end(out);
        }
        if !row.contains_key("info") {
            out.pass("(a session without messages)");
            return Ok(());
        }
        let told = self.open.get_or_insert_default();
        told.session.at(place);
        for (theirs, ours) in [
            ("session", "id"),
            ("title", "title"),
            ("version", "version"),
            ("directory", "directory"),
        ] {
            keep_field(&mut told.info, ours, &mut row, theirs);
        }
        told.message(row, out)
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
    fn emit_session(mut self, out: &mut Intake) {
        self.session.id = fields::label(&mut self.info, "id");
        for (theirs, ours) in [
            ("title", "title"),
            ("version", "version"),
            ("directory", "cwd"),
        ] {
            keep_field(&mut self.session.about, ours, &mut self.info, theirs);
        }
        out.losses.rest("info", &self.info);
        self.session.end(out);
    }

    fn message(&mut self, mut message: Object, out: &mut Intake) -> Result<(), WireFault> {
        let mut info = fields::object(&mut message, "info")?.unwrap_or_default();
        let role = fields::string(&mut info, "role")?
            .ok_or_else(|| fields::missing("role", "user or assistant"))?;
        let time = fields::object(&mut info, "time")?.unwrap_or_default();
        let t_ms = self.session.clock.at(time.get("created"));
        let agent = fields::string(&mut info, "agent")?.or(fields::string(&mut info, "mode")?);
        if let Some(model) = fields::string(&mut info, "modelID")? {
            self.session.model = Some(model);
        }
        let parts = fields::list(&mut message, "parts")?.unwrap_or_default();
        if role != "assistant" {
            self.add_user_message(parts, t_ms, out)?;
        } else {
            for prompt in fields::list(&mut info, "system")?.unwrap_or_default() {
                self.session.run.system(&words(Some(prompt)), t_ms);
            }
            for part in parts {
                let part = fields::as_object("parts[]", part)?;
                self.part(part, (agent.as_deref(), t_ms), out)?;
            }
            self.session.reason = match fields::any(&mut info, "error") {
                Some(error)
                    if error.get("name").and_then(Value::as_str) == Some("MessageAbortedError") =>
                {
                    Some("aborted".to_owned())
                }
                Some(_) => Some("error".to_owned()),
                None => fields::string(&mut info, "finish")?,
            };
        }
        // Sums over the steps, and the place of the work.
        fields::away(
            &mut info,
            "id sessionID parentID providerID model tokens cost path",
        );
        out.losses.rest("messages[].info", &info);
        out.losses.rest("messages[]", &message);
        Ok(())
    }

    /// Adds a user message. Text that opencode itself adds is marked as synthetic.
    fn add_user_message(
        &mut self,
        parts: Vec<Value>,
        t_ms: Option<f64>,
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        for part in parts {
            let mut part = fields::as_object("parts[]", part)?;
            let made = fields::any(&mut part, "synthetic") == Some(Value::Bool(true));
            match fields::string(&mut part, "text")? {
                Some(text) if made => self.session.run.system(&text, t_ms),
                Some(text) => self.session.run.user(text, t_ms),
                None => {
                    let kind = fields::string(&mut part, "type")?.unwrap_or_default();
                    out.losses.add(&format!("messages[].parts[] ({kind})"));
                }
            }
        }
        Ok(())
    }

    fn part(
        &mut self,
        mut part: Object,
        (agent, t_ms): (Option<&str>, Option<f64>),
        out: &mut Intake,
    ) -> Result<(), WireFault> {
        let time = fields::object(&mut part, "time")?.unwrap_or_default();
        let own = self.session.clock.at(time.get("start")).or(t_ms);
        let kind = fields::string(&mut part, "type")?.unwrap_or_default();
        match kind.as_str() {
            "step-start" => self.session.run.turn(TurnData {
                agent: agent.map(str::to_owned),
                t_ms,
                ..TurnData::default()
            }),
            "step-finish" => {
                let tokens = fields::object(&mut part, "tokens")?.unwrap_or_default();
                self.session.run.add_usage(usage(&tokens));
                fields::away(&mut part, "cost reason");
            }
            "reasoning" => {
                let text = fields::string(&mut part, "text")?.unwrap_or_default();
                self.session.run.act(Body::Reasoning(text), own);
            }
            "text" => {
                let text = fields::string(&mut part, "text")?.unwrap_or_default();
                self.session.run.add_answer(text, own, out);
            }
            "tool" => self.tool(&mut part, t_ms)?,
            other => {
                out.losses.add(&format!("messages[].parts[] ({other})"));
                return Ok(());
            }
        }
        fields::away(
            &mut part,
            "id sessionID messageID snapshot synthetic metadata",
        );
        out.losses.rest("messages[].parts[]", &part);
        Ok(())
    }

    /// Adds a call, and its result if it has one.
    fn tool(&mut self, part: &mut Object, t_ms: Option<f64>) -> Result<(), WireFault> {
        let id = fields::label(part, "callID");
        let name = fields::string(part, "tool")?;
        let mut state = fields::object(part, "state")?.unwrap_or_default();
        let time = fields::object(&mut state, "time")?.unwrap_or_default();
        let mut at = |name: &str| self.session.clock.at(time.get(name)).or(t_ms);
        let (began, ended) = (at("start"), at("end"));
        let call = Body::ToolCall {
            id: id.clone(),
            name: name.ok_or_else(|| fields::missing("tool", "the name of a tool"))?,
            arguments: fields::any(&mut state, "input").unwrap_or_default(),
        };
        self.session.run.act(call, began);
        let status = fields::string(&mut state, "status")?.unwrap_or_default();
        let (content, error) = match status.as_str() {
            "completed" => (fields::any(&mut state, "output"), false),
            "error" => (fields::any(&mut state, "error"), true),
            // The tool was interrupted, so the call stays open.
            _ => return Ok(()),
        };
        let body = Body::ToolResult {
            id,
            content: words(content),
            error: Some(error),
        };
        // A step goes on after the results of its calls.
        self.session
            .run
            .events
            .push(deadloop_corpus::RecordedEvent {
                t_ms: ended,
                ..deadloop_corpus::RecordedEvent::new(body)
            });
        Ok(())
    }
}

/// Returns the tokens of a step. Those of the cache are counted apart from the input.
fn usage(tokens: &Object) -> Usage {
    let count = |path: &str| {
        Value::Object(tokens.clone())
            .pointer(path)
            .and_then(Value::as_u64)
    };
    let cached = count("/cache/read");
    let with_cache = |input| add_separate(add_separate(input, cached), count("/cache/write"));
    Usage {
        sent: count("/input").map(with_cache),
        wrote: count("/output").map(|output| add_separate(output, count("/reasoning"))),
        cached,
    }
}
