//! [`Delay`]: the delay that a repairer adds to text.
//!
//! A repairer gives the same output for a whole text and for a stream, so it never takes back text. Instead, text waits
//! until it is certain. This module measures that wait.

use deadloop_detect::harness::Params;
use deadloop_repair::meaning::{Meaning, MeaningPart, MeaningParts};
use deadloop_repair::registry::Repairer;
use serde::{Deserialize, Serialize};

/// The delay that a repairer adds to text, in chars of the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delay {
    /// The number of chars read before the first text for the user was emitted. `None` if none was.
    pub first_text: Option<u64>,
    /// The maximum number of chars held back at the same time.
    pub most_held: u64,
    /// The maximum number of consecutive chars read without output, also before the first and after the last output.
    pub longest_silence: u64,
}

/// Returns the output of [`Repairer::mend`] for a text, and its delay measured char by char. `None` if the repairer
/// reads events.
///
/// Text emitted at the end of the stream counts as emitted after the last char.
pub(crate) fn mend_with_delay(
    repairer: &Repairer,
    params: &Params,
    text: &str,
) -> Option<(Meaning, Delay)> {
    let mut machine = repairer.text_repairer(params)?;
    let (mut pieces, mut delay) = (MeaningParts::default(), Delay::default());
    let (mut read, mut given) = (0, 0);
    let mut known = pieces.extent();
    let mut record_output = |pieces: &MeaningParts, read: u64| {
        if pieces.extent() == known {
            return;
        }
        known = pieces.extent();
        if delay.first_text.is_none() {
            let is_text = |part: &MeaningPart| matches!(part, MeaningPart::Text(_));
            delay.first_text = pieces.parts().iter().any(is_text).then_some(read);
        }
        delay.longest_silence = delay.longest_silence.max(read - given);
        given = read;
    };
    let mut most_held = 0;
    for c in text.chars() {
        machine.push(c.encode_utf8(&mut [0; 4]), &mut pieces);
        read += 1;
        record_output(&pieces, read);
        most_held = most_held.max(machine.held_len() as u64);
    }
    machine.finish(&mut pieces);
    record_output(&pieces, read);
    delay.longest_silence = delay.longest_silence.max(read - given);
    delay.most_held = most_held;
    Some((pieces.meaning(), delay))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_waits_no_longer_than_it_must() {
        let text = "<think>two and two</think>It is four.";
        let first = |name: &str, of: &str| {
            let repairer = Repairer::find(name).unwrap();
            let params = repairer.preset(of).unwrap();
            mend_with_delay(repairer, &params, text).unwrap().1
        };
        assert_eq!(first("think", "sglang-qwen3").first_text, Some(27));
        assert_eq!(first("think", "sglang-qwen3").most_held, 7);
        assert_eq!(first("think", "leading").first_text, Some(27));
        assert_eq!(first("think", "leading").most_held, 25);
        assert_eq!(first("json", "strict").first_text, None);
    }
}
