//! Sessions of Claude Code: `~/.claude/projects/<project>/<session>.jsonl`, and what `claude -p
//! --output-format stream-json` prints. A line holds a piece of a message of Anthropic's API; pieces with
//! the same message id are one turn. A sub-agent's lines (`isSidechain`) are a transcript of their own.

use std::collections::HashMap;

use serde_json::Value;

use crate::import::conversation::Conversation;
use crate::import::cut::Record;
use crate::import::head::Certainty;
use crate::import::reader::{Foreign, Out, Reader, keep};
use crate::import::run::{Turn, Usage};
use crate::import::take::{self, Object};
use crate::import::time::{EventClock, millis};
use crate::think::split_think;
use crate::transcript::wire::WireFault;
use crate::{Body, Place};

pub(crate) const ENTRY: Foreign = Foreign {
    name: "claude-code",
    help: "sessions of Claude Code (.jsonl), and its stream-json output",
    knows: |head| Certainty::Certain.when(head.any(known)),
    shape: None,
    whole_folder: false,
    reader: || Box::<ClaudeCode>::default(),
};

fn known(object: &Object) -> bool {
    let kind = object.get("type").and_then(Value::as_str);
    let session = ["sessionId", "session_id"]
        .iter()
        .any(|name| object.contains_key(*name));
    let message = object.get("message").and_then(Value::as_object);
    // Qwen Code writes such lines with parts, Cursor without any id.
    let own = ["uuid", "parent_tool_use_id", "parentUuid"];
    let own = own.iter().any(|name| object.contains_key(*name));
    let said = message.is_some_and(|message| {
        !message.contains_key("parts") && (own || message.contains_key("id"))
    });
    let begins = object.get("subtype").and_then(Value::as_str) == Some("init");
    let begins = begins && (own || object.contains_key("tools"));
    let ended = kind == Some("result") && object.get("result").is_some_and(Value::is_string);
    let ended = ended
        && ["num_turns", "total_cost_usd"]
            .iter()
            .any(|name| object.contains_key(*name));
    session && (matches!(kind, Some("user" | "assistant")) && said || begins || ended)
}

/// The sessions of a file, in the order in which they begin.
#[derive(Default)]
struct ClaudeCode {
    sessions: Vec<Session>,
    numbers: HashMap<String, usize>,
}

/// One agent of one session.
struct Session {
    id: String,
    place: Place,
    run: Conversation,
    clock: EventClock,
    model: String,
    /// Why its last message ended.
    reason: Option<String>,
    /// How it ended as a whole.
    result: Option<String>,
    about: Object,
}

impl Reader for ClaudeCode {
    fn take(&mut self, record: Record, out: &mut Out) -> Result<(), WireFault> {
        let place = record.place.clone();
        let mut line = record.object()?;
        let kind = take::string(&mut line, "type")?
            .ok_or_else(|| take::missing("type", "a line of a session (user, assistant, …)"))?;
        let at = self.session(&mut line, place)?;
        let session = &mut self.sessions[at];
        match kind.as_str() {
            "user" | "assistant" => session.message(&mut line, out)?,
            "system" => session.system(&mut line, out)?,
            "result" => session.ended(&mut line, out)?,
            other => {
                out.pass(&format!("[] ({other})"));
                return Ok(());
            }
        }
        for other in [
            "uuid",
            "parentUuid",
            "userType",
            "requestId",
            "toolUseResult",
            "slug",
        ] {
            if take::any(&mut line, other).is_some() && other == "toolUseResult" {
                // The result of the message once more, in parts.
                out.losses.add(other);
            }
        }
        out.losses.rest("[]", &line);
        Ok(())
    }

    fn end(&mut self, out: &mut Out) {
        // What only names a session, as its summary does, is none.
        let sessions = self.sessions.drain(..);
        for session in sessions.filter(|session| !session.run.events.is_empty()) {
            let mut run = session.run;
            run.finish(session.result.or(session.reason));
            let mut entry = run.entry(session.place);
            entry.transcript.id = if session.id.is_empty() {
                out.stem().to_owned()
            } else {
                session.id
            };
            entry.transcript.model = session.model;
            entry.transcript.meta.extend(session.about);
            out.emit(entry);
        }
    }
}

