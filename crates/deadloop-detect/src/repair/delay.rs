//! [`delay`]: how long a repairer keeps a reader waiting.
//!
//! A repairer produces the same from a whole text and from a stream, so it never takes back what it has
//! shown. The price is that text waits until it is certain. This module measures the wait.

use super::meaning::{Meaning, Piece, Pieces};
use super::registry::Repairer;
use crate::params::Params;

/// How long a repairer made text wait, in chars of the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// How many chars had been read when the first text for the user came out; `None` if none came out.
    pub first_text: Option<u64>,
    /// The most chars that waited at the same time.
    pub most_held: u64,
    /// The most chars that were read without anything coming out: before the first piece, between two, or after the
    /// last.
    pub longest_silence: u64,
}

/// Repairs a text char by char and measures the wait. `None` if the repairer reads events. Text that comes
/// out only at the end counts as coming out after the last char.
pub fn delay(repairer: &Repairer, params: &Params, text: &str) -> Option<Delay> {
    mend_and_wait(repairer, params, text).map(|(_, delay)| delay)
}

/// What [`Repairer::mend`] makes of a text, and what [`delay`] says of it.
pub fn mend_and_wait(repairer: &Repairer, params: &Params, text: &str) -> Option<(Meaning, Delay)> {
    let mut machine = repairer.text(params)?;
    let (mut pieces, mut delay) = (Pieces::default(), Delay::default());
    let (mut read, mut given) = (0, 0);
    let mut all = Meaning::default();
    let mut note = |pieces: &mut Pieces, read: u64| {
        all.add(pieces);
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
    Some((all, delay))
}
