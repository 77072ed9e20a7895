//! Sessions of opencode, from `opencode export` or from its database.
//!
//! OpenCode 1.2 to 1.18, `~/.local/share/opencode/opencode.db`: a session's messages and their parts as JSON.
//!
//! An export is `{"info": …, "messages": [{"info", "parts"}]}`. A row of the database is a message of a session. A
//! message of the model may hold several steps, and each step is a turn.

use serde_json::Value;

use crate::reader::{Out, Reader, keep_field, known_entry};
use crate::sessions::run::Session;
use crate::sessions::spans::words;
use crate::sessions::turn::{Turn, Usage, more};
use crate::source::cut::Record;
use deadloop_corpus::{Body, Place};
use deadloop_stream::take::{self, Object};
use deadloop_stream::wire::WireFault;

known_entry! { OpenCode = known, "opencode", "sessions of opencode, as `opencode export` writes them; its database (opencode.db)"; }

fn known(object: &Object) -> bool {
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

impl Reader for OpenCode {
    fn take(&mut self, record: Record, out: &mut Out) -> Result<(), WireFault> {
        let (place, mut object) = record.placed()?;
        if let Some(id) = object.get("session").cloned() {
            return self.row(id, object, place, out);
        }
        let mut told = SessionRecord::default();
        told.session.at(place);
        let messages = take::need_list(&mut object, "messages", "a list of messages")?;
        for message in messages {
            let message = take::as_object("messages[]", message)?;
            told.message(message, out)?;
        }
        told.info = take::object(&mut object, "info")?.unwrap_or_default();
        out.losses.rest("", &object);
        told.whole(out);
        Ok(())
    }

    fn end(&mut self, out: &mut Out) {
        if let Some(told) = self.open.take() {
            told.whole(out);
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
        out: &mut Out,
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
    session: Session,
    info: Object,
}

impl SessionRecord {
    /// Emits the session.
    fn whole(mut self, out: &mut Out) {
        self.session.id = take::label(&mut self.info, "id");
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

    fn message(&mut self, mut message: Object, out: &mut Out) -> Result<(), WireFault> {
        let mut info = take::object(&mut message, "info")?.unwrap_or_default();
        let role = take::string(&mut info, "role")?
            .ok_or_else(|| take::missing("role", "user or assistant"))?;
        let time = take::object(&mut info, "time")?.unwrap_or_default();
        let t_ms = self.session.clock.at(time.get("created"));
        let agent = take::string(&mut info, "agent")?.or(take::string(&mut info, "mode")?);
        if let Some(model) = take::string(&mut info, "modelID")? {
            self.session.model = Some(model);
        }
        let parts = take::list(&mut message, "parts")?.unwrap_or_default();
        if role != "assistant" {
            self.add_user_message(parts, t_ms, out)?;
        } else {
            for prompt in take::list(&mut info, "system")?.unwrap_or_default() {
                self.session.run.system(&words(Some(prompt)), t_ms);
            }
            for part in parts {
                let part = take::as_object("parts[]", part)?;
                self.part(part, (agent.as_deref(), t_ms), out)?;
            }
            self.session.reason = match take::any(&mut info, "error") {
                Some(error)
                    if error.get("name").and_then(Value::as_str) == Some("MessageAbortedError") =>
                {
                    Some("aborted".to_owned())
                }
                Some(_) => Some("error".to_owned()),
                None => take::string(&mut info, "finish")?,
            };
        }
        // Sums over the steps, and the place of the work.
        take::away(
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
        out: &mut Out,
    ) -> Result<(), WireFault> {
        for part in parts {
            let mut part = take::as_object("parts[]", part)?;
            let made = take::any(&mut part, "synthetic") == Some(Value::Bool(true));
            match take::string(&mut part, "text")? {
                Some(text) if made => self.session.run.system(&text, t_ms),
                Some(text) => self.session.run.user(text, t_ms),
                None => {
                    let kind = take::string(&mut part, "type")?.unwrap_or_default();
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
        out: &mut Out,
    ) -> Result<(), WireFault> {
        let time = take::object(&mut part, "time")?.unwrap_or_default();
        let own = self.session.clock.at(time.get("start")).or(t_ms);
        let kind = take::string(&mut part, "type")?.unwrap_or_default();
        match kind.as_str() {
            "step-start" => self.session.run.turn(Turn {
                agent: agent.map(str::to_owned),
                t_ms,
                ..Turn::default()
            }),
            "step-finish" => {
                let tokens = take::object(&mut part, "tokens")?.unwrap_or_default();
                self.session.run.used(usage(&tokens));
                take::away(&mut part, "cost reason");
            }
            "reasoning" => {
                let text = take::string(&mut part, "text")?.unwrap_or_default();
                self.session.run.act(Body::Reasoning(text), own);
            }
            "text" => {
                let text = take::string(&mut part, "text")?.unwrap_or_default();
                self.session.run.add_answer(text, own, out);
            }
            "tool" => self.tool(&mut part, t_ms)?,
            other => {
                out.losses.add(&format!("messages[].parts[] ({other})"));
                return Ok(());
            }
        }
        take::away(
            &mut part,
            "id sessionID messageID snapshot synthetic metadata",
        );
        out.losses.rest("messages[].parts[]", &part);
        Ok(())
    }

    /// Adds a call, and its result if it has one.
    fn tool(&mut self, part: &mut Object, t_ms: Option<f64>) -> Result<(), WireFault> {
        let id = take::label(part, "callID");
        let name = take::string(part, "tool")?;
        let mut state = take::object(part, "state")?.unwrap_or_default();
        let time = take::object(&mut state, "time")?.unwrap_or_default();
        let mut at = |name: &str| self.session.clock.at(time.get(name)).or(t_ms);
        let (began, ended) = (at("start"), at("end"));
        let call = Body::ToolCall {
            id: id.clone(),
            name: name.ok_or_else(|| take::missing("tool", "the name of a tool"))?,
            arguments: take::any(&mut state, "input").unwrap_or_default(),
        };
        self.session.run.act(call, began);
        let status = take::string(&mut state, "status")?.unwrap_or_default();
        let (content, error) = match status.as_str() {
            "completed" => (take::any(&mut state, "output"), false),
            "error" => (take::any(&mut state, "error"), true),
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
    let with_cache = |input| more(more(input, cached), count("/cache/write"));
    Usage {
        sent: count("/input").map(with_cache),
        wrote: count("/output").map(|output| more(output, count("/reasoning"))),
        cached,
    }
}
