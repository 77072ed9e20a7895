//! [`Ids`]: the ids of a corpus, checked to be unique.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::{Place, Problem};

/// The ids of the transcripts read so far, each with its file and line. Ids must be inserted in corpus order.
///
/// An id is stored as half of its SHA-256, in about 40 bytes for each of a million transcripts. Collisions are
/// practically impossible. There are several hash tables, because a growing table exists twice, and only one table
/// grows at a time.
#[derive(Clone, Debug, Default)]
pub struct Ids {
    files: Vec<Arc<PathBuf>>,
    /// Hash tables. Empty until the first id is inserted.
    tables: Vec<IdTable>,
}

type IdTable = HashMap<IdHash, PackedPlace, BuildHasherDefault<IdHasher>>;

/// The number of hash tables.
const TABLE_COUNT: usize = 64;

/// Half of the SHA-256 of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IdHash([u8; 16]);

impl IdHash {
    fn from_id(id: &str) -> Self {
        let digest: [u8; 32] = Sha256::digest(id.as_bytes()).into();
        Self(digest.first_chunk().copied().unwrap_or_default())
    }

    /// Returns the index of the id's table.
    fn table_index(self) -> usize {
        usize::from(self.0[15]) % TABLE_COUNT
    }
}

impl Hash for IdHash {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let random = self.0.first_chunk().copied();
        state.write_u64(random.map_or(0, u64::from_le_bytes));
    }
}

/// A hasher that returns the first bytes of the key, which are already random.
#[derive(Clone, Copy, Debug, Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        let more = bytes.iter().map(|byte| u64::from(*byte));
        self.0 = more.fold(self.0, |all, byte| all.rotate_left(8) ^ byte);
    }

    fn write_u64(&mut self, random: u64) {
        self.0 = random;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A file index and a line number, packed into three and five bytes.
#[derive(Clone, Copy, Debug)]
struct PackedPlace([u8; 8]);

/// The number of bits of a [`PackedPlace`] for the line number.
const LINE_BITS: u32 = 40;

impl PackedPlace {
    fn new(file: usize, line: u64) -> Self {
        let line = line.min((1 << LINE_BITS) - 1);
        Self(((file as u64) << LINE_BITS | line).to_le_bytes())
    }

    fn file_and_line(self) -> (usize, u64) {
        let both = u64::from_le_bytes(self.0);
        ((both >> LINE_BITS) as usize, both & ((1 << LINE_BITS) - 1))
    }
}

impl Ids {
    /// Adds an id.
    ///
    /// # Errors
    /// Returns an error with both places if the id was added before.
    pub fn insert(&mut self, id: &str, place: &Place) -> Result<(), Problem> {
        if self.tables.is_empty() {
            self.tables.resize_with(TABLE_COUNT, IdTable::default);
        }
        let key = IdHash::from_id(id);
        let vacant = match self.tables[key.table_index()].entry(key) {
            Entry::Vacant(vacant) => vacant,
            Entry::Occupied(first) => {
                let (file, line) = first.get().file_and_line();
                let first = Place::new(Arc::clone(&self.files[file]), line);
                let what = format!("the id {id:?} was used before, at {first}");
                let expected = "an id that is unique in its corpus";
                return Err(Problem::new(place.clone(), what, expected));
            }
        };
        // The path is nearly always the same allocation, so that pointers are compared first.
        let last = self.files.last();
        if !last.is_some_and(|last| Arc::ptr_eq(last, &place.file) || *last == place.file) {
            self.files.push(Arc::clone(&place.file));
        }
        vacant.insert(PackedPlace::new(self.files.len() - 1, place.line));
        Ok(())
    }

    fn find(&self, id: &str) -> Option<PackedPlace> {
        let key = IdHash::from_id(id);
        self.tables.get(key.table_index())?.get(&key).copied()
    }

    /// Returns whether the id was added.
    pub fn contains(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    /// Returns the file and line of the transcript with this id.
    pub fn place(&self, id: &str) -> Option<Place> {
        let (file, line) = self.find(id)?.file_and_line();
        let file = self.files.get(file)?;
        Some(Place::new(Arc::clone(file), line))
    }

    /// Returns the number of ids.
    pub fn len(&self) -> usize {
        self.tables.iter().map(HashMap::len).sum()
    }

    /// Returns whether there is no id.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }
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
