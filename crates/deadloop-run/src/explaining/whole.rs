//! All of a transcript, event after event: a part for each stretch of text and for each call, result or turn.

use std::collections::HashMap;

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_detect::Channel;
use deadloop_score::Part;
use serde_json::Value;

use super::excerpt::Excerpt;
use crate::blocks::{RunNumbers, TextBlock, blocks};
use crate::words::count;

/// Whether the texts of a transcript, its calls and results have more than `most` chars.
pub(super) fn is_long(transcript: &Transcript, most: usize) -> bool {
    let length = |event: &RecordedEvent| match &event.body {
        Body::Reasoning(text) | Body::Answer(text) | Body::User(text) => text.chars().count(),
        Body::ToolCall { arguments, .. } => written(arguments).chars().count(),
        Body::ToolResult { content, .. } => content.chars().count(),
        _ => 0,
    };
    transcript.events.iter().map(length).sum::<usize>() > most
}

/// The parts of a transcript. `seen`: the whole text of each channel in which something is marked.
pub(super) fn whole(transcript: &Transcript, seen: &[Excerpt]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut passing = Passing {
        numbers: RunNumbers::of(transcript),
        chars: HashMap::new(),
        seen,
    };
    for (number, block) in blocks(&transcript.events) {
        parts.extend(passing.numbers.made(number).map(turn));
        match block {
            TextBlock::Text(channel, text) => parts.push(passing.stretch(channel, text)),
            TextBlock::Other(event) => parts.extend(passing.event(&event.body)),
        }
    }
    for part in &mut parts {
        let of = Channel::TEXT
            .into_iter()
            .find(|of| of.name() == part.channel);
        let length = of.and_then(|of| passing.chars.get(&of));
        part.of = length.copied().unwrap_or(part.of);
    }
    parts
}

/// A transcript whose blocks pass by.
struct Passing<'a> {
    numbers: RunNumbers<'a>,
    /// How much of each channel has passed.
    chars: HashMap<Channel, u64>,
    seen: &'a [Excerpt],
}

impl<'a> Passing<'a> {
    /// A stretch of text, with what is marked in it. The length of the channel is not known yet.
    fn stretch(&mut self, channel: Channel, text: String) -> Part {
        let passed = self.chars.entry(channel).or_default();
        let from = *passed;
        *passed += text.chars().count() as u64;
        let (to, last) = (*passed, passed.saturating_sub(1));
        let own = || {
            self.seen
                .iter()
                .filter(move |excerpt| excerpt.channel == channel)
        };
        let copies = own().flat_map(|excerpt| &excerpt.copies);
        let copies = copies.filter(|copy| copy.start < to && from < copy.end);
        let marks = own().flat_map(|excerpt| &excerpt.marks);
        let marks = marks.filter(|mark| (from..=last).contains(&mark.at));
        Part {
            channel: channel.name().to_owned(),
            from,
            of: 0,
            copies: copies.map(|copy| [copy.start, copy.end]).collect(),
            marks: marks
                .map(|mark| (mark.at, mark.position, mark.what.to_owned()))
                .collect(),
            text,
        }
    }

    /// An event that is no text of the model; nothing for one that says nothing.
    fn event(&mut self, body: &'a Body) -> Option<Part> {
        let part = match body {
            Body::User(text) => part("user".into(), text.clone()),
            Body::ToolCall {
                id,
                name,
                arguments,
            } => {
                let number = self.numbers.call(id.as_deref());
                let head = format!("call {}: {name}", count(number));
                let mut call = part(head, written(arguments));
                call.marks = marks_at(number, self.seen);
                call
            }
            Body::ToolResult { id, content, error } => {
                let call = self.numbers.result(id.as_deref());
                let of = call.map_or(String::new(), |call| format!(" of call {}", count(call)));
                let failed = if *error == Some(true) {
                    ", an error"
                } else {
                    ""
                };
                part(format!("result{of}{failed}"), content.clone())
            }
            Body::Turn => turn(self.numbers.turn()),
            Body::Handoff { from, to } => {
                part(format!("handoff from {from} to {to}"), String::new())
            }
            Body::Finish { reason } => {
                let reason = reason.as_deref().unwrap_or("no reason");
                part(format!("finish: {reason}"), String::new())
            }
            Body::System | Body::Reasoning(_) | Body::Answer(_) => return None,
        };
        Some(part)
    }
}

