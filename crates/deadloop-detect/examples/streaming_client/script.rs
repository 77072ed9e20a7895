//! A provider that plays scripts and records the client's actions.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::client::{Event, Provider, Stream};

/// The settings that the example and its test load.
pub(crate) const SETTINGS: &str = r#"
# Every model: the design document's detector on the thinking.
[[guard]]
detector = "checkpoint"
preset   = "document"
channel  = "reasoning"

# This one thinks in short steps and loops early: look sooner, at its answers too.
[[model]]
match = "hasty-*"
  [[model.guard]]
  detector = "checkpoint"
  [model.guard.params]
  checkpoints = [500, 1000, 1500]

# This one writes tables all day: switched off.
[[model]]
match = "trusted-*"
  [[model.guard]]
  detector = "checkpoint"
  enabled  = false
"#;

/// Chars in each chunk of a script.
pub(crate) const CHUNK: usize = 16;

/// A healthy model's thinking, without repetition.
const THOUGHT: &str = "The user wants the shortest route that visits every town. First I list the \
    towns, then the roads between them. A greedy walk is quick but can be far off, so I compare it \
    with the bound that a spanning tree gives. ";

/// A record of one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestRecord {
    /// Chunks that the client took.
    pub(crate) chunks: usize,
    /// The reason for the abort, if the client aborted.
    pub(crate) aborted: Option<&'static str>,
}

/// A provider that answers each request with the next script, and records the requests.
#[derive(Default)]
pub(crate) struct ScriptedProvider {
    scripts: VecDeque<Vec<Event>>,
    played: Vec<Rc<RefCell<RequestRecord>>>,
}

/// A script being played.
pub(crate) struct ScriptStream {
    rest: std::vec::IntoIter<Event>,
    played: Rc<RefCell<RequestRecord>>,
}

impl ScriptedProvider {
    /// Creates a provider from one script per request. Requests past the last script get an empty response.
    pub(crate) fn new(scripts: impl IntoIterator<Item = Vec<Event>>) -> Self {
        Self {
            scripts: scripts.into_iter().collect(),
            played: Vec::new(),
        }
    }

    /// Returns the records of all requests so far.
    pub(crate) fn played(&self) -> Vec<RequestRecord> {
        self.played.iter().map(|p| p.borrow().clone()).collect()
    }
}

impl Provider for ScriptedProvider {
    type Stream = ScriptStream;

    fn request(&mut self, _model: &str, _prompt: &str) -> ScriptStream {
        let played = Rc::default();
        self.played.push(Rc::clone(&played));
        let rest = self.scripts.pop_front().unwrap_or_default().into_iter();
        ScriptStream { rest, played }
    }
}

impl Iterator for ScriptStream {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let event = self.rest.next()?;
        self.played.borrow_mut().chunks += 1;
        Some(event)
    }
}

impl Stream for ScriptStream {
    fn abort(&mut self, reason: &'static str) {
        self.rest = Vec::new().into_iter();
        self.played.borrow_mut().aborted = Some(reason);
    }
}

/// Returns a response whose thinking repeats `unit` until it is `chars` chars long.
pub(crate) fn looping(unit: &str, chars: usize) -> Vec<Event> {
    let text = THOUGHT.chars().chain(unit.chars().cycle());
    chunks(text.take(chars), Event::Reasoning)
}

/// Returns a response with thinking and an answer.
pub(crate) fn healthy(answer: &str) -> Vec<Event> {
    let thinking = chunks(THOUGHT.chars(), Event::Reasoning);
    thinking
        .into_iter()
        .chain(chunks(answer.chars(), Event::Answer))
        .collect()
}

fn chunks(text: impl Iterator<Item = char>, event: fn(String) -> Event) -> Vec<Event> {
    let chars: Vec<char> = text.collect();
    chars
        .chunks(CHUNK)
        .map(|chunk| event(chunk.iter().collect()))
        .collect()
}
