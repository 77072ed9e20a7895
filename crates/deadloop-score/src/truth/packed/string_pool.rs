//! [`StringPool`]: many small byte strings in few allocations.
//!
//! Long-lived strings are stored together, away from the memory that each batch of transcripts allocates and frees.

use super::ByteReader;

/// The size of a block in bytes, small enough to reuse freed memory. A larger string has its own block.
const BLOCK_BYTES: usize = 1 << 18;

/// Byte strings in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct StringPool {
    blocks: Vec<StringBlock>,
    strings: usize,
    /// The buffer in which the next string is written.
    next: Vec<u8>,
}

/// Consecutive strings in one allocation.
#[derive(Clone, Debug)]
struct StringBlock {
    /// The index of the first string.
    first: usize,
    bytes: Vec<u8>,
    /// The start of each string.
    ///
    /// Each block has its own list, because a single list would be copied when it grows.
    begins: Vec<u32>,
}

impl StringPool {
    /// Returns the number of strings.
    pub(crate) fn len(&self) -> usize {
        self.strings
    }

    /// Adds the string that `put` writes.
    pub(crate) fn push(&mut self, put: impl FnOnce(&mut Vec<u8>)) {
        self.next.clear();
        put(&mut self.next);
        let next = std::mem::take(&mut self.next);
        self.push_bytes(&next);
        self.next = next;
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        let has_room =
            |block: &StringBlock| block.bytes.capacity() - block.bytes.len() >= bytes.len();
        if !self.blocks.last().is_some_and(has_room) {
            self.blocks.push(StringBlock {
                first: self.strings,
                bytes: Vec::with_capacity(BLOCK_BYTES.max(bytes.len())),
                begins: Vec::new(),
            });
        }
        if let Some(block) = self.blocks.last_mut() {
            // A string begins below the block's size, or at 0 in its own block.
            let begin = u32::try_from(block.bytes.len()).unwrap_or(u32::MAX);
            block.begins.push(begin);
            block.bytes.extend(bytes);
            self.strings += 1;
        }
    }

    /// Returns a reader at the start of a string. The reader must find the end of the string.
    pub(crate) fn at(&self, index: usize) -> ByteReader<'_> {
        let nth = self.blocks.partition_point(|block| block.first <= index);
        let block = &self.blocks[nth - 1];
        ByteReader(&block.bytes[block.begins[index - block.first] as usize..])
    }

    /// Returns a pool of the strings for which `kept` is true.
    pub(crate) fn retained(&self, kept: &[bool]) -> Self {
        let mut some = Self::default();
        let mut kept = kept.iter();
        for block in &self.blocks {
            let begins = block.begins.iter().map(|begin| *begin as usize);
            let ends = begins.clone().skip(1).chain([block.bytes.len()]);
            for (from, to) in begins.zip(ends) {
                if kept.next() == Some(&true) {
                    some.push_bytes(&block.bytes[from..to]);
                }
            }
        }
        some
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_stands_where_it_was_put(
            sizes in proptest::collection::vec((0..BLOCK_BYTES + 10, any::<bool>()), 0..12),
        ) {
            let mut pile = StringPool::default();
            let texts: Vec<Vec<u8>> =
                sizes.iter().enumerate().map(|(i, (n, _))| vec![i as u8; *n]).collect();
            for text in &texts {
                pile.push(|to| to.extend(text));
            }
            prop_assert_eq!(pile.len(), texts.len());
            for (i, text) in texts.iter().enumerate() {
                prop_assert!(pile.at(i).read_up_to(text.len()) == text);
            }
            let kept: Vec<bool> = sizes.iter().map(|(_, kept)| *kept).collect();
            let some = pile.retained(&kept);
            let wanted: Vec<&Vec<u8>> =
                texts.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(text, _)| text).collect();
            prop_assert_eq!(some.len(), wanted.len());
            for (i, text) in wanted.into_iter().enumerate() {
                prop_assert!(some.at(i).read_up_to(text.len()) == text);
            }
        }
    }
}
