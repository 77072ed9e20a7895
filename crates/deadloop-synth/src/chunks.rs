//! Cuts a text into events of a number of chars or artificial tokens.

use super::letters::is_cjk_char;
use super::spec::{ChunkKind, Chunks, range_or};
use super::stock::TimedPiece;
use crate::planted_loops::Rng;
use deadloop_corpus::{Body, RecordedEvent};

/// The maximum number of letters in an artificial token.
const MAX_TOKEN_LETTERS: usize = 6;

/// Cuts the text of one channel into events.
pub(super) fn cut_into_events(
    text: &str,
    channel: &str,
    chunks: Option<&Chunks>,
    rng: &mut Rng,
) -> Vec<RecordedEvent> {
    let Some(chunks) = chunks.filter(|chunks| !chunks.are_recorded()) else {
        return vec![RecordedEvent::new(channel_body(channel, text.to_owned()))];
    };
    let tokens = chunks.by == ChunkKind::Tokens;
    let (sizes, ms) = (range_or(chunks.size, 1, 1), chunks.ms.map(|ms| ms.0));
    let ends = if tokens {
        token_ends(text)
    } else {
        char_ends(text)
    };
    let (mut events, mut from, mut at, mut clock) = (Vec::new(), 0, 0, 0);
    while at < ends.len() {
        let size = sizes.draw(rng).min(ends.len() - at);
        at += size;
        let to = ends[at - 1];
        let mut event = RecordedEvent::new(channel_body(channel, text[from..to].to_owned()));
        event.tokens = tokens.then_some(size as u64);
        event.t_ms = ms.map(|ms| {
            clock += ms.draw(rng);
            clock as f64
        });
        events.push(event);
        from = to;
    }
    events
}

/// Cuts an answer into events with the recorded pieces and times.
pub(super) fn cut_by_times(text: &str, pieces: &[TimedPiece]) -> Vec<RecordedEvent> {
    let mut left = text.chars();
    let cut = pieces.iter().map_while(|piece| {
        let text: String = left.by_ref().take(piece.chars).collect();
        let mut event = RecordedEvent::new(channel_body("answer", text));
        event.t_ms = Some(piece.t_ms);
        matches!(&event.body, Body::Answer(text) if !text.is_empty()).then_some(event)
    });
    cut.collect()
}

fn channel_body(channel: &str, text: String) -> Body {
    match channel {
        "reasoning" => Body::Reasoning(text),
        _ => Body::Answer(text),
    }
}

fn char_ends(text: &str) -> Vec<usize> {
    text.char_indices()
        .map(|(at, c)| at + c.len_utf8())
        .collect()
}

/// Returns the byte offsets after artificial tokens.
///
/// A token has up to six letters or digits with the space before them, or one Chinese or Japanese character, or one
/// other char. The tokens belong to no model, but have about the usual length.
fn token_ends(text: &str) -> Vec<usize> {
    let mut ends: Vec<usize> = Vec::new();
    let (mut letters, mut blank) = (0, false);
    for (at, c) in text.char_indices() {
        let letter = c.is_alphanumeric() && !is_cjk_char(c);
        let joins = letter && ((letters > 0 && letters < MAX_TOKEN_LETTERS) || blank);
        let end = at + c.len_utf8();
        match ends.last_mut() {
            Some(last) if joins => *last = end,
            _ => ends.push(end),
        }
        letters = match (letter, joins) {
            (true, true) => letters + 1,
            (true, false) => 1,
            (false, _) => 0,
        };
        blank = c == ' ';
    }
    ends
}
