//! Names for contents: the hash of a corpus, and of one transcript's text.
//!
//! The hash of a corpus covers the records of its transcript files in order, as they stand after
//! decompression. Packing a file differently, moving records from one file to the next, line
//! endings and blank lines do not change it; a byte inside a record does.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::{Body, Transcript};

/// The digest of one undecoded record; computed on any thread by [`Raw::digest`](crate::Raw::digest).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordDigest(pub(crate) [u8; 32]);

impl RecordDigest {
    /// Over parts that cannot run into each other: each is preceded by its length.
    pub(crate) fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
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
        f.write_str(&hex(&self.0))
    }
}

impl FromStr for RecordDigest {
    type Err = &'static str;

    /// Reads the 64 hexadecimal digits that it shows as.
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

/// Puts the digests of a corpus's records together, fed in corpus order.
#[derive(Clone, Debug, Default)]
pub struct CorpusHasher {
    inner: Sha256,
    records: u64,
}

impl CorpusHasher {
    /// The next record.
    pub fn push(&mut self, record: RecordDigest) {
        self.inner.update(record.0);
        self.records += 1;
    }

    /// The hash of all that was fed.
    pub fn finish(self) -> CorpusHash {
        CorpusHash {
            digest: self.inner.finalize().into(),
            records: self.records,
        }
    }
}

/// The hash of a corpus; shows as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorpusHash {
    digest: [u8; 32],
    records: u64,
}

impl CorpusHash {
    /// All 64 hexadecimal digits.
    pub fn full(&self) -> String {
        hex(&self.digest)
    }

    /// How many records it covers.
    pub fn records(&self) -> u64 {
        self.records
    }
}

impl fmt::Display for CorpusHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.digest[..8]))
    }
}

/// A hash of what a transcript says: its reasoning, its answer, its tool calls and results, however
/// they were cut into chunks and whenever they came. 16 hexadecimal digits.
pub fn text_hash(transcript: &Transcript) -> String {
    let tools: String = transcript
        .events
        .iter()
        .map(|event| tool_line(&event.body))
        .collect();
    let (reasoning, answer) = (transcript.reasoning(), transcript.answer());
    let parts = [reasoning.as_bytes(), answer.as_bytes(), tools.as_bytes()];
    hex(&RecordDigest::of(parts).0[..8])
}

fn tool_line(body: &Body) -> String {
    match body {
        Body::ToolCall {
            name, arguments, ..
        } => format!("call {name:?} {arguments}\n"),
        // Unknown is no error to a detector.
        Body::ToolResult { content, error, .. } => {
            format!("result {content:?} {}\n", error.unwrap_or_default())
        }
        _ => String::new(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RecordedEvent;

    fn answer(chunks: &[&str]) -> Transcript {
        let events = chunks
            .iter()
            .map(|c| RecordedEvent::of(Body::Answer((*c).to_owned())));
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

    #[test]
    fn the_corpus_hash_depends_on_records_and_order() {
        let [a, b] = [b"a", b"b"].map(|bytes| RecordDigest::of([&bytes[..]]));
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
