//! [`Pile`]: many small byte strings in few blocks of memory. What lives for the length of a run stands together, and not
//! between what each batch of transcripts takes and frees.

use super::Bytes;

/// The size of a block, bytes: what is larger has one of its own.
const BLOCK: usize = 1 << 20;

/// Byte strings in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pile {
    blocks: Vec<Vec<u8>>,
    /// Where each begins: its block, and the byte there.
    begins: Vec<(u32, u32)>,
    /// What is being put.
    next: Vec<u8>,
}

impl Pile {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.begins.len()
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
        let room = |block: &Vec<u8>| block.capacity() - block.len() >= bytes.len();
        if !self.blocks.last().is_some_and(room) {
            self.blocks.push(Vec::with_capacity(BLOCK.max(bytes.len())));
        }
        let nth = self.blocks.len().saturating_sub(1);
        if let Some(block) = self.blocks.last_mut() {
            // A block is at most as long as a line of a corpus.
            self.begins.push((narrow(nth), narrow(block.len())));
            block.extend(bytes);
        }
    }

    /// The bytes from the beginning of one on: whoever takes them knows where it ends.
    pub(crate) fn at(&self, index: usize) -> Bytes<'_> {
        let (block, from) = self.begins[index];
        Bytes(&self.blocks[block as usize][from as usize..])
    }

    /// Those that are to be kept.
    pub(crate) fn only(&self, kept: &[bool]) -> Self {
        let mut some = Self::default();
        for (index, _) in kept.iter().enumerate().filter(|(_, kept)| **kept) {
            let (block, from) = self.begins[index];
            let next = self.begins.get(index + 1);
            let whole = &self.blocks[block as usize];
            let to = match next {
                Some((other, to)) if *other == block => *to as usize,
                _ => whole.len(),
            };
            some.add(&whole[from as usize..to]);
        }
        some
    }
}

fn narrow(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
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
