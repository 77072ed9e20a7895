//! A transcript in the blocks that a person reads: stretches of text, and events, with turns and calls numbered from 0, as labels
//! count them.

use std::collections::{BTreeSet, HashMap, VecDeque};

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_detect::{Channel, Event};

/// A stretch of text of one channel with no other event in between, or an event that is not text.
pub enum TextBlock<'a> {
    /// Text of a channel.
    Text(Channel, String),
    /// Another event.
    Other(&'a RecordedEvent),
}

/// The blocks of a transcript, each with the number of its first event.
pub fn blocks(events: &[RecordedEvent]) -> Vec<(u64, TextBlock<'_>)> {
    let mut blocks: Vec<(u64, TextBlock<'_>)> = Vec::new();
    for (number, event) in (0_u64..).zip(events) {
        let (channel, text) = match &event.body {
            Body::Reasoning(text) => (Channel::Reasoning, text),
            Body::Answer(text) => (Channel::Answer, text),
            _ => {
                blocks.push((number, TextBlock::Other(event)));
                continue;
            }
        };
        match blocks.last_mut() {
            Some((_, TextBlock::Text(last, all))) if *last == channel => all.push_str(text),
            _ => blocks.push((number, TextBlock::Text(channel, text.clone()))),
        }
    }
    blocks
}

/// Numbers turns and calls while the events of one transcript pass by in order, and finds the call that a result belongs to.
pub struct RunNumbers<'a> {
    /// The numbers of the events before which a turn begins that was not recorded.
    made: BTreeSet<u64>,
    turns: u64,
    calls: u64,
    /// The calls without a result so far that have an id, by id.
    named: HashMap<&'a str, u64>,
    /// The calls without a result so far that have no id, in order.
    nameless: VecDeque<u64>,
}

impl<'a> RunNumbers<'a> {
    /// Before the first event of a transcript.
    pub fn of(transcript: &'a Transcript) -> Self {
        let recorded = transcript
            .events
            .iter()
            .any(|event| matches!(event.body, Body::Turn));
        let turns = transcript
            .stream()
            .filter(|(_, event)| matches!(event, Event::Turn { .. }));
        Self {
            made: turns
                .map(|(number, _)| number)
                .filter(|_| !recorded)
                .collect(),
            turns: 0,
            calls: 0,
            named: HashMap::new(),
            nameless: VecDeque::new(),
        }
    }

    /// The number of a turn that begins before event `event` and was not recorded.
    pub fn made(&mut self, event: u64) -> Option<u64> {
        self.made.contains(&event).then(|| self.turn())
    }

    /// The number of the turn that begins.
    pub fn turn(&mut self) -> u64 {
        self.turns += 1;
        self.turns - 1
    }

    /// The number of the next call.
    pub fn call(&mut self, id: Option<&'a str>) -> u64 {
        let number = self.calls;
        self.calls += 1;
        match id {
            Some(id) => drop(self.named.insert(id, number)),
            None => self.nameless.push_back(number),
        }
        number
    }

    /// Which call a result belongs to; `None` where no open call fits.
    pub fn result(&mut self, id: Option<&str>) -> Option<u64> {
        match id {
            Some(id) => self.named.remove(id),
            None => self.nameless.pop_front(),
        }
    }
}
