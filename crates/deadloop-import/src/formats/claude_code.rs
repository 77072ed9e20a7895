//! Sessions of Claude Code (`~/.claude/projects/<project>/<session>.jsonl`).
//!
//! Also the output of `claude -p --output-format stream-json`. A line holds a piece of a message of Anthropic's API.
//! Pieces with the same message id are one turn. A sub-agent's lines (`isSidechain`) are a transcript of their own.

use std::collections::HashMap;

use serde_json::Value;

use crate::reader::{Intake, RecordReader, keep, keep_field, known_entry};
use crate::sessions::run_session::RunSession;
use crate::sessions::turn::{TurnData, Usage};
use crate::source::records::SourceRecord;
use deadloop_corpus::{Body, Place};
use deadloop_stream::fields::{self, Object};
use deadloop_stream::wire::WireFault;

known_entry! { ClaudeCode = is_claude_code, "claude-code", "sessions of Claude Code (.jsonl), and its stream-json output"; }

fn is_claude_code(object: &Object) -> bool {
    let kind = object.get("type").and_then(Value::as_str);
    let session = ["sessionId", "session_id"]
        .iter()
        .any(|name| object.contains_key(*name));
    let message = object.get("message").and_then(Value::as_object);
    // Qwen Code's lines have parts, and Cursor's have no id.
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

/// The sessions of a file, in order of their beginnings.
#[derive(Default)]
struct ClaudeCode {
    sessions: Vec<SessionAgent>,
    numbers: HashMap<String, usize>,
}

/// An agent of a session. Its last message has the reason of the session.
#[derive(Default)]
struct SessionAgent {
    session: RunSession,
    /// The reason of the end of the whole run.
    result: Option<String>,
}

impl RecordReader for ClaudeCode {
    fn take(&mut self, record: SourceRecord, out: &mut Intake) -> Result<(), WireFault> {
        let (place, mut line) = record.into_place_and_object()?;
        let kind = fields::string(&mut line, "type")?
            .ok_or_else(|| fields::missing("type", "a line of a session (user, assistant, …)"))?;
        let at = self.session(&mut line, place)?;
        let session = &mut self.sessions[at];
        match kind.as_str() {
            "user" | "assistant" => session.message(&mut line, out)?,
            "system" => session.system(&mut line, out)?,
            "result" => session.read_last_line(&mut line, out)?,
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
        let [result, ..] = fields::several(&mut line, own);
        if result.is_some() {
            // The result of the message again, in parts.
            out.losses.add("toolUseResult");
        }
        out.losses.rest("[]", &line);
        Ok(())
    }

    fn end(&mut self, out: &mut Intake) {
        // A session that is only named, as in a summary, is no transcript.
        let agents = self.sessions.drain(..);
        for agent in agents.filter(|agent| !agent.session.run.events.is_empty()) {
            let mut session = agent.session;
            session.reason = agent.result.or(session.reason);
            session.end(out);
        }
    }
}

impl ClaudeCode {
    /// Returns the index of the session of a line.
    fn session(&mut self, line: &mut Object, place: Place) -> Result<usize, WireFault> {
        let named = ["sessionId", "session_id"].map(|name| fields::label(line, name));
        let session = named.into_iter().flatten().next().unwrap_or_default();
        let side = fields::any(line, "isSidechain") == Some(Value::Bool(true));
        let parent = fields::label(line, "parent_tool_use_id");
        let agent = fields::label(line, "agentId").filter(|_| side).or(parent);
        let id = match (agent, side) {
            (Some(agent), _) => format!("{session}/{agent}"),
            (None, true) => format!("{session}/sidechain"),
            (None, false) => session,
        };
        if let Some(at) = self.numbers.get(&id) {
            return Ok(*at);
        }
        self.numbers.insert(id.clone(), self.sessions.len());
        let mut agent = SessionAgent::default();
        agent.session.at(place);
        agent.session.id = Some(id).filter(|id| !id.is_empty());
        self.sessions.push(agent);
        Ok(self.sessions.len() - 1)
    }
}

impl SessionAgent {
    fn message(&mut self, line: &mut Object, out: &mut Intake) -> Result<(), WireFault> {
        let names = [
            "timestamp",
            "cwd",
            "gitBranch",
            "version",
            "message",
            "isMeta",
            "isCompactSummary",
        ];
        let fields = fields::several(line, names);
        let [stamp, cwd, branch, version, message, meta, compact] = fields;
        let t_ms = self.session.clock.at(stamp.as_ref());
        for (name, value) in [("cwd", cwd), ("branch", branch), ("version", version)] {
            if !self.session.about.contains_key(name) {
                keep(&mut self.session.about, name, value);
            }
        }
        let message = message.ok_or_else(|| fields::missing("message", "a message"))?;
        let mut message = fields::as_object("message", message)?;
        let flags = [meta, compact].map(|flag| flag == Some(Value::Bool(true)));
        let role = message.get("role").and_then(Value::as_str);
        let model = message.get("model").and_then(Value::as_str);
        let program = model.is_some_and(|model| model.starts_with('<'));
        // Messages of the program itself, such as API errors, and replacements of cut messages.
        if program || flags.contains(&true) && role == Some("user") {
            message.insert("role".to_owned(), "system".into());
        }
        if message.get("role").and_then(Value::as_str) == Some("assistant") {
            self.announce(&mut message, t_ms)?;
        }
        self.session.run.message(message, "[].message", t_ms, out)?;
        if flags[1] {
            self.session.run.mark_compaction();
        }
        Ok(())
    }

    /// Begins the turn that a piece of a message belongs to.
    fn announce(&mut self, message: &mut Object, t_ms: Option<f64>) -> Result<(), WireFault> {
        let names = [
            "model",
            "usage",
            "stop_reason",
            "id",
            "type",
            "stop_sequence",
        ];
        let [model, usage, reason, id, ..] = fields::several(message, names);
        let model = fields::text("model", model)?;
        if let Some(model) = model {
            self.session.model = Some(model);
        }
        let usage = usage.map(|usage| fields::as_object("usage", usage));
        let mut usage = usage.transpose()?.unwrap_or_default();
        self.session.reason = fields::text("stop_reason", reason)?.or(self.session.reason.take());
        self.session.run.announce(TurnData {
            response: fields::text("id", id)?,
            usage: Usage::take(&mut usage),
            t_ms,
            ..TurnData::default()
        });
        Ok(())
    }

    fn system(&mut self, line: &mut Object, out: &mut Intake) -> Result<(), WireFault> {
        if let Some(model) = fields::string(line, "model")? {
            self.session.model = Some(model);
        }
        let subtype = fields::string(line, "subtype")?.unwrap_or_default();
        if subtype != "init" {
            out.losses.add(&format!("[] (system {subtype})"));
            line.clear();
        }
        Ok(())
    }

    /// Reads the last line of stream-json.
    fn read_last_line(&mut self, line: &mut Object, out: &Intake) -> Result<(), WireFault> {
        let subtype = fields::string(line, "subtype")?.unwrap_or_default();
        self.result = Some(match subtype.as_str() {
            "success" => "stop".to_owned(),
            "error_max_turns" | "error_max_budget_usd" => "limit".to_owned(),
            _ => "error".to_owned(),
        });
        keep_field(&mut self.session.about, "cost_usd", line, "total_cost_usd");
        // The result repeats the last message; with `--output-format json` it is the only text.
        let last = fields::string(line, "result")?.unwrap_or_default();
        let mut events = self.session.run.events.iter();
        if !events.any(|event| matches!(event.body, Body::Answer(_))) {
            self.session.run.add_answer(last, None, out);
        }
        Ok(())
    }
}
