//! Content hashes of a corpus and of a transcript's text.
//!
//! The hash of a corpus covers the unpacked records of its transcript files, in order. Any changed byte of a record changes
//! the hash. Compression, the distribution of records over files, line endings and blank lines do not.

use std::fmt;
use std::str::FromStr;

use deadloop_detect::Arguments;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Body, RecordedEvent, Transcript};

/// The digest of one undecoded record.
///
/// [`RawRecord::digest`](crate::RawRecord::digest) computes it on any thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordDigest(pub(crate) [u8; 32]);

impl RecordDigest {
    /// Hashes several parts, each preceded by its length, so that no two lists of parts have the same input.
    pub(crate) fn from_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }
}

impl fmt::Display for RecordDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl FromStr for RecordDigest {
    type Err = &'static str;

    /// Parses the 64 hexadecimal digits of the display form.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "expected 64 hexadecimal digits";
        let mut bytes = [0; 32];
        if text.len() != 2 * bytes.len() || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(expected);
        }
        for (i, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * i..2 * i + 2).ok_or(expected)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| expected)?;
        }
        Ok(Self(bytes))
    }
}

/// A hasher that combines the digests of a corpus's records, pushed in corpus order.
#[derive(Clone, Debug, Default)]
pub struct CorpusHasher {
    inner: Sha256,
    records: u64,
}

impl CorpusHasher {
    /// Adds the next record.
    pub fn push(&mut self, record: RecordDigest) {
        self.inner.update(record.0);
        self.records += 1;
    }

    /// Returns the hash of all records.
    pub fn finish(self) -> CorpusHash {
        CorpusHash {
            digest: self.inner.finalize().into(),
            records: self.records,
        }
    }
}

/// The hash of a corpus, displayed as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorpusHash {
    digest: [u8; 32],
    records: u64,
}

impl CorpusHash {
    /// Returns all 64 hexadecimal digits.
    pub fn full(&self) -> String {
        to_hex(&self.digest)
    }

    /// Returns the number of records.
    pub fn records(&self) -> u64 {
        self.records
    }
}

impl fmt::Display for CorpusHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.digest[..8]))
    }
}

/// Hashes a transcript's reasoning, answer, tool calls and results to 16 hexadecimal digits, ignoring chunks and times.
pub fn text_hash(transcript: &Transcript) -> String {
    let tools: String = transcript
        .events
        .iter()
        .map(|event| format_tool_event(&event.body))
        .collect();
    let (reasoning, answer) = (transcript.reasoning(), transcript.answer());
    let parts = [reasoning.as_bytes(), answer.as_bytes(), tools.as_bytes()];
    to_hex(&RecordDigest::from_parts(parts).0[..8])
}

/// Keys that are equal for copies of a transcript.
///
/// A thousand copies of a text carry no more information than one. Texts from one template that differ only in numbers
/// are copies too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CopyKeys {
    /// Key of all texts, calls and results. From [`COPIED_CHARS`] chars on, numbers are ignored. Shorter transcripts
    /// must be equal, since short texts are often alike by chance.
    pub text: u64,
    /// Key of the tool calls of a run and their results, without the text between them. `None` without a call.
    pub calls: Option<u64>,
}

/// The minimum number of chars of texts that are copies even if their numbers differ.
pub const COPIED_CHARS: usize = 200;

impl CopyKeys {
    /// Computes the keys of a transcript.
    ///
    /// Arguments are compared as JSON values, and results with their error flag. Call ids, times and chunks are
    /// ignored.
    pub fn from_transcript(transcript: &Transcript) -> Self {
        let mut calls = String::new();
        let mut chars = 0;
        let mut has_call = false;
        for event in &transcript.events {
            has_call |= matches!(event.body, Body::ToolCall { .. });
            calls += &format_call_event(event);
            chars += match &event.body {
                Body::ToolCall { arguments, .. } => {
                    Arguments::Json(arguments).text().chars().count()
                }
                _ => 0,
            };
        }
        let (reasoning, answer) = (transcript.reasoning(), transcript.answer());
        chars += reasoning.chars().count() + answer.chars().count();
        let folded = |long: bool, text: &str| {
            if long {
                fold_numbers(text)
            } else {
                text.to_owned()
            }
        };
        let long = chars >= COPIED_CHARS;
        let key = |parts: &[String]| {
            let digest = RecordDigest::from_parts(parts.iter().map(String::as_bytes));
            u64::from_be_bytes(digest.0.first_chunk().copied().unwrap_or_default())
        };
        let texts = [&*reasoning, &*answer, &calls].map(|text| folded(long, text));
        let lines = folded(calls.chars().count() >= COPIED_CHARS, &calls);
        Self {
            text: key(&texts),
            calls: has_call.then(|| key(&[lines])),
        }
    }
}

