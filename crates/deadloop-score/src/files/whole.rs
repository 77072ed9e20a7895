//! `transcripts.jsonl.zst`: the whole of the transcripts that a report opens, event after event, for the page beside it.
//!
//! The first line is [`WholesHead`], each further one a [`Whole`]. The file is there only where texts are kept, and is
//! bounded: the worst come first, and what would be too much is left out and counted.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::excerpts::Part;
use super::store::{FileError, read_lines, write_headed_lines};

/// The file's name.
const NAME: &str = "transcripts.jsonl.zst";

/// Chars of one transcript at most, and of all of them.
pub const WHOLE_CHARS: (usize, usize) = (200_000, 2_000_000);

/// What was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WholesHead {
    /// Opened transcripts that are too long, alone or together with those before.
    pub left_out: u64,
}

/// A whole transcript.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Whole {
    /// Its id.
    pub transcript: String,
    /// All that was said, in order: a part for each stretch of a channel and for each call, result or turn.
    pub parts: Vec<Part>,
}

impl Whole {
    /// The chars of all its parts.
    pub fn chars(&self) -> usize {
        self.parts
            .iter()
            .map(|part| part.text.chars().count())
            .sum()
    }
}

/// Writes the file.
///
/// # Errors
/// The disk says no.
pub fn write_wholes(dir: &Path, head: &WholesHead, wholes: &[Whole]) -> Result<(), FileError> {
    let lines = wholes.iter().map(serde_json::to_string);
    write_headed_lines(&dir.join(NAME), head, lines)
}

/// Reads the file; `None` where there is no such file.
///
/// # Errors
/// It is there and cannot be read.
pub fn read_wholes(dir: &Path) -> Result<Option<(WholesHead, Vec<Whole>)>, FileError> {
    let path = dir.join(NAME);
    let (mut head, mut wholes) = (WholesHead::default(), Vec::new());
    let found = read_lines(&path, |number, line| {
        let bad = |e: serde_json::Error| FileError::at(&path, format!("line {number}: {e}"));
        if number == 1 {
            head = serde_json::from_str(line).map_err(bad)?;
        } else {
            wholes.push(serde_json::from_str(line).map_err(bad)?);
        }
        Ok(())
    })?;
    Ok(found.then_some((head, wholes)))
}
