//! A transcript as the blocks that a person reads.
//!
//! A block is a stretch of text or another event. Turns and calls are numbered from 0, as in labels.

use std::collections::{BTreeSet, HashMap, VecDeque};

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_detect::{Channel, Event};

/// A stretch of text of one channel without another event inside, or an event that is not text.
pub enum TextBlock<'a> {
    /// Text of a channel.
    Text(Channel, String),
    /// Another event.
    Other(&'a RecordedEvent),
}

/// Returns the blocks of a transcript, each with the number of its first event.
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

/// Numbers turns and calls as the events of one transcript pass in order, and finds the call of each result.
pub struct RunNumbers<'a> {
    /// The numbers of the events before which an unrecorded turn begins.
    made: BTreeSet<u64>,
    turns: u64,
    calls: u64,
    /// The ids of calls without a result so far, with their numbers.
    named: HashMap<&'a str, u64>,
    /// The numbers of calls without an id or a result so far, in order.
    nameless: VecDeque<u64>,
}

impl<'a> RunNumbers<'a> {
    /// Creates the counter for a transcript, before its first event.
    pub fn new(transcript: &'a Transcript) -> Self {
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

    /// Returns the number of the unrecorded turn that begins before event `event`, if one does.
    pub fn made(&mut self, event: u64) -> Option<u64> {
        self.made.contains(&event).then(|| self.turn())
    }

    /// Returns the number of the turn that begins.
    pub fn turn(&mut self) -> u64 {
        self.turns += 1;
        self.turns - 1
    }

    /// Returns the number of the next call.
    pub fn call(&mut self, id: Option<&'a str>) -> u64 {
        let number = self.calls;
        self.calls += 1;
        match id {
            Some(id) => drop(self.named.insert(id, number)),
            None => self.nameless.push_back(number),
        }
        number
    }

    /// Returns the call that a result belongs to. `None` if no open call fits.
    pub fn result(&mut self, id: Option<&str>) -> Option<u64> {
        match id {
            Some(id) => self.named.remove(id),
            None => self.nameless.pop_front(),
        }
    }
}
