//! [`RunNumbering`]: headings of the turns and calls of a run, numbered from 0.

use crate::corpus::blocks;
use deadloop_corpus::{RecordedEvent, Transcript};
use deadloop_detect::Channel;
use deadloop_score::LabelRow;
use serde_json::Value;

use crate::visible::visible;
use crate::words;

/// A formatter of headings of turns and calls, numbered in the order of the events.
pub(super) struct RunNumbering<'a> {
    numbers: blocks::RunNumbers<'a>,
    labels: &'a [LabelRow],
}

impl<'a> RunNumbering<'a> {
    pub(super) fn new(transcript: &'a Transcript, labels: &'a [LabelRow]) -> Self {
        Self {
            numbers: blocks::RunNumbers::new(transcript),
            labels,
        }
    }

    /// Returns the heading of the unrecorded turn that begins before the event at index `event`. `None` if none does.
    pub(super) fn unrecorded_turn(&mut self, event: u64) -> Option<String> {
        let turn = self.numbers.made(event)?;
        Some(self.format_heading(turn, None))
    }

    /// Returns the heading of a recorded turn, with its number, agent and tokens.
    pub(super) fn turn_heading(&mut self, event: &RecordedEvent) -> String {
        let turn = self.numbers.turn();
        self.format_heading(turn, Some(event))
    }

    fn format_heading(&self, number: u64, event: Option<&RecordedEvent>) -> String {
        let mut head = format!(
            "\n== turn {}{}",
            words::count(number),
            self.format_marks(Channel::Turns, number)
        );
        let Some(event) = event else {
            return head + "\n";
        };
        if let Some(agent) = event.rest.get("agent").and_then(Value::as_str) {
            head.push_str(&format!(", {}", visible(agent)));
        }
        let count = |name: &str| event.count(name).map(words::count);
        if let Some(sent) = count("tokens_in") {
            let cached = count("cached").map(|cached| format!(", {cached} of them cached"));
            head.push_str(&format!(", {sent} tokens in{}", cached.unwrap_or_default()));
        }
        if let Some(wrote) = count("tokens_out") {
            head.push_str(&format!(", {wrote} tokens out"));
        }
        head + "\n"
    }

    /// Returns the number of the next call, with the marks of its labels.
    pub(super) fn call_number(&mut self, id: Option<&'a str>) -> String {
        let number = self.numbers.call(id);
        format!(
            "{}{}",
            words::count(number),
            self.format_marks(Channel::Tools, number)
        )
    }

    /// Formats which call a result belongs to.
    pub(super) fn call_of_result(&mut self, id: Option<&str>) -> String {
        match self.numbers.result(id) {
            Some(call) => format!("of call {}", words::count(call)),
            None => "of no open call".to_owned(),
        }
    }

    /// Formats the marks of the labels at a call or turn.
    fn format_marks(&self, channel: Channel, number: u64) -> String {
        let rows = self
            .labels
            .iter()
            .filter(|row| row.channel == Some(channel));
        let marks = rows.flat_map(|row| {
            let places = [("start", row.start), ("onset", row.onset), ("end", row.end)];
            places.into_iter().filter(|(_, at)| *at == Some(number))
        });
        marks.map(|(name, _)| format!(" ⟦{name}⟧")).collect()
    }
}