/// Formats a call or a result as a line, without ids and times.
fn format_call_event(event: &RecordedEvent) -> String {
    let cut = event.rest.get("sha256");
    let cut = cut.map(|hash| format!(" {hash}")).unwrap_or_default();
    match &event.body {
        Body::ToolCall {
            name, arguments, ..
        } => {
            let arguments = Arguments::Json(arguments).canonical();
            format!("call {name:?} {arguments}{cut}\n")
        }
        result => match format_tool_event(result) {
            line if line.is_empty() => line,
            line => format!("{line}{cut}"),
        },
    }
}

/// Replaces each number in a text by `0`, including its sign, group separators and fraction. Chinese numerals are
/// numbers too.
fn fold_numbers(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    // Byte offset up to which the text is folded.
    let mut done = 0;
    while let Some(digit) = find_digit(text, done) {
        // A sign without a word before it is part of the number.
        let mut before = text[..digit].chars().rev();
        let sign = before
            .next()
            .filter(|c| is_sign(*c))
            .map_or(0, char::len_utf8);
        let free = digit - sign >= done && !before.next().is_some_and(char::is_alphanumeric);
        let from = digit - if free { sign } else { 0 };
        folded.push_str(&text[done..from]);
        folded.push('0');
        done = digit + number_length(&text[digit..]);
    }
    folded.push_str(&text[done..]);
    folded
}

/// Returns the byte offset of the first digit at or after `from`.
fn find_digit(text: &str, from: usize) -> Option<usize> {
    let plain = |byte: &u8| byte.is_ascii() && !byte.is_ascii_digit();
    let mut at = from;
    loop {
        at += text.as_bytes()[at..]
            .iter()
            .take_while(|byte| plain(byte))
            .count();
        let next = text[at..].chars().next()?;
        if is_digit(next) {
            return Some(at);
        }
        at += next.len_utf8();
    }
}

/// Returns the length of the number at the start of a text, in bytes. Separators between digits are included.
fn number_length(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next_is_digit = chars.peek().is_some_and(|(_, next)| is_digit(*next));
        let joins = matches!(c, '.' | ',' | '_') && next_is_digit;
        if !is_digit(c) && !joins {
            return at;
        }
    }
    text.len()
}

fn is_digit(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_digit();
    }
    "〇零一二三四五六七八九十百千万亿".contains(c) || c.is_numeric()
}

fn is_sign(c: char) -> bool {
    matches!(c, '-' | '+' | '\u{2212}')
}

fn format_tool_event(body: &Body) -> String {
    match body {
        Body::ToolCall {
            name, arguments, ..
        } => format!("call {name:?} {arguments}\n"),
        // Detectors treat an unknown error flag as no error.
        Body::ToolResult { content, error, .. } => {
            format!("result {content:?} {}\n", error.unwrap_or_default())
        }
        _ => String::new(),
    }
}

