//! Sessions of Claude Code: `~/.claude/projects/<project>/<session>.jsonl`, and what `claude -p
//! --output-format stream-json` prints. A line holds a piece of a message of Anthropic's API; pieces with
//! the same message id are one turn. A sub-agent's lines (`isSidechain`) are a transcript of their own.

use std::collections::HashMap;

use serde_json::Value;

use crate::import::conversation::Conversation;
use crate::import::cut::Record;
use crate::import::reader::{Out, Reader, keep, known_entry};
use crate::import::run::{Turn, Usage};
use crate::import::take::{self, Object};
use crate::import::time::{EventClock, millis};
use crate::think::split_think;
use crate::transcript::wire::WireFault;
use crate::{Body, Place};

known_entry! { ClaudeCode = known, "claude-code", "sessions of Claude Code (.jsonl), and its stream-json output"; }

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
        let own = [
            "toolUseResult",
            "uuid",
            "parentUuid",
            "userType",
            "requestId",
            "slug",
        ];
        let [result, ..] = take::several(&mut line, own);
        if result.is_some() {
            // The result of the message once more, in parts.
            out.losses.add("toolUseResult");
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
        let names = [
            "timestamp",
            "cwd",
            "gitBranch",
            "version",
            "message",
            "isMeta",
            "isCompactSummary",
        ];
        let fields = take::several(line, names);
        let [stamp, cwd, branch, version, message, meta, compact] = fields;
        let t_ms = self.clock.since(stamp.as_ref().and_then(millis));
        for (name, value) in [("cwd", cwd), ("branch", branch), ("version", version)] {
            if !self.about.contains_key(name) {
                keep(&mut self.about, name, value);
            }
        }
        let message = message.ok_or_else(|| take::missing("message", "a message"))?;
        let mut message = take::as_object("message", message)?;
        let flags = [meta, compact].map(|flag| flag == Some(Value::Bool(true)));
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
        let names = [
            "model",
            "usage",
            "stop_reason",
            "id",
            "type",
            "stop_sequence",
        ];
        let [model, usage, reason, id, ..] = take::several(message, names);
        let model = take::text("model", model)?;
        // Messages that the program made itself name no model.
        if let Some(model) = model.filter(|model| !model.starts_with('<')) {
            self.model = model;
        }
        let usage = usage.map(|usage| take::as_object("usage", usage));
        let mut usage = usage.transpose()?.unwrap_or_default();
        self.reason = take::text("stop_reason", reason)?.or(self.reason.take());
        self.run.announce(Turn {
            response: take::text("id", id)?,
            usage: Usage::taken(&mut usage),
            t_ms,
            ..Turn::default()
        });
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
