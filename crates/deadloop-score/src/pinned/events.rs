//! The events of a case that is an agent's run, read from a list of steps.
//!
//! Each step is an event in the format of transcripts, `{ type = "handoff", from = "a", to = "b" }`, or one of these
//! short forms:
//! - `{ call = "ls", arguments = '{"path": "."}', result = "a.txt", error = false }`: a call and its result.
//!   `arguments` is a table or the text itself. `id` identifies the call of a later result. Without `result` the call
//!   is pending;
//! - `{ result = "a.txt", id = "1" }`: a result alone;
//! - `{ user = "…" }`, `{ answer = "…" }`, `{ reasoning = "…" }`, `{ turn = true }` or `{ turn = "agent" }`;
//! - `{ repeat = [steps], times = N }`: the steps N times. `{n}` in their texts is the number of the repetition.
//!
//! `onset = true` marks the first call of the second copy. `alarm = true` marks the call at which an alarm is due, after
//! its result. On a turn, they mark a turn instead. Texts of a run have the same marks as other texts.

use deadloop_replay::corpus::{Entry, Place, RecordedEvent};
use deadloop_replay::detect::Channel;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use toml::Value;

use super::CaseMarks;
use super::text::MAX_CHARS;

/// The maximum number of events of a run. It rejects a mistyped `times` at once.
const MAX_EVENTS: usize = 1_000_000;

/// A step in one of the short forms, as written in the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct EventStep {
    user: Option<String>,
    answer: Option<String>,
    reasoning: Option<String>,
    turn: Option<Value>,
    call: Option<String>,
    arguments: Option<Value>,
    id: Option<String>,
    result: Option<String>,
    error: Option<bool>,
    repeat: Option<Vec<Value>>,
    times: Option<usize>,
    #[serde(default)]
    onset: bool,
    #[serde(default)]
    alarm: bool,
}

/// The events and marks of the steps read so far.
#[derive(Default)]
struct EventBuilder {
    events: Vec<Json>,
    /// The number of bytes of the events as JSON.
    bytes: usize,
    marks: CaseMarks,
    calls: u64,
    turns: u64,
    /// The number of chars of thinking, then of the answer.
    chars: [u64; 2],
    /// The number of calls with a generated id.
    generated_ids: usize,
}

/// Builds the events of a list of steps, and collects their marks.
pub(super) fn parse_steps(steps: Vec<Value>) -> Result<(Vec<RecordedEvent>, CaseMarks), String> {
    let mut builder = EventBuilder::default();
    for step in steps {
        builder.add_step(step, None)?;
    }
    let mut marks = builder.marks;
    let channel = *marks.channel.get_or_insert(Channel::Tools);
    marks.end = Some(match channel {
        Channel::Turns => builder.turns,
        Channel::Reasoning => builder.chars[0],
        Channel::Answer => builder.chars[1],
        _ => builder.calls,
    });
    let line = json!({"id": "case", "model": "m", "events": builder.events}).to_string();
    let entry = Entry::from_line(line.as_bytes(), Place::whole("events"), None);
    let (entry, _) = entry.map_err(|e| format!("{}; expected {}", e.what, e.expected))?;
    Ok((entry.transcript.events, marks))
}

impl EventBuilder {
    /// Adds the events of one step. `n` is the number of the current repetition, from 1.
    fn add_step(&mut self, step: Value, n: Option<usize>) -> Result<(), String> {
        let Value::Table(mut table) = step else {
            return Err("each step is a table, as { call = \"ls\", result = \"a.txt\" }".into());
        };
        if table.contains_key("type") {
            let is_marked = ["onset", "alarm"].map(|mark| table.remove(mark) == Some(true.into()));
            return self.add_event(to_json(Value::Table(table))?, is_marked, n);
        }
        let step: EventStep = Value::Table(table)
            .try_into()
            .map_err(|e: toml::de::Error| e.message().to_owned())?;
        match step.repeat {
            Some(steps) => {
                let times = step.times.ok_or("times is missing beside repeat")?;
                for n in 1..=times {
                    for step in &steps {
                        self.add_step(step.clone(), Some(n))?;
                    }
                }
                Ok(())
            }
            None => self.add_short_step(step, n),
        }
    }

