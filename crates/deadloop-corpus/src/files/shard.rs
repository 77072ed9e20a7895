//! [`Shard`]: one of several equal parts of a corpus.

use std::fmt;
use std::str::FromStr;

/// A part of a corpus, for parallel work. Shard I of N has the I-th file and every N-th file after it, in corpus
/// order.
///
/// A shard may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    nth: usize,
    count: usize,
}

/// The maximum number of shards.
const MAX_SHARDS: usize = 1_000_000;

impl Shard {
    /// Returns the number of the shard, counted from 1.
    pub fn nth(self) -> usize {
        self.nth
    }

    /// Returns the total number of shards.
    pub fn count(self) -> usize {
        self.count
    }

    /// Returns whether the file with this index in corpus order belongs to the shard.
    pub fn has(self, file: usize) -> bool {
        file % self.count == self.nth - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.nth, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(nth, count)| {
            let nth: usize = nth.parse().ok()?;
            Some((nth, count.parse().ok()?))
        });
        match numbers {
            Some((nth, count)) if (1..=count).contains(&nth) && count <= MAX_SHARDS => {
                Ok(Self { nth, count })
            }
            _ => Err(format!(
                "{text:?} is no shard; expected I/N with 1 <= I <= N <= {MAX_SHARDS}, as 3/8"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_of_one_shard() {
        for of in 1..9 {
            let shards: Vec<Shard> = (1..=of)
                .map(|nth| format!("{nth}/{of}").parse().unwrap())
                .collect();
            for file in 0..20 {
                let owners = shards.iter().filter(|shard| shard.has(file));
                assert_eq!(owners.count(), 1, "file {file} of {of} shards");
            }
        }
        let third: Shard = "3/8".parse().unwrap();
        assert!(third.has(2) && third.has(10) && !third.has(3));
        assert_eq!(
            (third.nth(), third.count(), third.to_string()),
            (3, 8, "3/8".into())
        );
    }

    #[test]
    fn what_is_no_shard_is_refused() {
        for text in [
            "0/8",
            "9/8",
            "1/0",
            "3",
            "/",
            "a/b",
            "-1/3",
            "1/2/3",
            "1/1000001",
        ] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
