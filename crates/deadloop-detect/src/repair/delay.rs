//! [`delay`]: how long a repairer keeps a reader waiting.
//!
//! Whole and streamed give the same, so nothing that was shown is ever taken back. The price is what
//! waits; this measures it.

use super::meaning::{Piece, Pieces};
use super::registry::Repairer;
use crate::params::Params;

/// What waited, in chars of the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// Chars read when the first text for the user was given; none where nothing was.
    pub first_text: Option<u64>,
    /// The most chars that waited at once, after any char.
    pub most_held: u64,
    /// The most chars read between two pieces that were given, and before the first and after the last.
    pub longest_silence: u64,
}

/// Reads a text char by char and measures what waited; none where the repairer reads events. Text given
/// only at the end counts as read then.
pub fn delay(repairer: &Repairer, params: &Params, text: &str) -> Option<Delay> {
    let mut machine = repairer.text(params)?;
    let (mut pieces, mut delay) = (Pieces::default(), Delay::default());
    let (mut read, mut given) = (0, 0);
    let mut note = |pieces: &mut Pieces, read: u64| {
        let parts = pieces.take();
        if parts.iter().any(|part| matches!(part, Piece::Text(_))) {
            delay.first_text.get_or_insert(read);
        }
        if !parts.is_empty() {
            delay.longest_silence = delay.longest_silence.max(read - given);
            given = read;
        }
    };
    let mut most_held = 0;
    for c in text.chars() {
        machine.push(c.encode_utf8(&mut [0; 4]), &mut pieces);
        read += 1;
        note(&mut pieces, read);
        most_held = most_held.max(machine.held() as u64);
    }
    machine.finish(&mut pieces);
    note(&mut pieces, read);
    delay.longest_silence = delay.longest_silence.max(read - given);
    delay.most_held = most_held;
    Some(delay)
}
