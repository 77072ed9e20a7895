//! [`TextDigest`]: the hash and the beginning of a turn's text.

use xxhash_rust::xxh3::Xxh3;

use crate::measure::fact::UNIT_CHARS;

/// The hash and the first chars of a text that arrives in pieces.
#[derive(Default)]
pub(crate) struct TextDigest {
    /// The hasher. `None` before the first char that is not white space.
    hasher: Option<Box<Xxh3>>,
    /// The hash of the text without trailing white space.
    trimmed: u128,
    head: String,
}

impl TextDigest {
    /// Adds the next piece.
    pub(crate) fn push(&mut self, piece: &str) {
        let piece = match self.hasher {
            Some(_) => piece,
            None => piece.trim_start(),
        };
        if piece.is_empty() {
            return;
        }
        let room = UNIT_CHARS.saturating_sub(self.head.chars().count());
        self.head.extend(piece.chars().take(room));
        let (text, blank) = piece.split_at(piece.trim_end().len());
        let hasher = self.hasher.get_or_insert_with(|| Box::new(Xxh3::new()));
        if !text.is_empty() {
            hasher.update(text.as_bytes());
            self.trimmed = hasher.digest128();
        }
        hasher.update(blank.as_bytes());
    }

    /// Returns the hash of the text. 0 if there is no text.
    pub(crate) fn hash(&self) -> u128 {
        self.trimmed
    }

    /// Returns the first chars of the text.
    pub(crate) fn head(&self) -> &str {
        self.head.trim_end()
    }

    /// Clears the text.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(pieces: &[&str]) -> u128 {
        let mut said = TextDigest::default();
        pieces.iter().for_each(|piece| said.push(piece));
        said.hash()
    }

    #[test]
    fn neither_pieces_nor_white_space_at_the_ends_matter() {
        let whole = hash(&["I am done. 好"]);
        for pieces in [
            &[" \n", "I am", " ", " ", "done. 好\t "][..],
            &["I am done", ". 好"],
            &["\u{3000}I am done. 好\u{3000}", "\u{3000}"],
        ] {
            let same = pieces.concat().trim() == "I am done. 好";
            assert_eq!(hash(pieces) == whole, same, "{pieces:?}");
        }
        assert_eq!(hash(&[" ", "\n"]), hash(&[]));
        assert_ne!(hash(&["a b"]), hash(&["ab"]));
    }
}
