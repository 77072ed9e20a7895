//! Numbers the turns and calls of a run from 0, as labels count them, and finds the call that a result belongs to.

use std::collections::{BTreeSet, HashMap, VecDeque};

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_detect::{Channel, Event as Seen};
use deadloop_score::LabelRow;
use serde_json::Value;

use crate::show;
use crate::visible::visible;

/// Counts turns and calls while the events of one transcript are shown in order.
pub(super) struct Numbers<'a> {
    /// The numbers of the events before which a turn begins that was not recorded.
    made: BTreeSet<u64>,
    labels: &'a [LabelRow],
    turns: u64,
    calls: u64,
    /// The calls without a result so far that have an id, by id.
    named: HashMap<&'a str, u64>,
    /// The calls without a result so far that have no id, in order.
    nameless: VecDeque<u64>,
}

impl<'a> Numbers<'a> {
    pub(super) fn of(transcript: &'a Transcript, labels: &'a [LabelRow]) -> Self {
        let recorded = transcript
            .events
            .iter()
            .any(|event| matches!(event.body, Body::Turn));
        let turns = transcript
            .stream()
            .filter(|(_, event)| matches!(event, Seen::Turn { .. }));
        Self {
            made: turns
                .map(|(number, _)| number)
                .filter(|_| !recorded)
                .collect(),
            labels,
            turns: 0,
            calls: 0,
            named: HashMap::new(),
            nameless: VecDeque::new(),
        }
    }

    /// The heading of a turn that begins before event `number` and was not recorded.
    pub(super) fn made(&mut self, number: u64) -> Option<String> {
        self.made.contains(&number).then(|| self.turn(None))
    }

    /// The heading of a turn: its number, its agent and its tokens.
    pub(super) fn turn(&mut self, event: Option<&RecordedEvent>) -> String {
        let number = self.turns;
        self.turns += 1;
        let mut head = format!(
            "\n== turn {}{}",
            show::count(number),
            self.marks(Channel::Turns, number)
        );
        let Some(event) = event else {
            return head + "\n";
        };
        if let Some(agent) = event.rest.get("agent").and_then(Value::as_str) {
            head.push_str(&format!(", {}", visible(agent)));
        }
        let count = |name: &str| event.count(name).map(show::count);
        if let Some(sent) = count("tokens_in") {
            let cached = count("cached").map(|cached| format!(", {cached} of them cached"));
            head.push_str(&format!(", {sent} tokens in{}", cached.unwrap_or_default()));
        }
        if let Some(wrote) = count("tokens_out") {
            head.push_str(&format!(", {wrote} tokens out"));
        }
        head + "\n"
    }

    /// The number of the next call, with the marks of its labels.
    pub(super) fn call(&mut self, id: Option<&'a str>) -> String {
        let number = self.calls;
        self.calls += 1;
        match id {
            Some(id) => drop(self.named.insert(id, number)),
            None => self.nameless.push_back(number),
        }
        format!(
            "{}{}",
            show::count(number),
            self.marks(Channel::Tools, number)
        )
    }

    /// Which call a result belongs to, in words.
    pub(super) fn result(&mut self, id: Option<&str>) -> String {
        let call = match id {
            Some(id) => self.named.remove(id),
            None => self.nameless.pop_front(),
        };
        match call {
            Some(call) => format!("of call {}", show::count(call)),
            None => "of no open call".to_owned(),
        }
    }

    /// The marks of the labels of a call or turn.
    fn marks(&self, channel: Channel, number: u64) -> String {
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
