//! [`Utf16Decoder`]: text in UTF-16, whose chunks may end inside a char. [`Utf16Positions`]: positions in UTF-16 units.
//!
//! JavaScript has such strings, and so has Python after JSON with cut pairs.

/// A channel's text in UTF-16.
///
/// The first half of a surrogate pair at the end of a chunk is held back for the next chunk. A half without its other
/// half becomes U+FFFD, one char, as in `String.prototype.toWellFormed`.
///
/// ```
/// use deadloop_bindings::Utf16Decoder;
///
/// let mut lane = Utf16Decoder::default();
/// let units: Vec<u16> = "a😀b".encode_utf16().collect();
/// let chunks: Vec<String> = units.chunks(1).map(|unit| lane.text(unit)).collect();
/// assert_eq!(chunks, ["a", "", "😀", "b"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Utf16Decoder {
    /// The first half of a pair whose second half has not come.
    held: Option<u16>,
}

impl Utf16Decoder {
    /// Returns whether half of a pair is held back.
    pub fn holds(&self) -> bool {
        self.held.is_some()
    }

    /// Returns the text of the next chunk, as far as it is known.
    pub fn text(&mut self, chunk: &[u16]) -> String {
        let (last, whole) = match chunk.split_last() {
            Some((last, rest)) if is_first_half(*last) => (Some(*last), rest),
            Some(_) => (None, chunk),
            None => return String::new(),
        };
        let held = std::mem::replace(&mut self.held, last);
        let units = held.into_iter().chain(whole.iter().copied());
        let chars = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
        chars.collect()
    }

    /// Ends the text. Returns U+FFFD for a held half.
    pub fn end(&mut self) -> Option<&'static str> {
        self.held.take().map(|_| "\u{FFFD}")
    }
}

