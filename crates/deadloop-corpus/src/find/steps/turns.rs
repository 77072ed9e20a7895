//! Finds turns without a call that repeat the text of an earlier turn.

use std::collections::HashMap;

use deadloop_detect::{Channel, Kind};

use super::Stuck;
use super::read::hash;
use crate::transcript::Class;
use crate::{Body, RecordedEvent};

/// The fewest repeated turns in a row that are reported.
const LEAST: u64 = 2;
/// The fewest repeated turns at the end of a run that are a loop; elsewhere it takes twice as many.
const LOOP: u64 = 4;
/// The fewest chars of a text that counts: a shorter one may be repeated for good reasons.
const CHARS: usize = 12;

/// What matters here about a turn.
#[derive(Default)]
struct Turn {
    text: String,
    calls: bool,
    /// A user spoke before it.
    told: bool,
}

/// Rows of turns that say again what was said before, in turns from 0.
pub(super) fn monologues(events: &[RecordedEvent]) -> Vec<Stuck> {
    let turns = turns(events);
    let mut said: HashMap<u64, u64> = HashMap::new();
    let mut found = Vec::new();
    let mut open: Option<(u64, u64)> = None;
    for (at, turn) in (0_u64..).zip(&turns) {
        let text = turn.text.trim();
        let key = hash(&text);
        let long = text.chars().count() >= CHARS;
        let before = said.get(&key).copied().filter(|_| long);
        let again = !turn.calls && !turn.told && before.is_some();
        match (&mut open, again) {
            (None, true) => open = Some((before.unwrap_or(at), at)),
            (Some((start, onset)), false) => {
                found.extend(row(*start, *onset, at, false));
                open = None;
            }
            _ => {}
        }
        said.insert(key, at);
    }
    if let Some((start, onset)) = open {
        found.extend(row(start, onset, turns.len() as u64, true));
    }
    found
}

fn row(start: u64, onset: u64, to: u64, last: bool) -> Option<Stuck> {
    let length = to - onset;
    let class = match length {
        n if n >= LOOP && last || n >= 2 * LOOP => Class::Loop,
        n if n >= LEAST => Class::Transient,
        _ => return None,
    };
    Some(Stuck {
        class,
        channel: Channel::Turns,
        kind: Kind::Monologue,
        start,
        onset,
        end: (!(last && class == Class::Loop)).then_some(to),
        period: None,
        confidence: 1.0 - 0.5 / (length as f64),
    })
}

fn turns(events: &[RecordedEvent]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut told = false;
    for event in events {
        match &event.body {
            Body::Turn => turns.push(Turn {
                told: std::mem::take(&mut told),
                ..Turn::default()
            }),
            Body::User(_) => told = true,
            Body::Answer(text) => {
                if let Some(turn) = turns.last_mut() {
                    turn.text.push_str(text);
                }
            }
            Body::ToolCall { .. } => {
                if let Some(turn) = turns.last_mut() {
                    turn.calls = true;
                }
            }
            _ => {}
        }
    }
    turns
}
