//! Scripts: a line-based notation of runs, for forms of class `run`.
//!
//! A directive begins with `@`: `@user TEXT`, `@think TEXT`, `@say TEXT`, `@call NAME JSON`, `@result`, `@error`, `@agent
//! NAME`. Harmless repetition begins with `@poll`, `@batch`, `@verify` or `@retry` and ends with `@end`. Lines without `@`
//! continue the text of the directive, where `@@` is an escaped `@`. A turn begins where the model continues after a result,
//! a user message, or the beginning.

use serde_json::Value as Json;

use super::DrawResult;
use super::host::HostTurn;
use deadloop_corpus::{BenignReason, Body, RecordedEvent, tool_call, tool_result};

/// A parser of the directives of a script.
#[derive(Default)]
struct ScriptReader {
    head: Vec<RecordedEvent>,
    turns: Vec<HostTurn>,
    /// Ids of calls without a result, in order.
    open_calls: Vec<String>,
    call_count: usize,
    agent: Option<String>,
    benign: Option<BenignReason>,
    /// Whether the next turn is the first of the harmless repetition.
    begins_benign: bool,
    /// Whether the next event of the model begins a turn.
    turn_ended: bool,
}

/// Parses a script. Returns the events before the first turn, and the turns.
pub(super) fn parse_script(text: &str) -> DrawResult<(Vec<RecordedEvent>, Vec<HostTurn>)> {
    let mut reader = ScriptReader {
        turn_ended: true,
        ..ScriptReader::default()
    };
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() {
            continue;
        }
        let line = line.strip_prefix('@');
        let line = line.ok_or("a line that belongs to nothing")?;
        let (word, mut text) = match line.split_once(' ') {
            Some((word, text)) => (word, text.trim().to_owned()),
            None => (line.trim_end(), String::new()),
        };
        let more = |line: &&str| !line.starts_with('@') || line.starts_with("@@");
        while let Some(line) = lines.next_if(more) {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(line.strip_prefix('@').unwrap_or(line));
        }
        reader.add_directive(word, text.trim_end())?;
    }
    match (reader.open_calls.is_empty(), reader.turns.is_empty()) {
        (false, _) => Err("a call without a result"),
        (_, true) => Err("a script without a turn"),
        _ => Ok((reader.head, reader.turns)),
    }
}

impl ScriptReader {
    fn add_directive(&mut self, word: &str, text: &str) -> DrawResult<()> {
        if let Some(reason) = BenignReason::named(word) {
            (self.benign, self.begins_benign) = (Some(reason), true);
            return Ok(());
        }
        match word {
            "end" => self.benign = None,
            "agent" => self.agent = Some(text.to_owned()),
            "user" => self.push_outside_turn(Body::User(text.to_owned())),
            "say" => self.push_in_turn(Body::Answer(text.to_owned())),
            "think" => self.push_in_turn(Body::Reasoning(text.to_owned())),
            "call" => self.add_call(text)?,
            "result" | "error" => self.add_result(text, word == "error")?,
            _ => return Err("an unknown word after @"),
        }
        Ok(())
    }

    /// Adds an event to the open turn, which is begun if necessary.
    fn push_in_turn(&mut self, body: Body) {
        if std::mem::take(&mut self.turn_ended) || self.turns.is_empty() {
            let mut turn = HostTurn::new();
            if let (Some(agent), Some(event)) = (&self.agent, turn.events.first_mut()) {
                event.rest.insert("agent".into(), agent.clone().into());
            }
            if let Some(reason) = self.benign {
                turn = turn.with_reason(reason, std::mem::take(&mut self.begins_benign));
            }
            self.turns.push(turn);
        }
        if let Some(turn) = self.turns.last_mut() {
            turn.events.push(RecordedEvent::new(body));
        }
    }

    fn push_outside_turn(&mut self, body: Body) {
        self.turn_ended = true;
        match self.turns.last_mut() {
            Some(turn) => turn.events.push(RecordedEvent::new(body)),
            None => self.head.push(RecordedEvent::new(body)),
        }
    }

    fn add_call(&mut self, text: &str) -> DrawResult<()> {
        let (name, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, "{}"));
        let arguments: Json =
            serde_json::from_str(arguments).map_err(|_| "arguments that are no JSON")?;
        let id = format!("call-{}", self.call_count);
        self.call_count += 1;
        self.open_calls.push(id.clone());
        self.push_in_turn(tool_call(Some(id), name, arguments));
        Ok(())
    }

    fn add_result(&mut self, text: &str, failed: bool) -> DrawResult<()> {
        if self.open_calls.is_empty() {
            return Err("a result without a call");
        }
        let id = Some(self.open_calls.remove(0));
        self.push_in_turn(tool_result(id, text, Some(failed)));
        self.turn_ended = self.open_calls.is_empty();
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
        let calls: Vec<usize> = turns.iter().map(HostTurn::count_calls).collect();
        assert_eq!(calls, [2, 1, 1, 0]);
        let marks: Vec<_> = turns
            .iter()
            .map(|turn| (turn.benign, turn.begins_benign))
            .collect();
        let poll = Some(BenignReason::Poll);
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