/// Formats bytes as hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    let digit = |digit: u8| char::from(b"0123456789abcdef"[usize::from(digit)]);
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(chunks: &[&str]) -> Transcript {
        let events = chunks
            .iter()
            .map(|c| RecordedEvent::new(Body::Answer((*c).to_owned())));
        Transcript {
            events: events.collect(),
            ..Transcript::default()
        }
    }

    #[test]
    fn the_text_hash_does_not_see_chunks_but_channels() {
        assert_eq!(
            text_hash(&answer(&["ab", "c"])),
            text_hash(&answer(&["a", "bc"]))
        );
        assert_ne!(text_hash(&answer(&["abc"])), text_hash(&answer(&["abd"])));
        let mut thought = answer(&["abc"]);
        thought.events[0].body = Body::Reasoning("abc".to_owned());
        assert_ne!(text_hash(&thought), text_hash(&answer(&["abc"])));
    }

    fn run(arguments: &str, result: &str, said: &str) -> CopyKeys {
        let call = Body::ToolCall {
            id: Some(said.to_owned()),
            name: "look".to_owned(),
            arguments: serde_json::from_str(arguments).expect("JSON"),
        };
        let result = Body::ToolResult {
            id: Some(said.to_owned()),
            content: result.to_owned(),
            error: None,
        };
        let events = [Body::Answer(said.to_owned()), call, result];
        CopyKeys::from_transcript(&Transcript {
            events: events.map(RecordedEvent::new).into(),
            ..Transcript::default()
        })
    }

    #[test]
    fn a_long_text_with_other_numbers_is_a_copy_and_a_short_one_is_not() {
        let key = |text: &str| CopyKeys::from_transcript(&answer(&[text])).text;
        let long =
            |number: &str| format!("{}It took {number} steps.", "Road and bridge. ".repeat(15));
        for number in ["17", "-3", "1,024.5", "十二", "1_000"] {
            assert_eq!(key(&long("4")), key(&long(number)), "{number}");
        }
        assert_ne!(key(&long("4")), key(&long("four")));
        assert_ne!(key("It took 4 steps."), key("It took 5 steps."));
        assert_eq!(key("It took 4 steps."), key("It took 4 steps."));
        assert_eq!(
            CopyKeys::from_transcript(&answer(&["a"])).calls,
            None,
            "no run"
        );
    }

    #[test]
    fn runs_are_copies_by_their_calls_and_results() {
        let one = run(r#"{"a": 1, "b": 2}"#, "fine", "Let me look.");
        let reworded = run(r#"{"b": 2, "a": 1}"#, "fine", "I look again.");
        assert_eq!(one.calls, reworded.calls);
        assert_ne!(one.text, reworded.text, "what is said differs");
        assert_ne!(one.calls, run(r#"{"a": 1, "b": 3}"#, "fine", "").calls);
        assert_ne!(one.calls, run(r#"{"a": 1, "b": 2}"#, "gone", "").calls);
        let listing = |n: u64| format!("{} {n} files", "name of a file, ".repeat(20));
        let [a, b] = [4, 19].map(|n| run("{}", &listing(n), ""));
        assert_eq!(a.calls, b.calls, "a template with other numbers");
    }

    /// A slow version of [`fold_numbers`] that examines each char.
    fn slow_fold(text: &str) -> String {
        let chars: Vec<char> = text.chars().collect();
        let digit = |i: usize| chars.get(i).copied().is_some_and(is_digit);
        let joins = |i: usize| {
            i > 0 && matches!(chars.get(i), Some('.' | ',' | '_')) && digit(i - 1) && digit(i + 1)
        };
        let sign = |i: usize| {
            is_sign(chars[i]) && digit(i + 1) && !(i > 0 && chars[i - 1].is_alphanumeric())
        };
        let inside: Vec<bool> = (0..chars.len())
            .map(|i| digit(i) || joins(i) || sign(i))
            .collect();
        let mut folded = String::new();
        for (i, c) in chars.iter().enumerate() {
            match inside[i] {
                false => folded.push(*c),
                true if i > 0 && inside[i - 1] && !sign(i) => {}
                true => folded.push('0'),
            }
        }
        folded
    }

    proptest::proptest! {
        #[test]
        fn numbers_are_folded_as_by_a_slow_twin(text in "[a1b2.,_+十 -]{0,24}") {
            proptest::prop_assert_eq!(fold_numbers(&text), slow_fold(&text));
        }
    }

    #[test]
    fn the_corpus_hash_depends_on_records_and_order() {
        let [a, b] = [b"a", b"b"].map(|bytes| RecordDigest::from_parts([&bytes[..]]));
        let hash = |records: &[RecordDigest]| {
            let mut hasher = CorpusHasher::default();
            records.iter().for_each(|r| hasher.push(*r));
            hasher.finish()
        };
        assert_eq!(a.to_string().parse(), Ok(a));
        assert!("0g".repeat(32).parse::<RecordDigest>().is_err());
        assert_ne!(hash(&[a, b]), hash(&[b, a]));
        assert_eq!(hash(&[a, b]).to_string().len(), 16);
        assert_eq!(hash(&[a, b]).full().len(), 64);
        assert_eq!(hash(&[a, b]).records(), 2);
    }
}
