//! A transcript split into blocks for a reader.
//!
//! A block is a run of text in one channel, or another event. Turns and calls are numbered from 0, as in labels.

use std::collections::{BTreeSet, HashMap, VecDeque};

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_detect::{Channel, Event};

/// A run of text in one channel, or an event that is not text.
pub enum TextBlock<'a> {
    /// Adjacent text events of one channel, joined.
    Text(Channel, String),
    /// An event that is not text.
    Other(&'a RecordedEvent),
}

/// Returns the blocks of a transcript, each with the index of its first event.
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

/// A counter of the turns and calls of one transcript, which also finds the call of each result.
pub struct RunNumbers<'a> {
    /// Indices of the events before which an unrecorded turn begins.
    unrecorded_turns: BTreeSet<u64>,
    next_turn: u64,
    next_call: u64,
    /// Calls with an id and no result yet: id to call number.
    open_by_id: HashMap<&'a str, u64>,
    /// Numbers of the calls with neither an id nor a result yet, in order.
    open_without_id: VecDeque<u64>,
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
            unrecorded_turns: turns
                .map(|(number, _)| number)
                .filter(|_| !recorded)
                .collect(),
            next_turn: 0,
            next_call: 0,
            open_by_id: HashMap::new(),
            open_without_id: VecDeque::new(),
        }
    }

    /// Returns the number of the unrecorded turn that begins before the event at index `event`. `None` if none does.
    pub fn made(&mut self, event: u64) -> Option<u64> {
        self.unrecorded_turns.contains(&event).then(|| self.turn())
    }

    /// Counts a turn that begins, and returns its number.
    pub fn turn(&mut self) -> u64 {
        self.next_turn += 1;
        self.next_turn - 1
    }

    /// Counts a call, and returns its number.
    pub fn call(&mut self, id: Option<&'a str>) -> u64 {
        let number = self.next_call;
        self.next_call += 1;
        match id {
            Some(id) => drop(self.open_by_id.insert(id, number)),
            None => self.open_without_id.push_back(number),
        }
        number
    }

    /// Returns the number of the call that a result belongs to. `None` if no open call fits.
    pub fn result(&mut self, id: Option<&str>) -> Option<u64> {
        match id {
            Some(id) => self.open_by_id.remove(id),
            None => self.open_without_id.pop_front(),
        }
    }
}
