//! [`Pile`]: many small byte strings in few blocks of memory. What lives for the length of a run stands together, and not
//! between what each batch of transcripts takes and frees.

use super::Bytes;

/// The size of a block, bytes: what is larger has one of its own. Small enough for a place that something else left.
const BLOCK: usize = 1 << 18;

/// Byte strings in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pile {
    blocks: Vec<Block>,
    number: usize,
    /// What is being put.
    next: Vec<u8>,
}

/// Those that stand together.
#[derive(Clone, Debug)]
struct Block {
    /// The number of its first.
    first: usize,
    bytes: Vec<u8>,
    /// Where each begins. A list for each block, because a list of all would be there twice while it grows.
    begins: Vec<u32>,
}

impl Pile {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.number
    }

    /// Adds what is put.
    pub(crate) fn push(&mut self, put: impl FnOnce(&mut Vec<u8>)) {
        self.next.clear();
        put(&mut self.next);
        let next = std::mem::take(&mut self.next);
        self.add(&next);
        self.next = next;
    }

    fn add(&mut self, bytes: &[u8]) {
        let has_room = |block: &Block| block.bytes.capacity() - block.bytes.len() >= bytes.len();
        if !self.blocks.last().is_some_and(has_room) {
            self.blocks.push(Block {
                first: self.number,
                bytes: Vec::with_capacity(BLOCK.max(bytes.len())),
                begins: Vec::new(),
            });
        }
        if let Some(block) = self.blocks.last_mut() {
            // What begins in a block begins below its size, or in a block of its own.
            let begin = u32::try_from(block.bytes.len()).unwrap_or(u32::MAX);
            block.begins.push(begin);
            block.bytes.extend(bytes);
            self.number += 1;
        }
    }

    /// The bytes from the beginning of one on: whoever takes them knows where it ends.
    pub(crate) fn at(&self, index: usize) -> Bytes<'_> {
        let nth = self.blocks.partition_point(|block| block.first <= index);
        let block = &self.blocks[nth - 1];
        Bytes(&block.bytes[block.begins[index - block.first] as usize..])
    }

    /// Those that are to be kept.
    pub(crate) fn only(&self, kept: &[bool]) -> Self {
        let mut some = Self::default();
        let mut kept = kept.iter();
        for block in &self.blocks {
            let begins = block.begins.iter().map(|begin| *begin as usize);
            let ends = begins.clone().skip(1).chain([block.bytes.len()]);
            for (from, to) in begins.zip(ends) {
                if kept.next() == Some(&true) {
                    some.add(&block.bytes[from..to]);
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
            sizes in proptest::collection::vec((0..BLOCK + 10, any::<bool>()), 0..12),
        ) {
            let mut pile = Pile::default();
            let texts: Vec<Vec<u8>> =
                sizes.iter().enumerate().map(|(i, (n, _))| vec![i as u8; *n]).collect();
            for text in &texts {
                pile.push(|to| to.extend(text));
            }
            prop_assert_eq!(pile.len(), texts.len());
            for (i, text) in texts.iter().enumerate() {
                prop_assert!(pile.at(i).some(text.len()) == text);
            }
            let kept: Vec<bool> = sizes.iter().map(|(_, kept)| *kept).collect();
            let some = pile.only(&kept);
            let wanted: Vec<&Vec<u8>> =
                texts.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(text, _)| text).collect();
            prop_assert_eq!(some.len(), wanted.len());
            for (i, text) in wanted.into_iter().enumerate() {
                prop_assert!(some.at(i).some(text.len()) == text);
            }
        }
    }
}
