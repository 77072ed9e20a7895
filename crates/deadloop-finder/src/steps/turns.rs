//! Finds turns that repeat the text of an earlier turn.
//!
//! These are turns without calls, turns with the same text before each call, and equal answers to different users.

use std::collections::{HashMap, HashSet};

use deadloop_detect::{Channel, Kind};

use super::RunSpan;
use super::step::{fold_sentence, hash};
use deadloop_corpus::{Body, Class, RecordedEvent};

/// The minimum number of consecutive repeated turns that are reported.
const LEAST: u64 = 2;
/// The minimum number of repeated turns with calls, or with answers to users, that are reported.
const MORE: u64 = 4;
/// The minimum number of repeated turns at the end of a run that count as a loop. Elsewhere a loop needs twice as many.
const LOOP: u64 = 4;
/// The minimum number of chars of a text that counts. A shorter one may be repeated for good reasons.
const CHARS: usize = 12;
/// The minimum number of chars of a text that counts in an answer to a message that was repeated.
const PROMPTED: usize = 24;
/// The minimum number of chars of a text that counts in a turn with calls, or with an answer to a user.
const SENTENCE: usize = 40;
/// The number of Latin letters that a Chinese, Japanese or Korean one counts as.
const WIDE: usize = 3;

/// The parts of a turn that are compared.
#[derive(Default)]
struct ComparableTurn {
    text: String,
    calls: bool,
    /// The hash of a user's message before the turn.
    told: Option<u64>,
    /// Whether the user had sent that message before, as hooks and timers do.
    prompted: bool,
}

/// A row of repeated turns, with its first original and its first repetition.
struct RepeatedTurns {
    start: u64,
    onset: u64,
    /// The minimum number of repeated turns of the row for a report.
    least: u64,
}

/// Finds rows of repeated turns, in turns from 0.
pub(super) fn monologues(events: &[RecordedEvent]) -> Vec<RunSpan> {
    let turns = turns(events);
    let mut said: HashMap<u64, u64> = HashMap::new();
    let mut found = Vec::new();
    let mut open: Option<RepeatedTurns> = None;
    let mut last = None;
    let mut asked = None;
    for (at, turn) in (0_u64..).zip(&turns) {
        let text = turn.text.trim();
        let key = hash(&text);
        let length = length(text);
        let (chars, least) = if turn.prompted {
            (PROMPTED, MORE)
        } else {
            (CHARS, LEAST)
        };
        let before = said.get(&key).copied().filter(|_| length >= chars);
        let alone = !turn.calls && (turn.told.is_none() || turn.prompted);
        let sentence = (length >= SENTENCE).then(|| hash(&fold_sentence(text)));
        // A repeated question gets a repeated answer.
        let other = turn.told.is_none() || turn.told != asked;
        let again = match (alone, before) {
            (true, Some(before)) => Some((before, least)),
            _ if !alone && other && sentence.is_some() && sentence == last => Some((at - 1, MORE)),
            _ => None,
        };
        match (&mut open, again) {
            (None, Some((start, least))) => {
                open = Some(RepeatedTurns {
                    start,
                    onset: at,
                    least,
                });
            }
            (Some(row), None) => {
                found.extend(row.close_span(at, false));
                open = None;
            }
            _ => {}
        }
        said.insert(key, at);
        last = sentence;
        asked = turn.told.or(asked);
    }
    if let Some(row) = open {
        found.extend(row.close_span(turns.len() as u64, true));
    }
    found
}

impl RepeatedTurns {
    fn close_span(&self, to: u64, last: bool) -> Option<RunSpan> {
        let length = to - self.onset;
        let class = match length {
            n if n < self.least => return None,
            n if n >= LOOP && last || n >= 2 * LOOP => Class::Loop,
            _ => Class::Transient,
        };
        Some(RunSpan {
            class,
            channel: Channel::Turns,
            kind: Kind::Monologue,
            start: self.start,
            onset: self.onset,
            end: (!(last && class == Class::Loop)).then_some(to),
            period: None,
            confidence: 1.0 - 0.5 / (length as f64),
        })
    }
}

/// Returns the length of a text in Latin letters.
fn length(text: &str) -> usize {
    let width = |c: char| if c > '\u{2e80}' { WIDE } else { 1 };
    text.chars().map(width).sum()
}

fn turns(events: &[RecordedEvent]) -> Vec<ComparableTurn> {
    let mut turns: Vec<ComparableTurn> = Vec::new();
    let mut messages = HashSet::new();
    let (mut told, mut prompted) = (None, false);
    for event in events {
        match &event.body {
            Body::Turn => turns.push(ComparableTurn {
                told: told.take(),
                prompted: std::mem::take(&mut prompted),
                ..ComparableTurn::default()
            }),
            Body::User(text) => {
                let message = hash(&text.trim());
                (told, prompted) = (Some(message), !messages.insert(message));
            }
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