/// Returns whether a unit begins a pair.
fn is_first_half(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

/// Positions of one channel's text in units of UTF-16, computed from the chars that are two units long.
///
/// These chars are stored as runs, each by its distance and its length, in at most [`MOST`](Self::MOST) bytes. Earlier
/// ones are only counted.
///
/// ```
/// use deadloop_bindings::Utf16Positions;
///
/// let mut pairs = Utf16Positions::default();
/// pairs.count("a😀");
/// pairs.count("b");
/// assert_eq!(pairs.units(2), Some(3)); // after two chars: three units
/// ```
#[derive(Clone, Debug, Default)]
pub struct Utf16Positions {
    chars: u64,
    /// The start of the text, whose runs are only counted.
    dropped: CharCount,
    /// The end of the last stored run.
    written: CharCount,
    /// The runs: the distance from the run before and the length, each a number in groups of seven bits.
    runs: Vec<u8>,
    /// The current run: the number of its first char, and its length.
    run: (u64, u64),
}

/// A number of chars, with the number of chars that take two units.
#[derive(Clone, Copy, Debug, Default)]
struct CharCount {
    chars: u64,
    pairs: u64,
}

impl Utf16Positions {
    /// The maximum number of bytes of runs that are kept.
    pub const MOST: usize = 64 * 1024;

    /// Counts a text.
    pub fn count(&mut self, text: &str) {
        if text.is_ascii() {
            self.chars += text.len() as u64;
            return;
        }
        for c in text.chars() {
            if c.len_utf16() == 2 {
                self.pair();
            }
            self.chars += 1;
        }
    }

    /// Counts a char of two units.
    fn pair(&mut self) {
        let (first, length) = self.run;
        if length > 0 && first + length == self.chars {
            self.run.1 += 1;
            return;
        }
        self.write();
        self.run = (self.chars, 1);
    }

    /// Stores the run that has ended.
    fn write(&mut self) {
        let (first, length) = self.run;
        if length == 0 {
            return;
        }
        if self.runs.len() >= Self::MOST {
            self.drop_half();
        }
        put(&mut self.runs, first - self.written.chars);
        put(&mut self.runs, length);
        self.written.chars = first + length;
        self.written.pairs += length;
    }

    /// Drops the first half of the runs.
    fn drop_half(&mut self) {
        let mut rest = self.runs.as_slice();
        while rest.len() > Self::MOST / 2 {
            let (gap, length) = (take(&mut rest), take(&mut rest));
            self.dropped.chars += gap + length;
            self.dropped.pairs += length;
        }
        let gone = self.runs.len() - rest.len();
        self.runs.drain(..gone);
    }

    /// Converts a position in chars to a position in units. `None` if it lies before the stored runs.
    pub fn units(&self, chars: u64) -> Option<u64> {
        let CharCount {
            chars: mut at,
            mut pairs,
        } = self.dropped;
        if chars < at {
            return None;
        }
        let mut rest = self.runs.as_slice();
        while !rest.is_empty() {
            let (gap, length) = (take(&mut rest), take(&mut rest));
            at += gap;
            if chars <= at {
                return Some(chars + pairs);
            }
            pairs += length.min(chars - at);
            at += length;
        }
        let (first, length) = self.run;
        Some(chars + pairs + length.min(chars.saturating_sub(first)))
    }
}

/// Writes a number, seven bits per byte, the lowest bits first.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7F) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads a number of [`put`].
fn take(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    let mut shift = 0;
    while let Some((byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts with pairs and with halves that stay alone.
    fn texts() -> Vec<Vec<u16>> {
        let mut texts: Vec<Vec<u16>> = ["", "思考", "ab😀c😀😀", "a\u{301}é"]
            .iter()
            .map(|text| text.encode_utf16().collect())
            .collect();
        let (first, second, a) = (0xD83D, 0xDE00, 97);
        // Every text of three units of these.
        for i in 0..27 {
            let pick = |n: usize| [first, second, a][n % 3];
            texts.push(vec![pick(i), pick(i / 3), pick(i / 9), a]);
        }
        texts
    }

    #[test]
    fn any_cut_gives_the_same_text_and_positions() {
        for units in texts() {
            let whole = String::from_utf16_lossy(&units);
            for size in 1..=units.len().max(1) {
                let (mut lane, mut pairs) = (Utf16Decoder::default(), Utf16Positions::default());
                let mut text = String::new();
                for chunk in units.chunks(size) {
                    let chunk = lane.text(chunk);
                    pairs.count(&chunk);
                    text += &chunk;
                }
                text += lane.end().unwrap_or("");
                assert_eq!(text, whole, "{units:x?} by {size}");
                for (i, (at, _)) in whole.char_indices().enumerate() {
                    let slow = whole[..at].encode_utf16().count();
                    let found = pairs.units(i as u64);
                    assert_eq!(found, Some(slow as u64), "{units:x?} by {size} at {i}");
                }
            }
        }
    }

    /// Text of a million chars in which a pair stands wherever `is_pair` says; at each position in `asked` what a
    /// program says that counts all from the start.
    fn against_counting(is_pair: impl Fn(u64) -> bool, chars: u64) -> Utf16Positions {
        let mut pairs = Utf16Positions::default();
        let mut slow = vec![0];
        for i in 0..chars {
            pairs.count(if is_pair(i) { "😀" } else { "é" });
            slow.push(slow[i as usize] + if is_pair(i) { 2 } else { 1 });
        }
        let mut known = 0;
        for at in (0..=chars).step_by(997).chain([chars]) {
            if let Some(units) = pairs.units(at) {
                assert_eq!(units, slow[at as usize], "at {at}");
                known += 1;
            }
        }
        assert!(known > 10, "{known}");
        assert!(pairs.units(chars - 10_000).is_some(), "the last are known");
        pairs
    }

    #[test]
    fn memory_is_bounded_and_no_position_is_wrong() {
        // Always; every second; some.
        let all = against_counting(|_| true, 300_000);
        assert!(all.runs.is_empty() && all.units(1) == Some(2));
        let half = against_counting(|i| i % 2 == 0, 300_000);
        assert!(half.runs.capacity() <= 2 * Utf16Positions::MOST && half.units(1).is_none());
        against_counting(|i| i * i % 1009 < 300, 300_000);
    }
}