    /// Adds the events of a step in a short form.
    fn add_short_step(&mut self, step: EventStep, n: Option<usize>) -> Result<(), String> {
        let is_marked = [step.onset, step.alarm];
        let text = |kind: &str, text: String| json!({"type": kind, "text": text});
        let event = match (step.user, step.answer, step.reasoning, step.turn, step.call) {
            (Some(user), None, None, None, None) => text("user", user),
            (None, Some(answer), None, None, None) => text("answer", answer),
            (None, None, Some(reasoning), None, None) => text("reasoning", reasoning),
            (None, None, None, Some(Value::Boolean(true)), None) => json!({"type": "turn"}),
            (None, None, None, Some(Value::String(agent)), None) => {
                json!({"type": "turn", "agent": agent})
            }
            (None, None, None, None, Some(name)) => {
                let mut call = json!({"type": "tool_call", "name": name});
                if let Some(arguments) = step.arguments {
                    call["arguments"] = to_json(arguments)?;
                }
                let generated_ids = self.generated_ids + 1;
                let id = step.id.unwrap_or_else(|| format!("call-{generated_ids}"));
                self.generated_ids = generated_ids;
                call["id"] = id.as_str().into();
                self.add_event(call, is_marked, n)?;
                return match step.result {
                    Some(content) => {
                        self.add_event(result_event(&id, &content, step.error), [false; 2], n)
                    }
                    None => Ok(()),
                };
            }
            (None, None, None, None, None) => match (step.result, step.id) {
                (Some(content), Some(id)) => result_event(&id, &content, step.error),
                _ => return Err(EXPECTED_STEP.into()),
            },
            _ => return Err(EXPECTED_STEP.into()),
        };
        self.add_event(event, is_marked, n)
    }

    /// Adds an event and its marks. The flags are those of the step.
    fn add_event(
        &mut self,
        mut event: Json,
        [is_onset, is_alarm]: [bool; 2],
        n: Option<usize>,
    ) -> Result<(), String> {
        if let Some(n) = n {
            fill_number(&mut event, n);
        }
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        let is_call = kind == "tool_call";
        let channel = match kind.as_str() {
            "turn" => Channel::Turns,
            _ => Channel::Tools,
        };
        let before = match channel {
            Channel::Turns => self.turns,
            _ => self.calls,
        };
        if (is_onset || is_alarm) && self.marks.channel.is_none_or(|known| known == channel) {
            self.marks.channel = Some(channel);
            self.marks.onset = self.marks.onset.or(is_onset.then_some(before));
            let due = before + u64::from(is_call);
            self.marks.alarm = self.marks.alarm.or(is_alarm.then_some(due));
        }
        self.extract_marks(&kind, &mut event);
        self.calls += u64::from(is_call);
        self.turns += u64::from(kind == "turn");
        self.bytes += event.to_string().len();
        self.events.push(event);
        if self.events.len() > MAX_EVENTS || self.bytes > MAX_CHARS {
            Err(format!(
                "more than {MAX_EVENTS} events or {MAX_CHARS} bytes; expected a smaller number"
            ))
        } else {
            Ok(())
        }
    }

    /// Removes the marks from the text of an event, and records their positions.
    fn extract_marks(&mut self, kind: &str, event: &mut Json) {
        let (channel, index) = match kind {
            "reasoning" => (Channel::Reasoning, 0),
            "answer" => (Channel::Answer, 1),
            _ => return,
        };
        let Some(text) = event["text"].as_str() else {
            return;
        };
        let plain = self.marks.extract(text, (channel, self.chars[index]));
        self.chars[index] += plain.chars().count() as u64;
        event["text"] = plain.into();
    }
}

/// The end of the error message for an unknown step.
const EXPECTED_STEP: &str = "expected one of call, result with its id, user, answer, reasoning, turn, repeat, or an event with its type, in each step";

fn result_event(id: &str, content: &str, error: Option<bool>) -> Json {
    let mut result = json!({"type": "tool_result", "id": id, "content": content});
    if let Some(error) = error {
        result["error"] = error.into();
    }
    result
}

