//! Scripts: a notation of runs as lines, for forms of class `run`.
//!
//! A line that begins with `@` states the kind of the following text: `@user TEXT`, `@think TEXT`, `@say TEXT`, `@call
//! NAME JSON`, `@result`, `@error`, `@agent NAME`. Harmless repetition has `@poll`, `@batch`, `@verify` or `@retry`
//! before it and `@end` after it. Lines without `@` continue the text or result before them. A line that begins with
//! `@@` stands for one with `@`. A turn begins where the model continues after a result, a user or the beginning.

use serde_json::Value as Json;

use super::NoDraw;
use super::host::HostTurn;
use deadloop_corpus::{Body, Reason, RecordedEvent, tool_call, tool_result};

/// The state of the reader.
#[derive(Default)]
struct ScriptReader {
    head: Vec<RecordedEvent>,
    turns: Vec<HostTurn>,
    /// The ids of calls without a result, in order.
    open: Vec<String>,
    calls: usize,
    agent: Option<String>,
    benign: Option<Reason>,
    /// Whether no turn has begun since the start of the harmless repetition.
    fresh: bool,
    /// Whether the model's next event begins a turn.
    ended: bool,
}

/// Reads the events before the first turn of a script, and its turns.
pub(super) fn parse_script(text: &str) -> Result<(Vec<RecordedEvent>, Vec<HostTurn>), NoDraw> {
    let mut reader = ScriptReader {
        ended: true,
        ..ScriptReader::default()
    };
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() {
            continue;
        }
        let line = line.strip_prefix('@');
        let line = line.ok_or("a line that belongs to nothing")?;
        let (word, mut said) = match line.split_once(' ') {
            Some((word, said)) => (word, said.trim().to_owned()),
            None => (line.trim_end(), String::new()),
        };
        let more = |line: &&str| !line.starts_with('@') || line.starts_with("@@");
        while let Some(line) = lines.next_if(more) {
            if !said.is_empty() {
                said.push('\n');
            }
            said.push_str(line.strip_prefix('@').unwrap_or(line));
        }
        reader.add_line(word, said.trim_end())?;
    }
    match (reader.open.is_empty(), reader.turns.is_empty()) {
        (false, _) => Err("a call without a result"),
        (_, true) => Err("a script without a turn"),
        _ => Ok((reader.head, reader.turns)),
    }
}

impl ScriptReader {
    fn add_line(&mut self, word: &str, said: &str) -> Result<(), NoDraw> {
        if let Some(reason) = Reason::named(word) {
            (self.benign, self.fresh) = (Some(reason), true);
            return Ok(());
        }
        match word {
            "end" => self.benign = None,
            "agent" => self.agent = Some(said.to_owned()),
            "user" => self.push_outside_turn(Body::User(said.to_owned())),
            "say" => self.push(Body::Answer(said.to_owned())),
            "think" => self.push(Body::Reasoning(said.to_owned())),
            "call" => self.add_call(said)?,
            "result" | "error" => self.add_result(said, word == "error")?,
            _ => return Err("an unknown word after @"),
        }
        Ok(())
    }

    /// Adds an event to its turn, which begins with the event if none is open.
    fn push(&mut self, body: Body) {
        if std::mem::take(&mut self.ended) || self.turns.is_empty() {
            let mut turn = HostTurn::new();
            if let (Some(agent), Some(event)) = (&self.agent, turn.events.first_mut()) {
                event.rest.insert("agent".into(), agent.clone().into());
            }
            if let Some(reason) = self.benign {
                turn = turn.with_reason(reason, std::mem::take(&mut self.fresh));
            }
            self.turns.push(turn);
        }
        if let Some(turn) = self.turns.last_mut() {
            turn.events.push(RecordedEvent::new(body));
        }
    }

    fn push_outside_turn(&mut self, body: Body) {
        self.ended = true;
        match self.turns.last_mut() {
            Some(turn) => turn.events.push(RecordedEvent::new(body)),
            None => self.head.push(RecordedEvent::new(body)),
        }
    }

    fn add_call(&mut self, said: &str) -> Result<(), NoDraw> {
        let (name, arguments) = said.split_once(char::is_whitespace).unwrap_or((said, "{}"));
        let arguments: Json =
            serde_json::from_str(arguments).map_err(|_| "arguments that are no JSON")?;
        let id = format!("call-{}", self.calls);
        self.calls += 1;
        self.open.push(id.clone());
        self.push(tool_call(Some(id), name, arguments));
        Ok(())
    }

    fn add_result(&mut self, said: &str, failed: bool) -> Result<(), NoDraw> {
        if self.open.is_empty() {
            return Err("a result without a call");
        }
        let id = Some(self.open.remove(0));
        self.push(tool_result(id, said, Some(failed)));
        self.ended = self.open.is_empty();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_a_run_of_turns() {
        let text = "@user Do it\nnow.\n@say I look.\n@call ls {\"path\": \"a\"}\n@call ls {\"path\": \"b\"}\n@result\none\n@@two\n@error\ngone\n@poll\n@call wait {}\n@result 1\n@call wait\n@result 2\n@end\n@say Done.\n";
        let (head, turns) = parse_script(text).unwrap();
        assert_eq!(head, [RecordedEvent::new(Body::User("Do it\nnow.".into()))]);
        let calls: Vec<usize> = turns.iter().map(HostTurn::calls).collect();
        assert_eq!(calls, [2, 1, 1, 0]);
        let marks: Vec<_> = turns
            .iter()
            .map(|turn| (turn.benign, turn.begins))
            .collect();
        let poll = Some(Reason::Poll);
        assert_eq!(
            marks,
            [(None, false), (poll, true), (poll, false), (None, false)]
        );
        assert!(
            matches!(&turns[0].events[4].body, Body::ToolResult { content, error: Some(false), .. } if content == "one\n@two")
        );
    }

    #[test]
    fn what_is_no_script_is_told() {
        let cases = [
            ("hello", "a line that belongs to nothing"),
            ("@user hello", "a script without a turn"),
            ("@shout hello", "an unknown word after @"),
            ("@call ls {", "arguments that are no JSON"),
            ("@call ls {}", "a call without a result"),
            ("@result x", "a result without a call"),
        ];
        for (text, why) in cases {
            assert_eq!(parse_script(text).unwrap_err(), why, "{text}");
        }
    }
}