fn turn(number: u64) -> Part {
    part(format!("turn {}", count(number)), String::new())
}

fn part(channel: String, text: String) -> Part {
    Part {
        channel,
        of: text.chars().count() as u64,
        text,
        ..Part::default()
    }
}

/// The marks at a call: in the list of calls, a line each, they are at its line. An empty text has no char to be marked at.
fn marks_at(number: u64, seen: &[Excerpt]) -> Vec<(u64, u64, String)> {
    let own = seen
        .iter()
        .filter(|excerpt| excerpt.channel == Channel::Tools);
    let here = own.flat_map(|excerpt| {
        let line = move |at: u64| {
            let before = usize::try_from(at - excerpt.from.min(at)).unwrap_or(usize::MAX);
            let lines = excerpt.text.chars().take(before).filter(|c| *c == '\n');
            lines.count() as u64
        };
        excerpt
            .marks
            .iter()
            .filter(move |mark| line(mark.at) == number)
    });
    here.map(|mark| (0, mark.position, mark.what.to_owned()))
        .collect()
}

/// The text of arguments.
fn written(arguments: &Value) -> String {
    match arguments {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explaining::ExcerptMark;

    #[test]
    fn all_that_was_said_is_there_once_and_marks_stand_where_they_are() {
        let event = |body| RecordedEvent::of(body);
        let call = |id: &str| {
            event(Body::ToolCall {
                id: Some(id.into()),
                name: "ls".into(),
                arguments: Value::String("{}".into()),
            })
        };
        let transcript = Transcript {
            events: vec![
                event(Body::Turn),
                event(Body::Reasoning("思想".into())),
                event(Body::Reasoning("abc".into())),
                call("a"),
                event(Body::ToolResult {
                    id: Some("a".into()),
                    content: "none".into(),
                    error: Some(true),
                }),
                event(Body::Reasoning("abcabc".into())),
                call("b"),
                event(Body::Answer("done".into())),
                event(Body::Finish { reason: None }),
            ],
            ..Transcript::default()
        };
        let mark = |at, position, what| ExcerptMark { at, position, what };
        let seen = [
            Excerpt {
                channel: Channel::Reasoning,
                from: 0,
                text: "思想abcabcabc".into(),
                of: 11,
                copies: vec![2..5, 5..8, 8..11],
                marks: vec![mark(5, 5, "second copy"), mark(10, 11, "alarm")],
            },
            Excerpt {
                channel: Channel::Tools,
                from: 0,
                text: "ls({})\nls({})\n".into(),
                of: 14,
                copies: Vec::new(),
                marks: vec![mark(7, 1, "labelled onset")],
            },
        ];
        let parts = whole(&transcript, &seen);
        let told: Vec<(&str, u64, u64, &str)> = parts
            .iter()
            .map(|part| {
                (
                    part.channel.as_str(),
                    part.from,
                    part.of,
                    part.text.as_str(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("turn 0", 0, 0, ""),
                ("reasoning", 0, 11, "思想abc"),
                ("call 0: ls", 0, 2, "{}"),
                ("result of call 0, an error", 0, 4, "none"),
                ("reasoning", 5, 11, "abcabc"),
                ("call 1: ls", 0, 2, "{}"),
                ("answer", 0, 4, "done"),
                ("finish: no reason", 0, 0, ""),
            ]
        );
        assert_eq!(parts[1].copies, [[2, 5]]);
        assert!(parts[1].marks.is_empty() && parts[2].marks.is_empty());
        assert_eq!(parts[4].copies, [[5, 8], [8, 11]]);
        let marks = [
            (5, 5, "second copy".to_owned()),
            (10, 11, "alarm".to_owned()),
        ];
        assert_eq!(parts[4].marks, marks);
        assert_eq!(parts[5].marks, [(0, 1, "labelled onset".to_owned())]);
        assert!(is_long(&transcript, 20) && !is_long(&transcript, 23));
    }
}