/// Converts a TOML value to JSON.
fn to_json(value: Value) -> Result<Json, String> {
    Ok(match value {
        Value::String(text) => text.into(),
        Value::Integer(n) => n.into(),
        Value::Float(n) => serde_json::Number::from_f64(n)
            .map(Json::Number)
            .ok_or_else(|| format!("{n} is no number of JSON"))?,
        Value::Boolean(b) => b.into(),
        Value::Datetime(at) => return Err(format!("{at} is no JSON; expected it as a string")),
        Value::Array(items) => items
            .into_iter()
            .map(to_json)
            .collect::<Result<Json, _>>()?,
        Value::Table(table) => {
            let fields = table
                .into_iter()
                .map(|(key, value)| Ok((key, to_json(value)?)));
            Json::Object(fields.collect::<Result<Map<_, _>, String>>()?)
        }
    })
}

/// Replaces `{n}` in every text of a value by the number of the repetition.
fn fill_number(value: &mut Json, n: usize) {
    match value {
        Json::String(text) if text.contains("{n}") => *text = text.replace("{n}", &n.to_string()),
        Json::Array(items) => items.iter_mut().for_each(|item| fill_number(item, n)),
        Json::Object(fields) => fields.values_mut().for_each(|value| fill_number(value, n)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_replay::corpus::Body;

    fn parse(steps: &str) -> Result<(Vec<RecordedEvent>, CaseMarks), String> {
        let table: toml::Table = toml::from_str(&format!("events = {steps}")).expect("TOML");
        parse_steps(table["events"].as_array().expect("a list").clone())
    }

    #[test]
    fn short_steps_are_events_and_marks_count_calls() {
        let (events, marks) = parse(
            r#"[
            { user = "Look." }, { turn = "planner" },
            { call = "ls", result = "a" },
            { call = "ls", result = "a", onset = true },
            { repeat = [{ call = "ls", arguments = { n = "{n}" }, result = "a{n}" }], times = 2 },
            { call = "ls", alarm = true, id = "x" }, { result = "b", id = "x", error = true },
            { type = "finish", reason = "stop" } ]"#,
        )
        .unwrap();
        assert_eq!(
            (marks.onset, marks.alarm, marks.end),
            (Some(1), Some(5), Some(5))
        );
        assert_eq!(marks.channel, Some(Channel::Tools));
        assert_eq!(events.len(), 13);
        let Body::ToolCall { arguments, id, .. } = &events[8].body else {
            panic!("the second time of the repetition: {:?}", events[8]);
        };
        assert_eq!(
            (arguments, id.as_deref()),
            (&json!({"n": "2"}), Some("call-4"))
        );
        let Body::ToolResult { content, error, .. } = &events[11].body else {
            panic!("a result by itself: {:?}", events[11]);
        };
        assert_eq!((content.as_str(), *error), ("b", Some(true)));
    }

    #[test]
    fn marks_stand_at_turns_and_in_texts_too() {
        let (_, marks) = parse(
            "[{ turn = true }, { turn = true, onset = true }, { turn = true, alarm = true }]",
        )
        .unwrap();
        assert_eq!(
            (marks.channel, marks.onset, marks.alarm),
            (Some(Channel::Turns), Some(1), Some(2))
        );
        let (events, marks) =
            parse("[{ answer = \"ab\" }, { call = \"ls\" }, { answer = \"c⟦onset⟧d\" }]").unwrap();
        assert_eq!(
            (marks.channel, marks.onset, marks.end),
            (Some(Channel::Answer), Some(3), Some(4))
        );
        assert_eq!(events[2].body, Body::Answer("cd".into()));
    }

    #[test]
    fn what_is_no_step_is_told() {
        for (steps, told) in [
            ("[\"ls\"]", "each step is a table"),
            ("[{ call = \"ls\", user = \"x\" }]", "expected one of call"),
            ("[{ result = \"a\" }]", "with its id"),
            ("[{ repeat = [{ turn = true }] }]", "times is missing"),
            (
                "[{ repeat = [{ turn = true }], times = 2000000 }]",
                "smaller number",
            ),
            ("[{ type = \"tool_cal\" }]", "unknown event type"),
            ("[{ cal = \"ls\" }]", "unknown field"),
        ] {
            let e = parse(steps).unwrap_err();
            assert!(e.contains(told), "{steps}: {e}");
        }
    }
}
