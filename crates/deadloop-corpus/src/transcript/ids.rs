//! The ids of a corpus, and the check that none comes twice.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::{Place, Problem};

/// The ids seen so far, each with its place. Feed it in corpus order: of two transcripts with one
/// id the first fed is the one that counts.
///
/// An id is held as half of its SHA-256, so that a corpus of a million transcripts takes some 40 bytes for each: two
/// ids that share it have yet to be found. A hash table would be there twice while it grows.
#[derive(Clone, Debug, Default)]
pub struct Ids {
    files: Vec<Arc<PathBuf>>,
    places: BTreeMap<u128, At>,
}

/// The number of a file, and the line there: three bytes and five.
#[derive(Clone, Copy, Debug)]
struct At([u8; 8]);

/// Bits of [`At`] that hold the line.
const LINE_BITS: u32 = 40;

impl At {
    fn of(file: usize, line: u64) -> Self {
        let line = line.min((1 << LINE_BITS) - 1);
        Self(((file as u64) << LINE_BITS | line).to_le_bytes())
    }

    fn file_and_line(self) -> (usize, u64) {
        let both = u64::from_le_bytes(self.0);
        ((both >> LINE_BITS) as usize, both & ((1 << LINE_BITS) - 1))
    }
}

impl Ids {
    /// Notes an id.
    ///
    /// # Errors
    /// The id stood somewhere else before; both places are named.
    pub fn insert(&mut self, id: &str, place: &Place) -> Result<(), Problem> {
        let vacant = match self.places.entry(key(id)) {
            Entry::Vacant(vacant) => vacant,
            Entry::Occupied(first) => {
                let (file, line) = first.get().file_and_line();
                let first = Place::new(Arc::clone(&self.files[file]), line);
                let what = format!("the id {id:?} was used before, at {first}");
                let expected = "an id that is unique in its corpus";
                return Err(Problem::new(place.clone(), what, expected));
            }
        };
        // Nearly always it is the very same name, which is seen without reading it.
        let last = self.files.last();
        if !last.is_some_and(|last| Arc::ptr_eq(last, &place.file) || *last == place.file) {
            self.files.push(Arc::clone(&place.file));
        }
        vacant.insert(At::of(self.files.len() - 1, place.line));
        Ok(())
    }

    /// Whether the id was seen.
    pub fn contains(&self, id: &str) -> bool {
        self.places.contains_key(&key(id))
    }

    /// Where the transcript with this id stands.
    pub fn place(&self, id: &str) -> Option<Place> {
        let (file, line) = self.places.get(&key(id))?.file_and_line();
        let file = self.files.get(file)?;
        Some(Place::new(Arc::clone(file), line))
    }

    /// How many ids were seen.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether none was seen.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

fn key(id: &str) -> u128 {
    let digest: [u8; 32] = Sha256::digest(id.as_bytes()).into();
    digest.first_chunk().copied().map_or(0, u128::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_of_an_id_is_told_with_the_place_of_the_first() {
        let file = |name: &str| Arc::new(PathBuf::from(name));
        let (a, b) = (file("a.jsonl"), file("b.jsonl"));
        let mut ids = Ids::default();
        assert!(ids.insert("x", &Place::new(Arc::clone(&a), 7)).is_ok());
        assert!(ids.insert("y", &Place::new(Arc::clone(&b), 1)).is_ok());
        let again = ids.insert("x", &Place::new(Arc::clone(&b), 2)).unwrap_err();
        assert_eq!(again.what, "the id \"x\" was used before, at a.jsonl:7");
        assert_eq!(again.place, Place::new(Arc::clone(&b), 2));
        assert_eq!(ids.place("y"), Some(Place::new(b, 1)));
        assert!(ids.contains("x") && !ids.contains("z"));
        assert_eq!(ids.len(), 2);
    }
}