impl ClaudeCode {
    /// Which session a line is of.
    fn session(&mut self, line: &mut Object, place: Place) -> Result<usize, WireFault> {
        let named = ["sessionId", "session_id"].map(|name| take::label(line, name));
        let session = named.into_iter().flatten().next().unwrap_or_default();
        let side = take::any(line, "isSidechain") == Some(Value::Bool(true));
        let parent = take::label(line, "parent_tool_use_id");
        let agent = take::label(line, "agentId").filter(|_| side).or(parent);
        let id = match (agent, side) {
            (Some(agent), _) => format!("{session}/{agent}"),
            (None, true) => format!("{session}/sidechain"),
            (None, false) => session,
        };
        if let Some(at) = self.numbers.get(&id) {
            return Ok(*at);
        }
        self.numbers.insert(id.clone(), self.sessions.len());
        self.sessions.push(Session {
            id,
            place,
            run: Conversation::default(),
            clock: EventClock::default(),
            model: String::new(),
            reason: None,
            result: None,
            about: Object::new(),
        });
        Ok(self.sessions.len() - 1)
    }
}

impl Session {
    fn message(&mut self, line: &mut Object, out: &mut Out) -> Result<(), WireFault> {
        let stamp = take::any(line, "timestamp").as_ref().and_then(millis);
        let t_ms = self.clock.since(stamp);
        for (name, kept) in [
            ("cwd", "cwd"),
            ("gitBranch", "branch"),
            ("version", "version"),
        ] {
            let value = take::any(line, name);
            if !self.about.contains_key(kept) {
                keep(&mut self.about, kept, value);
            }
        }
        let message = take::object(line, "message")?;
        let mut message = message.ok_or_else(|| take::missing("message", "a message"))?;
        let flags = ["isMeta", "isCompactSummary"];
        let flags = flags.map(|flag| take::any(line, flag) == Some(Value::Bool(true)));
        // What the program itself tells the model, and what stands for what was cut away.
        if flags.contains(&true) && message.get("role").and_then(Value::as_str) == Some("user") {
            message.insert("role".to_owned(), "system".into());
        }
        if message.get("role").and_then(Value::as_str) == Some("assistant") {
            self.announce(&mut message, t_ms)?;
        }
        let think = out.options.think.clone();
        self.run
            .message(message, "[].message", t_ms, think, &mut out.losses)
    }

    /// The turn that a piece of a message is of.
    fn announce(&mut self, message: &mut Object, t_ms: Option<f64>) -> Result<(), WireFault> {
        let model = take::string(message, "model")?;
        // Messages that the program made itself name no model.
        if let Some(model) = model.filter(|model| !model.starts_with('<')) {
            self.model = model;
        }
        let mut usage = take::object(message, "usage")?.unwrap_or_default();
        self.reason = take::string(message, "stop_reason")?.or(self.reason.take());
        self.run.announce(Turn {
            response: take::string(message, "id")?,
            usage: Usage::taken(&mut usage),
            t_ms,
            ..Turn::default()
        });
        for other in ["type", "stop_sequence"] {
            take::any(message, other);
        }
        Ok(())
    }

    fn system(&mut self, line: &mut Object, out: &mut Out) -> Result<(), WireFault> {
        if let Some(model) = take::string(line, "model")? {
            self.model = model;
        }
        let subtype = take::string(line, "subtype")?.unwrap_or_default();
        if subtype != "init" {
            out.losses.add(&format!("[] (system {subtype})"));
            line.clear();
        }
        Ok(())
    }

    /// The last line of stream-json.
    fn ended(&mut self, line: &mut Object, out: &Out) -> Result<(), WireFault> {
        let subtype = take::string(line, "subtype")?.unwrap_or_default();
        self.result = Some(match subtype.as_str() {
            "success" => "stop".to_owned(),
            "error_max_turns" | "error_max_budget_usd" => "limit".to_owned(),
            _ => "error".to_owned(),
        });
        keep(
            &mut self.about,
            "cost_usd",
            take::any(line, "total_cost_usd"),
        );
        // The last message once more; with `--output-format json` it is all that there is.
        let last = take::string(line, "result")?.unwrap_or_default();
        let mut events = self.run.events.iter();
        if !events.any(|event| matches!(event.body, Body::Answer(_))) {
            for (side, text) in split_think(&last, out.options.think.clone()) {
                self.run.act(side.body(text), None);
            }
        }
        Ok(())
    }
}
