//! Finds turns that repeat the text of an earlier turn.
//!
//! Three kinds count: turns without calls, equal texts before each call, and equal answers to different messages.

use std::collections::{HashMap, HashSet};

use deadloop_detect::{Channel, Kind};

use super::RunSpan;
use super::step::{fold_text, hash};
use deadloop_corpus::{Body, Class, RecordedEvent};

/// The minimum number of repeated turns in a reported row.
const MIN_ROW: u64 = 2;
/// The minimum number of repeated turns in a reported row, if the turns have calls or answer a user.
const MIN_OTHERS: u64 = 4;
/// The minimum number of repeated turns of a loop at the end of a run. Elsewhere a loop needs twice as many.
const MIN_LOOP: u64 = 4;
/// The minimum length of a text that counts, in Latin letters. Short texts are repeated for good reasons.
const MIN_TEXT: usize = 12;
/// The minimum length of an answer to a repeated message that counts, in Latin letters.
const MIN_PROMPTED: usize = 24;
/// The minimum length of a text in a turn with calls, or in an answer to a user, in Latin letters.
const MIN_SENTENCE: usize = 40;
/// The number of Latin letters that a Chinese, Japanese or Korean char counts as.
const WIDE_LETTERS: usize = 3;

/// The parts of a turn that are compared with other turns.
#[derive(Default)]
struct ComparableTurn {
    text: String,
    has_calls: bool,
    /// The hash of the user's message before the turn.
    message: Option<u64>,
    /// Whether the message repeats an earlier one, as those of hooks and timers do.
    repeats_message: bool,
}

/// A row of repeated turns.
struct RepeatedTurns {
    /// The first turn with the repeated text.
    start: u64,
    /// The first repetition.
    onset: u64,
    /// The minimum number of repeated turns for a report.
    least: u64,
}

/// Finds the rows of repeated turns. Positions are turns from 0.
pub(super) fn find_repeated_turns(events: &[RecordedEvent]) -> Vec<RunSpan> {
    let turns = read_turns(events);
    let mut known: HashMap<u64, u64> = HashMap::new();
    let mut found = Vec::new();
    let mut open: Option<RepeatedTurns> = None;
    let mut last = None;
    let mut last_message = None;
    for (at, turn) in (0_u64..).zip(&turns) {
        let text = turn.text.trim();
        let key = hash(&text);
        let length = latin_length(text);
        let (chars, least) = if turn.repeats_message {
            (MIN_PROMPTED, MIN_OTHERS)
        } else {
            (MIN_TEXT, MIN_ROW)
        };
        let before = known.get(&key).copied().filter(|_| length >= chars);
        let alone = !turn.has_calls && (turn.message.is_none() || turn.repeats_message);
        let sentence = (length >= MIN_SENTENCE).then(|| hash(&fold_text(text)));
        // A repeated message may get a repeated answer.
        let other = turn.message.is_none() || turn.message != last_message;
        let again = match (alone, before) {
            (true, Some(before)) => Some((before, least)),
            _ if !alone && other && sentence.is_some() && sentence == last => {
                Some((at - 1, MIN_OTHERS))
            }
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
        known.insert(key, at);
        last = sentence;
        last_message = turn.message.or(last_message);
    }
    if let Some(row) = open {
        found.extend(row.close_span(turns.len() as u64, true));
    }
    found
}

impl RepeatedTurns {
    /// Returns the span of a row that ends before turn `to`. `last` is set at the end of the run.
    fn close_span(&self, to: u64, last: bool) -> Option<RunSpan> {
        let length = to - self.onset;
        let class = match length {
            n if n < self.least => return None,
            n if n >= MIN_LOOP && last || n >= 2 * MIN_LOOP => Class::Loop,
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
fn latin_length(text: &str) -> usize {
    let width = |c: char| if c > '\u{2e80}' { WIDE_LETTERS } else { 1 };
    text.chars().map(width).sum()
}

/// Returns the turns of a run.
fn read_turns(events: &[RecordedEvent]) -> Vec<ComparableTurn> {
    let mut turns: Vec<ComparableTurn> = Vec::new();
    let mut messages = HashSet::new();
    let (mut message, mut repeats_message) = (None, false);
    for event in events {
        match &event.body {
            Body::Turn => turns.push(ComparableTurn {
                message: message.take(),
                repeats_message: std::mem::take(&mut repeats_message),
                ..ComparableTurn::default()
            }),
            Body::User(text) => {
                let hash = hash(&text.trim());
                (message, repeats_message) = (Some(hash), !messages.insert(hash));
            }
            Body::Answer(text) => {
                if let Some(turn) = turns.last_mut() {
                    turn.text.push_str(text);
                }
            }
            Body::ToolCall { .. } => {
                if let Some(turn) = turns.last_mut() {
                    turn.has_calls = true;
                }
            }
            _ => {}
        }
    }
    turns
}
